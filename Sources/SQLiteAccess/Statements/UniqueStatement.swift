// A prepared statement without an object.
//
// The same as a `Statement`, for code that runs statements so often that object creation and
// reference counting are measurable. It cannot be copied, so it needs no reference counting, and it
// returns to the cache when its owner's scope ends.

/// A prepared SQL statement that cannot be copied. It costs a cache lookup and SQLite's own calls.
///
/// Get it from a connection with ``Connection/uniqueStatement(_:)``. It offers the same operations
/// as a ``Statement``.
public struct UniqueStatement: ~Copyable, PreparedStatement {
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
