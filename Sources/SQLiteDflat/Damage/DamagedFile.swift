// DamagedFile: a file that a workspace finds damaged, what there is in its place, and what a
// program may do.
//
//  - The library decides nothing: a hook of the program does, and calls one of the functions here,
//    or does something of its own.
//  - No function deletes or overwrites the file. What takes its place leaves it under another name.
//  - A file that does not look like a database is never moved: it may be encrypted, or belong to
//    another program.
//  - Processes that find the same damage at the same time take turns. What one has replaced, the
//    others do not replace again.

public import Dflat
import Foundation
import Platform
import SQLiteAccess

/// A file that a workspace has found damaged, and what there is in its place.
///
/// ``SQLiteWorkspace/Configuration/onDamagedFile`` receives it. A program that finds damage later,
/// as `StorageError.Cause.corruptFile`, makes one after it has shut the workspace down.
///
/// The functions replace or move the file. They wait for other processes that do the same, and do
/// nothing if the file was exchanged since it was found damaged, or is sound. Then, as after their
/// own work, open the file again. The damaged file keeps another name beside its place: nothing is
/// deleted. They refuse a file whose ``content`` is ``Content/foreign``.
public struct DamagedFile: Sendable {
  /// What a workspace does with a damaged file.
  public enum Decision: Sendable, Hashable {
    /// Opening fails with the error that says what there is.
    case fail
    /// The workspace opens its path again, where another file is now, or the same.
    case tryAgain
  }

  /// The path, as the workspace has it.
  public let path: String
  /// What was found. Its description also says what there is in place of the file.
  public let error: StorageError
  /// What the file looks like.
  public let content: Content
  /// The folder of the file's backups; nil if none is known.
  public let backups: BackupFolder?
  /// The newest backup that can be restored; see ``BackupFolder/newestGoodBackup()``. nil if there
  /// is none.
  public let newestGoodBackup: BackupFolder.Backup?
  /// How often the hook has been asked before, while the workspace opens the file.
  public let previousDecisions: Int
  /// When it was found.
  let date: Date
  /// The file that was found damaged; nil if that is to be seen again before the file is replaced.
  private let stamp: FileStamp?

  /// Whether repair may save objects: the file can be read, and has at least one page of a
  /// database. How much it saves shows only the repair; see `Repair` in `DflatTools`.
  public var mayBeRepaired: Bool { content == .pages }

  /// Looks at a file that was found damaged, and for its newest good backup. Both are only read.
  ///
  /// Shut down all workspaces of this process that use the file before. Reading backups takes as
  /// long as it takes to read files of their size.
  ///
  /// - Parameters:
  ///   - path: The file.
  ///   - error: What was found.
  ///   - backups: The folder of its backups, if there is one.
  public init(_ path: String, error: StorageError, backups: BackupFolder?) {
    self.init(
      path, nil, error: error, backups: backups, newest: try? backups?.newestGoodBackup(),
      previous: 0, at: Date())
  }

  /// - Parameter stamp: What was at the path before the damage was found.
  init(
    _ path: String, _ stamp: FileStamp?, error: StorageError, backups: BackupFolder?,
    newest: BackupFolder.Backup?,
    previous: Int, at date: Date
  ) {
    self.path = path
    self.backups = backups
    newestGoodBackup = newest
    previousDecisions = previous
    self.date = date
    self.stamp = stamp
    content = Content(of: path)
    let advice = Advice(
      path: path, content: content, backups: backups, newest: newest, date: date)
    // SQLite looks at the head alone.
    let isHead = (error.underlying as? SQLiteError)?.code == .notADatabase && content == .pages
    self.error = error.with(
      isHead ? "its head is damaged, so that SQLite takes it for no database" : nil, advice.text)
  }

  // MARK: Acting

  /// Puts the newest good backup in the place of the file.
  ///
  /// What was committed after that backup is only in the damaged file, which is kept.
  /// - Parameter progress: Called now and then with the numbers of pages that are left, and of all.
  /// - Returns: The path of the damaged file now; nil if the file had been exchanged before, or is
  ///   sound.
  /// - Throws: `StorageError`: `.cannotOpen` if there is no good backup, or the file is
  ///   ``Content/foreign``; `.busy` if a program has the file open; `.diskFull`, `.readOnly`. The
  ///   file is as it was then.
  @discardableResult
  public func restoreNewestBackup(
    progress: (_ remaining: Int, _ total: Int) -> Void = { _, _ in }
  ) throws -> String? {
    try inPlace { place, lock in
      guard let backups, let newestGoodBackup else {
        throw StorageError(
          .cannotOpen, message: "there is no good backup of the file", path: path,
          advice: "save what the file still has by a repair, or move it away")
      }
      return try backups.restore(
        newestGoodBackup, replacing: place, lock, patience: FileReplacement.patience,
        progress: progress)
    }
  }

  /// Puts another file, such as the result of a repair, in the place of the file.
  ///
  /// - Parameter new: A complete database on the same volume, without a log, that no program has
  ///   open. It is moved.
  /// - Returns: The path of the damaged file now; nil if the file had been exchanged before, or is
  ///   sound. Then `new` is where it was.
  /// - Throws: `StorageError`: `.corruptFile` if `new` is no sound database; `.cannotOpen` if a log
  ///   is beside it, or the file is ``Content/foreign``; `.busy` if a program has the file open;
  ///   `.readOnly`. Both files are as they were then.
  @discardableResult
  public func replace(by new: String) throws -> String? {
    try inPlace { place, lock in
      try FileBackup.requireSound(new, "the new file is damaged")
      for suffix in FileReplacement.companions where FileReplacement.isThere(new + suffix) {
        throw StorageError(
          .cannotOpen, message: "the new file has a log beside it, which would be lost",
          path: new + suffix, advice: "shut down the workspace that has made it")
      }
      return try FileReplacement.exchange(place, by: new, lock, patience: FileReplacement.patience)
    }
  }

  /// Moves the file away, so that the workspace begins with an empty one.
  ///
  /// - Returns: The path of the damaged file now; nil if the file had been exchanged before, or is
  ///   sound.
  /// - Throws: `StorageError`: `.cannotOpen` if the file is ``Content/foreign``; `.busy` if a
  ///   program has the file open; `.readOnly`. The file is as it was then.
  @discardableResult
  public func moveAway() throws -> String? {
    try inPlace { place, lock in
      try FileReplacement.exchange(place, by: nil, lock, patience: FileReplacement.patience)
    }
  }

  /// Calls `body` with the file's place and its lock, unless the file was exchanged.
  private func inPlace(_ body: (String, ReplacementLock) throws -> String) throws -> String? {
    if content == .foreign {
      throw StorageError(
        .cannotOpen,
        message: "nothing in the file looks like a page of SQLite: it is left where it is",
        path: path,
        advice:
          "check the path: it may be encrypted, or another program's file; if it is of no use, move it away"
      )
    }
    // Before the lock: if another process has moved the file away, nothing is to be done.
    guard let place = BackupFolder.resolved(path) else { return nil }
    let lock = try ReplacementLock.cleared(place)
    defer { lock.release() }
    guard let now = FileStamp(path) else { return nil }
    if let stamp {
      if now != stamp { return nil }
    } else if now.size > 0, (try? FileBackup.requireSound(place, "the file is damaged")) != nil {
      return nil
    }
    return try body(place, lock)
  }
}
