// Interrupting a connection from other threads.
//
// SQLite allows this one call from other threads as long as the connection is open. The lock here
// ensures that: closing removes the handle under it.

import CSQLite
import Platform

/// Interrupts the work of a connection, from any thread.
///
/// Unlike the connection it may be shared and kept; after the connection was closed it does
/// nothing.
public final class Interrupter: Sendable {
  // The address of the handle, 0 after closing. It is a number because a pointer is not `Sendable`.
  private let address: Mutex<UInt>

  init(_ database: OpaquePointer) {
    address = Mutex(UInt(bitPattern: database))
  }

  /// Makes the connection's running statements fail with ``ResultCode/interrupt``.
  ///
  /// The changes of a writing statement are undone, usually with its whole transaction. If no
  /// statement is running, nothing happens.
  public func interrupt() {
    address.withLock { address in
      if let database = OpaquePointer(bitPattern: address) { sqlite3_interrupt(database) }
    }
  }

  func disconnect() {
    address.withLock { $0 = 0 }
  }
}

extension Connection {
  /// An object with which other threads may interrupt this connection's statements.
  public var interrupter: Interrupter { interruption }

  /// Makes the connection's running statements fail with ``ResultCode/interrupt``.
  ///
  /// Call it from a function or a progress callback on the same thread; other threads use
  /// ``interrupter``.
  public func interrupt() {
    interruption.interrupt()
  }
}
