// Maintenance tasks that a policy makes due: a vacuum of the file, and an analysis of its indexes.
//
//  - When a task was last carried out is kept in the file (MaintenanceLog), so all workspaces and
//    processes share it. The time begins when a workspace with a policy first writes to the file.
//  - A task runs when nothing has been written for a while. A transaction that comes ends it, which
//    leaves the file as it was, and it is tried again, after a pause that gets longer each time.

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

  /// A task with a policy. A vacuum renews the statistics, too, so it comes first.
  private enum DueTask: CaseIterable {
    case vacuum, analysis

    var name: String {
      switch self {
      case .vacuum: MaintenanceLog.vacuum
      case .analysis: MaintenanceLog.analysis
      }
    }

    /// The seconds from one run to the next; nil if only the program asks for it.
    func interval(_ configuration: SQLiteWorkspace.Configuration) -> Int64? {
      switch self {
      case .vacuum:
        if case .every(let interval) = configuration.vacuum { return interval.seconds }
      case .analysis:
        if case .every(let interval) = configuration.analysis { return interval.seconds }
      }
      return nil
    }
  }

  /// How long to wait after a failure, and at most before the next attempt or look at the clock.
  private static let longPause = Duration.seconds(3600)

  static var now: Int64 { Int64(Date().timeIntervalSince1970) }

  /// Begins to look whether a task is due. Called when the connection was opened.
  func scheduleDueTasks(_ state: inout State) {
    guard DueTask.allCases.contains(where: { $0.interval(configuration) != nil }) else { return }
    let target = TurnTarget(self)
    state.dueTarget = target
    schedule(target, after: configuration.idleDelay)
  }

  private func schedule(_ target: TurnTarget, after delay: Duration) {
    let seconds = delay / .seconds(1)
    DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + seconds) {
      // Not under the lock: the turn may take long.
      guard let session = target.session.withLock({ $0 }) else { return }
      if let next = session.dueTurn() { session.schedule(target, after: next) }
    }
  }

  /// Whether nothing has been written for a while.
  var isIdle: Bool {
    state.withLockIfAvailable { state in
      !state.isWriting && ContinuousClock.now - state.turns.lastCommit >= configuration.idleDelay
    } ?? false
  }

  /// Carries out what is due if nothing is being written.
  /// - Returns: When to look again; nil if the file is closed.
  func dueTurn() -> Duration? {
    let soon = max(Duration.milliseconds(20), configuration.idleDelay)
    let next: Duration?? = state.withLockIfAvailable { state -> Duration? in
      guard let connection = state.connection else { return nil }
      if state.isWriting || ContinuousClock.now - state.turns.lastCommit < configuration.idleDelay {
        return soon
      }
      if let next = runDueTasks(&state, connection) {
        state.duePause = .zero
        return next
      }
      state.duePause = min(max(soon, state.duePause * 2), Self.longPause)
      return state.duePause
    }
    return next ?? soon
  }

  /// - Returns: When to look again; nil for soon, since something else had to go on.
  private func runDueTasks(_ state: inout State, _ connection: Connection) -> Duration? {
    // Keeps other threads from asking the connection about external changes meanwhile.
    externalChanges.writerChanges()
    defer { externalChanges.writerEnded() }
    var next = Self.longPause
    for task in DueTask.allCases {
      guard let interval = task.interval(configuration) else { continue }
      do {
        next = min(
          next, try connection.withoutWaiting { try run(task, &state, connection, interval) })
      } catch let error as SQLiteError where error.isBusy || error.isInterrupted {
        return nil
      } catch {
        let error = (error as? SQLiteError).map { StorageError($0) } ?? error
        reports.reportLater(error)
      }
    }
    return next
  }

  /// Carries out a task if it is due.
  /// - Returns: When it is due again.
  private func run(
    _ task: DueTask, _ state: inout State, _ connection: Connection, _ interval: Int64
  ) throws -> Duration {
    guard let last = try MaintenanceLog.last(task.name, connection) else {
      // The time begins now.
      try MaintenanceLog.note(task.name, at: Self.now, connection)
      return .seconds(interval)
    }
    // A time in the future was noted when the clock was wrong. Any number may be in the file.
    let (age, isAbsurd) = Self.now.subtractingReportingOverflow(last)
    if !isAbsurd, age >= 0, age < interval { return .seconds(interval - age) }
    let isUnwanted = { self.waiting.load(ordering: .relaxed) > 0 }
    switch task {
    case .vacuum: try vacuum(&state, connection, unless: isUnwanted)
    case .analysis: try analyze(connection, unless: isUnwanted)
    }
    return .seconds(interval)
  }
}
