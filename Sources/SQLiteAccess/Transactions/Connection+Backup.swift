// Copying a whole database while it is in use.

import CSQLite
import Platform

extension Connection {
  /// Copies the database into another one, replacing its content.
  ///
  /// The copy is one consistent state. Other connections may read and write meanwhile. What this
  /// connection writes is copied, too; a write by another connection restarts the copy. If there
  /// are many writers, copy all pages in one step: in rollback mode that blocks them, in WAL mode
  /// it does not.
  ///
  /// - Parameters:
  ///   - destination: A connection to another database, outside a transaction.
  ///   - pagesPerStep: How many pages are copied before `progress` is called, at least 1; nil for
  ///     all at once.
  ///   - progress: Called after each step with the number of remaining pages and the total. If it
  ///     returns false, the copy ends and the destination is unchanged.
  /// - Throws: ``SQLiteError``: ``ResultCode/abort`` if `progress` ended the copy;
  ///   ``ResultCode/busy`` or
  ///   ``ResultCode/locked`` if one of the databases was in use for longer than the busy timeout;
  ///   ``ResultCode/misuse`` for steps without a page.
  public func backup(
    to destination: Connection, pagesPerStep: Int? = nil,
    progress: (_ remaining: Int, _ total: Int) -> Bool = { _, _ in true }
  ) throws(SQLiteError) {
    let source = try open()
    let target = try destination.open()
    if let pagesPerStep, pagesPerStep < 1 {
      throw SQLiteError(
        code: .misuse,
        message: "backup(to:pagesPerStep:) was called with \(pagesPerStep) pages; copy at least 1",
        path: path)
    }
    guard let backup = sqlite3_backup_init(target, "main", source, "main") else {
      throw SQLiteError(
        result: sqlite3_errcode(target), database: target, path: destination.path)
    }
    var deadline = ContinuousClock.now + .milliseconds(max(0, busyTimeoutMilliseconds))
    var result = SQLITE_OK
    var isStopped = false
    steps: while !isStopped {
      result = sqlite3_backup_step(backup, Int32(clamping: pagesPerStep ?? -1))
      switch result {
      case SQLITE_OK, SQLITE_DONE:
        deadline = .now + .milliseconds(max(0, busyTimeoutMilliseconds))
        let goesOn = progress(
          Int(sqlite3_backup_remaining(backup)), Int(sqlite3_backup_pagecount(backup)))
        if result == SQLITE_DONE { break steps }
        isStopped = !goesOn
      case let code where code & 0xff == SQLITE_BUSY || code & 0xff == SQLITE_LOCKED:
        guard ContinuousClock.now < deadline else { break steps }
        sleep(milliseconds: 5)
      default:
        break steps
      }
    }
    let finish = sqlite3_backup_finish(backup)
    if isStopped {
      throw SQLiteError(
        code: .abort, message: "the backup was stopped by its progress callback", path: path)
    }
    // Only the step reports a lock that could not be taken; both report all other errors.
    let failure = result == SQLITE_DONE ? finish : result
    if failure != SQLITE_OK {
      throw SQLiteError(result: failure, database: target, path: destination.path)
    }
  }

  /// Copies the database into a file, which is created or overwritten. A file that is created gets
  /// the mode of the database's own, and is removed if the copy is not completed.
  ///
  /// See ``backup(to:pagesPerStep:progress:)-(Connection,_,_)``.
  public func backup(
    to path: String, pagesPerStep: Int? = nil,
    progress: (_ remaining: Int, _ total: Int) -> Bool = { _, _ in true }
  ) throws(SQLiteError) {
    // A database in memory has no rights to give, and SQLite creates the file.
    let isNew = createFile(path) || access(path, F_OK) != 0
    do throws(SQLiteError) {
      let destination = try Connection(path: path, busyTimeoutMilliseconds: busyTimeoutMilliseconds)
      try backup(to: destination, pagesPerStep: pagesPerStep, progress: progress)
      try destination.close()
    } catch {
      if isNew { for suffix in ["", "-journal"] { unlink(path + suffix) } }
      throw error
    }
  }

  /// Blocks this thread.
  func sleep(milliseconds: Int32) {
    _ = sqlite3_sleep(milliseconds)
  }
}
