// Workspace: what programs hold.

/// Flags for `Workspace.shutdown`.
public struct WorkspaceShutdownFlag: OptionSet, Sendable {
  /// One bit for each flag.
  public let rawValue: Int

  /// Flags by their bits.
  public init(rawValue: Int) {
    self.rawValue = rawValue
  }

  /// Empties the write-ahead log and leaves one file, unless another connection still uses it.
  public static let truncate = WorkspaceShutdownFlag(rawValue: 1)
  /// Rewrites the file without unused space before closing.
  public static let vacuum = WorkspaceShutdownFlag(rawValue: 2)
}

/// Something that can be asked for objects.
public protocol Queryable: Sendable {
  /// Begins a query for the objects of a type. Nothing is read before `where` or `all` is called.
  func fetch<Element: Atom>(for ofType: Element.Type) -> QueryBuilder<Element>

  /// Calls `closure` on this thread; all fetches of this workspace inside see one state of the data, that of the first fetch.
  ///
  /// Others go on writing meanwhile. Calls may nest: the inner one joins the outer.
  func fetchWithinASnapshot<T>(_ closure: () -> T) -> T
}

/// A store of objects: typed queries, and transactions that behave as if they ran one at a time.
///
/// Reading is synchronous and possible anywhere. Writing happens in transactions, in the order of the calls:
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
  /// Told whether the transaction is committed, after it is. Runs on the workspace's target queue.
  typealias CompletionHandler = @Sendable (_ success: Bool) -> Void

  /// Runs a transaction over these types and returns at once.
  ///
  /// Transactions that share a type run one after another, in the order of the calls. `completionHandler` is called exactly
  /// once: with true if everything that was submitted is committed; with false if the transaction was aborted, failed, or was
  /// refused because the workspace is shut down.
  ///
  /// - Parameters:
  ///   - transactionalObjectTypes: The entity types that the handler fetches or changes. An empty list, and a type that is no
  ///     entity type, are programmer errors; a type that is named twice counts once.
  ///   - changesHandler: The body of the transaction.
  ///   - completionHandler: Told how it ended.
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

  /// Refuses new work, lets what was accepted run to its end, then closes.
  ///
  /// Without a completion it waits, which inside a transaction or snapshot of this workspace is a programmer error.
  func shutdown(flags: ShutdownFlag, completion: (@Sendable () -> Void)?)

  /// Refuses new work, and returns when everything is closed.
  func shutdown(flags: ShutdownFlag) async

  /// What is the same for all engines, for as long as the workspace lives.
  var _lifetime: WorkspaceLifetime { get }
}

extension Workspace {
  /// What is the same for all engines.
  @inlinable
  public var _core: WorkspaceCore { _lifetime.core }

  /// Told about every error that has no other way out: a damaged row that a result leaves out, a failed query, a commit that
  /// was refused. May be called on any thread. At first it is what the workspace was made with.
  public var errorHandler: (@Sendable (any Error) -> Void)? {
    get { _core.onError }
    nonmutating set { _core.onError = newValue }
  }

  /// Begins a query for the objects of a type. Nothing is read before `where` or `all` is called.
  @inlinable
  public func fetch<Element: Atom>(for ofType: Element.Type) -> QueryBuilder<Element> {
    QueryBuilder(_core)
  }

  /// Calls `closure` on this thread; all fetches of this workspace inside see one state of the data, that of the first fetch.
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

  /// Refuses new work, lets what was accepted run to its end, then closes; without a completion it waits for that.
  ///
  /// - Parameters:
  ///   - flags: Mean nothing to an engine that has no file.
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

  /// Refuses new work and waits until everything is closed.
  public func shutdown(flags: ShutdownFlag) { shutdown(flags: flags, completion: nil) }

  /// Refuses new work and waits until everything is closed.
  public func shutdown() { shutdown(flags: [], completion: nil) }

  /// Refuses new work and returns at once; `completion` is called when everything is closed.
  public func shutdown(completion: (@Sendable () -> Void)?) {
    shutdown(flags: [], completion: completion)
  }

  /// Refuses new work, and returns when everything is closed.
  public func shutdown(flags: ShutdownFlag) async {
    await withCheckedContinuation { continuation in
      shutdown(flags: flags) { continuation.resume() }
    }
  }

  /// Refuses new work, and returns when everything is closed.
  public func shutdown() async { await shutdown(flags: []) }
}
