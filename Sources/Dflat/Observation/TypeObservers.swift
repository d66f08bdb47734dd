// TypeObservers: the observers of one entity type, and the delivery of changes to them.
//
// Invariants:
//
//  - observers, and the results that are kept for them, are used by jobs of the type's delivery
//    queue only. These run in the order of commits, one at a time, after the commit and before the
//    completion of the transaction. So a handler delays later handlers and completions of its type,
//    and nothing else;
//  - the changes that are committed and not yet delivered are known, in order (see PastView);
//  - the observers hold what the changes before them have left. If other connections have committed
//    before a transaction, which was not delivered, its delivery reads all of them again;
//  - for a type without observers a transaction only reads a counter.

import Platform

/// What the versions of a type share, whose objects are in one table.
final class TableActivity: Sendable {
  /// The number of observers, including those about to be registered.
  let observers = Atomic<Int>(0)
  /// The clock's value at the last change.
  let lastChange: Atomic<Int64>
  /// The types whose deliveries wait for those of this one, and the other way round.
  let links = TypeLinks()

  init(lastChange: Int64) { self.lastChange = Atomic(lastChange) }
}

final class TypeObservers: ChangeObserver {
  let schema: EntitySchema
  /// Whether what the observers hold may lack changes by other connections that a transaction has
  /// seen: the engine lets these commit at any time.
  let mayLag: Bool
  private let deliveries: TicketScheduler
  private let activity: TableActivity
  private let inbox = Mutex(Inbox())
  /// Used by the jobs of the delivery queue, which run one at a time.
  private let registered = Confined(Registered())

  struct Registered: ~Copyable {
    var index = SubscriptionIndex()
    /// The observers that could not be refreshed when it was necessary, because reading failed.
    var stale: [Observer] = []
    /// Those of which parts were touched by the changes that are being delivered.
    var joint: [any JointObserver] = []
    /// The number of noticed commits of other connections when all observers were read, or when
    /// the first one was registered.
    var otherCommits: Int?
    /// See `TypeObservers.outdated`; nil if it is not known.
    var point: ChangePoint?

    mutating func remove(_ cancelled: [Observer]) {
      for observer in cancelled { index.remove(observer) }
      if !stale.isEmpty { stale.removeAll { $0.isCancelled } }
    }

    /// Adds an observer to the index, unless it has ended, or its object was not found yet.
    mutating func insert(_ observer: Observer) {
      if observer.isCancelled || observer.isRegistered { return }
      if let object = observer as? ObjectObserver, object.row.id < 0 { return }
      index.insert(observer)
    }
  }

  /// Used under the lock only.
  private struct Inbox {
    /// The changes that are committed and not yet delivered.
    var undelivered = Fifo<[RowChange]>()
    /// How many transactions with recorded changes were committed, and delivered.
    var committed = 0
    var delivered = 0
    /// The cancelled observers that are to be removed, if any.
    var cancelled: [Observer]?
  }

  init(
    _ schema: EntitySchema, _ activity: TableActivity, _ deliveries: TicketScheduler, mayLag: Bool
  ) {
    self.schema = schema
    self.mayLag = mayLag
    self.activity = activity
    self.deliveries = deliveries
  }

  /// Whether changes of rows must be recorded: the type has observers, or another version of it.
  var isObserved: Bool { activity.observers.load(ordering: .acquiring) > 0 }

  /// The clock's value at the last change.
  var lastChange: Int64 { activity.lastChange.load(ordering: .acquiring) }

  // MARK: Registering and removing, on any thread

  /// Announces an observer of the type. From now on changes are recorded.
  func expect() {
    activity.observers.add(1, ordering: .acquiringAndReleasing)
  }

  /// Removes an observer that has no handler any more. Called once for each `expect`.
  func remove(_ observer: Observer) {
    activity.observers.subtract(1, ordering: .acquiringAndReleasing)
    let isFirst = inbox.withLock { inbox in
      if inbox.cancelled?.append(observer) != nil { return false }
      inbox.cancelled = [observer]
      return true
    }
    guard isFirst else { return }
    // It may take a while until the next delivery, which would also remove it.
    atDelivery(of: [schema]) { [self] in registered.withValue { sweep(&$0) } }
  }

