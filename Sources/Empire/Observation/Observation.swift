// The observers of a directory's records, and how they are notified.
//
// At the end of a writing transaction, while it is still open, each affected observer reads its
// records and compares them with the state that it has last received. The differences become
// updates. After the commit, the updates are enqueued on a serial queue for each record type, which
// calls the handlers.
//
// Invariants:
//  - The directory's *write lock* is held from before a transaction begins until its updates are
//    enqueued. The queues are therefore in commit order, whichever stores the transactions belong
//    to.
//  - An observer is pending until it has a first state. Either its subscriber reads that state, or
//    the first transaction that is committed meanwhile does. Each of them reads once, however many
//    transactions are committed.
//  - An observer's `state` changes only with the write lock held, except that the first one is set
//    under the lock of the observers.
//  - An observer that got its first state while a transaction ran reads again after that commit, so
//    it misses no change and receives none twice.
//  - No lock is held while a handler runs. A transaction returns to its caller only after the
//    handlers have run, except a transaction on a thread that runs a handler: that one would wait
//    for itself.

internal import Dispatch
internal import LMDB
internal import Platform

/// The observers at one point in time.
struct ObserverList {
  /// Incremented by each registration.
  var serial = 0
  /// The observers that have a first state.
  var byType: [IndexKeyRecordHash: [any AnyObserver]] = [:]
}

/// What one observer has to be notified of after one transaction.
struct ObserverUpdate {
  let observer: any AnyObserver
  /// The state that the observer has seen once this is delivered.
  let state: ObservedState
  let deliver: @Sendable () -> Void

  /// Calls the handler.
  func callHandler() { DeliveryThread.during(deliver) }
}

/// The threads that call handlers. Work that a handler gives to another queue with `sync` mostly
/// runs on its thread, too.
private enum DeliveryThread {
  private static let mark = ThreadPointer()

  static var isCurrent: Bool { mark.value != nil }

  static func during(_ body: () -> Void) {
    let before = mark.value
    defer { mark.value = before }
    mark.value = UnsafeMutableRawPointer(bitPattern: 1)
    body()
  }
}

/// The state of the records as an observer has last seen it: their bytes, or that they could not be
/// read.
enum ObservedState: Sendable, Equatable {
  case records([UInt8])
  case failure
}

/// An observer, without the type of its records.
protocol AnyObserver: AnyObject, Sendable {
  var prefix: IndexKeyRecordHash { get }
  /// Whether its first state is delivered.
  var includesPresent: Bool { get }
  /// The number of its registration, in order.
  var serial: Int { get set }
  /// The state that was last delivered or enqueued; nil while it is pending.
  var state: ObservedState? { get set }
  /// Whether a change to one of these keys may affect the observer. The keys are sorted.
  func isAffected(by keys: [[UInt8]]) -> Bool
  /// The difference between the transaction's records and `state`, or the observer's own state if
  /// it is nil. Returns nil if there is none.
  func update(in context: TransactionContext, after state: ObservedState?) -> ObserverUpdate?
  /// The update that reports that the records could not be read.
  func failure(_ error: any Error) -> ObserverUpdate
}

/// The pending calls of handlers for one transaction.
struct Deliveries: Sendable {
  private let group = DispatchGroup()

  func add(_ update: ObserverUpdate, to queue: DispatchQueue) {
    queue.async(group: group) { update.callHandler() }
  }

  /// Waits for the handlers, unless it is called by a handler.
  func wait() {
    if !DeliveryThread.isCurrent { group.wait() }
  }

  /// Calls a closure after the handlers have returned.
  func notify(_ body: @escaping @Sendable () -> Void) {
    group.notify(queue: .global(), execute: body)
  }
}

/// The observers of a directory.
final class Observation: Sendable {
  private struct State {
    var observers = ObserverList()
    /// The observers without a first state.
    var pending: [any AnyObserver] = []
    var queues: [IndexKeyRecordHash: DispatchQueue] = [:]

    mutating func queue(_ prefix: IndexKeyRecordHash) -> DispatchQueue {
      if let queue = queues[prefix] { return queue }
      let queue = DispatchQueue(label: "Empire.observation")
      queues[prefix] = queue
      return queue
    }

