// Statements of a connection: prepared through the cache, or run at once.

import CSQLite

extension Connection {
  /// A prepared statement for `sql`.
  ///
  /// It comes from the connection's cache if an idle one is there, and goes back when it is no
  /// longer held. The cache keeps as many idle statements as its capacity says, the most recently
  /// used ones. So SQL with values in it fills the cache with what is never used again: bind
  /// values.
  ///
  /// - Parameter sql: Exactly one statement; comments around it are fine.
  /// - Throws: ``SQLiteError`` for faulty SQL, with the place in the message; with
  ///   ``ResultCode/misuse`` if there is no statement or more than one.
  public func statement(_ sql: String) throws(SQLiteError) -> Statement {
    Statement(slot: try slot(sql), connection: self)
  }

  /// A prepared statement for `sql`, as with ``statement(_:)``, for code that runs it very often
  /// and holds it no longer than a call.
  ///
  /// - Parameter sql: Exactly one statement.
  /// - Throws: As ``statement(_:)``.
  public func uniqueStatement(_ sql: String) throws(SQLiteError) -> UniqueStatement {
    UniqueStatement(slot: try slot(sql), connection: self)
  }

  private func slot(_ sql: String) throws(SQLiteError) -> StatementSlot {
    if let slot = statements.take(sql) { return slot }
    let slot = StatementSlot(handle: try prepareOne(sql), sql: sql)
    statements.add(slot)
    return slot
  }

  /// Calls `body` with a prepared statement, and takes it back into the cache afterwards.
  ///
  /// The same as holding the result of ``statement(_:)``, but it cannot be held by mistake.
  public func withStatement<R>(
    _ sql: String, _ body: (Statement) throws -> R
  ) throws -> R {
    try body(try statement(sql))
  }

  /// Runs one or many statements, ignoring the rows they give.
  ///
  /// Each runs to its end before the next is looked at, so later ones may use what earlier ones
  /// made. The first that fails ends it; what was done before stays done, unless a transaction is
  /// rolled back.
  ///
  /// - Throws: ``SQLiteError`` with the statement that failed.
  public func execute(_ sql: String) throws(SQLiteError) {
    let database = try open()
    try refuseNUL(sql)
    let path = self.path
    let failure = sql.withCString { start -> SQLiteError? in
      var rest: UnsafePointer<CChar>? = start
      while let statement = rest, statement[0] != 0 {
        var handle: OpaquePointer?
        var result = sqlite3_prepare_v3(database, statement, -1, 0, &handle, &rest)
        if result == SQLITE_OK {
          // Space and comments alone prepare to no statement.
          guard handle != nil else { continue }
          repeat { result = sqlite3_step(handle) } while result == SQLITE_ROW
        }
        defer { sqlite3_finalize(handle) }
        if result != SQLITE_DONE {
          let text = handle.map { String(cString: sqlite3_sql($0)) } ?? String(cString: statement)
          var error = SQLiteError(result: result, database: database, sql: text, path: path)
          error.sql = String(text.drop { $0.isWhitespace })
          return error
        }
      }
      return nil
    }
    if let failure { throw failure }
  }

  /// Runs one statement with values for its parameters, ignoring the rows it gives.
  public func execute(_ sql: String, _ values: [SQLValue]) throws(SQLiteError) {
    let statement = try statement(sql)
    try statement.bind(values)
    try statement.run()
  }

  /// The rows that a statement gives, copied. For tools and tests; see ``Statement`` for more
  /// speed.
  public func rows(
    _ sql: String, _ values: [SQLValue] = []
  ) throws(SQLiteError) -> [[SQLValue]] {
    let statement = try statement(sql)
    try statement.bind(values)
    var rows: [[SQLValue]] = []
    while try statement.step() { rows.append(statement.row()) }
    return rows
  }

  /// The first column of the first row that a statement gives; nil if there is no row.
  public func value(
    _ sql: String, _ values: [SQLValue] = []
  ) throws(SQLiteError) -> SQLValue? {
    let statement = try statement(sql)
    try statement.bind(values)
    return try statement.step() ? statement.value(0) : nil
  }

  // MARK: The cache

  /// How many idle statements the connection keeps ready. Lowering it finalises some.
  public var statementCacheCapacity: Int {
    get { statements.capacity }
    set { statements.setCapacity(newValue) }
  }

  /// What the statement cache holds and how it did so far.
  public var statementCacheStatistics: StatementCacheStatistics { statements.statistics }

  /// Finalises every idle statement, to give memory back.
  public func clearStatementCache() { statements.clear() }

  // MARK: Preparing

  /// Prepares exactly one statement, to be kept for long.
  func prepareOne(_ sql: String) throws(SQLiteError) -> OpaquePointer {
    let database = try open()
    try refuseNUL(sql)
    var first: OpaquePointer?
    var second: OpaquePointer?
    let result = sql.withCString { start in
      var rest: UnsafePointer<CChar>? = start
      var result = SQLITE_OK
      // Nothing may come before or after the statement but space and comments, which prepare to
      // none.
      while result == SQLITE_OK, first == nil, let next = rest, next[0] != 0 {
        result = sqlite3_prepare_v3(
          database, next, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &first, &rest)
      }
      while result == SQLITE_OK, second == nil, let next = rest, next[0] != 0 {
        result = sqlite3_prepare_v3(database, next, -1, 0, &second, &rest)
      }
      return result
    }
    if result == SQLITE_OK, second == nil, let first { return first }
    var error = SQLiteError(result: result, database: database, sql: sql, path: path)
    if result == SQLITE_OK {
      error = SQLiteError(
        code: .misuse,
        message: first == nil
          ? "there is no statement" : "there is more than one statement; use execute(_:)",
        sql: sql, path: path)
    }
    sqlite3_finalize(second)
    sqlite3_finalize(first)
    throw error
  }

  /// SQLite would take the first NUL for the end and ignore what follows.
  private func refuseNUL(_ sql: String) throws(SQLiteError) {
    if sql.utf8.contains(0) {
      throw SQLiteError(
        code: .misuse, message: "SQL must not contain NUL; bind the text instead", sql: sql,
        path: path)
    }
  }
}
