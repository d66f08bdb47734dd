// Vacuuming: the file is rewritten without free pages, in the order of its tables.
//
//  - It is a write transaction of SQLite: readers go on with the state that they read, and other
//    writers wait.
//  - A vacuum that the program asks for runs while the caller holds the write lease. Transactions
//    that come wait for its end.
//  - A vacuum of the policy runs when nothing has been written for a while. A transaction that
//    comes interrupts it, which leaves the file as it was, and it is tried again later.

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

  /// How long to wait after a failure, and at most between two looks at the clock.
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
      try state.withLock { state in
        if let connection = state.connection { try vacuum(&state, connection) }
      }
    }
  }

  private func vacuum(_ state: inout State, _ connection: Connection) throws {
    func size() throws -> Int64 {
      try Int64(connection.pageCount()) * Int64(connection.pageSize())
    }
    // Keeps other threads from asking the connection about external changes meanwhile.
    externalChanges.writerChanges()
    defer { externalChanges.writerEnded() }
    let began = ContinuousClock.now
    reports.deliver(.vacuumBegan(bytes: try size()))
    var isComplete = false
    defer {
      reports.deliver(
        .vacuumEnded(
          bytes: (try? size()) ?? 0, duration: .now - began, isComplete: isComplete))
    }
    state.tables.forget()
    try connection.execute("VACUUM")
    try MaintenanceLog.note(MaintenanceLog.vacuum, at: Self.now, connection)
    // Renews the planner's statistics where SQLite considers it useful, from some hundred rows of
    // each index.
    try connection.execute("PRAGMA main.analysis_limit = 400")
    try connection.execute("PRAGMA main.optimize")
    isComplete = true
    // The log is as long as the file now.
    try state.maintenance?.checkpointLog(connection) { ownReaders }.forEach(reports.deliver)
  }

  private static var now: Int64 { Int64(Date().timeIntervalSince1970) }

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
      return vacuumIfDue(&state, connection, interval.seconds, retryAfter: soon)
    }
    return next ?? soon
  }

  private func vacuumIfDue(
    _ state: inout State, _ connection: Connection, _ interval: Int64, retryAfter soon: Duration
  ) -> Duration {
    do {
      return try connection.withoutWaiting {
        guard let last = try MaintenanceLog.last(MaintenanceLog.vacuum, connection) else {
          // The time begins now.
          externalChanges.writerChanges()
          defer { externalChanges.writerEnded() }
          try MaintenanceLog.note(MaintenanceLog.vacuum, at: Self.now, connection)
          return min(.seconds(interval), Self.longPause)
        }
        let age = Self.now - last
        // A time in the future was noted when the clock was wrong.
        if age >= 0, age < interval { return min(.seconds(interval - age), Self.longPause) }
        interruptible.withLock { $0 = connection.interrupter }
        isInterruptible.store(true, ordering: .sequentiallyConsistent)
        defer {
          isInterruptible.store(false, ordering: .sequentiallyConsistent)
          interruptible.withLock { $0 = nil }
        }
        try vacuum(&state, connection)
        return min(.seconds(interval), Self.longPause)
      }
    } catch let error as SQLiteError where error.isBusy || error.isInterrupted {
      return soon
    } catch {
      let error = (error as? SQLiteError).map { StorageError($0) } ?? error
      reports.reportLater(error)
      return Self.longPause
    }
  }

  /// Ends a vacuum of the policy. Called before a transaction waits for the connection.
  @inline(__always)
  func interruptVacuum() {
    if isInterruptible.load(ordering: .relaxed) {
      interruptible.withLock { $0?.interrupt() }
    }
  }
}