  /// Calls `body` in a delivery of some types, also if the workspace is shut down.
  func atDelivery(of types: TypeSet, _ body: @escaping @Sendable () -> Void) {
    let ticket = deliveries.place(
      types,
      .job {
        body()
        return .nothing
      })
    if let ticket { deliveries.start(ticket) }
  }

  /// The types in whose queues changes of this one are delivered; nil for this one alone.
  var linkedTypes: TypeSet? { activity.links.types }

  /// Has the changes of this type, and of others that are linked, delivered one after another. See
  /// `TypeLinks`.
  func link(_ types: TypeSet) { activity.links.add(types) }

  /// Ends what `link` has begun. Called in a delivery of these types.
  func unlink(_ types: TypeSet) { activity.links.remove(types) }

  // MARK: Commits, in commit order

  /// Records that a transaction that has changed the type was committed.
  /// - Parameter changes: nil if the type had no observer when it was changed.
  func committed(_ changes: [RowChange]?, at time: Int64) {
    activity.lastChange.max(time, ordering: .acquiringAndReleasing)
    guard let changes else { return }
    inbox.withLock { inbox in
      inbox.undelivered.append(changes)
      inbox.committed += 1
    }
  }

  /// How many transactions with recorded changes of the type were committed. A row that was read
  /// after that, and not before `lastChange`, contains the changes of all of them.
  var committedCount: Int { inbox.withLock { $0.committed } }

  /// How many of these transactions were delivered, or are being delivered.
  var deliveredCount: Int { inbox.withLock { $0.delivered } }

  /// Marks the type as possibly changed, with all of its versions: what was read of it may differ
  /// from what is stored.
  func markPossiblyChanged(at time: Int64) {
    activity.lastChange.max(time, ordering: .acquiringAndReleasing)
  }

  /// The rows in undelivered changes, as they were before and as they are then; nil for rows that
  /// do not exist.
  func undelivered() -> (earlier: [Int64: Row?], latest: [Int64: Row?]) {
    inbox.withLock { inbox in
      var earlier: [Int64: Row?] = [:]
      var latest: [Int64: Row?] = [:]
      inbox.undelivered.forEach { changes in
        for change in changes {
          if latest.updateValue(change.new, forKey: change.id) == nil {
            earlier.updateValue(change.old, forKey: change.id)
          }
        }
      }
      return (earlier, latest)
    }
  }

  // MARK: Deliveries

  func sweep(_ registered: inout Registered) {
    let cancelled = inbox.withLock { $0.cancelled.take() }
    if let cancelled { registered.remove(cancelled) }
  }

  /// Delivers the changes of a transaction to the observers.
  func publish(_ changes: [RowChange], in workspace: any TransactionHost) {
    let (next, cancelled) = inbox.withLock { inbox in
      inbox.delivered += 1
      return (inbox.undelivered.popFirst(), inbox.cancelled.take())
    }
    assert(
      next?.count == changes.count && next?.first?.id == changes.first?.id,
      "changes are not delivered in commit order")
    registered.withValue { registered in
      if let cancelled { registered.remove(cancelled) }
      publish(changes, &registered, in: workspace)
    }
  }

  private func publish(
    _ changes: [RowChange], _ registered: inout Registered, in workspace: any TransactionHost
  ) {
    // What the observers hold may lack what the transaction has seen.
    if workspace.otherCommits.count != registered.otherCommits {
      _ = refresh(&registered, in: workspace)
      if activity.links.isUsed {
        registered.joint += registered.index.all.compactMap { ($0 as? QueryObserver)?.joint }
      }
      return
    }
    changes.withUnsafeBufferPointer { rows in
      var touched = registered.index.touched(by: rows)
      var unread = registered.stale
      for observer in outdated(by: changes, among: touched.results, &registered, in: workspace) {
        observer.isStale = true
        unread.append(observer)
      }
      var orders = ChangeRanks.Table(rows)
      for result in touched.results {
        if result.apply(&orders, &touched.replaced), !result.isStale { unread.append(result) }
      }
      read(unread, &registered, in: workspace)
      for object in touched.objects { object.deliverChange() }
      for result in touched.results { result.deliverChange() }
      for observer in unread {
        observer.deliverChange()
        registered.insert(observer)
      }
      if activity.links.isUsed { registered.joint += touched.results.compactMap { $0.joint } }
    }
  }

