// What tests do with a workspace, whatever engine it has.

public import Dflat
import Dispatch
import Platform
import Testing

/// A workspace for the time of one test. Errors that it reports are kept; those that are not taken fail the test.
public protocol TestWorkspace: Sendable {
  /// The workspace.
  var workspace: any Workspace { get }
  /// What it has reported.
  var errors: ReportedErrors { get }
}

/// The errors that a workspace has reported and no test has taken.
public final class ReportedErrors: Sendable {
  private let errors = Mutex<[any Error]>([])

  /// None yet.
  public init() {}

  /// Takes in an error.
  public func add(_ error: any Error) { errors.withLock { $0.append(error) } }

  /// Those since the last call.
  public func take() -> [StorageError] {
    errors.withLock { errors in
      defer { errors.removeAll() }
      return errors.map {
        $0 as? StorageError ?? StorageError(.other, message: "no storage error: \($0)")
      }
    }
  }
}

/// What became of a transaction.
public struct Outcome<R> {
  /// What the body gave; nil if it did not run.
  public let result: R?
  /// What the completion handler was told.
  public let isCommitted: Bool
}

extension TestWorkspace {
  /// The errors reported since the last call. What is taken is expected.
  public func takeErrors() -> [StorageError] { errors.take() }

  /// Runs a transaction and waits for it. An error that `body` throws aborts it. Throws `NotInTime` if it does not complete.
  @discardableResult
  public func write<R>(
    _ types: [Any.Type], _ body: @escaping (any TransactionContext) throws -> R
  ) throws -> Outcome<R> {
    // Unsafe, and yet in order: both handlers have run before this function returns.
    nonisolated(unsafe) var result: Result<R, any Error>?
    nonisolated(unsafe) var isCommitted = false
    nonisolated(unsafe) let body = body
    let done = DispatchSemaphore(value: 0)
    workspace.performChanges(
      types,
      changesHandler: { txn in
        result = Result { try body(txn) }
        if case .failure? = result { txn.abort() }
      },
      completionHandler: {
        isCommitted = $0
        done.signal()
      })
    try done.wait(for: "the completion of a transaction")
    return Outcome(result: try result?.get(), isCommitted: isCommitted)
  }

  /// Closes the workspace and records every error that no test has taken.
  func finish(_ sourceLocation: SourceLocation) {
    let isClosed = DispatchSemaphore(value: 0)
    workspace.shutdown { isClosed.signal() }
    isClosed.expect("the end of the workspace", sourceLocation: sourceLocation)
    for error in takeErrors() {
      Issue.record("the workspace reported: \(error)", sourceLocation: sourceLocation)
    }
  }
}

/// A transaction that a test relies on was not committed.
public struct NotCommitted: Error, CustomStringConvertible {
  /// What the workspace reported until then.
  public let errors: [StorageError]

  /// - Parameter errors: What the workspace reported.
  public init(errors: [StorageError]) { self.errors = errors }

  /// That, in words.
  public var description: String {
    "a transaction was not committed; the workspace reported: \(errors)"
  }
}

extension TransactionContext {
  /// Stores a new object.
  public func insert<Request: ChangeRequest>(_ request: Request) throws -> Request.Element {
    guard case .inserted(let object) = try submit(request) else {
      throw StorageError(.other, message: "a creation did not insert")
    }
    return object
  }
}

/// Runs `body` on another thread and waits for it.
public func onAnotherThread(_ body: @escaping @Sendable () -> Void) {
  let done = DispatchSemaphore(value: 0)
  DispatchQueue.global().async {
    body()
    done.signal()
  }
  done.expect("the end of what runs on another thread")
}
