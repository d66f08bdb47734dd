// Making a backup in a folder: whole, or of the changed pages.

import Dflat
import Foundation
import Platform
import SQLiteAccess

extension BackupFolder {
  /// After so many backups of changed pages a whole one is made if no number is given.
  private static let usualChain = 30
  /// After so many a whole one is made in any case: each is an open file while one is read.
  private static let greatestChain = 100

  /// Makes a backup of the state that a connection reads.
  ///
  /// - Parameters:
  ///   - connection: In a transaction that has read, so that it keeps its state.
  ///   - keep: How many backups are to be kept; nil for all.
  ///   - progress: Called now and then with the numbers of pages that are left, and of all; it
  ///     stops the backup with false.
  /// - Throws: `StorageError`: `.busy` if another one is being made in the folder; `.corruptFile`
  ///   if the database is damaged. The folder is as it was then.
  func add(
    _ connection: Connection, keeping keep: Int?, at date: Date,
    _ progress: @escaping (Int, Int) -> Bool
  ) throws -> Backup {
    try createFolder()
    let lock = try FolderLock(path)
    defer { lock.release() }
    try removeUnfinished()
    let backups = try backups()
    let number = (backups.last?.number ?? 0) + 1
    let made =
      try changes(since: backups, connection, number, keep, at: date, progress)
      ?? whole(connection, number, at: date, progress)
    if let keep { try removeBackups(except: keep, of: backups + [made]) }
    return made
  }

  private func whole(
    _ connection: Connection, _ number: Int, at date: Date, _ progress: (Int, Int) -> Bool
  ) throws -> Backup {
    try finishing(number, date, .whole) { unfinished in
      try connection.backup(
        to: unfinished, pagesPerStep: FileBackup.pagesPerStep, progress: progress)
      try FileBackup.requireOneState(connection)
      try FileBackup.requireSound(unfinished, "the file is damaged, and so is its copy")
      let file = try PlainFile(reading: unfinished)
      try file.sync()
      return try Checksum.of(file)
    }
  }

  /// - Returns: nil if a whole backup is due.
  private func changes(
    since backups: [Backup], _ connection: Connection, _ number: Int, _ keep: Int?, at date: Date,
    _ progress: @escaping (Int, Int) -> Bool
  ) throws -> Backup? {
    guard let last = backups.last else { return nil }
    let base: BackedUpState
    do {
      let chain = try Self.chain(of: last, in: backups)
      let changed = chain.dropFirst().reduce(0) { $0 + $1.bytes }
      // The sum of the changes stays below the size of what they change.
      let greatest = min(max(2, keep ?? Self.usualChain), Self.greatestChain)
      if chain.count >= greatest || changed > chain[0].bytes { return nil }
      base = try BackedUpState(chain)
    } catch is StorageError {
      // A chain that is damaged or cannot be read stays as it is, and another one begins.
      return nil
    }
    guard try connection.pragma("main.page_size") == .integer(Int64(base.pageSize)) else {
      return nil
    }
    try FileBackup.requireSound(connection, "the file is damaged: no backup was made of it")
    return try finishing(number, date, .changes) { unfinished in
      let file = try PlainFile(creating: unfinished, connection.fileRights)
      let sink = try ChangesSink(base, into: file, number: number, after: last.number)
      try connection.backup(
        into: sink, pagesPerStep: FileBackup.pagesPerStep, progress: progress)
      try FileBackup.requireOneState(connection)
      try sink.finish()
      let written = try ChangedPages(headOf: file)
      try base.withPage { bytes in
        for index in 0..<written.entries {
          try written.readEntry(index, of: file, into: bytes)
        }
      }
      return nil
    }
  }

  /// Lets `body` write a file, and gives it its name, with the checksum that `body` returns.
  private func finishing(
    _ number: Int, _ date: Date, _ kind: Backup.Kind,
    _ body: (_ unfinished: String) throws -> UInt64?
  ) throws -> Backup {
    let unfinished = path(of: number, date, kind, nil) + ".unfinished"
    let final: String
    do {
      final = path(of: number, date, kind, try withStorageErrors { try body(unfinished) })
      if rename(unfinished, final) != 0 { throw PlainFile.error("it cannot get its name", final) }
      try PlainFile(reading: path).sync()
    } catch {
      for suffix in ["", "-journal"] { unlink(unfinished + suffix) }
      throw error
    }
    guard let made = try backups().first(where: { $0.path == final }) else {
      throw StorageError(.fileReplaced, message: "it was removed at once", path: final)
    }
    return made
  }

  private func createFolder() throws {
    do {
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    } catch {
      throw StorageError(
        .cannotOpen, message: "the folder cannot be created", underlying: error, path: path,
        advice: "create it, or name another one")
    }
  }

  private func removeUnfinished() throws {
    for name in try FileManager.default.contentsOfDirectory(atPath: path)
    where name.hasSuffix(".unfinished") || name.hasSuffix(".unfinished-journal") {
      try remove("\(path)/\(name)")
    }
  }

  /// Removes the chains that none of the newest backups needs.
  private func removeBackups(except keep: Int, of backups: [Backup]) throws {
    let oldest = backups.suffix(keep)[backups.suffix(keep).startIndex]
    // A chain that is not whole is of no use for the ones to keep, and is left for a person.
    guard let first = try? Self.chain(of: oldest, in: backups).first else { return }
    // The newest first: what remains after a crash can be restored.
    for backup in backups.reversed() where backup.number < first.number {
      try remove(backup.path)
    }
  }

  private func remove(_ file: String) throws {
    if unlink(file) != 0, errno != ENOENT { throw PlainFile.error("it cannot be removed", file) }
  }
}

/// That one backup at a time is made in a folder, by whichever process.
private final class FolderLock {
  private let descriptor: Int32

  /// - Throws: `StorageError.busy` if another one has it.
  init(_ folder: String) throws {
    let path = folder + "/lock"
    descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    if descriptor < 0 { throw PlainFile.error("it cannot be created", path) }
    if flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
      close(descriptor)
      throw StorageError(
        .busy, message: "another backup is being made in the folder", path: folder,
        advice: "wait until it is finished")
    }
  }

  func release() {
    // A process that was just started may still share the descriptor.
    _ = flock(descriptor, LOCK_UN)
    close(descriptor)
  }
}
