// A prepared statement, in use by one holder.
//
// What is kept true:
//
//  - The handle is valid as long as the object lives: a statement keeps its connection, and a
//    connection refuses to close while statements are held.
//  - When the object goes away the statement is reset, loses its bindings and returns to the cache.
//    So a dropped statement never holds a lock, and nothing has to be called at the end.
//
// Stepping, reading columns and binding are inlined into the caller, where they cost what the C
// calls cost. What fails is out of line.

public import CSQLite

/// A prepared SQL statement.
///
/// Ask a connection for it with ``Connection/statement(_:)``, bind values to its parameters, step
/// through its rows, and reset it to run it again. It returns to the connection's cache by itself
/// when it is no longer held; hold it for as long as you like, a loop that keeps one pays nothing
/// but SQLite's own calls.
///
///     let query = try connection.statement("SELECT name, age FROM person WHERE age > ?")
///     try query.bind(1, 30 as Int64)
///     while try query.step() {
///       print(query.string(0) ?? "", query.int64(1))
///     }
///
/// Parameters are counted from 1 and columns from 0, as in SQLite. A statement belongs to its
/// connection and is used where that is used, by one thread at a time.
///
/// Statements made of the same SQL are distinct: holding one and asking for another gives two.
public final class Statement {
  @usableFromInline let handle: OpaquePointer
  private let slot: StatementSlot
  /// The connection that prepared the statement. It stays open as long as the statement is held.
  public let connection: Connection

  init(slot: StatementSlot, connection: Connection) {
    self.handle = slot.handle
    self.slot = slot
    self.connection = connection
  }

  deinit {
    connection.statements.giveBack(slot)
  }

  // MARK: Running

  /// Goes to the next row.
  ///
  /// After false was returned, or an error thrown, the statement is at its end and holds no lock;
  /// stepping again would run it anew.
  ///
  /// - Returns: True if there is a row whose columns can be read now; false at the end.
  /// - Throws: ``SQLiteError`` with what SQLite reports: busy, a violated constraint, a damaged
  ///   file.
  @inlinable
  public func step() throws(SQLiteError) -> Bool {
    let result = sqlite3_step(handle)
    if result == SQLITE_ROW { return true }
    if result == SQLITE_DONE { return false }
    throw failure(result)
  }

  /// Runs the statement to its end, ignoring any rows, and resets it.
  ///
  /// The bindings stay.
  @inlinable
  public func run() throws(SQLiteError) {
    var result = sqlite3_step(handle)
    while result == SQLITE_ROW { result = sqlite3_step(handle) }
    if result != SQLITE_DONE { throw failureAndReset(result) }
    _ = sqlite3_reset(handle)
  }

  /// Makes the statement ready to run again, and gives up its locks. The bindings stay.
  ///
  /// A failure of the last step was thrown by that step and is not thrown again.
  @inlinable
  public func reset() {
    _ = sqlite3_reset(handle)
  }

  @usableFromInline @inline(never)
  func failure(_ result: Int32) -> SQLiteError {
    SQLiteError(
      result: result, database: sqlite3_db_handle(handle), sql: slot.sql, path: connection.path)
  }

  @usableFromInline @inline(never)
  func failureAndReset(_ result: Int32) -> SQLiteError {
    let error = failure(result)
    _ = sqlite3_reset(handle)
    return error
  }

  // MARK: Facts

  /// The SQL the statement was prepared from.
  public var sql: String { slot.sql }

  /// The SQL with the values that are bound now, for people to read.
  public var expandedSQL: String {
    guard let text = sqlite3_expanded_sql(handle) else { return slot.sql }
    defer { sqlite3_free(text) }
    return String(cString: text)
  }

  /// How many parameters there are; the largest number if they are numbered.
  public var parameterCount: Int { Int(sqlite3_bind_parameter_count(handle)) }

  /// The number of the parameter called `name`, its `:`, `@` or `$` included, or nil.
  public func parameterIndex(_ name: String) -> Int? {
    let index = sqlite3_bind_parameter_index(handle, name)
    return index == 0 ? nil : Int(index)
  }

  /// How many columns the result has; 0 if the statement gives no rows.
  public var columnCount: Int { Int(sqlite3_column_count(handle)) }

  /// The names of the result's columns.
  public var columnNames: [String] {
    (0..<sqlite3_column_count(handle)).map { column in
      sqlite3_column_name(handle, column).map { String(cString: $0) } ?? ""
    }
  }

  /// Whether the statement leaves the database file as it is.
  public var isReadOnly: Bool { sqlite3_stmt_readonly(handle) != 0 }

  /// Whether the statement was stepped and has not come to its end since.
  public var isRunning: Bool { sqlite3_stmt_busy(handle) != 0 }
}