  /// Takes the observers of several types that were touched since the last call.
  func takeJoint() -> [any JointObserver] {
    registered.withValue { registered in
      defer { registered.joint = [] }
      return registered.joint
    }
  }

  /// Registers an observer, and compares the state that its caller passed in with the current one.
  /// - Parameter timestamp: When that state was read; −1 if it is not known, and 0 if it has what a
  ///   transaction has not committed.
  func register(_ observer: Observer, _ timestamp: Int64, in workspace: any TransactionHost) {
    registered.withValue { registered in
      sweep(&registered)
      if observer.isCancelled { return }
      let others = workspace.otherCommits
      registered.otherCommits = registered.otherCommits ?? others.count
      if timestamp <= 0 || timestamp < max(lastChange, others.since) {
        // What others have done to the type while it had no observer was not looked at.
        read(
          [observer], &registered, in: workspace,
          followingOvertaken: workspace.engine.asChangeRecording != nil)
        observer.deliverChange()
      }
      registered.insert(observer)
    }
  }

  /// Adds an observer that is about to be read.
  func insert(_ observer: Observer, in workspace: any TransactionHost) {
    registered.withValue { registered in
      registered.otherCommits = registered.otherCommits ?? workspace.otherCommits.count
      registered.insert(observer)
    }
  }

  /// Compares what each observer knows with what is stored, and delivers the differences.
  /// - Returns: Whether the storage could not be read. The error was reported.
  @discardableResult
  func refresh(in workspace: any TransactionHost) -> Bool {
    registered.withValue { registered in
      sweep(&registered)
      return refresh(&registered, in: workspace)
    }
  }

  func refresh(_ registered: inout Registered, in workspace: any TransactionHost) -> Bool {
    // Asked first: for what is committed meanwhile they are read again.
    registered.otherCommits = workspace.otherCommits.count
    let observers = registered.index.all + registered.stale.filter { !$0.isRegistered }
    let isFailed = read(observers, &registered, in: workspace, followingOvertaken: true)
    for observer in observers {
      observer.deliverChange()
      registered.insert(observer)
    }
    return isFailed
  }

  /// Calls `body` with the observers. Called by jobs of the delivery queue.
  func withRegistered<R>(_ body: (inout Registered) -> R) -> R { registered.withValue(body) }

  /// Reads the data of observers again, as they were at this point. Observers for which that fails
  /// are added to `stale`.
  /// - Parameter followingOvertaken: Whether rows that are overtaken are read again later.
  /// - Returns: Whether the storage could not be read.
  @discardableResult
  func read(
    _ observers: [Observer], _ registered: inout Registered, in workspace: any TransactionHost,
    followingOvertaken: Bool = false
  ) -> Bool {
    if observers.isEmpty { return false }
    var isFailed = false
    for observer in observers { observer.isStale = true }
    do {
      let past = try PastView(of: self, in: workspace)
      defer { past.close() }
      if followingOvertaken {
        workspace.followLater(try past.overtaken(among: past.earlier.keys), of: schema)
      }
      for observer in observers where !observer.isCancelled {
        if let result = observer as? QueryObserver, past.mixesRelevances(of: result.query) {
          // It stays stale. Behind the changes that are not delivered yet, its order is known.
          continue
        }
        // A function of one observer's query that fails concerns no other observer.
        do { try observer.read(past) } catch {
          isFailed = isFailed || StorageError.mayPass(error)
          workspace.reportReading(error)
          observer.readingFailed(error)
        }
      }
    } catch {
      isFailed = StorageError.mayPass(error)
      workspace.reportReading(error)
      for observer in observers where !observer.isCancelled { observer.readingFailed(error) }
    }
    var stale: [Observer] = []
    for observer in registered.stale + observers where observer.isStale && !observer.isCancelled {
      if !stale.contains(where: { $0 === observer }) { stale.append(observer) }
    }
    registered.stale = stale
    return isFailed
  }
}
