// WriteSession: a connection that writes, from transaction to transaction.
//
// The holder of a write lease uses it, one at a time. A connection that dies between transactions
// is replaced; one that dies during COMMIT, too, and the ledger then tells what was committed.

import Dflat
import Platform

final class WriteSession: Sendable {
  private struct State {
    /// The way to the server.
    enum Link {
      /// The next transaction connects.
      case none
      case connected(Connection)
      /// The workspace was shut down.
      case closed
    }

    /// What is known of the last transaction that tried to commit.
    enum Outcome {
      /// The server has answered, or no transaction has tried.
      case answered
      /// The server is being asked to commit it.
      case committing
      /// The server could not be reached before it answered.
      case unknown
      /// It was looked up in the ledger, since the server had not answered.
      case lookedUp(isCommitted: Bool)
    }

    var link = Link.none
    /// The number of the last transaction that tried to commit.
    var number: Int64 = 0
    /// The number of the last one of which the server has said that it is committed.
    var committed: Int64 = 0
    var outcome = Outcome.answered
    /// Whether the caller was told that the outcome is unknown.
    var isReported = false
    /// How many of the next transactions await the reply to each statement.
    var awaiting = 0

    var isUnresolved: Bool { if case .unknown = outcome { true } else { false } }

    var wasCommitted: Bool {
      if case .lookedUp(let isCommitted) = outcome { isCommitted } else { false }
    }

    /// Keeps a new connection, unless the workspace was shut down meanwhile.
    mutating func keep(_ connection: Connection) {
      if case .closed = link { return }
      link = .connected(connection)
    }
  }

  /// The place of the session in its workspace.
  let number: Int
  let ledger: CommitLedger
  private let own: OwnEntries
  private let connector: Connector
  private let system: SystemSQL
  private let notifier: ChangeNotifier
  let events: EventRecorder
  private let standbys: StandbyReads?
  /// How many entries the log keeps.
  private let logLength: Int
  private let state = Mutex(State())
  /// Held while the outcome of a transaction is looked up: only once, since a later look would stop
  /// a later transaction.
  private let resolving = Mutex(())

  init(
    _ connector: Connector, _ system: SystemSQL, _ notifier: ChangeNotifier,
    _ events: EventRecorder, _ standbys: StandbyReads?, workspace: String, _ own: OwnEntries,
    number: Int, logLength: Int
  ) {
    self.standbys = standbys
    self.notifier = notifier
    self.events = events
    self.number = number
    self.own = own
    ledger = CommitLedger(workspace, writer: number, system)
    self.connector = connector
    self.system = system
    self.logLength = logLength
  }

  /// The number of the last transaction that was committed or tried to, 0 if there is none; nil
  /// while one is being committed. Those after each other write to the same row of the ledger.
  var lastCommit: Int64? {
    state.withLock { state in
      switch (state.link, state.outcome) {
      case (.closed, _), (_, .committing), (_, .unknown): nil
      case (_, .answered), (_, .lookedUp): state.number
      }
    }
  }

  /// Called after an error that any of several transactions may have caused. The next ones await
  /// the reply to each statement, so each of them gets its own error.
  /// - Parameter count: For how many transactions of the server.
  func awaitEachReply(for count: Int) {
    state.withLock { $0.awaiting = max($0.awaiting, count) }
  }

  /// Called when a transaction begins, and counts it.
  /// - Returns: Whether it awaits the reply to each statement.
  func nextAwaitsEachReply() -> Bool {
    state.withLock { state in
      if state.awaiting == 0 { return false }
      state.awaiting -= 1
      return true
    }
  }

  /// Begins a transaction.
  /// - Parameter withPrecedence: Whether others wait for it, if possible: see `Precedence`.
  func begin(for engine: PostgresEngine, withPrecedence: Bool) throws -> PostgresWriter {
    if withPrecedence, let writer = try beginFirst(for: engine) { return writer }
    for isLast in [false, true] {
      let connection = try openConnection()
      do throws(PostgresError) {
        let shownBefore = engine.shownCount
        // Its answers come with that of the first statement.
        let beginning = try PipelinedBegin(.writing(system.precedence), engine, connection)
        events.note(.began(hasPrecedence: false))
        return PostgresWriter(engine, self, connection, beginning, shownBefore)
      } catch {
        drop(connection)
        if isLast || !error.isConnectionLost { throw StorageError(error, isWriting: true) }
      }
    }
    preconditionFailure("the loop ends by returning or throwing")
  }

