// Statements of a connection: prepared through the cache, or run at once.

import CSQLite

extension Connection {
  /// Returns a prepared statement for `sql`.
  ///
  /// An idle statement is taken from the connection's cache; it returns there when it is released.
  /// The cache keeps the most recently used idle statements, up to its capacity. SQL with literal
  /// values fills the cache with statements that are never used again: bind values instead.
  ///
  /// - Parameter sql: Exactly one statement; comments around it are fine.
  /// - Throws: ``SQLiteError`` for faulty SQL, with the position in the message; with
  ///   ``ResultCode/misuse`` if there is no statement or more than one.
  public func statement(_ sql: String) throws(SQLiteError) -> Statement {
    Statement(slot: try slot(sql), connection: self)
  }

  /// Returns a prepared statement for `sql`, like ``statement(_:)``, for frequent use within a
  /// call.
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

  /// Calls `body` with a prepared statement, which returns to the cache afterwards.
  ///
  /// Unlike the result of ``statement(_:)``, it cannot be kept by mistake.
  public func withStatement<R>(
    _ sql: String, _ body: (Statement) throws -> R
  ) throws -> R {
    try body(try statement(sql))
  }

  /// Runs one or more statements and ignores their rows.
  ///
  /// Each runs to its end before the next is prepared, so later ones may depend on earlier ones.
  /// The first failure ends the call; earlier changes remain, unless a transaction is rolled back.
  ///
  /// - Throws: ``SQLiteError`` with the statement that failed; ``ResultCode/range`` for one with
  ///   parameters, which have no values here; ``ResultCode/abort`` in the closure of a transaction
  ///   that SQLite has rolled back.
  public func execute(_ sql: String) throws(SQLiteError) {
    let database = try open()
    try refuseNUL(sql)
    let path = self.path
    let failure = sql.withCString { start -> SQLiteError? in
      var rest: UnsafePointer<CChar>? = start
      while let statement = rest, statement[0] != 0 {
        var handle: OpaquePointer?
        var result = sqlite3_prepare_v3(database, statement, -1, 0, &handle, &rest)
        defer { sqlite3_finalize(handle) }
        if result == SQLITE_OK {
          // Whitespace and comments alone yield no statement.
          guard let handle else { continue }
          if let error = refuseParameters(of: handle) { return error }
          if hasLostTransaction { return lostTransaction(String(cString: sqlite3_sql(handle))) }
          repeat { result = sqlite3_step(handle) } while result == SQLITE_ROW
        }
        if result != SQLITE_DONE {
          let text = handle.map { String(cString: sqlite3_sql($0)) } ?? String(cString: statement)
          var error = SQLiteError(result: result, database: database, sql: text, path: path)
          error.sql = String(text.drop { $0.isWhitespace })
          return error
        }
      }
      return nil
    }
    if let failure { throw explained(failure) }
  }

  /// Runs one statement with values for its parameters and ignores its rows.
  ///
  /// - Throws: ``SQLiteError``; ``ResultCode/range`` unless there is one value for each parameter.
  public func execute(_ sql: String, _ values: [SQLValue]) throws(SQLiteError) {
    let statement = try statement(sql)
    try statement.bind(values)
    try statement.run()
  }

  /// Runs one statement with values for its named parameters and ignores its rows.
  ///
  ///     try connection.execute("DELETE FROM note WHERE id = :id", [":id": 7])
  ///
  /// - Throws: ``SQLiteError``; ``ResultCode/range`` for a name that no parameter has, and for a
  ///   parameter without a value.
  public func execute(_ sql: String, _ values: [String: SQLValue]) throws(SQLiteError) {
    let statement = try statement(sql)
    try statement.bind(values)
    try statement.run()
  }

  /// The rows of a statement, copied. For tools and tests; ``Statement`` is faster.
  ///
  /// - Throws: ``SQLiteError``; ``ResultCode/range`` unless there is one value for each parameter.
  public func rows(
    _ sql: String, _ values: [SQLValue] = []
  ) throws(SQLiteError) -> [[SQLValue]] {
    let statement = try statement(sql)
    try statement.bind(values)
    return try statement.rows()
  }

  /// The first column of the statement's first row; nil if there is no row.
  ///
  /// - Throws: As ``rows(_:_:)``.
  public func value(
    _ sql: String, _ values: [SQLValue] = []
  ) throws(SQLiteError) -> SQLValue? {
    let statement = try statement(sql)
    try statement.bind(values)
    return try statement.step() ? statement.value(0) : nil
  }

  // MARK: The cache

  /// How many idle statements the connection caches. Lowering it finalises some.
  public var statementCacheCapacity: Int {
    get { statements.capacity }
    set { statements.setCapacity(newValue) }
  }

  /// The contents and hit counts of the statement cache.
  public var statementCacheStatistics: StatementCacheStatistics { statements.statistics }

  /// Finalises every idle statement, to free memory.
  public func clearStatementCache() { statements.clear() }

  // MARK: Preparing

  /// As often SQLite itself prepares a statement that runs again.
  private static let mostSchemaChanges = 50

  /// Prepares exactly one statement for long-term use.
  func prepareOne(_ sql: String) throws(SQLiteError) -> OpaquePointer {
    let database = try open()
    try refuseNUL(sql)
    var first: OpaquePointer?
    var second: OpaquePointer?
    let result = sql.withCString { start in
      var rest: UnsafePointer<CChar>? = start
      var result = SQLITE_OK
      // Before and after the statement only whitespace and comments are allowed, which yield no
      // statement.
      while result == SQLITE_OK, first == nil, let next = rest, next[0] != 0 {
        // SQLite tries once more if another connection has changed the schema. A virtual table,
        // which reads tables of its own meanwhile, can meet the next change then.
        var attempts = 0
        repeat {
          attempts += 1
          result = sqlite3_prepare_v3(
            database, next, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &first, &rest)
        } while result == SQLITE_SCHEMA && attempts < Self.mostSchemaChanges
      }
      while result == SQLITE_OK, second == nil, let next = rest, next[0] != 0 {
        result = sqlite3_prepare_v3(database, next, -1, 0, &second, &rest)
      }
      return result
    }
    if result == SQLITE_OK, second == nil, let first { return first }
    var error = SQLiteError(result: result, database: database, sql: sql, path: path)
    if result != SQLITE_OK {
      error = explained(error)
    } else {
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

  /// The error for a statement with parameters where no values can be given.
  private func refuseParameters(of statement: OpaquePointer) -> SQLiteError? {
    if sqlite3_bind_parameter_count(statement) == 0 { return nil }
    let sql = String(cString: sqlite3_sql(statement))
    let missing = _Parameters(of: statement, sql: sql).unboundNumbers.map { number in
      sqlite3_bind_parameter_name(statement, Int32(number)).map { String(cString: $0) }
        ?? "parameter \(number)"
    }
    return SQLiteError(
      code: .range,
      message: "no value is bound to \(missing.joined(separator: ", ")); "
        + "run this statement by itself, with execute(_:_:)",
      sql: String(sql.drop { $0.isWhitespace }), path: path)
  }

  /// SQLite would treat the first NUL as the end and ignore the rest.
  private func refuseNUL(_ sql: String) throws(SQLiteError) {
    if sql.utf8.contains(0) {
      throw SQLiteError(
        code: .misuse, message: "SQL must not contain NUL; bind the text instead", sql: sql,
        path: path)
    }
  }
}
