// Transactions that return what they made and throw what went wrong.

import Dispatch
import Synchronization

extension Workspace {
  /// Runs a transaction over these types and returns what `body` returns, when it is committed.
  ///
  ///     let post = try await dflat.write(Post.self, Tag.self) { txn in
  ///       try txn.upsert(Tag(name: "swift"))
  ///       return try txn.insert(Post(title: "first"))
  ///     }
  ///
  /// Transactions that share a type run one after another, in the order of the calls; see `performChanges`, beside which this may
  /// be used freely.
  ///
  /// An error that leaves `body` undoes everything and is rethrown. A task that is cancelled before the commit undoes everything,
  /// too, with `CancellationError`. If another connection has changed what `body` had read before its first change, `body` runs
  /// again, from the beginning: apart from the transaction it should have no effects.
  ///
  /// `body` runs on the thread of the task if nobody is in the way, and otherwise on a queue of the
  /// workspace, or on its target queue if the program has given one. If it turns out that it would
  /// have to wait on the task's thread, it runs again on a queue, without losing its place. It
  /// should not take long, and must not wait for other tasks.
  ///
  /// - Parameters:
  ///   - types: The entity types that `body` fetches or changes.
  ///   - attempts: How often `body` runs at most. With 1 it always runs on a queue.
  ///   - body: The transaction.
  /// - Returns: What `body` returns.
  /// - Throws: What `body` throws; `StorageError`, with `.conflict` after the last attempt, if it could not be committed;
  ///   `WorkspaceError`; `CancellationError`.
  public func write<each Element: Atom, R: Sendable>(
    _ types: repeat (each Element).Type, attempts: Int = 8,
    body: @escaping @Sendable (WriteContext) throws -> R
  ) async throws -> R {
    var schemas: TypeSet = []
    for type in repeat each types { schemas.insert(type._schema) }
    let made = Made<R>()
    try await _core.write(schemas, attempts) { made.value = try body($0) }
    return made.value.unwrapped
  }

  /// Runs a transaction over these types on this thread, and returns what `body` returns, when it
  /// is committed.
  ///
  ///     let post = try dflat.write(Post.self) { txn in
  ///       try txn.insert(Post(title: "first"))
  ///     }
  ///
  /// For command-line tools, tests, and threads of a program's own; in a task, await the other
  /// form. It takes its place among transactions in the order of the calls like the other, and
  /// blocks the thread until its turn has come, and until it is committed and observers have been
  /// told.
  ///
  /// `body` runs on the calling thread. Where the program has set a `targetQueue` it runs as if by
  /// `targetQueue.sync`, so never beside something that a serial queue runs. What `body` throws
  /// undoes everything; it runs again after changes by other connections, as with the other form.
  ///
  /// - Parameters:
  ///   - types: The entity types that `body` fetches or changes.
  ///   - attempts: How often `body` runs at most because of changes by other connections.
  ///   - body: The transaction.
  /// - Returns: What `body` returns.
  /// - Throws: What `body` throws; `StorageError`, with `.conflict` after the last attempt, if it
  ///   could not be committed; `WorkspaceError`, with `.nestedWrite` where it would wait for
  ///   itself: in a transaction, a callback or a completion handler of the workspace, and on its
  ///   `targetQueue`.
  @available(*, noasync, message: "await the other form, which blocks no thread")
  public func write<each Element: Atom, R>(
    _ types: repeat (each Element).Type, attempts: Int = 8, body: (WriteContext) throws -> R
  ) throws -> R {
    var schemas: TypeSet = []
    for type in repeat each types { schemas.insert(type._schema) }
    var made: R?
    try _core.writeHere(schemas, attempts) { made = try body($0) }
    return made.unwrapped
  }
}

extension WorkspaceCore {
  // Not generic: what `body` makes is kept by who calls this, where its type is known.

  fileprivate func write(
    _ types: TypeSet, _ attempts: Int,
    _ body: @escaping @Sendable (WriteContext) throws -> Void
  ) async throws {
    try checkWrite(types, attempts)
    var attempts = attempts
    while true {
      do { return try await writeOnce(types, &attempts, body) } catch let error as StorageError
        where error.cause == .conflict && attempts > 0
      {
        try Task.checkCancellation()
      }
    }
  }

  fileprivate func writeHere(
    _ types: TypeSet, _ attempts: Int, _ body: (WriteContext) throws -> Void
  ) throws {
    try checkWrite(types, attempts)
    let context = ThreadContext.current
    if context.transaction(of: self) != nil || context.delivering === self || lanes.areAround {
      throw WorkspaceError.nestedWrite
    }
    for _ in 1..<attempts {
      do { return try writeOnceHere(types, body) } catch let error as StorageError
        where error.cause == .conflict
      {}
    }
    return try writeOnceHere(types, body)
  }

  private func checkWrite(_ types: TypeSet, _ attempts: Int) throws {
    require(attempts > 0, "write(_:attempts:body:) was called with \(attempts) attempts")
    if types.isEmpty { throw WorkspaceError.noTypes }
    if let outer = RunningWrite.current, outer.contains(types, of: self) {
      throw WorkspaceError.nestedWrite
    }
  }