  /// Begins a transaction on another connection, after the first one was lost before the server has
  /// answered that it has begun.
  /// - Returns: nil if there is no connection. The error of the first one says why.
  func beginAgain(
    for engine: PostgresEngine, insteadOf lost: Connection
  ) -> (connection: Connection, beginning: PipelinedBegin)? {
    drop(lost)
    guard let connection = try? openConnection() else { return nil }
    do throws(PostgresError) {
      return (connection, try PipelinedBegin(.writing(system.precedence), engine, connection))
    } catch {
      drop(connection)
      return nil
    }
  }

  /// Begins a transaction that others wait for.
  /// - Returns: nil if a transaction of another one takes too long, or the connection was lost.
  private func beginFirst(for engine: PostgresEngine) throws -> PostgresWriter? {
    let connection = try openConnection()
    do {
      // All others would wait behind this one, and each that loses would make them wait again.
      var writers = engine.writers.withLock { $0 }
      let oldest = try writers.look(connection)
      engine.writers.withLock { [writers] in $0 = writers }
      if oldest.atLeast > Precedence.longest { return nil }
      let shownBefore = engine.shownCount
      let beginning = try PipelinedBegin(engine.first, engine, connection)
      // It waits for its turn here.
      _ = try beginning.marks()
      events.note(.began(hasPrecedence: true))
      return PostgresWriter(engine, self, connection, beginning, shownBefore)
    } catch {
      if error.isTimeout { rollback(connection) } else { drop(connection) }
      if error.isTimeout || error.isConnectionLost { return nil }
      throw StorageError(error, isWriting: true)
    }
  }

  private func openConnection() throws -> Connection {
    let known = try state.withLock { state throws -> Connection? in
      switch state.link {
      case .none: return nil
      case .connected(let connection): return connection
      case .closed: throw StorageError(.closed, message: "the workspace was shut down")
      }
    }
    if let known, known.isIdle, !known.hasEnded, connector.isCurrent(known) { return known }
    // One that the server ends while it is made has done nothing: `write` tries again.
    let connection = try withStorageErrors(isWriting: true) { try connector.connect(.writing) }
    state.withLock { $0.keep(connection) }
    return connection
  }

  /// Whether the outcome of the last transaction is unknown.
  var isUnresolved: Bool { state.withLock { $0.isUnresolved } }

  /// Finds out what became of the last transaction, if that is unknown. It cannot be committed
  /// later.
  /// - Returns: Whether the transaction that was looked up last is committed.
  @discardableResult
  func resolve() throws -> Bool {
    guard isUnresolved else { return state.withLock { $0.wasCommitted } }
    return try resolving.withLock { _ in
      let (isUnresolved, number) = state.withLock { ($0.isUnresolved, $0.number) }
      var isLate = false
      if isUnresolved {
        let connection = try connector.connect(.writing)
        let isCommitted = try ledger.isCommitted(number, system, connection)
        state.withLock {
          $0.keep(connection)
          isLate = isCommitted && $0.isReported
          $0.isReported = false
          $0.outcome = .lookedUp(isCommitted: isCommitted)
        }
      }
      // Its observers and those of others do not know of it.
      if isLate {
        own.readAgain()
        notifier.note()
      }
      return state.withLock { $0.wasCommitted }
    }
  }

  /// Gives a connection up. The server rolls back what was not committed. A new connection may have
  /// taken its place already.
  private func drop(_ old: Connection) {
    state.withLock {
      if case .connected(let connection) = $0.link, connection === old { $0.link = .none }
    }
  }

  /// Throws if the server of an open transaction was left behind by a failover.
  func requireCurrentServer(_ connection: Connection) throws {
    if connection.isUsable, !connector.isCurrent(connection) { throw StorageError.leftBehind }
  }

