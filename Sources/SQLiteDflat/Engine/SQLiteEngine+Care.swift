// Turns of care: when the log is moved and free pages are given back. What is done in one is in `FileCare`.
//
//  - A turn comes soon after a commit that has made the log long, at the latest before the next transaction, and from time to
//    time as long as there may be something to do.
//  - In a turn the writing connection is used under the lock of the writer's state, and only while no transaction is open on it. A
//    transaction that wants to begin waits for the turn, so turns are short.
//  - What happened is told outside of the lock, in the order of the turns.

import Dflat
import Dispatch
import SQLiteAccess
import Platform

extension SQLiteEngine {
  /// When turns come.
  struct Turns {
    var lastCommit = ContinuousClock.now
    /// Whether a turn is set because the log is long.
    var isSoon = false
    /// Whether a turn is set for later.
    var isLater = false
  }

  /// Pauses between steps of giving back pages, so that transactions come in between.
  private static let pause = Duration.milliseconds(20)

  /// Sets turns after a commit.
  func committed(_ state: inout WriterState, _ connection: Connection) {
    state.turns.lastCommit = .now
    if state.care?.isDue(connection) == true {
      isLogLong.store(true, ordering: .releasing)
      if !state.turns.isSoon {
        state.turns.isSoon = true
        set(after: .zero) { $0.soonTurn() }
      }
    }
    if !state.turns.isLater {
      state.turns.isLater = true
      set(after: configuration.idleDelay) { $0.laterTurn() }
    }
  }

  /// Moves the log if it is long. Outside of transactions.
  func moveLogIfDue(_ state: inout WriterState, _ connection: Connection) {
    guard state.care?.isDue(connection) == true else { return }
    // Not before: who wants to open a snapshot meanwhile waits.
    defer { isLogLong.store(false, ordering: .releasing) }
    turn {
      try state.care?.moveLog(connection) { ownReaders } ?? []
    }
  }

  var needsMaintenance: Bool { isLogLong.load(ordering: .acquiring) }

  func performMaintenance() {
    writer.withLock { state in
      if let connection = state.connection { moveLogIfDue(&state, connection) }
    }
  }

  private func soonTurn() {
    writer.withLock { state in
      state.turns.isSoon = false
      // Before it reads or writes, a transaction has done this itself.
      if let connection = state.connection, !state.isWriting { moveLogIfDue(&state, connection) }
    }
  }

  private func laterTurn() {
    let delay = configuration.idleDelay
    // The lock may be held for long, by who waits for another connection's lock.
    let next: Duration?? = writer.withLockIfAvailable { state -> Duration? in
      guard let connection = state.connection, var care = state.care else { return nil }
      if state.isWriting { return delay }
      let isQuiet = ContinuousClock.now - state.turns.lastCommit >= delay
      // After an error it is tried again with the next commit.
      var next = FileCare.Next.nothing
      turn {
        let step = try care.step(connection, isQuiet: isQuiet) { ownReaders }
        next = step.next
        return step.events
      }
      state.care = care
      switch next {
      case .soon: return min(Self.pause, delay)
      case .later: return max(Self.pause, delay)
      case .nothing:
        state.turns.isLater = false
        return nil
      }
    }
    if let delay = next ?? delay { set(after: delay) { $0.laterTurn() } }
  }

  /// A turn that is set keeps the engine until its time has come; then there is nothing to do if the file was closed. A weak reference
  /// would make each count of references slow.
  private func set(after delay: Duration, _ turn: @escaping @Sendable (SQLiteEngine) -> Void) {
    let (seconds, attoseconds) = delay.components
    let time = DispatchTime.now() + Double(seconds) + Double(attoseconds) / 1e18
    DispatchQueue.global(qos: .utility).asyncAfter(deadline: time) { turn(self) }
  }

  /// Uses the writing connection outside of a transaction.
  private func turn(_ body: () throws -> [SQLiteWorkspace.Event]) {
    // Nobody may ask the connection about foreign changes meanwhile.
    foreignChanges.writerChanges()
    defer { foreignChanges.writerEnded() }
    do {
      try body().forEach(tell)
    } catch {
      let error = (error as? SQLiteError).map { StorageError($0) } ?? error
      telling.async { [self] in report(error) }
    }
  }

  /// Tells the program, in order and outside of all locks.
  func tell(_ event: SQLiteWorkspace.Event) {
    if let hook = configuration.onEvent { telling.async { hook(event) } }
  }

  private var ownReaders: OwnReaders {
    OwnReaders(
      oldest: snapshots.oldest, areTransactions: snapshots.areTransactions,
      isAnyAtWork: readers.openCount > readers.idleCount)
  }
}

/// When the snapshots that are open have taken their states.
final class OpenSnapshots: Sendable {
  private typealias Opened = (time: ContinuousClock.Instant, isTransaction: Bool)
  private let opened = Mutex<[ObjectIdentifier: Opened]>([:])

  var oldest: ContinuousClock.Instant? { opened.withLock { $0.values.lazy.map(\.time).min() } }

  /// Whether there are any of transactions that have not begun to write.
  var areTransactions: Bool { opened.withLock { $0.values.contains(where: \.isTransaction) } }

  func add(_ snapshot: SQLiteSnapshot, isTransaction: Bool) {
    opened.withLock { $0[ObjectIdentifier(snapshot)] = (.now, isTransaction) }
  }

  func remove(_ snapshot: SQLiteSnapshot) {
    opened.withLock { _ = $0.removeValue(forKey: ObjectIdentifier(snapshot)) }
  }
}
