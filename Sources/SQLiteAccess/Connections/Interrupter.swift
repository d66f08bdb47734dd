// Interrupting a connection from elsewhere.
//
// SQLite allows this one call from other threads, as long as the connection is open. The lock here
// makes sure of that: closing takes the handle away under it.

import CSQLite
import Platform

/// Stops what a connection is doing, from any thread.
///
/// Unlike the connection it may be shared and kept; after the connection was closed it does
/// nothing.
public final class Interrupter: Sendable {
  // The address of the handle, 0 after closing. A number, because a pointer cannot be sent.
  private let address: Mutex<UInt>

  init(_ database: OpaquePointer) {
    address = Mutex(UInt(bitPattern: database))
  }

  /// Makes the statements that run on the connection now fail with ``ResultCode/interrupt``.
  ///
  /// A writing statement's changes are undone, and with them, usually, its whole transaction. With
  /// no statement running nothing happens.
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
  /// What other threads may use to stop the statements of this connection.
  public var interrupter: Interrupter { interruption }

  /// Makes the statements that run on the connection fail with ``ResultCode/interrupt``.
  ///
  /// From a function or a progress callback on the same thread; others use ``interrupter``.
  public func interrupt() {
    interruption.interrupt()
  }
}
