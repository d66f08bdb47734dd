// WorkspaceCore: everything in a workspace that does not depend on the engine.
//
// An engine's workspace is a thin public type around a core and its engine. Invariants:
//
//  - every accepted transaction completes exactly once, in the order of the calls, after its
//    commit;
//  - after `shutdown` nothing is accepted, and the engine is closed after the last accepted
//    transaction.

package import Dispatch
import Platform

/// The engine-neutral part of a workspace. For authors of engines: it stays alive until it is shut
/// down.
@usableFromInline package final class WorkspaceCore: TransactionHost {
  package let engine: any StorageEngine
  /// Whether there can be transactions.
  var isWritable: Bool { engine.capabilities.isWritable }
  /// The engine, if other connections can change its data.
  let sharedEngine: (any SharedStorageEngine)?
  /// The engine, if it needs maintenance.
  let maintainedEngine: (any MaintainedStorageEngine)?
  let clock: Clock
  /// The engine, if it builds indexes in steps.
  let indexBuilder: (any IndexBuildingStorageEngine)?
  /// Called after each step of a migration.
  let migrationHandler: (@Sendable (EntitySchema, MigrationProgress) -> Void)?
  let coordinator: WriteCoordinator
  /// The observers of changes.
  let observers: Observers
  let recentChanges: RecentChangesByTable
  /// The mark of rows that are fetched outside of transactions.
  let reading = ReadMark.newReading()
  let otherWriters = ExternalChangeMonitor()
  /// Follows other connections, if the engine records what they change.
  let follower: ExternalChangeFollower?
  /// Orders transactions, and the deliveries of their outcomes.
  let transactions: TicketScheduler
  let deliveries: TicketScheduler
  let jobQueues: JobQueues
  let builds = IndexBuilds()
  let migrations = Migrations()
  let dictionaries = Dictionaries()
  /// The objects that programs hold as `Live`.
  let liveRows = LiveRowsByType()
  /// How long index builds and migrations wait before they retry when the disk is full. For tests.
  package var fullDiskPause: DispatchTimeInterval {
    get { builds.pause }
    set {
      builds.pause = newValue
      migrations.runs.pause = newValue
    }
  }
  /// How many changes of rows are remembered of a type that is not used yet. For tests.
  package var mostRecentChanges: Int {
    get { recentChanges.mostRows }
    set { recentChanges.mostRows = newValue }
  }
  /// The queue of work that is retried later.
  let alarms = DispatchQueue(label: "dflat.later")
  let hook: ErrorHook
  private let noticed = Mutex(OtherCommits(count: 0, since: 0))
  /// The operations that are accepted and have not ended.
  let accepted = DispatchGroup()
  /// Runs the steps of a shutdown.
  let closing = DispatchQueue(label: "dflat.closing")
  /// The snapshots that are open.
  let snapshots = DispatchGroup()
  /// The iterations that keep a snapshot.
  let iterations = OpenIterations()

  /// - Parameters:
  ///   - engine: Stores the objects.
  ///   - isSerial: Whether transactions run one after another even if they have no type in common.
  ///   - targetQueue: Where handlers run; nil for queues of the workspace's own.
  ///   - migrationHandler: Called after each step of a migration, with the new type.
  package init(
    engine: any StorageEngine, isSerial: Bool, targetQueue: DispatchQueue?,
    migrationHandler: (@Sendable (EntitySchema, MigrationProgress) -> Void)? = nil
  ) {
    let clock = Clock()
    let hook = ErrorHook(writers: engine.capabilities.writersAtOnce)
    let target = targetQueue ?? (isSerial ? DispatchQueue(label: "dflat.workspace") : nil)
    let jobQueues = JobQueues(target: target)
    let deliveries = TicketScheduler(jobQueues: jobQueues, isSerial: isSerial)
    let observers = Observers(
      deliveries, mayLag: !engine.capabilities.excludesOtherWriters)
    let coordinator = WriteCoordinator(
      capabilities: engine.capabilities, deliveries: deliveries,
      settled: { member in
        let time = clock.advance()
        member.committed(at: time)
      },
      lost: { types in
        let time = clock.advance()
        for type in types.types { observers.of(type).markPossiblyChanged(at: time) }
      }, hook: hook)
    self.engine = engine
    if let name = engine.storageName { SharedStorages.begin(reading, name: name) }
    recentChanges = RecentChangesByTable(of: engine)
    sharedEngine = engine.asShared
    maintainedEngine = engine.asMaintained
    follower = engine.asChangeRecording.map(ExternalChangeFollower.init)
    indexBuilder = engine.asIndexBuilding
    self.migrationHandler = migrationHandler
    self.clock = clock
    self.hook = hook
    self.observers = observers
    self.jobQueues = jobQueues
    self.deliveries = deliveries
    self.coordinator = coordinator
    transactions = TicketScheduler(jobQueues: jobQueues, isSerial: isSerial) { rest, followers in
      switch rest {
      case .nothing: break
      case .settling:
        coordinator.settle(isFollowed: followers == .some, isJobQueue: followers == .noneInJobQueue)
      case .delivery(let ticket):
        // A transaction that waits for this thread must not have to wait for a handler.
        if followers == .noneInJobQueue { deliveries.run(ticket) } else { deliveries.start(ticket) }
      }
    }
    // A reference cycle, which the shutdown breaks. A weak reference would slow down reference
    // counting of the core for good.
    indexBuilder?.setIndexRequestHandler { self.wantIndexes(of: $0) }
    indexBuilder?.setIndexConfirmationHandler { self.confirmIndexes(of: $0) }
  }

  /// The hook for errors that cannot be thrown or returned.
  package var onError: (@Sendable (any Error) -> Void)? {
    get { hook.handler }
    set { hook.handler = newValue }
  }

  /// Reports to the error hook, without keeping the core alive.
  package var reporter: @Sendable (any Error) -> Void { { [hook] in hook.report($0) } }

  /// Reports an error to the error hook.
  package func report(_ error: any Error) {
    hook.report(error)
  }

  // MARK: Changes

  /// Enqueues a transaction for its types; see `Workspace`.
  package func performChanges(
    _ types: [Any.Type], _ changesHandler: @escaping Workspace.ChangesHandler,
    _ completionHandler: Workspace.CompletionHandler?
  ) {
    let types = WorkspaceCore.schemas(of: types)
    let completion = completionHandler.map { Transaction.Completion.classic($0) }
    let transaction = Transaction(
      self, types, reportsFailures: true, completion: completion ?? .none, handler: changesHandler)
    // A job that has nothing but one object needs no memory of its own.
    let isAccepted = enqueue(types) { transaction.core.run(transaction) { $0.callHandler() } }
    if !isAccepted { completionHandler?(false) }
  }

  /// Enqueues a job for some types.
  ///
  /// - Parameters:
  ///   - types: The types.
  ///   - job: Must make sure that `endAccepted` is called when its end has been delivered; a
  ///     shutdown waits for that call.
  /// - Returns: False if the workspace is shut down: then the job is not run.
  func enqueue(_ types: TypeSet, _ job: @escaping Ticket.Job) -> Bool {
    let plans = migrations.plans(for: types)
    if plans.isEmpty { return enqueueAsIs(types, job) }
    return enqueueAsIs(Self.lines(types, plans)) { [self] in
      complete(plans)
      return job()
    }
  }

  /// The types in whose queues a job over some types waits, if these plans are completed before it.
  static func lines(_ types: TypeSet, _ plans: [MigrationPlan]) -> TypeSet {
    plans.reduce(into: types) { $0.formUnion($1.types) }
  }

  /// Enqueues a job for some types without completing their migrations.
  func enqueueAsIs(_ types: TypeSet, _ job: @escaping Ticket.Job) -> Bool {
    accepted.enter()
    let isAccepted = transactions.enqueue(types, job)
    if !isAccepted { accepted.leave() }
    return isAccepted
  }

  /// Whether a shutdown has been called.
  var isClosed: Bool { transactions.isClosed }

  /// Begins an operation that a shutdown waits for. Called while another operation is known to be
  /// accepted.
  /// - Returns: True.
  func accept() -> Bool {
    accepted.enter()
    return true
  }

  /// Begins an operation that a shutdown waits for. May be called at any time.
  /// - Returns: False if the workspace is shut down.
  func acceptUnlessClosed() -> Bool {
    accepted.enter()
    if !transactions.isClosed { return true }
    accepted.leave()
    return false
  }

  func endAccepted() { accepted.leave() }

  /// Starts a delivery, in a job queue.
  func startDelivery(_ ticket: Ticket) { deliveries.start(ticket) }

  /// Runs a transaction, which is at the head of its queues, on this thread.
  func run(_ transaction: Transaction, _ handler: (Transaction) -> Void) -> Ticket.FollowUp {
    do { try engine.prepareForWriting() } catch { return transaction.finish(error) }
    ThreadContext.current.inside(transaction, handler)
    return transaction.finish()
  }

  /// Runs a transaction that must not wait on this thread.
  /// - Returns: nil if it would have had to wait; it had no effect then.
  func runAtOnce(
    _ transaction: Transaction, _ handler: (Transaction) -> Void
  ) -> Ticket.FollowUp? {
    ThreadContext.current.inside(transaction, handler)
    if !transaction.isAbandoned { return transaction.finish() }
    transaction.close()
    return nil
  }

  /// Whether a transaction that begins now will most likely not have to wait, so that it may run on
  /// the thread of a task. This reserves nothing, so another transaction may come in between.
  var isFree: Bool {
    !jobQueues.areShared && ThreadContext.current.isIdle && coordinator.isIdle
      && engine.canWriteAtOnce
  }

  /// Whether other connections can change what this workspace remembers.
  var isShared: Bool { sharedEngine != nil || !engine.capabilities.excludesOtherWriters }

  /// Whether the current token is found without a round trip to a server.
  var hasLocalToken: Bool { engine.capabilities.excludesOtherWriters }

  /// The engine's commit token, as far as it is known without a query; see `SharedStorageEngine`.
  var lastKnownToken: CommitToken { sharedEngine?.lastKnownToken ?? .unshared }

  /// What maintenance of types depends on.
  func dataVersion(of schemas: [EntitySchema]) -> DataVersion {
    DataVersion(
      clock: clock.now, lastChange: schemas.map { observers.of($0).lastChange }.max() ?? 0,
      token: lastKnownToken)
  }

  /// The engine's current commit token; nil if it cannot be known.
  func currentToken() throws -> CommitToken? {
    guard let sharedEngine else { return .unshared }
    return try sharedEngine.currentToken()
  }

  func requireMigrated(_ schema: EntitySchema) throws {
    if let failure = migrations.failure(of: schema) { throw Unmigrated(cause: failure) }
  }

  var otherCommits: OtherCommits {
    let count = sharedEngine?.otherCommits ?? 0
    return noticed.withLock { noticed in
      if noticed.count != count { noticed = OtherCommits(count: count, since: clock.advance()) }
      return noticed
    }
  }

  /// Makes sure that commits of other connections are noticed from now on. Called before rows are
  /// fetched or observed.
  @inline(__always)
  func followTokens() { recentChanges.tokens.follow(clock) { try currentToken() } }

  /// The mark of committed rows that are fetched from now on.
  func markOfFetch() -> ReadMark {
    followTokens()
    return ReadMark(timestamp: clock.now, reading: reading)
  }

  /// Calls handlers of the program.
  func delivering(_ body: () -> Void) {
    let context = ThreadContext.current
    let outer = context.delivering
    context.delivering = self
    body()
    context.delivering = outer
  }

  private static func schemas(of types: [Any.Type]) -> TypeSet {
    require(!types.isEmpty, "performChanges(_:) was called without any type")
    var schemas: TypeSet = []
    for type in types {
      guard let entity = type as? any Atom.Type else {
        misuse("performChanges(_:): \(type) is not an entity type")
      }
      schemas.insert(entity._schema)
    }
    schemas.addTypesOfDeletion()
    return schemas
  }

  func changeObserver(of schema: EntitySchema) -> any ChangeObserver { observers.of(schema) }

  func preparation(for types: TypeSet) -> (any TransactionPreparation)? {
    let plans = migrations.plans(for: types)
    return plans.isEmpty ? nil : PendingMigrations(plans, migrations)
  }

  // MARK: Shutdown

  /// Rejects new work, and closes the engine after everything that was accepted; see `Workspace`.
  ///
  /// - Parameters:
  ///   - completion: Called when everything is closed; if nil, this call waits for that.
  ///   - close: Closes the engine; nil for `StorageEngine.close()`.
  package func shutdown(
    _ completion: (@Sendable () -> Void)?, closing close: (@Sendable () throws -> Void)? = nil
  ) {
    let context = ThreadContext.current
    // A call after the first one never waits.
    if completion == nil, !transactions.isClosed {
      require(
        context.delivering !== self,
        "shutdown() was called inside a completion handler or a callback and would wait for it: give it a completion"
      )
      require(
        context.transaction(of: self) == nil,
        "shutdown() was called inside a transaction of the workspace: give it a completion")
      require(
        context.snapshots[ObjectIdentifier(self)] == nil,
        "shutdown() was called inside a snapshot of the workspace: give it a completion")
      require(
        !jobQueues.areBehindThisThread || accepted.wait(timeout: .now()) == .success,
        "shutdown() was called on the main queue and would wait for work of the workspace, whose "
          + "targetQueue it is: give it a completion, or await it")
    }
    if !transactions.close() {
      // This call does not wait for the end of the first one.
      completion?()
      return
    }
    otherWriters.look(every: nil, in: self)
    let done = DispatchSemaphore(value: 0)
    accepted.notify(queue: closing) { [self] in
      writePendingValues()
      accepted.notify(queue: closing) { [self] in
        endEngine(by: close) {
          if let completion { self.jobQueues.run(completion) } else { done.signal() }
        }
      }
    }
    if completion == nil { done.wait() }
  }

  /// Closes the engine after everything that was accepted.
  private func endEngine(
    by close: (@Sendable () throws -> Void)?, _ completion: @escaping @Sendable () -> Void
  ) {
    builds.endPaused(WorkspaceError.shutDown)
    migrations.runs.endPaused(WorkspaceError.shutDown)
    iterations.closeAll()
    // A snapshot that has read nothing yet may still read.
    snapshots.notify(queue: closing) { [self] in
      do { if let close { try close() } else { try engine.close() } } catch { report(error) }
      if let name = engine.storageName { SharedStorages.end(name: name) }
      indexBuilder?.setIndexRequestHandler(nil)
      indexBuilder?.setIndexConfirmationHandler(nil)
      completion()
    }
  }
}

extension Transaction {
  /// The workspace, which runs every transaction.
  var core: WorkspaceCore {
    guard let core = workspace as? WorkspaceCore else {
      preconditionFailure("the host of a transaction is not a workspace")
    }
    return core
  }
}

/// Owns the core of a workspace and shuts it down when the workspace is released, after the last
/// accepted transaction. For authors of engines: a workspace keeps one, as do the queries and
/// dictionaries that a program has got from it.
public final class WorkspaceLifetime: Sendable {
  /// The core.
  @usableFromInline package let core: WorkspaceCore

  /// Makes the owner of a core.
  package init(_ core: WorkspaceCore) { self.core = core }

  deinit { core.shutdown {} }
}
