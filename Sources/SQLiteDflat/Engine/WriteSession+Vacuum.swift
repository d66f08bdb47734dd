// Vacuuming: the file is rewritten without free pages, in the order of its tables.
//
//  - It is a write transaction of SQLite: readers go on with the state that they read, and other
//    writers wait.
//  - A vacuum that the program asks for runs while the caller holds the write lease. Transactions
//    that come wait for its end.
//  - A vacuum of the policy runs when nothing has been written for a while. A transaction that
//    comes ends it, which leaves the file as it was, and it is tried again, after a pause that
//    gets longer each time.

import Dflat
import Dispatch
import Platform
import SQLiteAccess

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension WriteSession {
  /// Lets a scheduled turn find its session, as long as that is open.
  final class TurnTarget: Sendable {
    let session: Mutex<WriteSession?>

    init(_ session: WriteSession) {
      self.session = Mutex(session)
    }
  }

  /// How long to wait after a failure, and at most before the next attempt or look at the clock.
  private static let longPause = Duration.seconds(3600)

  /// Vacuums the file, if it exists. The caller holds the write lease.
  func vacuum() throws {
    if !isPrepared.load(ordering: .acquiring), !configuration.isReadOnly,
      !FileManager.default.fileExists(atPath: path)
    {
      return
    }
    try open()
    try withStorageErrors {
      try withStateSoon { state in
        guard let connection = state.connection else { return }
        // Keeps other threads from asking the connection about external changes meanwhile.
        externalChanges.writerChanges()
        defer { externalChanges.writerEnded() }
        try vacuum(&state, connection) { false }
      }
    }
  }

  /// - Parameter isUnwanted: Asked from time to time. If it says so, the vacuum ends.
  private func vacuum(
    _ state: inout State, _ connection: Connection, unless isUnwanted: () -> Bool
  ) throws {
    func size() throws -> Int64 {
      try Int64(connection.pageCount()) * Int64(connection.pageSize())
    }
    let began = ContinuousClock.now
    reports.deliver(.vacuumBegan(bytes: try size()))
    var isComplete = false
    defer {
      reports.deliver(
        .vacuumEnded(
          bytes: (try? size()) ?? 0, duration: .now - began, isComplete: isComplete))
    }
    state.tables.forget()
    try connection.interrupting(when: isUnwanted) { try connection.execute("VACUUM") }
    isComplete = true
    try MaintenanceLog.note(MaintenanceLog.vacuum, at: Self.now, connection)
    // Renews the planner's statistics where SQLite considers it useful, from some hundred rows of
    // each index.
    try connection.execute("PRAGMA main.analysis_limit = 400")
    try connection.execute("PRAGMA main.optimize")
    // The log is as long as the file now.
    try state.maintenance?.checkpointLog(connection) { ownReaders }.forEach(reports.deliver)
  }

  static var now: Int64 { Int64(Date().timeIntervalSince1970) }

  // MARK: The policy

  /// Begins to look whether a vacuum is due. Called when the connection was opened.
  func scheduleVacuum(_ state: inout State) {
    guard case .every = configuration.vacuum else { return }
    let target = TurnTarget(self)
    state.vacuumTarget = target
    schedule(target, after: configuration.idleDelay)
  }

  private func schedule(_ target: TurnTarget, after delay: Duration) {
    let seconds = delay / .seconds(1)
    DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + seconds) {
      // Not under the lock: the turn may take long.
      guard let session = target.session.withLock({ $0 }) else { return }
      if let next = session.vacuumTurn() { session.schedule(target, after: next) }
    }
  }

  /// Vacuums the file if that is due and nothing is being written.
  /// - Returns: When to look again; nil if the file is closed.
  private func vacuumTurn() -> Duration? {
    guard case .every(let interval) = configuration.vacuum else { return nil }
    let soon = max(Duration.milliseconds(20), configuration.idleDelay)
    let next: Duration?? = state.withLockIfAvailable { state -> Duration? in
      guard let connection = state.connection else { return nil }
      if state.isWriting || ContinuousClock.now - state.turns.lastCommit < configuration.idleDelay {
        return soon
      }
      let next = vacuumIfDue(&state, connection, interval.seconds)
      if let next {
        state.vacuumPause = .zero
        return next
      }
      state.vacuumPause = min(max(soon, state.vacuumPause * 2), Self.longPause)
      return state.vacuumPause
    }
    return next ?? soon
  }

  /// - Returns: When to look again; nil for soon, since something else had to go on.
  private func vacuumIfDue(
    _ state: inout State, _ connection: Connection, _ interval: Int64
  ) -> Duration? {
    // Keeps other threads from asking the connection about external changes meanwhile.
    externalChanges.writerChanges()
    defer { externalChanges.writerEnded() }
    do {
      return try connection.withoutWaiting {
        guard let last = try MaintenanceLog.last(MaintenanceLog.vacuum, connection) else {
          // The time begins now.
          try MaintenanceLog.note(MaintenanceLog.vacuum, at: Self.now, connection)
          return min(.seconds(interval), Self.longPause)
        }
        // A time in the future was noted when the clock was wrong. Any number may be in the file.
        let (age, isAbsurd) = Self.now.subtractingReportingOverflow(last)
        if !isAbsurd, age >= 0, age < interval {
          return min(.seconds(interval - age), Self.longPause)
        }
        try vacuum(&state, connection) { waiting.load(ordering: .relaxed) > 0 }
        return min(.seconds(interval), Self.longPause)
      }
    } catch let error as SQLiteError where error.isBusy || error.isInterrupted {
      return nil
    } catch {
      let error = (error as? SQLiteError).map { StorageError($0) } ?? error
      reports.reportLater(error)
      return Self.longPause
    }
  }
}
