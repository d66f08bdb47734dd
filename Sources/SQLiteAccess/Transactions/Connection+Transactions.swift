// Transactions and savepoints.
//
// The statements that begin and end transactions are prepared once per connection and kept outside
// the cache, so that other SQL cannot evict them.

import CSQLite

/// The statements that stay prepared as long as the connection is open.
enum PermanentStatement: Int, CaseIterable {
  case beginDeferred, beginImmediate, beginExclusive, commit, rollback, dataVersion, schemaVersion
  case beginNested, commitNested, rollbackNested

  var sql: String {
    switch self {
    case .beginDeferred: "BEGIN DEFERRED"
    case .beginImmediate: "BEGIN IMMEDIATE"
    case .beginExclusive: "BEGIN EXCLUSIVE"
    case .commit: "COMMIT"
    case .rollback: "ROLLBACK"
    case .dataVersion: "PRAGMA main.data_version"
    case .schemaVersion: "PRAGMA main.schema_version"
    case .beginNested: "SAVEPOINT \"nested transaction\""
    case .commitNested: "RELEASE \"nested transaction\""
    case .rollbackNested: "ROLLBACK TO \"nested transaction\""
    }
  }
}

extension Connection {
  /// When a transaction takes its locks.
  public enum TransactionKind: Hashable, Sendable {
    /// At the first statement: a read view at the first read, the write lock at the first write.
    case deferred
    /// The write lock at the start.
    case immediate
    /// As ``immediate``; outside WAL mode it also blocks readers.
    case exclusive
  }

  /// Begins a transaction.
  ///
  /// - Throws: ``SQLiteError``: ``ResultCode/busy`` if another connection holds the write lock for
  ///   longer than the busy timeout; ``ResultCode/error`` inside a transaction.
  public func begin(_ kind: TransactionKind = .deferred) throws(SQLiteError) {
    switch kind {
    case .deferred: try runKept(.beginDeferred)
    case .immediate: try runKept(.beginImmediate)
    case .exclusive: try runKept(.beginExclusive)
    }
  }

  /// Commits the transaction.
  ///
  /// - Throws: ``SQLiteError``. Check ``isInTransaction`` afterwards: if it is still true, the
  ///   commit can be retried or rolled back; if not, SQLite has already rolled back.
  public func commit() throws(SQLiteError) {
    try runKept(.commit)
  }

  /// Rolls the transaction back.
  ///
  /// It does nothing if there is none, because SQLite has already rolled back after an error.
  public func rollback() throws(SQLiteError) {
    _ = try open()
    guard isInTransaction else { return }
    try runKept(.rollback)
  }

  /// Runs `body` in a transaction: committed when it returns, rolled back when it throws.
  ///
  /// Transactions nest: inside another one this is a savepoint. What it changed is undone when
  /// `body` throws, and the outer transaction can go on; it is stored when the outer one commits.
  ///
  /// After some errors SQLite rolls back by itself: a conflict with `ON CONFLICT ROLLBACK`, an
  /// interruption, a full disk. What follows in `body` would not belong to the transaction, so each
  /// statement throws ``ResultCode/abort``, and so does this call, even if `body` catches that.
  ///
  /// - Parameters:
  ///   - kind: When the locks are taken. An inner transaction has those of the outermost one.
  ///   - body: The work. It may begin further transactions with this function.
  /// - Throws: The error of `body`, or ``SQLiteError`` if the transaction cannot begin or commit;
  ///   it is then rolled back. ``ResultCode/abort`` if it was rolled back inside `body`.
  public func transaction<R>(
    _ kind: TransactionKind = .immediate, _ body: () throws -> R
  ) throws -> R {
    _ = try open()
    let isNested = isInTransaction
    if hasLostTransaction { throw lostTransaction(nil) }
    if isNested { try runKept(.beginNested) } else { try begin(kind) }
    transactionDepth += 1
    defer { transactionDepth -= 1 }
    do {
      let result = try body()
      if isNested { try runKept(.commitNested) } else { try commit() }
      return result
    } catch {
      try undo(after: error) { () throws(SQLiteError) in
        guard isNested else { return try rollback() }
        try runKept(.rollbackNested)
        try runKept(.commitNested)
      }
      throw error
    }
  }

  /// Whether a closure of `transaction` or `withSavepoint` goes on although its transaction has
  /// ended: each statement would be a transaction by itself.
  @inlinable
  var hasLostTransaction: Bool { transactionDepth > 0 && !isInTransaction }

