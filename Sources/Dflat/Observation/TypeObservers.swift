// TypeObservers: everybody who observes one entity type, and what they are told.
//
// It keeps true:
//
//  - observers, and the results that are kept for them, are used by jobs of the type's line of deliveries only. These come in
//    the order of commits, one at a time, behind the commit and before the completion of the transaction. So a handler holds
//    back later handlers and completions of its type, and nothing else;
//  - what was committed and is not delivered is known, in order (see PastView);
//  - a type that nobody observes costs a transaction no more than a look at a counter.

import Platform

/// Unchecked: `index` and `stale` are used by one delivery at a time.
final class TypeObservers: ChangeObserver, @unchecked Sendable {
  let schema: EntitySchema
  private let deliveries: TicketScheduler
  /// How many observe the type, or are about to.
  private let count = Atomic<Int>(0)
  private let latest = Atomic<Int64>(0)
  private let inbox = Mutex(Inbox())
  @exclusivity(unchecked) private var index = SubscriptionIndex()
  /// Those for whom something could not be read when it was necessary.
  @exclusivity(unchecked) private var stale: [Observer] = []

  /// Unchecked: used under the lock only.
  private struct Inbox: @unchecked Sendable {
    /// What was committed and is not delivered.
    var undelivered = Fifo<TypeChanges>()
    /// Who is to be let go of, if anybody is.
    var gone: [Observer]?
  }

  init(_ schema: EntitySchema, _ deliveries: TicketScheduler) {
    self.schema = schema
    self.deliveries = deliveries
  }

  /// Whether rows that are changed are of interest.
  var isObserved: Bool { count.load(ordering: .acquiring) > 0 }

  /// The clock's value at the last change.
  var lastChange: Int64 { latest.load(ordering: .acquiring) }

  // MARK: Coming and going, on any thread

  /// Somebody is going to observe the type. From now on changes are kept.
  func expect() {
    count.add(1, ordering: .acquiringAndReleasing)
  }

  /// Lets go of an observer that has no handler any more. Once for each that was expected.
  func remove(_ observer: Observer) {
    count.subtract(1, ordering: .acquiringAndReleasing)
    let isFirst = inbox.withLock { inbox in
      if inbox.gone?.append(observer) != nil { return false }
      inbox.gone = [observer]
      return true
    }
    guard isFirst else { return }
    // It may take a while until there is something to deliver.
    let sweeping = deliveries.place(
      [schema],
      .job { [self] in
        sweep()
        return .nothing
      })
    if let sweeping { deliveries.start(sweeping) }
  }

  // MARK: Commits, in their order

  /// The type was changed, and that is committed.
  /// - Parameter changes: nil if nobody observed the type when it was changed.
  func committed(_ changes: TypeChanges?, at time: Int64) {
    latest.max(time, ordering: .acquiringAndReleasing)
    if let changes { inbox.withLock { $0.undelivered.append(changes) } }
  }

  /// What was read of the type may not be what is stored.
  func doubt(at time: Int64) {
    latest.max(time, ordering: .acquiringAndReleasing)
  }

  /// The rows that were changed by what is not delivered, as they were before; nil for those that were not there.
  func undelivered() -> [Int64: Row?] {
    inbox.withLock { inbox in
      var rows: [Int64: Row?] = [:]
      inbox.undelivered.forEach { changes in
        for change in changes.rows where !rows.keys.contains(change.id) {
          rows.updateValue(change.old, forKey: change.id)
        }
      }
      return rows
    }
  }

  // MARK: Deliveries

  private func sweep() {
    let gone = inbox.withLock { $0.gone.take() }
    if let gone { remove(gone) }
  }

  private func remove(_ gone: [Observer]) {
    for observer in gone { index.remove(observer) }
    if !stale.isEmpty { stale.removeAll { $0.isCancelled } }
  }

  /// Tells the observers what a transaction has changed.
  func publish(_ changes: TypeChanges, in workspace: any TransactionHost) {
    let (next, gone) = inbox.withLock { ($0.undelivered.popFirst(), $0.gone.take()) }
    assert(next === changes, "changes are delivered in another order than committed")
    if let gone { remove(gone) }
    changes.rows.withUnsafeBufferPointer { rows in
      var touched = index.touched(by: rows)
      var unread = stale
      var orders = ChangeRanks.Table(rows)
      for result in touched.results {
        if result.apply(&orders, &touched.replaced), !result.isStale { unread.append(result) }
      }
      read(unread, in: workspace)
      for object in touched.objects { object.tellNews() }
      for result in touched.results { result.tellNews() }
      for observer in unread {
        observer.tellNews()
        insert(observer)
      }
    }
  }

  /// Puts an observer into its place, and looks what has changed since it was given what it knows.
  /// - Parameter timestamp: When that was read; −1 if it is not known.
  func register(_ observer: Observer, _ timestamp: Int64, in workspace: any TransactionHost) {
    sweep()
    if observer.isCancelled { return }
    if timestamp < lastChange {
      read([observer], in: workspace)
      observer.tellNews()
    }
    insert(observer)
  }

  /// Puts an observer into the index, unless it has ended, or its object could not be found yet.
  private func insert(_ observer: Observer) {
    if observer.isCancelled || observer.isRegistered { return }
    if let object = observer as? ObjectObserver, object.row.id < 0 { return }
    index.insert(observer)
  }

  /// Compares what everybody knows with what is stored, and tells what is new.
  func refresh(in workspace: any TransactionHost) {
    sweep()
    let observers = index.all + stale.filter { !$0.isRegistered }
    read(observers, in: workspace)
    for observer in observers {
      observer.tellNews()
      insert(observer)
    }
  }

  /// Reads what observers know, as it was at this point. Those for whom that fails are remembered.
  private func read(_ observers: [Observer], in workspace: any TransactionHost) {
    if observers.isEmpty { return }
    for observer in observers { observer.isStale = true }
    do {
      let past = try PastView(of: self, in: workspace)
      defer { past.close() }
      for observer in observers where !observer.isCancelled { try observer.read(past) }
    } catch {
      workspace.reportReading(error)
    }
    var stale: [Observer] = []
    for observer in self.stale + observers where observer.isStale && !observer.isCancelled {
      if !stale.contains(where: { $0 === observer }) { stale.append(observer) }
    }
    self.stale = stale
  }
}
