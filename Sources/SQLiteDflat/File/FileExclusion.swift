// FileExclusion: that no program has a file open while another one takes its place.
//
//  - SQLite's connections lock certain bytes of the file, in WAL mode as long as they are open. A
//    lock on all of them is granted if there is no such connection, and keeps new ones waiting.
//  - A connection that has not read yet has no lock. On Linux the descriptors of all processes that
//    may be looked at are searched for the file as well.
//  - The file that was replaced keeps another name until it is known that no program has opened it
//    meanwhile. Otherwise it is put back; see FileReplacement.swift.
//  - A process that closes a descriptor of a file loses the locks that its connections have on it.
//    So on Linux the descriptors of this process are looked at before the file is opened. The lock
//    ends with its descriptor, not before: no connection of this process can get a lock that the
//    end of the descriptor would take away.

import Dflat
import Foundation
import Platform

/// A lock that excludes all connections to a file. Released with the object.
package final class FileExclusion {
  private static let lockBytes = (start: 0x4000_0000, count: 512)
  /// How often to look again, after a millisecond, at what a started process shares.
  private static let looks = 100
  private let descriptor: Int32

  /// Calls `body` again as long as a program has the file open, for so long.
  static func retry<R>(_ patience: Duration, _ body: () throws -> R) throws -> R {
    let deadline = ContinuousClock.now + patience
    while true {
      do { return try body() } catch let error as StorageError
        where error.cause == .busy && ContinuousClock.now < deadline
      {
        usleep(20_000)
      }
    }
  }

  /// - Throws: `StorageError`: `.busy` if a program has the file open.
  package init(_ path: String) throws {
    if Self.isOpenHere(path) { throw Self.inUse(path, [getpid()]) }
    let file = open(path, O_RDWR | O_CLOEXEC)
    if file < 0 { throw PlainFile.error("it cannot be opened", path) }
    // A process that was just started may still share the descriptor of the lock before.
    var looks = 0
    while !Self.lock(file) {
      if looks == Self.looks {
        close(file)
        throw Self.inUse(path)
      }
      looks += 1
      usleep(1000)
    }
    // From here on the end of the object closes it, also if this throws.
    descriptor = file
    let processes = Self.processes(using: path, besides: 1)
    if !processes.isEmpty { throw Self.inUse(path, processes) }
  }

  deinit { close(descriptor) }

  private static func lock(_ descriptor: Int32) -> Bool {
    var lock = flock()
    lock.l_type = Int16(F_WRLCK)
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

  package static func inUse(_ path: String, _ processes: [Int32] = []) -> StorageError {
    let names = processes.map { $0 == getpid() ? "this process, \($0)" : "process \($0)" }
    let which = names.isEmpty ? "" : " (\(names.joined(separator: ", ")))"
    return StorageError(
      .busy, message: "a program has \(path) open\(which)",
      advice: "end it first; nothing was changed")
  }

  /// Whether this process has a descriptor of a file. Not known except on Linux.
  static func isOpenHere(_ path: String) -> Bool {
    var file = stat()
    return stat(path, &file) == 0 && descriptors(getpid(), file) > 0
  }

  /// The processes with a descriptor of a file, as far as they may be looked at.
  /// - Parameter own: How many descriptors the caller has itself.
  static func processes(using path: String, besides own: Int) -> [Int32] {
    var found = holders(of: path, besides: own)
    // A process that this one has just started has copies of its descriptors until it runs its
    // program.
    var looks = 0
    while !found.isEmpty, found.allSatisfy(isChild), looks < Self.looks {
      usleep(1000)
      looks += 1
      found = holders(of: path, besides: own)
    }
    return found
  }

  private static func holders(of path: String, besides own: Int) -> [Int32] {
    #if os(Linux)
      var file = stat()
      guard stat(path, &file) == 0,
        let names = try? FileManager.default.contentsOfDirectory(atPath: "/proc")
      else { return [] }
      return names.compactMap { Int32($0) }
        .filter { descriptors($0, file) > ($0 == getpid() ? own : 0) }.sorted()
    #else
      return []
    #endif
  }

  /// How many descriptors of a file a process has, as far as it may be looked at.
  private static func descriptors(_ process: Int32, _ file: stat) -> Int {
    #if os(Linux)
      let folder = "/proc/\(process)/fd"
      // Processes of other users cannot be looked at, and some have ended by now.
      let descriptors = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
      return descriptors.count { name in
        var other = stat()
        return stat("\(folder)/\(name)", &other) == 0 && other.st_dev == file.st_dev
          && other.st_ino == file.st_ino
      }
    #else
      return 0
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
