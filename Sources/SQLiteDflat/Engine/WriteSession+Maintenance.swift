// Maintenance turns: when the WAL is checkpointed and free pages are returned. `FileMaintenance`
// does the work of one turn.
//
//  - A turn comes soon after a commit that made the WAL long, at the latest before the next
//    transaction, and from time to time as long as there may be work.
//  - A turn uses the writing connection under the lock of the session's state, and only while no
//    transaction is open on it. A transaction that wants to begin waits for the turn, so turns are
//    short.
//  - Events are delivered outside the lock, in the order of the turns.

import Dflat
import Dispatch
import SQLiteAccess
import Platform

extension WriteSession {
  /// Which turns are scheduled.
  struct Turns {
    var lastCommit = ContinuousClock.now
    /// Whether a turn is scheduled because the WAL is long.
    var isSoon = false
    /// Whether a turn is scheduled for later.
    var isLater = false
  }

  /// Pauses between steps of freeing pages, so that transactions can run in between.
  private static let pause = Duration.milliseconds(20)

  /// Schedules turns after a commit.
  func committed(_ state: inout State) {
    state.turns.lastCommit = .now
    if state.file?.isCheckpointDue == true {
      isLogTooLong.store(true, ordering: .releasing)
      if !state.turns.isSoon {
        state.turns.isSoon = true
        set(after: .zero) { $0.checkpointTurn() }
      }
    }
    if !state.turns.isLater {
      state.turns.isLater = true
      set(after: configuration.idleDelay) { $0.idleTurn() }
    }
  }

  /// Checkpoints the WAL if it is long. Call outside transactions.
  func checkpointIfDue(_ state: inout State) {
    guard state.file?.isCheckpointDue == true else { return }
    // Only after the checkpoint: until then a caller that opens a snapshot waits.
    defer { isLogTooLong.store(false, ordering: .releasing) }
    turn {
      try state.maintain { try $0.checkpointLog($1) { ownReaders } } ?? []
    }
  }

  /// Checkpoints the WAL now if a commit has left it at its limit.
  func performMaintenance() {
    withStateSoon { state in checkpointIfDue(&state) }
  }

  private func checkpointTurn() {
    state.withLock { state in
      state.turns.isSoon = false
      // A transaction has done this itself before it reads or writes.
      if !state.isWriting { checkpointIfDue(&state) }
    }
  }

  private func idleTurn() {
    let delay = configuration.idleDelay
    // The lock may be held for long, by a thread that waits for another connection's lock.
    let next: Duration?? = state.withLockIfAvailable { state -> Duration? in
      switch state.phase {
      case .closed: return nil
      case .writing: return delay
      case .idle: break
      }
      let isQuiet = ContinuousClock.now - state.turns.lastCommit >= delay
      // After an error the next commit tries again.
      var next = FileMaintenance.Next.nothing
      turn {
        let step = try state.maintain { maintenance, connection in
          try connection.checkFile()
          return try maintenance.step(connection, isQuiet: isQuiet) { ownReaders }
        }
        next = step?.next ?? .nothing
        return step?.events ?? []
      }
      switch next {
      case .soon: return min(Self.pause, delay)
      case .later: return max(Self.pause, delay)
      case .nothing:
        state.turns.isLater = false
        return nil
      }
    }
    if let delay = next ?? delay { set(after: delay) { $0.idleTurn() } }
  }

  /// A scheduled turn retains the session until it runs; if the file was closed by then, it does
  /// nothing. A weak reference would make all reference counting of the session slow.
  private func set(after delay: Duration, _ turn: @escaping @Sendable (WriteSession) -> Void) {
    let (seconds, attoseconds) = delay.components
    let time = DispatchTime.now() + Double(seconds) + Double(attoseconds) / 1e18
    DispatchQueue.global(qos: .utility).asyncAfter(deadline: time) { turn(self) }
  }

  /// Uses the writing connection outside a transaction.
  private func turn(_ body: () throws -> [SQLiteWorkspace.Event]) {
    // Keeps other threads from asking the connection about external changes meanwhile.
    externalChanges.writerChanges()
    defer { externalChanges.writerEnded() }
    do {
      try body().forEach(reports.deliver)
    } catch {
      let error = (error as? SQLiteError).map { StorageError($0) } ?? error
      reports.reportLater(error)
    }
  }

  var ownReaders: OwnReaders {
    OwnReaders(
      oldest: snapshots.oldest, areTransactions: snapshots.areTransactions,
      isReadingWhole: snapshots.isReadingWhole,
      isAnyAtWork: readers.openCount > readers.idleCount || snapshots.isReadingWhole)
  }
}
