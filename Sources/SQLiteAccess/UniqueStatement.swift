// A prepared statement without an object.
//
// The same as a `Statement`, for code that runs statements so often that making an object and counting references to it
// shows: it cannot be copied, so its holder is known without counting. It returns to the cache when its holder's scope ends.

/// A prepared SQL statement that cannot be copied, and costs nothing beside SQLite's own calls and a look into the cache.
///
/// Ask a connection for it with ``Connection/uniqueStatement(_:)``. It can do what a ``Statement`` can.
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
