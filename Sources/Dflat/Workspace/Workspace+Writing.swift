// Transactions that return a result and throw errors.

import Dispatch
import Platform

extension Workspace {
  /// Runs a transaction over these types and returns the result of `body` when it is committed.
  ///
  ///     let post = try await dflat.write(Post.self, Tag.self) { txn in
  ///       try txn.upsert(Tag(name: "swift"))
  ///       return try txn.insert(Post(title: "first"))
  ///     }
  ///
  /// Transactions that share a type run one after another, in the order of the calls. `write` and
  /// `performChanges` may be mixed freely.
  ///
  /// An error that `body` throws rolls everything back and is rethrown. If another connection has
  /// changed what `body` had read before its first change, `body` runs again, from the beginning:
  /// apart from the transaction it should have no effects.
  ///
  /// If the task is cancelled before the storage is asked to commit, everything is rolled back,
  /// too, and `CancellationError` is thrown; afterwards cancelling has no effect. A transaction
  /// that is still queued is withdrawn at once, and others no longer wait for it. A call of `body`
  /// that waits for others, as for a lock of a server, is not interrupted.
  ///
  /// `body` runs in its task: it sees the task's cancellation, priority and task-local values. It
  /// runs on the thread that the task is on if nothing blocks it, and otherwise on a queue of the
  /// workspace, or on its target queue if the program has set one. If it turns out that it would
  /// have to wait on the task's thread, it runs again on a queue, without losing its position in
  /// the order. It should not take long, and must not wait for other tasks.
  ///
  /// - Parameters:
  ///   - types: The entity types that `body` fetches or changes. None are needed if it uses
  ///     dictionaries only.
  ///   - attempts: How often `body` runs at most. With 1 it always runs on a queue. nil for eight
  ///     times, and on a server for as often as it can in some seconds.
  ///   - body: The transaction.
  /// - Returns: The result of `body`.
  /// - Throws: The errors of `body`; `StorageError`, with `.conflict` after the last attempt, if it
  ///   could not be committed; `WorkspaceError`; `CancellationError`.
  @discardableResult
  public func write<each Element: Atom, R: Sendable>(
    _ types: repeat (each Element).Type, attempts: Int? = nil,
    body: @escaping @Sendable (WriteContext) throws -> R
  ) async throws -> R {
    var schemas: TypeSet = []
    for type in repeat each types { schemas.insert(type._schema) }
    let result = TransactionResult<R>()
    try await _core.write(schemas, attempts) { result.value = try body($0) }
    return result.value.unwrapped
  }

  /// Runs a transaction over types that are known only when the program runs; see `write` with a
  /// list of types.
  ///
  /// - Parameters:
  ///   - types: The entity types that `body` fetches or changes.
  ///   - attempts: How often `body` runs at most. With 1 it always runs on a queue. nil for eight
  ///     times, and on a server for as often as it can in some seconds.
  ///   - body: The transaction.
  /// - Returns: The result of `body`.
  /// - Throws: The same errors as `write` with a list of types.
  @discardableResult
  package func write<R: Sendable>(
    types: [any Atom.Type], attempts: Int? = nil,
    body: @escaping @Sendable (WriteContext) throws -> R
  ) async throws -> R {
    var schemas: TypeSet = []
    for type in types { schemas.insert(type._schema) }
    let result = TransactionResult<R>()
    try await _core.write(schemas, attempts) { result.value = try body($0) }
    return result.value.unwrapped
  }

  /// Runs a transaction over these types on this thread, and returns the result of `body` when it
  /// is committed.
  ///
  ///     let post = try dflat.write(Post.self) { txn in
  ///       try txn.insert(Post(title: "first"))
  ///     }
  ///
  /// For command-line tools, tests, and a program's own threads; in a task, await the asynchronous
  /// `write`. Both take their position among transactions in the order of the calls. This one
  /// blocks the thread until it is its turn, and until the transaction is committed and observers
  /// have been notified.
  ///
  /// `body` runs on the calling thread. If the program has set a `targetQueue`, it runs as if by
  /// `targetQueue.sync`, so never in parallel with the work of a serial queue. An error that `body`
  /// throws rolls everything back; after changes by other connections `body` runs again, as with
  /// the asynchronous `write`.
  ///
  /// - Parameters:
  ///   - types: The entity types that `body` fetches or changes. None are needed if it uses
  ///     dictionaries only.
  ///   - attempts: How often `body` runs at most because of changes by other connections. nil for
  ///     eight times, and on a server for as often as it can in some seconds.
  ///   - body: The transaction.
  /// - Returns: The result of `body`.
  /// - Throws: The errors of `body`; `StorageError`, with `.conflict` after the last attempt, if it
  ///   could not be committed; `WorkspaceError`, with `.nestedWrite` where it would wait for
  ///   itself: in a transaction, a callback or a completion handler of the workspace, and on its
  ///   `targetQueue`.
  @available(
    *, noasync,
    message: """
      await the other form, which blocks no thread; at the top level of main.swift, where Swift \
      takes this one, move the call into an async function
      """
  )
  @discardableResult
  public func write<each Element: Atom, R>(
    _ types: repeat (each Element).Type, attempts: Int? = nil, body: (WriteContext) throws -> R
  ) throws -> R {
    var schemas: TypeSet = []
    for type in repeat each types { schemas.insert(type._schema) }
    var result: R?
    try _core.writeHere(schemas, attempts) { result = try body($0) }
    return result.unwrapped
  }

