// A prepared statement without an object.
//
// The same as a `Statement`, for code that runs statements so often that making an object and
// counting references to it is measurable. It cannot be copied, so nothing is counted, and it
// returns to the cache when the scope of its owner ends.

/// A prepared SQL statement that cannot be copied. It costs SQLite's own calls and a look into the
/// cache.
///
/// Ask a connection for it with ``Connection/uniqueStatement(_:)``. It can do what a ``Statement``
/// can.
public struct UniqueStatement: ~Copyable, PreparedStatement {
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
