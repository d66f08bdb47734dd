// WorkspaceCore: everything of a workspace that no engine owns.
//
// An engine's workspace is a thin public type around a core and its engine. The core keeps true:
//
//  - every accepted transaction completes exactly once, in the order of the calls, after its commit;
//  - after `shutdown` nothing is accepted, and the engine is closed after the last accepted transaction.

public import Dispatch
import Synchronization

/// The engine-neutral part of a workspace. For the authors of engines.
public final class WorkspaceCore: Sendable {
  let engine: any StorageEngine
  let clock: Clock
  private let line: TransactionLine
  private let open: OpenGroup
  private let targetQueue: DispatchQueue
  private let hook: ErrorHook
  /// The snapshots that are open.
  private let snapshots = DispatchGroup()

  /// - Parameters:
  ///   - engine: Where the objects are.
  ///   - targetQueue: Where handlers run; the workspace makes a queue of its own if there is none.
  public init(engine: any StorageEngine, targetQueue: DispatchQueue?) {
    self.engine = engine
    self.targetQueue =
      targetQueue ?? DispatchQueue(label: "dflat.workspace", attributes: .concurrent)
    let open = OpenGroup()
    let clock = Clock()
    let hook = ErrorHook()
    self.open = open
    self.clock = clock
    self.hook = hook
    line = TransactionLine(target: self.targetQueue) { force in
      guard force || open.group.isDue else { return false }
      open.settle(clock, hook)
      return true
    }
  }

  /// Unchecked: the group is used by the line only, which runs one job at a time.
  private struct OpenGroup: @unchecked Sendable {
    let group = CommitGroup()

    /// Commits and tells everybody. What is told may not wait for the line.
    func settle(_ clock: Clock, _ hook: ErrorHook) {
      let context = ThreadContext.current
      context.isSettling = true
      defer { context.isSettling = false }
      group.settle(committed: { clock.advance(by: $0) }, failed: { hook.report($0) })
    }
  }

  /// The hook for errors that have no other way out.
  public var onError: (@Sendable (any Error) -> Void)? {
    get { hook.handler }
    set { hook.handler = newValue }
  }

  /// Tells the error hook, without keeping the core alive.
  public var reporter: @Sendable (any Error) -> Void { { [hook] in hook.report($0) } }

  /// Tells the error hook.
  public func report(_ error: any Error) {
    hook.report(error)
  }

  // MARK: Changes

  /// Puts a transaction at the end of the line; see `Workspace`.
  public func performChanges(
    _ types: [Any.Type], _ changesHandler: @escaping Workspace.ChangesHandler,
    _ completionHandler: Workspace.CompletionHandler?
  ) {
    let schemas = WorkspaceCore.schemas(of: types)
    let isAccepted = line.enqueue { [self] in
      open.group.add(isGood: run(schemas, changesHandler), completionHandler)
    }
    if !isAccepted { completionHandler?(false) }
  }

  private func run(_ schemas: Set<EntitySchema>, _ handler: Workspace.ChangesHandler) -> Bool {
    // A handler of other types may wait for those before it to complete, as it may if it runs beside them.
    if open.group.writer != nil, open.group.types.isDisjoint(with: schemas) {
      open.settle(clock, hook)
    }
    do { try engine.prepareForWriting() } catch {
      report(error)
      return false
    }
    let transaction = Transaction(self, schemas, open.group)
    let context = ThreadContext.current
    let outer = context.transaction
    context.transaction = transaction
    handler(transaction)
    context.transaction = outer
    return transaction.finish()
  }

  private static func schemas(of types: [Any.Type]) -> Set<EntitySchema> {
    require(!types.isEmpty, "performChanges(_:) was called without any type")
    return types.reduce(into: []) { schemas, type in
      guard let entity = type as? any Atom.Type else {
        misuse("performChanges(_:): \(type) is not an entity type")
      }
      schemas.insert(entity._schema)
    }
  }

  // MARK: Reading

