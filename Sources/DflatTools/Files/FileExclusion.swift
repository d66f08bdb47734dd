// FileExclusion: that no program has a file open while another one takes its place.
//
//  - SQLite's connections lock certain bytes of the file, in WAL mode as long as they are open. A
//    lock on all of them is granted if there is no such connection, and keeps new ones waiting.
//  - A connection that has not read yet has no lock. On Linux the descriptors of all processes that
//    may be looked at are searched for the file as well.
//  - The file that was replaced keeps another name until it is known that no program has opened it
//    meanwhile. Otherwise it is put back.
//
// A process that closes a descriptor of a file loses the locks that its connections have on it. So
// the process must not have the file open.

import Foundation
import Platform

/// A lock that excludes all connections to a file. Released with the object.
final class FileExclusion {
  private static let lockBytes = (start: 0x4000_0000, count: 512)
  private let descriptor: Int32

  /// - Throws: `ToolError` if a program has the file open.
  init(_ path: String) throws {
    descriptor = open(path, O_RDWR | O_CLOEXEC)
    if descriptor < 0 {
      throw ToolError(.storage, "\(path) cannot be opened: \(String(cString: strerror(errno)))")
    }
    if !Self.set(F_WRLCK, descriptor) {
      close(descriptor)
      throw Self.inUse(path)
    }
    let processes = Self.processes(using: path)
    if !processes.isEmpty {
      release()
      throw Self.inUse(path, processes)
    }
  }

  deinit { release() }

  /// Unlocks the file, too: a process that was just started may still share the descriptor.
  private func release() {
    _ = Self.set(F_UNLCK, descriptor)
    close(descriptor)
  }

  /// Locks or unlocks the bytes.
  private static func set(_ kind: some BinaryInteger, _ descriptor: Int32) -> Bool {
    var lock = flock()
    lock.l_type = Int16(kind)
    lock.l_whence = Int16(SEEK_SET)
    lock.l_start = off_t(lockBytes.start)
    lock.l_len = off_t(lockBytes.count)
    #if canImport(Darwin)
      let command = F_SETLK
    #else
      // F_OFD_SETLK, which Swift does not import: the lock belongs to the descriptor.
      let command: Int32 = 37
    #endif
    return fcntl(descriptor, command, &lock) == 0
  }

  static func inUse(_ path: String, _ processes: [Int32] = []) -> ToolError {
    let which =
      processes.isEmpty ? "" : " (\(processes.map { "process \($0)" }.joined(separator: ", ")))"
    return ToolError(
      .storage, "a program has \(path) open\(which)", advice: "end it first; nothing was changed")
  }

  /// The other processes with a descriptor of a file, as far as they may be looked at.
  static func processes(using path: String) -> [Int32] {
    var found = holders(of: path)
    // A process that this one has just started has copies of its descriptors until it runs its
    // program.
    var looks = 0
    while !found.isEmpty, found.allSatisfy(isChild), looks < 100 {
      usleep(1000)
      looks += 1
      found = holders(of: path)
    }
    return found
  }

  private static func holders(of path: String) -> [Int32] {
    #if os(Linux)
      var file = stat()
      guard stat(path, &file) == 0,
        let names = try? FileManager.default.contentsOfDirectory(atPath: "/proc")
      else { return [] }
      return names.compactMap { Int32($0) }.filter { $0 != getpid() }.filter { process in
        let folder = "/proc/\(process)/fd"
        // Processes of other users cannot be looked at, and some have ended by now.
        let descriptors = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return descriptors.contains { name in
          var other = stat()
          return stat("\(folder)/\(name)", &other) == 0 && other.st_dev == file.st_dev
            && other.st_ino == file.st_ino
        }
      }.sorted()
    #else
      return []
    #endif
  }

  /// Whether this process has started another one.
  private static func isChild(_ process: Int32) -> Bool {
    // The parent is the second field behind the name, which is in parentheses.
    guard let text = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8),
      let end = text.lastIndex(of: ")")
    else { return true }
    let fields = text[text.index(after: end)...].split(separator: " ")
    return fields.count > 1 && Int32(fields[1]) == getpid()
  }
}

/// Puts a new file in the place of another one.
enum FileReplacement {
  /// The file is under the new name when this returns, and the old one under the name `kept`.
  /// - Throws: `ToolError` if a program has opened the old file meanwhile. Then it is at its place.
  static func replace(_ path: String, by new: String, keeping kept: String) throws {
    try sync(new)
    // Two names for a moment, so that there is a file under `path` at any time.
    try call("\(path) cannot get the name \(kept)") { link(path, kept) }
    do {
      try call("\(new) cannot take the place of \(path)") { rename(new, path) }
    } catch {
      try call("\(kept) cannot be removed") { unlink(kept) }
      throw error
    }
    let processes = FileExclusion.processes(using: kept)
    if !processes.isEmpty {
      try call("\(path) cannot be moved back to \(new)") { rename(path, new) }
      try call("\(kept) cannot get its name \(path) back") { rename(kept, path) }
      throw FileExclusion.inUse(path, processes)
    }
    try sync(URL(filePath: path).deletingLastPathComponent().path)
  }

  /// Moves a file that belongs to another one, if it is there.
  static func moveIfThere(_ path: String, to target: String) throws {
    var status = stat()
    if lstat(path, &status) != 0 { return }
    try call("\(path) cannot be moved to \(target)") { rename(path, target) }
  }

  /// Writes a file or a folder to the disk.
  private static func sync(_ path: String) throws {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    try call("\(path) cannot be opened") { descriptor }
    defer { close(descriptor) }
    try call("\(path) cannot be written to the disk") { fsync(descriptor) }
  }

  static func call(_ problem: String, _ body: () -> Int32) throws {
    if body() < 0 {
      throw ToolError(.storage, "\(problem): \(String(cString: strerror(errno)))")
    }
  }
}
