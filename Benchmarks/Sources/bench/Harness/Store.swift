// Store: a workspace as a program uses it, with its errors kept.

import Dflat
import Dispatch
import SQLiteDflat
import Synchronization

final class Store: Sendable {
  let workspace: SQLiteWorkspace
  private let failure = Mutex<(any Error)?>(nil)

  convenience init(_ path: String, synchronous: SQLiteWorkspace.Synchronous = .normal) {
    var configuration = SQLiteWorkspace.Configuration()
    configuration.synchronous = synchronous
    self.init(path, configuration)
  }

  init(_ path: String, _ configuration: SQLiteWorkspace.Configuration) {
    workspace = SQLiteWorkspace(filePath: path, configuration: configuration)
    workspace.errorHandler = { [weak self] in self?.fail($0) }
  }

  func fail(_ error: any Error) {
    failure.withLock { $0 = $0 ?? error }
  }

  /// Throws the first error that anything reported.
  func check() throws {
    if let error = failure.withLock({ $0 }) { throw error }
  }

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
