// FileReplacement: a new file takes the place of another one, which keeps another name.
//
//   notes.db.replaced        the file that was replaced, with its log
//   notes.db.restoring       locked by the process that replaces the file. What is in it says which
//                            file is replaced, and the name that this one gets
//   notes.db.restoring-copy  the new file, as long as it is not complete
//
//  - There is a file at the path at any time, and never one beside the log of another one. So the
//    log gets its new name first.
//  - One process at a time replaces a file. Another one that wants to waits, and then sees that it
//    was done: the path leads to another file.
//  - A process that is killed between the two steps has taken the log away from a file that is
//    still in its place. The next one that looks finds the unlocked file `.restoring`, and puts the
//    log back, if the path still leads to the file that `.restoring` names.
//  - No file is deleted but the one that this file has made.

import Dflat
import Foundation
import Platform

/// Puts a new file in the place of another one.
package enum FileReplacement {
  static let companions = ["-wal", "-shm", "-journal"]

  /// Where a companion of a database is: beside the database, and not beside a symbolic link to it.
  package static func path(of companion: String, beside path: String) -> String {
    (BackupFolder.resolved(path) ?? path) + companion
  }

  /// How long to wait for programs that open the file, and find it damaged.
  static let patience = Duration.seconds(10)

  /// The file is under the new name when this returns, and the old one under the name `kept`.
  /// - Parameter own: How many descriptors of the old file the caller has. More of this process are
  ///   a program as well.
  /// - Throws: `StorageError`: `.busy` if a program has opened the old file meanwhile. Then it is
  ///   at its place.
  package static func replace(
    _ path: String, by new: String, keeping kept: String, besides own: Int
  ) throws {
    // A user that could not read the old file cannot read the new one.
    FileRights(of: path)?.give(to: new)
    try sync(new)
    // Two names for a moment, so that there is a file under `path` at any time.
    try call("it cannot get the name \(kept)", path) { link(path, kept) }
    do {
      try call("it cannot take the place of \(path)", new) { rename(new, path) }
    } catch {
      try call("it cannot be removed", kept) { unlink(kept) }
      throw error
    }
    let processes = FileExclusion.processes(using: kept, besides: own)
    if !processes.isEmpty {
      // The same way back.
      try call("it cannot get its name \(new) back", path) { link(path, new) }
      try call("it cannot get its name \(path) back", kept) { rename(kept, path) }
      throw FileExclusion.inUse(path, processes)
    }
    try sync(URL(filePath: path).deletingLastPathComponent().path)
  }

  /// Puts a new file in the place of one that no program has open. That keeps another name beside
  /// it, and its log as well.
  ///
  /// - Parameters:
  ///   - path: The file.
  ///   - new: The new file; nil to leave nothing at the path.
  ///   - lock: The lock of `path`.
  ///   - patience: How long to wait for programs that have the file open.
  /// - Returns: The path of the file that was replaced: `notes.db.replaced`, `notes.db.replaced-2`.
  /// - Throws: `StorageError`: `.busy` if a program has the file open. Everything is as it was
  ///   then.
  package static func exchange(
    _ path: String, by new: String?, _ lock: ReplacementLock, patience: Duration = .zero
  ) throws -> String {
    try FileExclusion.retry(patience) { try exchangeNow(path, by: new, lock) }
  }

  private static func exchangeNow(
    _ path: String, by new: String?, _ lock: ReplacementLock
  ) throws -> String {
    let exclusion = try FileExclusion(path)
    defer { withExtendedLifetime(exclusion) {} }
    let kept = try unusedName(for: path)
    try lock.note(kept)
    do {
      for suffix in companions { try moveIfThere(path + suffix, to: kept + suffix) }
      if let new {
        try replace(path, by: new, keeping: kept, besides: 1)
      } else {
        try move(path, to: kept)
      }
    } catch {
      try putBack(lock)
      throw error
    }
    return kept
  }

  private static func move(_ path: String, to kept: String) throws {
    try call("it cannot be moved to \(kept)", path) { rename(path, kept) }
    let processes = FileExclusion.processes(using: kept, besides: 1)
    if !processes.isEmpty {
      // Another program may have made a new file by now, which is not to be overwritten.
      try call("it cannot get its name \(path) back", kept) { link(kept, path) }
      try call("it cannot be removed", kept) { unlink(kept) }
      throw FileExclusion.inUse(path, processes)
    }
    try sync(URL(filePath: path).deletingLastPathComponent().path)
  }

  /// Puts back what a process that was killed has taken away from a file, and waits for one that
  /// is replacing the file.
  static func finishInterrupted(_ path: String) throws {
    guard isThere(ReplacementLock.path(for: path)) else { return }
    let lock = try ReplacementLock(path)
    defer { lock.release() }
    try undo(lock)
  }

  /// Puts back what a process that was killed has taken away.
  fileprivate static func undo(_ lock: ReplacementLock) throws {
    // SQLite may have had a journal beside it.
    for copy in ([""] + companions).map({ lock.copy + $0 }) where isThere(copy) {
      try call("it cannot be removed", copy) { unlink(copy) }
    }
    if !isInterrupted(lock.file) { return }
    let exclusion = try FileExclusion.retry(patience) { try FileExclusion(lock.file) }
    defer { withExtendedLifetime(exclusion) {} }
    try putBack(lock)
  }

  /// Puts back what was taken away from the file, if that is still at its place. The caller
  /// excludes programs that have it open.
  private static func putBack(_ lock: ReplacementLock) throws {
    guard let kept = ReplacementLock.unfinished(lock.file) else { return }
    // A second name of the file.
    if FileStamp(kept)?.file == FileStamp(lock.file)?.file {
      try call("it cannot be removed", kept) { unlink(kept) }
    }
    for suffix in companions where !isThere(lock.file + suffix) {
      try moveIfThere(kept + suffix, to: lock.file + suffix)
    }
  }

  /// The same for tools that change a file without a workspace that writes.
  package static func finishIfInterrupted(_ path: String) throws {
    guard let place = BackupFolder.resolved(path), isInterrupted(place) else { return }
    try finishInterrupted(place)
  }

  /// For readers and for tools that look at a file, which put nothing back.
  /// - Throws: `StorageError.cannotOpen` if a process that was killed has taken the log away from a
  ///   file. Without it, the file may lack the last commits.
  package static func requireNotInterrupted(_ path: String) throws {
    let place = BackupFolder.resolved(path) ?? path
    guard let kept = ReplacementLock.unfinished(place), let log = companion(of: kept) else {
      return
    }
    throw StorageError(
      .cannotOpen,
      message: "a process was ended while it replaced the file, and its log is \(log)", path: path,
      advice: "open it with a workspace that may write, or run "
        + "\"dflat vacuum \(path.shellWord) --incremental\": both put the log back")
  }

  /// Whether a process has taken something away from a file that is still in its place.
  fileprivate static func isInterrupted(_ path: String) -> Bool {
    ReplacementLock.unfinished(path).map { isThere($0) || companion(of: $0) != nil } ?? false
  }

  /// The first file that is there beside another one and belongs to it.
  private static func companion(of path: String) -> String? {
    companions.map { path + $0 }.first(where: isThere)
  }

  /// A name beside a file that no file has.
  private static func unusedName(for path: String) throws -> String {
    for number in 1...1000 {
      let name = path + ".replaced" + (number == 1 ? "" : "-\(number)")
      if !isThere(name), !companions.contains(where: { isThere(name + $0) }) { return name }
    }
    throw StorageError(
      .cannotOpen, message: "there are too many replaced files beside it", path: path,
      advice: "move them away")
  }

  static func isThere(_ path: String) -> Bool {
    var status = stat()
    return lstat(path, &status) == 0
  }

  /// Moves a file that belongs to another one, if it is there.
  private static func moveIfThere(_ path: String, to target: String) throws {
    if isThere(path) { try call("it cannot be moved to \(target)", path) { rename(path, target) } }
  }

  /// Writes a file or a folder to the disk.
  private static func sync(_ path: String) throws { try PlainFile(reading: path).sync() }

  /// Has the name that a file got survive a power loss, if its folder may be read.
  package static func syncName(of path: String) {
    try? sync(URL(filePath: path).deletingLastPathComponent().path)
  }

  /// - Throws: `StorageError` with a problem of the file `path` if the system refuses a call.
  package static func call(_ problem: String, _ path: String, _ body: () -> Int32) throws {
    if body() < 0 { throw PlainFile.error(problem, path) }
  }
}

