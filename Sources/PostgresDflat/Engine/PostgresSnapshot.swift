// PostgresSnapshot: one state of the data that stays readable until the snapshot is closed.

import Dflat
import Platform

/// Takes its state at the first read. It keeps a connection until it is closed.
///
/// That of a transaction can go on as its write transaction, except:
///
///  - Each connection of the workspace that is free to write has committed another one meanwhile:
///    both would write to the same row of the ledger.
///  - A table does not exist that it has read: see `PostgresView.noteMissing`.
final class PostgresSnapshot: ChangeRecordingSnapshot, WritableSnapshot {
  private let engine: PostgresEngine
  private let purpose: ReadPurpose
  private var view: PostgresView?
  /// Where its connection comes from.
  private var pool: ConnectionPool
  /// The workspace's last commits before the state, if the snapshot may go on as a write
  /// transaction.
  private var lastCommits: LastCommits?
  /// How often callers had been shown a state before this one.
  private var shownBefore = 0

  private var isInTransaction: Bool { purpose == .transaction }

  init(_ engine: PostgresEngine, _ purpose: ReadPurpose) {
    self.engine = engine
    self.purpose = purpose
    pool = engine.readers
  }

  func beginWriting() throws -> (any StorageWriter)? {
    guard let view, !view.hasMissedTable, view.connection.isInTransaction, let lastCommits,
      let session = engine.sessions.take(after: lastCommits)
    else { return nil }
    // The reads are a part of the transaction. It only waits for one with precedence.
    do { try view.connection.send(engine.system.precedence.share) } catch {
      engine.sessions.putBack(session)
      throw StorageError(error, isWriting: true)
    }
    self.view = nil
    engine.events.note(.began(hasPrecedence: false))
    return PostgresWriter(
      goingOnFrom: view, session, returningTo: engine.readers, shownBefore)
  }

  func read<R: ~Copyable>(_ body: (any StorageReader) throws -> R) throws -> R {
    try asking { try body($0) }
  }

  func recordedChanges(since point: ChangePoint?) throws -> RecordedChanges {
    let connection = try asking { view in
      try view.confirmMarks()
      return view.connection
    }
    // Nothing was ever stored.
    if !connection.isInTransaction { return RecordedChanges(to: ChangePoint(""), nil) }
    return try withStorageErrors {
      try engine.system.log.changes(
        since: point, except: engine.own.name, connection
      ) { engine.events.note($0) }
    }
  }

  /// The server forgets what a transaction has read if it is not committed. Then a later one could
  /// contradict it.
  func confirm() throws {
    guard let connection = view?.connection else { return }
    // Nothing was ever stored.
    if connection.isIdle { return }
    try withStorageErrors(isWriting: isInTransaction) { try connection.commit() }
  }

  func close() {
    guard let view else { return }
    self.view = nil
    // What a transaction has read counts if it never writes.
    if isInTransaction { engine.noteShownState() }
    // What was read counts for the server, although nothing depends on it.
    if view.connection.isInTransaction { _ = try? view.connection.execute("COMMIT") }
    pool.putBack(view.connection)
  }

  /// Asks the view a question.
  ///
  /// The transaction begins with the first one. If that fails since the connection has died in the
  /// pool, or the server refuses it, and the caller was given no row, it is asked again on another
  /// connection.
  private func asking<R: ~Copyable>(_ question: (PostgresView) throws -> R) throws -> R {
    if let view { return try question(view) }
    var attempts = 3
    while true {
      attempts -= 1
      var hasGivenRows = false
      do {
        return try withStorageErrors(isWriting: isInTransaction) {
          try begin(with: question, &hasGivenRows)
        }.get()
      } catch is StorageClosed {
        throw StorageError(.closed, message: "the workspace was shut down")
      } catch let error as StorageError {
        guard let cause = error.underlying as? PostgresError,
          cause.isConnectionLost || cause.isConflict, !hasGivenRows, attempts > 0
        else { throw error }
        pool.closeIdle()
        if pool !== engine.readers { engine.standbys?.noteFailure() }
      }
    }
  }

  /// Begins the transaction with a question.
  /// - Parameter hasGivenRows: Becomes whether the caller was given rows.
  /// - Returns: The answer, or its error if the transaction can go on.
  private func begin<R: ~Copyable>(
    with question: (PostgresView) throws -> R, _ hasGivenRows: inout Bool
  ) throws -> Result<R, any Error> {
    let isQuery = purpose == .query || purpose == .settledQuery
    let standby = isQuery ? try engine.takeStandby() : nil
    pool = standby == nil ? engine.readers : engine.standbys?.pool ?? engine.readers
    let connection = try standby ?? engine.readers.take()
    do {
      // A workspace that has committed something writes to a server that can be written.
      lastCommits = isInTransaction ? engine.sessions.lastCommits : nil
      // See `ChangeLog`.
      let isolation: PostgresEngine.Isolation =
        switch purpose {
        case .observation, .copying: .repeatableRead
        case .settledQuery: .settled
        case .transaction where lastCommits != nil: .writable
        case .transaction, .query, .iteration: .serializable
        }
      shownBefore = engine.shownCount
      let view: PostgresView
      if try engine.checkExistence(connection) {
        let beginning = try PipelinedBegin(isolation, engine, connection)
        view = PostgresView(engine, connection, beginning, isInTransaction: isInTransaction)
      } else {
        // Nothing was ever stored.
        view = PostgresView(
          engine, connection, marks: IndexMarks.none, isInTransaction: isInTransaction)
      }
      if !isInTransaction {
        try view.confirmMarks()
        if standby != nil {
          engine.noteStandbyRead()
        } else {
          engine.noteShownState()
          if isQuery { engine.primaryReads.add(1, ordering: .relaxed) }
        }
      }
      defer { hasGivenRows = view.hasGivenRows }
      do {
        let answer = try question(view)
        self.view = view
        return .success(answer)
      } catch {
        // For example, a damaged row was found. What follows sees the same state.
        guard connection.isInTransaction else { throw error }
        self.view = view
        return .failure(error)
      }
    } catch {
      pool.putBack(connection)
      throw error
    }
  }
}
