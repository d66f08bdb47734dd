// Reading single rows in a state that a pool keeps, beside one connection that writes: what the two sides tell the pool, and ask it.

/// A state of the file that a pool keeps for a while; see ``ReaderPool/withKeptState(_:)``.
public struct KeptState {
  /// The connection that has it. A statement of it must not be kept beyond the call.
  public let connection: Connection
  let commits: OwnCommits
  let base: WALIndex.Header
  let index: WALIndex

  /// Whether a row that was found in this state is what is stored now, as a reader that begins now would find it.
  ///
  /// False may also mean that it is not known. That a row was *not* found says nothing about now; see ``isNewest``.
  public func isCurrent(_ row: RowPlace) -> Bool {
    commits.isCurrent(row, since: base, index)
  }

  /// Whether this is the newest state, so that all that was found in it holds now, and what was not found is not there.
  public var isNewest: Bool { index.header == base }
}

extension ReaderPool {
  /// Reads a single row in a state that the pool keeps, if it keeps one and nobody else uses it.
  ///
  /// While reads follow each other closely, the pool keeps the state and the page cache of one connection between them, for some
  /// milliseconds. To read there is faster than to begin anew, and much faster beside a writer: SQLite empties the page cache of a reader
  /// that begins anew after each commit. But the state may be an old one. So look up one row by what is unique, ask
  /// ``KeptState/isCurrent(_:)`` before anything is made of it, and where it is not there or not current return nil, and use
  /// ``withReader(beyondLimit:_:)``:
  ///
  ///     let kept = pool.withKeptState { state in
  ///       try text(of: id, on: state.connection)
  ///         .flatMap { state.isCurrent(RowPlace(table: 1, id: id)) ? $0 : nil }
  ///     }
  ///     return try kept ?? pool.withReader { try text(of: id, on: $0) }
  ///
  /// Rows are current after commits only if who writes tells the pool what it changes, with ``committing(_:_:_:)``. After a commit of
  /// anybody else none is, until another state is kept.
  ///
  /// - Parameter body: Runs on this thread. If it calls this again it gets nil. What it throws counts as nil.
  /// - Returns: What `body` returns; nil also if no state is kept.
  public func withKeptState<R>(_ body: (KeptState) throws -> R?) -> R? {
    anchor?.read(body)
  }

  /// Calls `commit`, which commits the transaction of the connection that writes; see ``withKeptState(_:)``.
  ///
  /// - Parameters:
  ///   - rows: All rows that the transaction has replaced or deleted.
  ///   - writer: A connection to the pool's file. There may be others, but one at a time commits here.
  ///   - commit: Commits, and does nothing else with the connection.
  /// - Throws: What `commit` throws.
  public func committing<E: Error>(
    _ rows: ChangedRows, _ writer: Connection, _ commit: () throws(E) -> Void
  ) throws(E) {
    guard let anchor, let index = WALIndex(of: writer) else { return try commit() }
    ownCommits.willCommit(rows, writer, index)
    defer {
      ownCommits.didCommit(writer, index)
      anchor.noteCommit()
    }
    try commit()
  }

  /// Whether nobody has committed anything since the last ``committing(_:_:_:)``, at a moment of
  /// the call. It costs no call of the system.
  ///
  /// False may also mean that it is not known: then ``Connection/dataVersion()`` tells.
  ///
  /// - Parameter writer: The connection that writes, outside of `committing`.
  public func isLastCommit(of writer: Connection) -> Bool {
    guard let index = WALIndex(of: writer) else { return false }
    return ownCommits.areAll(index)
  }

  /// Checkpoints on the connection that writes; see ``Connection/checkpoint(_:timeoutMilliseconds:beforeWaiting:)``.
  ///
  /// What the pool keeps between reads is not in the way. Readers that are in use are.
  public func checkpoint(
    _ writer: Connection, _ mode: Connection.CheckpointMode, timeoutMilliseconds: Int? = nil
  ) throws(SQLiteError) -> CheckpointResult {
    guard let anchor else {
      return try writer.checkpoint(mode, timeoutMilliseconds: timeoutMilliseconds)
    }
    return try anchor.beside { letGo throws(SQLiteError) in
      try writer.checkpoint(
        mode, timeoutMilliseconds: timeoutMilliseconds, beforeWaiting: letGo)
    }
  }

  /// Says that there is a newer state, and nothing of what was changed. For tests.
  package func noteCommit() { anchor?.noteCommit() }

  /// Makes states be kept for other times than usual. For tests.
  package func keepStates(forMilliseconds time: Int) {
    anchor?.keepStates(forMilliseconds: time)
  }
}
