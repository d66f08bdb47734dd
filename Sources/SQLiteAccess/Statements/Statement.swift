// A prepared statement in use.
//
// Invariants:
//
//  - The handle is valid as long as the object lives: a statement retains its connection, and a
//    connection refuses to close while statements are in use.
//  - When the object is released, the statement is reset, loses its bindings and returns to the
//    cache. So a released statement never holds a lock, and needs no cleanup call.
//
// The operations are in PreparedStatement.swift. UniqueStatement.swift has a kind without an
// object.

import CSQLite

/// A prepared SQL statement.
///
/// Get it from a connection with ``Connection/statement(_:)``, bind values to its parameters, step
/// through its rows, and reset it to run it again. It returns to the connection's cache when it is
/// released. Hold it for as long as you like: a loop that keeps one only pays for SQLite's own
/// calls.
///
///     let query = try connection.statement("SELECT name, age FROM person WHERE age > ?")
///     try query.bind(1, 30 as Int64)
///     while try query.step() {
///       print(query.string(0) ?? "", query.int64(1))
///     }
///
/// Parameters are numbered from 1 and columns from 0, as in SQLite. A statement belongs to its
/// connection and follows the same rule: one thread at a time.
///
/// Requesting the same SQL while a statement is in use returns a second, separate statement.
public final class Statement: PreparedStatement {
  /// SQLite's own handle, for this library.
  public let _handle: OpaquePointer
  /// The parameters that have no value yet, for this library.
  public let _parameters: UnsafeMutablePointer<_Parameters>
  private let slot: StatementSlot
  /// The connection that prepared the statement. It stays open as long as the statement is in use.
  public let connection: Connection

  init(slot: StatementSlot, connection: Connection) {
    _handle = slot.handle
    _parameters = slot.parameters
    self.slot = slot
    self.connection = connection
  }

  /// The SQL the statement was prepared from.
  public var sql: String { slot.sql }

  deinit {
    connection.statements.checkIn(slot)
  }
}