  /// The rows of a query: inside a transaction of this workspace its own view, inside a snapshot the snapshot's, otherwise
  /// what is committed. Errors go to the hook and give an empty result.
  @usableFromInline
  func rows(_ query: Query) -> RowBuffer {
    do {
      let context = ThreadContext.current
      if let transaction = context.transaction, transaction.workspace === self {
        return try transaction.fetch(query)
      }
      let mark = ReadMark(timestamp: clock.now, reading: 0)
      if let snapshot = context.snapshots[ObjectIdentifier(self)] {
        return try snapshot.rows(query, mark: mark)
      }
      if line.isClosed { return RowBuffer() }
      if let key = query.key {
        return RowBuffer(try engine.row(of: query, with: key, mark: mark))
      }
      return try engine.read(isUrgent: false) { try $0.rows(query, mark: mark) }
    } catch let error as StorageError where error.cause == .closed {
      return RowBuffer()
    } catch {
      report(error)
      return RowBuffer()
    }
  }

  func explain(_ query: Query) throws -> QueryExplanation {
    let context = ThreadContext.current
    if let transaction = context.transaction, transaction.workspace === self {
      return try transaction.explain(query)
    }
    if let snapshot = context.snapshots[ObjectIdentifier(self)] {
      return try snapshot.explain(query)
    }
    return try engine.read(isUrgent: false) { try $0.explain(query) }
  }

  /// Calls `closure` with one state of the data in view; see `Queryable`.
  public func fetchWithinASnapshot<T>(_ closure: () -> T) -> T {
    let context = ThreadContext.current
    let key = ObjectIdentifier(self)
    // A transaction's view is consistent already, an outer snapshot is joined, and a closed workspace has nothing to show.
    if context.snapshots[key] != nil || context.transaction?.workspace === self {
      return closure()
    }
    snapshots.enter()
    defer { snapshots.leave() }
    if line.isClosed { return closure() }
    let snapshot = engine.makeSnapshot()
    context.snapshots[key] = snapshot
    defer {
      context.snapshots[key] = nil
      snapshot.close()
    }
    return closure()
  }

  // MARK: Shutdown

  /// Refuses new work, and closes the engine after what was accepted; see `Workspace`.
  public func shutdown(_ flags: WorkspaceShutdownFlag, _ completion: (@Sendable () -> Void)?) {
    let context = ThreadContext.current
    if completion == nil {
      require(
        !context.isSettling,
        "shutdown() was called inside a completion handler, for which it would wait: give it a completion"
      )
      require(
        context.transaction?.workspace !== self,
        "shutdown() was called inside a transaction of the workspace: give it a completion")
      require(
        context.snapshots[ObjectIdentifier(self)] == nil,
        "shutdown() was called inside a snapshot of the workspace: give it a completion")
    }
    let closing = { @Sendable [self] in
      // A snapshot that has read nothing yet goes on reading, too.
      snapshots.wait()
      do { try engine.close(flags) } catch { report(error) }
    }
    guard let completion else {
      let done = DispatchSemaphore(value: 0)
      let isFirst = line.close {
        closing()
        done.signal()
      }
      if isFirst { done.wait() }
      return
    }
    let isFirst = line.close {
      closing()
      completion()
    }
    if !isFirst { completion() }
  }
}

/// A logical clock: every committed transaction advances it.
final class Clock: Sendable {
  private let value = Atomic<Int64>(1)

  var now: Int64 { value.load(ordering: .acquiring) }

  func advance(by count: Int) { value.add(Int64(count), ordering: .acquiringAndReleasing) }
}

/// Where errors go that have no other way out.
final class ErrorHook: Sendable {
  private let installed = Mutex<(@Sendable (any Error) -> Void)?>(nil)

  var handler: (@Sendable (any Error) -> Void)? {
    get { installed.withLock { $0 } }
    set { installed.withLock { $0 = newValue } }
  }

  func report(_ error: any Error) {
    handler?(error)
  }
}