    func isPending(_ observer: some AnyObserver) -> Bool {
      pending.contains { $0 === observer }
    }
  }

  private let state = Mutex(State())
  /// The number of observers, so that writers can skip the lock if there are none.
  private let count = Atomic<Int>(0)
  /// The lock that a writer in a directory holds, within this process.
  let writeLock = Monitor(())

  /// The observers now.
  var observers: ObserverList {
    count.load(ordering: .acquiring) == 0 ? ObserverList() : state.withLock { $0.observers }
  }

  /// Registers an observer. Does not wait for a writer.
  ///
  /// - Parameters:
  ///   - observer: The observer.
  ///   - read: Calls a closure in a read-only transaction of the committed state.
  /// - Throws: The errors of `read`; then the observer must be cancelled.
  func register(
    _ observer: some AnyObserver,
    reading read: ((TransactionContext) -> ObserverUpdate?) throws -> ObserverUpdate?
  ) throws {
    state.withLock { $0.pending.append(observer) }
    // Misses no commit: one that this does not see finds the observer pending.
    let first = try read { observer.update(in: $0, after: nil) }
    state.withLock { state in
      guard let first, state.isPending(observer) else { return }
      if let first = begin(first, &state) {
        // Enqueued under the lock, so that it precedes the updates of every later transaction.
        state.queue(observer.prefix).async { first.callHandler() }
      }
    }
  }

  /// Gives a pending observer its first state.
  /// - Returns: The update, if it is to be delivered.
  private func begin(_ first: ObserverUpdate, _ state: inout State) -> ObserverUpdate? {
    let observer = first.observer
    state.pending.removeAll { $0 === observer }
    state.observers.serial += 1
    observer.serial = state.observers.serial
    observer.state = first.state
    state.observers.byType[observer.prefix, default: []].append(observer)
    count.add(1, ordering: .releasing)
    return observer.includesPresent ? first : nil
  }

  func remove(_ observer: some AnyObserver) {
    let wasThere = state.withLock { state in
      state.pending.removeAll { $0 === observer }
      guard
        let index = state.observers.byType[observer.prefix]?.firstIndex(where: { $0 === observer })
      else { return false }
      state.observers.byType[observer.prefix]?.remove(at: index)
      if state.observers.byType[observer.prefix]?.isEmpty == true {
        state.observers.byType[observer.prefix] = nil
      }
      return true
    }
    if wasThere { count.subtract(1, ordering: .releasing) }
  }

  /// Enqueues the updates of a committed transaction. Called with the write lock held.
  ///
  /// - Parameters:
  ///   - writes: The state of the transaction.
  ///   - read: Calls a closure in a read-only transaction of the committed state.
  /// - Returns: The pending calls of handlers; nil if there are none.
  func publish(
    _ writes: WriteState,
    reading read: ((TransactionContext) throws -> [ObserverUpdate]) throws -> [ObserverUpdate]
  ) -> Deliveries? {
    // Those that have had no part in the transaction.
    let late = state.withLock { state in
      state.pending
        + state.observers.byType.values.joined().filter { $0.serial > writes.observers.serial }
    }
    var lateUpdates: [ObserverUpdate] = []
    if !late.isEmpty {
      do {
        lateUpdates = try read { context in late.compactMap { $0.update(in: context, after: nil) } }
      } catch {
        lateUpdates = late.map { $0.failure(error) }
      }
    }
    if writes.updates.isEmpty && lateUpdates.isEmpty { return nil }
    let deliveries = Deliveries()
    state.withLock { state in
      for item in writes.updates {
        item.observer.state = item.state
        deliveries.add(item, to: state.queue(item.observer.prefix))
      }
      for item in lateUpdates {
        let update: ObserverUpdate?
        if state.isPending(item.observer) {
          update = begin(item, &state)
        } else {
          // The subscriber may meanwhile have read the same state.
          update = item.state == item.observer.state ? nil : item
          item.observer.state = item.state
        }
        if let update { deliveries.add(update, to: state.queue(update.observer.prefix)) }
      }
    }
    return deliveries
  }
}