  /// - Parameter attempts: How often `body` may run; less by how often it has.
  private func writeOnce(
    _ types: TypeSet, _ attempts: inout Int,
    _ body: @escaping @Sendable (WriteContext) throws -> Void
  ) async throws {
    let write = Write(self, types, body)
    attempts -= 1
    if !migrations.plans(for: types).isEmpty {
      if !enqueue(types, { write.run() }) { throw WorkspaceError.shutDown }
    } else {
      accepted.enter()
      guard let (ticket, isReady) = transactions.enter(types, .job { write.run() }) else {
        accepted.leave()
        throw WorkspaceError.shutDown
      }
      if isReady {
        // If it has to wait after all it runs a second time.
        if attempts > 0, isFree {
          if let rest = write.runAtOnce() {
            transactions.end(ticket, rest)
          } else {
            attempts -= 1
            transactions.start(ticket)
          }
        } else {
          transactions.start(ticket)
        }
      }
    }
    try await write.end()
  }

  private func writeOnceHere(
    _ types: TypeSet, _ body: (WriteContext) throws -> Void
  ) throws {
    let plans = migrations.plans(for: types)
    let ready = DispatchSemaphore(value: 0)
    accepted.enter()
    let lines = plans.reduce(into: types) { $0.formUnion($1.types) }
    guard let (ticket, isReady) = transactions.enter(lines, .own(ready)) else {
      accepted.leave()
      throw WorkspaceError.shutDown
    }
    if !isReady { ready.wait() }
    let running = RunningWrite(self, types, isAwaited: false)
    let ending = Ending()
    let rest = lanes.runHere {
      complete(plans)
      let transaction = Transaction(
        self, types, reportsFailures: false, completion: .awaited(ending))
      return run(transaction) { running.call(body, in: $0) }
    }
    transactions.end(ticket, rest)
    ending.wait()
    try ending.check()
  }
}

/// A transaction that a task awaits.
private final class Write: Sendable {
  private let core: WorkspaceCore
  private let types: TypeSet
  private let body: @Sendable (WriteContext) throws -> Void
  private let running: RunningWrite
  private let ending = Ending()

  init(
    _ core: WorkspaceCore, _ types: TypeSet,
    _ body: @escaping @Sendable (WriteContext) throws -> Void
  ) {
    self.core = core
    self.types = types
    self.body = body
    running = RunningWrite(core, types, isAwaited: true)
  }

  /// Runs it in a lane.
  func run() -> Ticket.Rest {
    core.run(transaction(mayWait: true)) { running.call(body, in: $0) }
  }

  /// Runs it on the task's own thread.
  /// - Returns: nil if it would have had to wait.
  func runAtOnce() -> Ticket.Rest? {
    core.runAtOnce(transaction(mayWait: false)) { running.call(body, in: $0) }
  }

  private func transaction(mayWait: Bool) -> Transaction {
    Transaction(
      core, types, reportsFailures: false, mayWait: mayWait, completion: .awaited(ending))
  }

  /// Returns when it is committed.
  func end() async throws {
    if !ending.isKnown {
      await withTaskCancellationHandler {
        await ending.wait()
      } onCancel: {
        running.cancel()
      }
    }
    try ending.check()
  }
}

/// What a transaction's body has made.
///
/// Unchecked: it is read when the transaction has ended, behind the lock of its `Ending`.
private final class Made<R: Sendable>: @unchecked Sendable {
  var value: R?
}

extension Optional {
  /// What a transaction that is committed has made.
  fileprivate var unwrapped: Wrapped {
    guard let self else { preconditionFailure("a transaction was committed that has made nothing") }
    return self
  }
}

/// A transaction whose closure runs, as tasks that begin in it see it.
final class RunningWrite: Sendable {
  @TaskLocal static var current: RunningWrite?

  private let core: WorkspaceCore
  private let types: TypeSet
  /// Whether a task awaits it, whose cancellation counts, also where the closure runs on the task's
  /// thread.
  private let isAwaited: Bool
  private let hasEnded = Atomic(false)
  private let cancelled = Atomic(false)

  fileprivate init(_ core: WorkspaceCore, _ types: TypeSet, isAwaited: Bool) {
    self.core = core
    self.types = types
    self.isAwaited = isAwaited
  }

  /// Whether a transaction would wait for this one.
  fileprivate func contains(_ types: TypeSet, of core: WorkspaceCore) -> Bool {
    core === self.core && !hasEnded.load(ordering: .acquiring)
      && !types.isDisjoint(with: self.types)
  }

  /// Runs the closure, which may be a second time.
  fileprivate func call(_ body: (WriteContext) throws -> Void, in transaction: Transaction) {
    if isCancelled { return transaction.fail(CancellationError()) }
    hasEnded.store(false, ordering: .releasing)
    let context = WriteContext(transaction)
    Self.$current.withValue(self) {
      do { try body(context) } catch { transaction.fail(error) }
    }
    context.scope.close()
    hasEnded.store(true, ordering: .releasing)
    if isCancelled { transaction.fail(CancellationError()) }
  }

  private var isCancelled: Bool {
    cancelled.load(ordering: .acquiring) || isAwaited && Task.isCancelled
  }

  fileprivate func cancel() { cancelled.store(true, ordering: .releasing) }
}
