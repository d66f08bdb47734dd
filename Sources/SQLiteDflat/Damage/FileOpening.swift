// FileOpening: the first use of a file, and the decision about one that is damaged.
//
//  - The file of a workspace is opened by its first use: `open`, a transaction, or a query. One
//    thread opens it; others wait. Once it was opened, damage is an error like others.
//  - A file that was changed or exchanged meanwhile is opened again before anything is decided.
//  - If it is damaged, no connection of the workspace has it open while the hook runs.
// - The hook is asked at most `limit` times. After that, and after it has decided to fail, later
//   uses try to open the file and do not ask again.
//  - An empty file beside a log with content is damaged: no connection opens it.

import Dflat
import Foundation
import Platform
import SQLiteAccess

final class FileOpening: Sendable {
  /// How often the hook may ask to try again.
  static let limit = 10
  /// How often a file may change while it is opened.
  private static let changeLimit = 100

  private struct State {
    var hasFailed = false
    /// The newest good backup among some, which it takes long to find.
    var verified: (among: [BackupFolder.Backup], newest: BackupFolder.Backup?)?
  }

  private let isOpen: Atomic<Bool>
  private let turn = Mutex(State())
  /// The thread that runs the hook.
  private let hookThread = Mutex<ThreadIdentity?>(nil)

  /// - Parameter isNeeded: False for a file that tools look at, or that is the workspace's own.
  init(isNeeded: Bool) {
    isOpen = Atomic(!isNeeded)
  }

  /// Opens the file by `attempt`, unless it was opened before.
  /// - Throws: `StorageError.corruptFile`, with all that is known, if the file is damaged and the
  ///   hook has not changed that; other errors of `attempt`.
  @inline(__always)
  func open(_ engine: SQLiteEngine, _ attempt: () throws -> Void) throws {
    if isOpen.load(ordering: .acquiring) { return }
    try openNow(engine, attempt)
  }

  @inline(never)
  private func openNow(_ engine: SQLiteEngine, _ attempt: () throws -> Void) throws {
    if hookThread.withLock({ $0 == .current }) {
      throw StorageError(
        .other, message: "onDamagedFile uses the workspace that it decides about",
        path: engine.path, advice: "use the path, and return a decision")
    }
    try turn.withLock { state in
      if isOpen.load(ordering: .acquiring) { return }
      var (asked, changes) = (0, 0)
      while true {
        if engine.capabilities.isWritable {
          try FileReplacement.finishInterrupted(engine.place)
        } else {
          try FileReplacement.requireNotInterrupted(engine.place)
        }
        // Before the file is looked at: what another process has exchanged since is not damaged.
        let stamp = FileStamp(engine.path)
        do {
          try attempt()
          isOpen.store(true, ordering: .releasing)
          return
        } catch {
          guard let error = Self.damage(error, engine) else { throw error }
          engine.readers.closeIdle()
          if FileStamp(engine.path) != stamp, changes < Self.changeLimit {
            changes += 1
            continue
          }
          try decide(error, stamp, engine, asked, &state)
          asked += 1
        }
      }
    }
  }

  /// The error of a damaged file; nil for all others.
  private static func damage(_ error: any Error, _ engine: SQLiteEngine) -> StorageError? {
    switch error {
    case let error as SQLiteError where error.isCorrupt:
      StorageError(opening: engine.path, error, isReadOnly: engine.configuration.isReadOnly)
    case let error as StorageError where error.cause == .corruptFile: error
    default: nil
    }
  }

  /// Returns if the file is to be opened again.
  private func decide(
    _ error: StorageError, _ stamp: FileStamp?, _ engine: SQLiteEngine, _ asked: Int,
    _ state: inout State
  ) throws {
    let folder = engine.backupFolder
    let file = DamagedFile(
      engine.path, stamp, error: error, backups: folder, newest: Self.newest(folder, &state),
      previous: asked, at: Date())
    guard let hook = engine.configuration.onDamagedFile, !state.hasFailed else { throw file.error }
    if asked == Self.limit {
      state.hasFailed = true
      throw Self.failure(
        "onDamagedFile has asked \(asked) times to try again, and the file is still damaged", file)
    }
    hookThread.withLock { $0 = .current }
    defer { hookThread.withLock { $0 = nil } }
    let decision: DamagedFile.Decision
    do { decision = try hook(file) } catch {
      throw Self.failure("onDamagedFile has failed: \(error)", file, error)
    }
    switch decision {
    case .tryAgain: return
    case .fail:
      state.hasFailed = true
      throw file.error
    }
  }

  private static func failure(
    _ text: String, _ file: DamagedFile, _ underlying: (any Error)? = nil
  ) -> StorageError {
    StorageError(
      .corruptFile, message: "\(file.error.message); \(text)", details: file.error.details,
      underlying: underlying ?? file.error.underlying, path: file.path,
      advice: file.error.recoverySuggestion)
  }

  private static func newest(
    _ folder: BackupFolder?, _ state: inout State
  ) -> BackupFolder.Backup? {
    guard let folder, let backups = try? folder.backups() else { return nil }
    if let verified = state.verified, verified.among == backups { return verified.newest }
    let newest = try? folder.newestGoodBackup()
    state.verified = (backups, newest)
    return newest
  }
}