/// That one process at a time replaces a file; see the head of this file.
package final class ReplacementLock {
  /// The file that is replaced.
  let file: String
  private let path: String
  private let descriptor: Int32

  static func path(for file: String) -> String { file + ".restoring" }

  /// Where the new file is made.
  package var copy: String { path + "-copy" }

  /// Waits for another process that replaces the file. What one that was killed has left is
  /// cleared away.
  /// - Throws: `StorageError` if the lock cannot be created beside the file.
  package static func cleared(_ file: String) throws -> ReplacementLock {
    let lock = try ReplacementLock(file)
    do { try FileReplacement.undo(lock) } catch {
      lock.release()
      throw error
    }
    return lock
  }

  fileprivate init(_ file: String) throws {
    self.file = file
    let path = Self.path(for: file)
    self.path = path
    while true {
      let opened = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
      if opened < 0 { throw PlainFile.error("it cannot be created", path) }
      while flock(opened, LOCK_EX) != 0 {
        if errno == EINTR { continue }
        let error = PlainFile.error("it cannot be locked", path)
        close(opened)
        throw error
      }
      // The one before may have removed it.
      var status = stat()
      if fstat(opened, &status) == 0, FileStamp(path)?.file == FileStamp(status).file {
        descriptor = opened
        return
      }
      close(opened)
    }
  }

  /// Notes the name that the file is about to get.
  fileprivate func note(_ kept: String) throws {
    guard let stamp = FileStamp(file) else { return }
    let text = Array("\(stamp.file.device) \(stamp.file.number) \(kept)\n".utf8)
    let isWritten =
      ftruncate(descriptor, 0) == 0
      && pwrite(descriptor, text, text.count, 0) == text.count && fsync(descriptor) == 0
    if !isWritten { throw PlainFile.error("it cannot be written", path) }
  }

  /// The name that a process has noted for the file which is still at its place; nil if there is
  /// none, or that file was replaced.
  fileprivate static func unfinished(_ file: String) -> String? {
    guard let text = try? String(contentsOfFile: path(for: file), encoding: .utf8) else {
      return nil
    }
    let parts = text.split(separator: " ", maxSplits: 2)
    guard parts.count == 3, parts[2].hasSuffix("\n"), let device = UInt64(parts[0]),
      let number = UInt64(parts[1]),
      FileStamp(file)?.file == FileStamp.File(device: device, number: number)
    else { return nil }
    let kept = String(parts[2].dropLast())
    return kept.hasPrefix(file + ".replaced") ? kept : nil
  }

  /// Unlocks the file, also for a process that was just started and shares the descriptor.
  package func release() {
    // What could not be put back is left to the next process.
    if !FileReplacement.isInterrupted(file) { unlink(path) }
    _ = flock(descriptor, LOCK_UN)
    close(descriptor)
  }
}

/// Which file is at a path, and the size and time that change when it is written to.
struct FileStamp: Hashable, Sendable {
  /// Which file it is, as long as it exists.
  struct File: Hashable, Sendable {
    let device: UInt64
    let number: UInt64
  }

  let file: File
  let size: Int
  private let modified: [Int]

  /// nil if there is no file.
  init?(_ path: String) {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    self.init(status)
  }

  init(_ status: stat) {
    file = File(
      device: UInt64(truncatingIfNeeded: status.st_dev),
      number: UInt64(truncatingIfNeeded: status.st_ino))
    size = Int(status.st_size)
    #if canImport(Darwin)
      let time = status.st_mtimespec
    #else
      let time = status.st_mtim
    #endif
    modified = [Int(time.tv_sec), time.tv_nsec]
  }
}
