// BackupSchedule: backups that a policy makes due.
//
//  - When the last one was made is known from the folder, so all workspaces and processes share it.
//    A backup is due as well if the newest one is of the future: it was made when the clock was
//    wrong.
//  - It is made of a reader's state when nothing has been written for a while. Transactions go on.
//    A program that never pauses gets its backup after an hour all the same.
//  - The end of the workspace ends a backup that is being made. The next start makes it.

import Dflat
import Dispatch
import Foundation
import Platform
import SQLiteAccess

final class BackupSchedule: Sendable {
  /// How long to wait after a failure, at most until the next look at the folder, and for a pause
  /// of the program.
  private static let longPause = Duration.seconds(3600)

  private struct State {
    var hasBegun = false
    var isClosed = false
    /// Since when a backup is due.
    var dueSince: ContinuousClock.Instant?
    /// Ends the statements of the backup that is being made.
    var interrupter: Interrupter?
  }

  private let state = Mutex(State())
  /// Held while a backup is made.
  private let turn = Mutex(())
  private let policy: SQLiteWorkspace.BackupPolicy

  /// - Parameter policy: The path of its folder begins at the directory that is current now.
  init(_ policy: SQLiteWorkspace.BackupPolicy) {
    if case .every(let interval, let keep, let folder) = policy {
      self.policy = .every(interval, keep: keep, in: Connection.absolutePath(folder))
    } else {
      self.policy = policy
    }
  }

  /// The folder of the policy, if it has one.
  var folder: BackupFolder? {
    if case .every(_, _, let folder) = policy { BackupFolder(folder) } else { nil }
  }

  /// Begins to look whether a backup is due.
  func begin(_ engine: SQLiteEngine) {
    guard case .every = policy, engine.session.directory == nil else { return }
    let isFirst = state.withLock { state in
      defer { state.hasBegun = true }
      return !state.hasBegun && !state.isClosed
    }
    if isFirst { look(after: engine.configuration.idleDelay, engine) }
  }

  /// Ends the backup that is being made, and waits for that.
  func close() {
    let interrupter = state.withLock { state in
      state.isClosed = true
      return state.interrupter
    }
    interrupter?.interrupt()
    turn.withLock { _ in }
  }

  private func look(after delay: Duration, _ engine: SQLiteEngine) {
    let seconds = max(0.02, delay / .seconds(1))
    DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + seconds) {
      [weak self, weak engine] in
      guard let self, let engine, let next = self.look(engine) else { return }
      self.look(after: next, engine)
    }
  }

  /// Makes a backup if it is due and the program pauses.
  /// - Returns: When to look again; nil if the workspace has ended.
  func look(_ engine: SQLiteEngine) -> Duration? {
    turn.withLock { _ in
      if state.withLock({ $0.isClosed }) { return nil }
      guard case .every(let interval, let keep, let path) = policy else { return nil }
      do {
        let folder = BackupFolder(path)
        if let rest = try Self.rest(of: .seconds(interval.seconds), after: folder.backups().last) {
          return min(rest, Self.longPause)
        }
        let now = ContinuousClock.now
        let waited = state.withLock { state in
          if state.dueSince == nil { state.dueSince = now }
          return now - state.dueSince!
        }
        if !engine.session.isIdle, waited < Self.longPause { return engine.configuration.idleDelay }
        try make(in: folder, keep, engine)
        state.withLock { $0.dueSince = nil }
        return min(.seconds(interval.seconds), Self.longPause)
      } catch let error as StorageError where error.cause == .busy {
        // Another process makes one.
        return .seconds(60)
      } catch {
        if state.withLock({ $0.isClosed }) { return nil }
        engine.reports.report(error)
        return Self.longPause
      }
    }
  }

  private func make(in folder: BackupFolder, _ keep: Int, _ engine: SQLiteEngine) throws {
    let start = ContinuousClock.now
    defer { state.withLock { $0.interrupter = nil } }
    let backup = try engine.backup(
      into: folder, keeping: keep,
      begun: { connection in
        self.state.withLock { state in
          state.interrupter = connection.interrupter
          return !state.isClosed
        }
      },
      progress: { _, _ in !self.state.withLock { $0.isClosed } })
    engine.reports.deliver(
      .backup(path: backup.path, bytes: backup.bytes, duration: .now - start))
  }

  /// How long it takes until the next backup is due; nil if it is.
  private static func rest(
    of interval: Duration, after last: BackupFolder.Backup?
  ) -> Duration? {
    guard let last else { return nil }
    let age = Duration.seconds(Date().timeIntervalSince(last.date))
    // Dates are whole seconds, of which the last one may have just begun.
    return age >= .seconds(-1) && age < interval ? interval - age : nil
  }
}
