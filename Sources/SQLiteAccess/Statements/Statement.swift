// A prepared statement, in use by one holder.
//
// What is kept true:
//
//  - The handle is valid as long as the object lives: a statement keeps its connection, and a
//    connection refuses to close while statements are held.
//  - When the object goes away the statement is reset, loses its bindings and returns to the cache.
//    So a dropped statement never holds a lock, and nothing has to be called at the end.
//
// What statements can do is in PreparedStatement.swift. UniqueStatement.swift has a kind without an
// object.

import CSQLite

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
public final class Statement: PreparedStatement {
  /// SQLite's own handle, for this library.
  public let _handle: OpaquePointer
  private let slot: StatementSlot
  /// The connection that prepared the statement. It stays open as long as the statement is held.
  public let connection: Connection

  init(slot: StatementSlot, connection: Connection) {
    _handle = slot.handle
    self.slot = slot
    self.connection = connection
  }

  /// The SQL the statement was prepared from.
  public var sql: String { slot.sql }

  deinit {
    connection.statements.giveBack(slot)
  }
}
