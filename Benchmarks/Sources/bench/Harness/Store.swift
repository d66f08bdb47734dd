// Store: a workspace as a program uses it, which records errors and checkpoints.

import Dflat
import Dispatch
import SQLiteDflat
import Synchronization

final class Store: Sendable {
  /// The default of `SQLiteWorkspace.Configuration.walLimit`.
  static let defaultWALLimit = SQLiteWorkspace.Configuration().walLimit
  /// A log size in bytes that no case reaches, so that there is no checkpoint.
  static let noCheckpoints = 1 << 40

  let workspace: SQLiteWorkspace
  private let failure = Mutex<(any Error)?>(nil)
  private let checkpoints: Checkpoints

  init(
    _ path: String, synchronous: SQLiteWorkspace.Synchronous = .normal,
    walLimit: Int = defaultWALLimit, rowChecksums: Bool = false
  ) {
    let checkpoints = Checkpoints()
    self.checkpoints = checkpoints
    var configuration = SQLiteWorkspace.Configuration()
    configuration.synchronous = synchronous
    configuration.walLimit = walLimit
    configuration.rowChecksums = rowChecksums
    configuration.onEvent = { checkpoints.hear($0) }
    workspace = SQLiteWorkspace(filePath: path, configuration: configuration)
    workspace.errorHandler = { [weak self] in self?.fail($0) }
  }

  func fail(_ error: any Error) {
    failure.withLock { $0 = $0 ?? error }
  }

  /// Throws the first reported error.
  func check() throws {
    if let error = failure.withLock({ $0 }) { throw error }
  }

  /// Waits for the end of the next checkpoint that was not awaited yet.
  func awaitCheckpoint() throws { try checkpoints.awaitNext() }

  /// Runs a transaction and waits until it is committed.
  func write<E: Atom>(
    _ type: E.Type, _ body: @escaping @Sendable (any TransactionContext) throws -> Void
  ) {
    let done = DispatchSemaphore(value: 0)
    workspace.performChanges([type]) { [self] transaction in
      do { try body(transaction) } catch {
        fail(error)
        transaction.abort()
      }
    } completionHandler: { _ in
      done.signal()
    }
    done.wait()
  }

  func insert(_ samples: [Sample]) throws {
    write(BenchDoc.self) { transaction in
      for sample in samples { try transaction.submit(BenchDocChangeRequest.creation(sample)) }
    }
    try check()
  }

  func close() {
    workspace.shutdown()
  }
}

/// The checkpoints that a workspace has reported.
private final class Checkpoints: Sendable {
  private let ended = DispatchSemaphore(value: 0)

  func hear(_ event: SQLiteWorkspace.Event) {
    if case .checkpoint = event { ended.signal() }
  }

  func awaitNext() throws {
    guard ended.wait(timeout: .now() + 60) == .success else {
      throw Disagreement(description: "no checkpoint has followed a commit within a minute")
    }
  }
}
