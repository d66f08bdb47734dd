// What a pool says about itself, and checkpoints beside its readers.

import Platform

extension ReaderPool {
  // MARK: Checkpoints

  /// Checkpoints the write-ahead log on the writing connection; see
  /// ``Connection/checkpoint(_:timeoutMilliseconds:)``.
  ///
  /// A lock that the pool holds between reads does not delay the checkpoint. Readers in use do.
  public func checkpoint(
    _ writer: Connection, _ mode: Connection.CheckpointMode, timeoutMilliseconds: Int? = nil
  ) throws(SQLiteError) -> CheckpointResult {
    guard let readLock else {
      return try writer.checkpoint(mode, timeoutMilliseconds: timeoutMilliseconds)
    }
    return try readLock.withoutLock { () throws(SQLiteError) in
      try writer.checkpoint(mode, timeoutMilliseconds: timeoutMilliseconds)
    }
  }

  // MARK: Facts

  /// How many readers are open, including idle ones.
  public var openCount: Int { state.withLock { $0.all.count } }

  /// How many readers are idle.
  public var idleCount: Int { state.withLock { $0.idle.count } }

  /// How many threads are waiting for a reader.
  public var waitingCount: Int { state.withLock { $0.queue.count } }
}
