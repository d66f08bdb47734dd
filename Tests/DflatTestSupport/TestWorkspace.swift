// What tests do with a workspace of any engine.

public import Dflat
import Dispatch
import Platform
import Testing

/// A workspace for one test. It collects reported errors; those that the test does not take fail
/// the test.
public protocol TestWorkspace: Sendable {
  /// The workspace.
  var workspace: any Workspace { get }
  /// The errors that it has reported.
  var errors: ReportedErrors { get }
}

/// The errors that a workspace has reported and the test has not taken.
public final class ReportedErrors: Sendable {
  private let errors = Mutex<[any Error]>([])

  /// Creates an empty collection.
  public init() {}

  /// Adds an error.
  public func add(_ error: any Error) { errors.withLock { $0.append(error) } }

  /// Takes the errors since the last call, of any type.
  public func takeAll() -> [any Error] {
    errors.withLock { errors in
      defer { errors.removeAll() }
      return errors
    }
  }

  /// Takes the errors since the last call.
  public func take() -> [StorageError] {
    errors.withLock { errors in
      defer { errors.removeAll() }
      return errors.map {
        $0 as? StorageError ?? StorageError(.other, message: "no storage error: \($0)")
      }
    }
  }
}

/// The outcome of a transaction.
public struct Outcome<R> {
  /// The result of the body; nil if it did not run.
  public let result: R?
  /// The argument of the completion handler.
  public let isCommitted: Bool
}

extension TestWorkspace {
  /// Takes the errors since the last call. The test expects these.
  public func takeErrors() -> [StorageError] { errors.take() }

  /// Runs a transaction and waits for its completion. An error that `body` throws aborts the
  /// transaction. Throws `NotInTime` if it does not complete.
  @discardableResult
  public func write<R>(
    _ types: [Any.Type], _ body: @escaping (any TransactionContext) throws -> R
  ) throws -> Outcome<R> {
    // Unsafe but ordered: both handlers have run before this function returns.
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

  /// Closes the workspace and records an issue for every error that the test has not taken.
  func finish(_ sourceLocation: SourceLocation) {
    let isClosed = DispatchSemaphore(value: 0)
    workspace.shutdown { isClosed.signal() }
    isClosed.expect("the end of the workspace", sourceLocation: sourceLocation)
    for error in takeErrors() {
      Issue.record("the workspace reported: \(error)", sourceLocation: sourceLocation)
    }
  }
}

/// A transaction that a test depends on was not committed.
public struct NotCommitted: Error, CustomStringConvertible {
  /// The errors that the workspace has reported until then.
  public let errors: [StorageError]

  /// - Parameter errors: What the workspace reported.
  public init(errors: [StorageError]) { self.errors = errors }

  /// The error in words.
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
  onOwnThread(body).expect("the end of what runs on another thread")
}