  /// Runs a transaction over types of which only the schemas are known, on this thread; see `write`
  /// with a list of types.
  ///
  /// - Parameters:
  ///   - schemas: The schemas of the types that `body` changes.
  ///   - attempts: How often `body` runs at most because of changes by other connections.
  ///   - body: The transaction.
  /// - Returns: The result of `body`.
  /// - Throws: The same errors as `write` with a list of types.
  @available(*, noasync)
  @discardableResult
  package func write<R>(
    schemas: [EntitySchema], attempts: Int? = nil, body: (WriteContext) throws -> R
  ) throws -> R {
    var types: TypeSet = []
    for schema in schemas { types.insert(schema) }
    var result: R?
    try _core.writeHere(types, attempts) { result = try body($0) }
    return result.unwrapped
  }
}

extension WorkspaceCore {
  // Not generic: the caller, which knows the type, keeps the result of `body`.

  fileprivate func write(
    _ types: TypeSet, _ attempts: Int?,
    _ body: @escaping @Sendable (WriteContext) throws -> Void
  ) async throws {
    let types = try checkedTypes(types, attempts)
    var limit = RunLimit(attempts, engine.capabilities.conflictPatience)
    var pauses = RetryPauses()
    try Task.checkCancellation()
    while true {
      do { return try await writeOnce(types, &limit, pauses.conflicts, body) } catch let error
        as StorageError
        where error.cause == .conflict
      {
        if error.isWithinWorkspace { limit.takeBack() }
        guard limit.mayRepeat else { throw error }
        try Task.checkCancellation()
        if let pause = pauses.next() { try await Task.sleep(for: pause) }
      }
    }
  }

  fileprivate func writeHere(
    _ types: TypeSet, _ attempts: Int?, _ body: (WriteContext) throws -> Void
  ) throws {
    let types = try checkedTypes(types, attempts)
    let context = ThreadContext.current
    if context.transaction(of: self) != nil || context.delivering === self || jobQueues.areAround {
      throw WorkspaceError.nestedWrite
    }
    var limit = RunLimit(attempts, engine.capabilities.conflictPatience)
    var pauses = RetryPauses()
    while true {
      limit.begin()
      do { return try writeOnceHere(types, pauses.conflicts, body) } catch let error
        as StorageError
        where error.cause == .conflict
      {
        if error.isWithinWorkspace { limit.takeBack() }
        guard limit.mayRepeat else { throw error }
        pauses.take()
      }
    }
  }

  /// The types in whose queues the transaction waits. A transaction without types is for
  /// dictionaries.
  private func checkedTypes(_ types: TypeSet, _ attempts: Int?) throws -> TypeSet {
    if FunctionThread.isInside { throw WorkspaceError.calledByFunction }
    if let attempts {
      require(attempts > 0, "write(_:attempts:body:) was called with \(attempts) attempts")
    }
    var types = types.isEmpty ? [DictionaryItem.schema] : types
    types.addTypesOfDeletion()
    if let outer = RunningWrite.current, outer.contains(types, of: self) {
      throw WorkspaceError.nestedWrite
    }
    return types
  }

  /// - Parameters:
  ///   - types: The types.
  ///   - limit: How often `body` may run; it counts each run.
  ///   - conflicts: How many conflicts there were before.
  ///   - body: The transaction.
  private func writeOnce(
    _ types: TypeSet, _ limit: inout RunLimit, _ conflicts: Int,
    _ body: @escaping @Sendable (WriteContext) throws -> Void
  ) async throws {
    let plans = migrations.plans(for: types)
    let write = AwaitedWrite(self, types, plans, conflicts, body)
    limit.begin()
    accepted.enter()
    let entered = transactions.enter(Self.lines(types, plans), .job { write.run() })
    guard let (ticket, isReady) = entered else {
      accepted.leave()
      throw WorkspaceError.shutDown
    }
    if isReady {
      // If it has to wait after all, `body` runs a second time.
      if limit.mayRepeat, plans.isEmpty, isFree {
        if let rest = write.runAtOnce() {
          transactions.end(ticket, rest)
          return try await write.end(ticket)
        }
        limit.begin()
      }
      transactions.start(ticket)
    }
    try await write.runInJobQueue(ticket)
  }

  private func writeOnceHere(
    _ types: TypeSet, _ conflicts: Int, _ body: (WriteContext) throws -> Void
  ) throws {
    let plans = migrations.plans(for: types)
    let ready = DispatchSemaphore(value: 0)
    accepted.enter()
    guard let (ticket, isReady) = transactions.enter(Self.lines(types, plans), .own(ready)) else {
      accepted.leave()
      throw WorkspaceError.shutDown
    }
    if !isReady { ready.wait() }
    let running = RunningWrite(self, types, isAwaited: false)
    let outcome = CommitOutcome()
    let rest = jobQueues.runHere {
      complete(plans)
      let transaction = Transaction(
        self, types, reportsFailures: false, conflicts: conflicts, completion: .awaited(outcome))
      return run(transaction) { running.call(body, in: $0) }
    }
    transactions.end(ticket, rest)
    outcome.wait()
    try outcome.check()
  }
}

/// The result of a transaction's body.
private final class TransactionResult<R: Sendable>: Sendable {
  private let result = Mutex<R?>(nil)

  var value: R? {
    get { result.withLock { $0 } }
    set { result.withLock { $0 = newValue } }
  }
}

extension Optional {
  /// The result of a committed transaction.
  fileprivate var unwrapped: Wrapped {
    guard let self else { preconditionFailure("a committed transaction has no result") }
    return self
  }
}