  /// Commits the transaction that is open on the connection.
  /// - Parameters:
  ///   - changes: What it has changed.
  ///   - tables: Those whose schemas are kept, in the same message.
  /// - Throws: `StorageError`; then nothing was committed, unless its cause is `unknownOutcome`.
  func commit(
    _ connection: Connection, _ changes: ChangedRows, keeping tables: [EntityTable]
  ) throws {
    let (number, last) = state.withLock { state in
      state.number += 1
      state.outcome = .committing
      return (state.number, state.committed)
    }
    defer { state.withLock { if case .committing = $0.outcome { $0.outcome = .answered } } }
    let start = ContinuousClock.now
    do throws(PostgresError) {
      let log = try system.log.append(changes, by: own.name, connection)
      var isHeard = false
      var position: WALPosition?
      // The position comes first: it is answered also if the schemas cannot be written.
      let behind =
        [
          standbys.map { _ in StandbyReads.selectPosition },
          system.kept.writing(tables.map(\.schema)),
        ]
        .compactMap(\.self)
      try connection.commit(
        log + ledger.commit(number, connection), { isHeard = $0.text(0, 0) == "t" },
        then: behind.isEmpty ? nil : behind.joined(separator: "; ")
      ) { rows in
        position = UInt64(rows.text(0, 0)).map {
          WALPosition(timeline: connection.own.server?.timeline, lsn: $0)
        }
      }
      standbys?.noteCommit(position)
      state.withLock { $0.committed = number }
      events.note(.committed(ContinuousClock.now - start))
      if isHeard { notifier.note() }
      tidyUp(after: number, last, connection)
    } catch {
      if !error.isUnknownOutcome { throw StorageError(error, isWriting: true) }
      drop(connection)
      if try !wasCommitted(error) { throw StorageError(error, isWriting: true) }
      standbys?.noteCommit(nil)
      events.note(.committed(ContinuousClock.now - start))
      notifier.note()
    }
  }

  /// Removes old entries of the log and of the ledger, now and then.
  /// - Parameter last: The number of the commit before.
  private func tidyUp(after number: Int64, _ last: Int64, _ connection: Connection) {
    let interval = Int64(max(1, min(256, logLength / 4)))
    var statements: [String] = []
    if let removal = ledger.removal(of: last, after: number) { statements.append(removal) }
    // Also after the first commit: a program may end before it has made many.
    if number == 1 || number % interval == 0 {
      let isThorough = number == 1 || number % (64 * interval) == 0
      statements.append(system.log.cut(to: logLength, isThorough: isThorough))
    }
    // Only to save room: if it is not possible now, a later commit does it. One by one, so that the
    // failure of one does not keep the other from being done.
    for statement in statements {
      do { try connection.execute(statement) } catch { rollback(connection) }
    }
  }

  /// Whether a transaction whose COMMIT was not answered is committed.
  private func wasCommitted(_ lost: PostgresError) throws -> Bool {
    state.withLock { $0.outcome = .unknown }
    let start = MonotonicTime.now
    while true {
      do { return try resolve() } catch {
        let isEnded = (error as? PostgresError)?.isUnknownOutcome == true
        if isEnded, MonotonicTime.now - start < connector.patience {
          usleep(20_000)
          continue
        }
        state.withLock { $0.isReported = $0.isUnresolved }
        own.forget()
        events.note(.outcomeUnknown)
        throw StorageError(
          .unknownOutcome,
          message: "the connection was lost before the server answered COMMIT, and the server "
            + "cannot be reached to ask: it is not known whether the transaction is stored",
          details: "\(lost); then: \(error)", underlying: lost,
          advice: "once the server is back, read what the transaction would have changed, and run "
            + "it again only if that is missing")
      }
    }
  }

  /// Rolls the open transaction back.
  func rollback(_ connection: Connection) {
    do { try connection.rollback() } catch { drop(connection) }
  }

  func close() {
    let old = state.withLock { state in
      defer { state.link = .closed }
      return state.link
    }
    // A connection is closed outside of the lock.
    withExtendedLifetime(old) {}
  }
}