  /// The error for a statement that would not belong to its transaction.
  func lostTransaction(_ sql: String?) -> SQLiteError {
    SQLiteError(
      code: .abort,
      message:
        "the transaction around this has ended, because SQLite rolls back after some errors; "
        + "leave the closure of the transaction before you go on", sql: sql, path: path)
  }

  /// Runs `rollback`, unless SQLite has already rolled back everything; names `error` if it fails.
  private func undo(
    after error: any Error, _ rollback: () throws(SQLiteError) -> Void
  ) throws(SQLiteError) {
    guard isInTransaction else { return }
    do {
      try rollback()
    } catch let second {
      throw SQLiteError(
        code: second.code, extendedCode: second.extendedCode,
        message: "\(second.message), when rolling back after: \(error)", sql: second.sql,
        path: second.path)
    }
  }

  // MARK: Savepoints

  /// Begins a savepoint, inside a transaction or as its outermost part.
  ///
  /// Savepoints nest. Names need not be unique; the innermost with a name is used. Code that uses a
  /// savepoint very often may hold ``statement(_:)``s of the same SQL instead.
  public func savepoint(_ name: String) throws(SQLiteError) {
    try statement("SAVEPOINT " + Self.quoted(name)).run()
  }

  /// Ends the savepoint and those inside it, keeping the changes.
  public func release(savepoint name: String) throws(SQLiteError) {
    try statement("RELEASE " + Self.quoted(name)).run()
  }

  /// Undoes the changes since the savepoint began. The savepoint stays: release it, too.
  public func rollback(to name: String) throws(SQLiteError) {
    try statement("ROLLBACK TO " + Self.quoted(name)).run()
  }

  /// Runs `body` in a savepoint: kept when it returns, undone when it throws.
  ///
  /// ``transaction(_:_:)`` does the same inside a transaction, without a name.
  ///
  /// - Throws: The error of `body`, or ``SQLiteError``; as in ``transaction(_:_:)``,
  ///   ``ResultCode/abort`` after SQLite has rolled back everything.
  public func withSavepoint<R>(_ name: String, _ body: () throws -> R) throws -> R {
    try savepoint(name)
    transactionDepth += 1
    defer { transactionDepth -= 1 }
    do {
      let result = try body()
      try release(savepoint: name)
      return result
    } catch {
      // After an error for which SQLite rolled back everything, the savepoint no longer exists.
      try undo(after: error) { () throws(SQLiteError) in
        try rollback(to: name)
        try release(savepoint: name)
      }
      throw error
    }
  }

  /// `name` as an SQL identifier, whatever characters it contains.
  public static func quoted(_ name: String) -> String { name.quoted(by: "\"") }

  // MARK: External changes

  /// A number that changes when another connection has committed a change to the database.
  ///
  /// Only compare values from the same connection. The connection's own changes do not change it,
  /// and it is constant inside a transaction. The call is not traced, so it may be made under a
  /// lock that the tracing closure takes as well.
  public func dataVersion() throws(SQLiteError) -> Int64 {
    traceBox?.isPaused = true
    defer { traceBox?.isPaused = false }
    return try number(.dataVersion)
  }

  /// A number that changes when any connection changes the database's schema: tables, indexes,
  /// triggers.
  ///
  /// Inside a transaction it belongs to the transaction's state.
  public func schemaVersion() throws(SQLiteError) -> Int64 { try number(.schemaVersion) }

  private func number(_ statement: PermanentStatement) throws(SQLiteError) -> Int64 {
    let handle = try kept(statement)
    defer { _ = sqlite3_reset(handle) }
    let result = sqlite3_step(handle)
    guard result == SQLITE_ROW else {
      throw explained(
        SQLiteError(result: result, database: database, sql: statement.sql, path: path))
    }
    return sqlite3_column_int64(handle, 0)
  }

  // MARK: Prepared statements

  private func kept(_ statement: PermanentStatement) throws(SQLiteError) -> OpaquePointer {
    if let handle = keptStatements[statement.rawValue] { return handle }
    let handle = try prepareOne(statement.sql)
    keptStatements[statement.rawValue] = handle
    return handle
  }

  private func runKept(_ statement: PermanentStatement) throws(SQLiteError) {
    let handle = try kept(statement)
    if hasLostTransaction { throw lostTransaction(statement.sql) }
    // The result of the reset repeats that of the step.
    defer { _ = sqlite3_reset(handle) }
    let result = sqlite3_step(handle)
    if result != SQLITE_DONE {
      throw explained(
        SQLiteError(result: result, database: database, sql: statement.sql, path: path))
    }
  }
}
