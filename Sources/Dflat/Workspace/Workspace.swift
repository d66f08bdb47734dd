// Workspace: the object that programs use.

/// Flags for `Workspace.shutdown`.
public struct WorkspaceShutdownFlag: OptionSet, Sendable {
  /// One bit for each flag.
  public let rawValue: Int

  /// Flags from a bit mask.
  public init(rawValue: Int) {
    self.rawValue = rawValue
  }

  /// Empties the write-ahead log and leaves a single file, unless another connection still uses it.
  public static let truncate = WorkspaceShutdownFlag(rawValue: 1)
  /// Rewrites the file without unused space before closing.
  public static let vacuum = WorkspaceShutdownFlag(rawValue: 2)
}

/// A source of objects that can be queried.
public protocol Queryable: Sendable {
  /// Begins a query for the objects of a type. Nothing is read before `where` or `all` is called.
  func fetch<Element: Atom>(for ofType: Element.Type) -> QueryBuilder<Element>

  /// Calls `closure` on this thread; all fetches of this workspace inside see one snapshot of the
  /// data, taken at the first fetch.
  ///
  /// Writers continue in the meantime. Calls may nest: the inner call joins the outer snapshot.
  func fetchWithinASnapshot<T>(_ closure: () -> T) -> T
}

/// A store of objects: typed queries, and transactions that behave as if they ran one at a time.
///
/// Reading is synchronous and possible anywhere. Writes happen in transactions, in the order of the
/// calls:
///
///     dflat.performChanges([Post.self], changesHandler: { txn in
///       let request = PostChangeRequest.creationRequest(Post(title: "first"))
///       try? txn.submit(request)
///     }) { committed in … }
///
/// All members may be called from any thread.
public protocol Workspace: Queryable {
  typealias ShutdownFlag = WorkspaceShutdownFlag
  /// The body of a transaction. It runs once, on the workspace's target queue.
  typealias ChangesHandler = @Sendable (_ transactionContext: any TransactionContext) -> Void
  /// Called after the transaction has ended, with whether it is committed. Runs on the workspace's
  /// target queue.
  typealias CompletionHandler = @Sendable (_ success: Bool) -> Void

  /// Runs a transaction over these types and returns at once.
  ///
  /// Transactions that share a type run one after another, in the order of the calls.
  /// `completionHandler` is called exactly once: with true if everything that was submitted is
  /// committed; with false if the transaction was aborted, failed, or was rejected because the
  /// workspace is shut down.
  ///
  /// - Parameters:
  ///   - transactionalObjectTypes: The entity types that the handler fetches or changes. An empty
  ///     list, and a type that is not an entity type, are programmer errors; duplicates are
  ///     ignored.
  ///   - changesHandler: The body of the transaction.
  ///   - completionHandler: Called with whether the transaction is committed.
  func performChanges(
    _ transactionalObjectTypes: [Any.Type], changesHandler: @escaping ChangesHandler,
    completionHandler: CompletionHandler?)

  /// Runs a transaction over these types and returns at once.
  func performChanges(
    _ transactionalObjectTypes: [Any.Type], changesHandler: @escaping ChangesHandler)

  /// Runs a transaction over these types.
  /// - Returns: Whether it is committed.
  @discardableResult
  func performChanges(
    _ transactionalObjectTypes: [Any.Type], changesHandler: @escaping ChangesHandler
  ) async -> Bool

  /// Rejects new work, completes everything that was accepted, then closes.
  ///
  /// Without a completion it waits for that. Waiting inside a transaction or snapshot of this
  /// workspace is a programmer error.
  func shutdown(flags: ShutdownFlag, completion: (@Sendable () -> Void)?)

  /// Rejects new work, and returns when everything is closed.
  func shutdown(flags: ShutdownFlag) async

  /// The engine-neutral part, which lives as long as the workspace.
  var _lifetime: WorkspaceLifetime { get }
}

extension Workspace {
  /// The engine-neutral part.
  @inlinable
  package var _core: WorkspaceCore { _lifetime.core }

  /// Called with every error that cannot be thrown or returned: a damaged row that a result leaves
  /// out, a failed query, why a `performChanges` has failed, before its completion handler. It may
  /// be called on any thread. Its initial value is the handler with which the workspace was made.
  public var errorHandler: (@Sendable (any Error) -> Void)? {
    get { _core.onError }
    nonmutating set { _core.onError = newValue }
  }

  /// Begins a query for the objects of a type. Nothing is read before `where` or `all` is called.
  @inlinable
  public func fetch<Element: Atom>(for ofType: Element.Type) -> QueryBuilder<Element> {
    QueryBuilder(keeping: _lifetime)
  }

  /// Calls `closure` on this thread; all fetches of this workspace inside see one snapshot of the
  /// data, taken at the first fetch.
  public func fetchWithinASnapshot<T>(_ closure: () -> T) -> T {
    _core.fetchWithinASnapshot(closure)
  }

  /// Runs a transaction over these types and returns at once.
  public func performChanges(
    _ transactionalObjectTypes: [Any.Type], changesHandler: @escaping ChangesHandler,
    completionHandler: CompletionHandler?
  ) {
    _core.performChanges(transactionalObjectTypes, changesHandler, completionHandler)
  }

  /// Rejects new work, completes everything that was accepted, then closes. Without a completion it
  /// waits for that.
  ///
  /// It may not wait in a transaction, a snapshot, a completion handler or a callback of the
  /// workspace, nor on a serial `targetQueue` that has work to do: that is a programmer error.
  ///
  /// - Parameters:
  ///   - flags: Ignored by an engine without a file.
  ///   - completion: Called when everything is closed.
  public func shutdown(flags: ShutdownFlag, completion: (@Sendable () -> Void)?) {
    _core.shutdown(completion)
  }
}

extension Workspace {
  /// Runs a transaction over these types and returns at once.
  public func performChanges(
    _ transactionalObjectTypes: [Any.Type], changesHandler: @escaping ChangesHandler
  ) {
    performChanges(
      transactionalObjectTypes, changesHandler: changesHandler, completionHandler: nil)
  }

  /// Runs a transaction over these types.
  /// - Returns: Whether it is committed.
  @discardableResult
  public func performChanges(
    _ transactionalObjectTypes: [Any.Type], changesHandler: @escaping ChangesHandler
  ) async -> Bool {
    await withCheckedContinuation { continuation in
      performChanges(transactionalObjectTypes, changesHandler: changesHandler) {
        continuation.resume(returning: $0)
      }
    }
  }

  /// Rejects new work and waits until everything is closed.
  public func shutdown(flags: ShutdownFlag) { shutdown(flags: flags, completion: nil) }

  /// Rejects new work and waits until everything is closed.
  public func shutdown() { shutdown(flags: [], completion: nil) }

  /// Rejects new work and returns at once; `completion` is called when everything is closed.
  public func shutdown(completion: (@Sendable () -> Void)?) {
    shutdown(flags: [], completion: completion)
  }

  /// Rejects new work, and returns when everything is closed.
  public func shutdown(flags: ShutdownFlag) async {
    await withCheckedContinuation { continuation in
      shutdown(flags: flags) { continuation.resume() }
    }
  }

  /// Rejects new work, and returns when everything is closed.
  public func shutdown() async { await shutdown(flags: []) }
}
