// The operations of every kind of statement: bind, run, read columns.
//
// Stepping, reading columns and binding are inlined into the caller, where they cost the same as
// the C calls. Error paths are not inlined.

public import CSQLite

/// A prepared statement in use: a ``Statement`` or a ``UniqueStatement``.
public protocol PreparedStatement: ~Copyable {
  /// SQLite's own handle, for this library. It is valid as long as the statement is in use.
  var _handle: OpaquePointer { get }
  /// The parameters that have no value yet, for this library.
  var _parameters: UnsafeMutablePointer<_Parameters> { get }
  /// The connection that prepared the statement. It stays open as long as the statement is in use.
  var connection: Connection { get }
  /// The SQL the statement was prepared from.
  var sql: String { get }
}

extension PreparedStatement where Self: ~Copyable {
  // MARK: Running

  /// Advances to the next row.
  ///
  /// After it has returned false or thrown, the statement has ended and holds no lock. Stepping
  /// again would run it from the start.
  ///
  /// - Returns: True if there is a row whose columns can be read now; false at the end.
  /// - Throws: ``SQLiteError`` as reported by SQLite: busy, a violated constraint, a damaged file;
  ///   ``ResultCode/range`` if a parameter has no value; ``ResultCode/abort`` in the closure of a
  ///   transaction that SQLite has rolled back.
  @inlinable
  public func step() throws(SQLiteError) -> Bool {
    if _parameters.pointee.unbound != 0 { throw unbound() }
    if connection.hasLostTransaction { throw endWithoutTransaction() }
    let result = sqlite3_step(_handle)
    if result == SQLITE_ROW { return true }
    if result == SQLITE_DONE { return false }
    throw failure(result)
  }

  /// Runs the statement to its end, ignoring any rows, and resets it.
  ///
  /// The bindings stay.
  ///
  /// - Throws: As ``step()``.
  @inlinable
  public func run() throws(SQLiteError) {
    if _parameters.pointee.unbound != 0 { throw unbound() }
    if connection.hasLostTransaction { throw endWithoutTransaction() }
    var result = sqlite3_step(_handle)
    while result == SQLITE_ROW { result = sqlite3_step(_handle) }
    if result != SQLITE_DONE { throw failureAndReset(result) }
    _ = sqlite3_reset(_handle)
  }

  /// Makes the statement ready to run again, and releases its locks. The bindings stay.
  ///
  /// An error of the last step was thrown by that step and is not thrown again.
  @inlinable
  public func reset() {
    _ = sqlite3_reset(_handle)
  }

  @usableFromInline @inline(never)
  func failure(_ result: Int32) -> SQLiteError {
    connection.explained(
      SQLiteError(
        result: result, database: sqlite3_db_handle(_handle), sql: sql, path: connection.path))
  }

  @usableFromInline @inline(never)
  func failureAndReset(_ result: Int32) -> SQLiteError {
    let error = failure(result)
    _ = sqlite3_reset(_handle)
    return error
  }

  @usableFromInline @inline(never)
  func unbound() -> SQLiteError {
    let names = _parameters.pointee.unboundNumbers.map { name(ofParameter: $0) }
    return SQLiteError(
      code: .range,
      message: "no value is bound to \(names.joined(separator: ", ")); bind one, or NULL", sql: sql,
      path: connection.path)
  }

  /// Ends the statement, and says that it would not belong to its transaction.
  @usableFromInline @inline(never)
  func endWithoutTransaction() -> SQLiteError {
    _ = sqlite3_reset(_handle)
    return connection.lostTransaction(sql)
  }

  /// How a message calls a parameter.
  func name(ofParameter number: Int) -> String {
    sqlite3_bind_parameter_name(_handle, Int32(clamping: number)).map { String(cString: $0) }
      ?? "parameter \(number)"
  }

  // MARK: Facts

  /// The SQL with the bound values, for messages.
  public var expandedSQL: String {
    guard let text = sqlite3_expanded_sql(_handle) else { return sql }
    defer { sqlite3_free(text) }
    return String(cString: text)
  }

  /// How many parameters there are; the greatest number if they are numbered.
  public var parameterCount: Int { Int(sqlite3_bind_parameter_count(_handle)) }

  /// The number of the parameter `name`, which includes its `:`, `@` or `$`; nil if there is none.
  public func parameterIndex(_ name: String) -> Int? {
    let index = sqlite3_bind_parameter_index(_handle, name)
    return index == 0 ? nil : Int(index)
  }

  /// How many columns the result has; 0 if the statement returns no rows.
  public var columnCount: Int { Int(sqlite3_column_count(_handle)) }

  /// The names of the result's columns.
  public var columnNames: [String] {
    (0..<sqlite3_column_count(_handle)).map { column in
      sqlite3_column_name(_handle, column).map { String(cString: $0) } ?? ""
    }
  }

  /// Whether the statement does not change the database file.
  public var isReadOnly: Bool { sqlite3_stmt_readonly(_handle) != 0 }

  /// Whether the statement was stepped and has not ended since.
  public var isRunning: Bool { sqlite3_stmt_busy(_handle) != 0 }
}
