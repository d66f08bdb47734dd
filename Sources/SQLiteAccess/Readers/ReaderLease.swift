// A reader that is held for longer than a call, for a snapshot for example.

/// A reader held for longer than a call. It returns to its pool with ``end()``, or when the lease
/// is released.
///
/// One thread uses it at a time.
public final class ReaderLease {
  private var reader: PooledReader?
  private let pool: ReaderPool

  init(_ reader: PooledReader, pool: ReaderPool) {
    self.reader = reader
    self.pool = pool
  }

  deinit {
    end()
  }

  /// The connection. Using it after ``end()`` is a programmer error.
  public var connection: Connection {
    guard let reader else { preconditionFailure("a ReaderLease was used after end()") }
    return reader.connection
  }

  /// Returns the reader to its pool. A second call does nothing.
  public func end() {
    guard let reader else { return }
    self.reader = nil
    pool.checkIn(reader)
  }
}
