// Who observes the records of a directory, and how they are told.
//
// A transaction that writes looks, at its end and still inside, at what its subscribers observe, and notes what is new to them. When it is
// committed, the news go to a line for each type of record, which calls the handlers.
//
// Kept true:
//  - the directory's *write turn* is held from before a transaction begins until its news stand in their lines, so lines are in the order
//    of commits, whichever stores the transactions belong to;
//  - what an observer knows last is only touched in the write turn, or before it is registered;
//  - an observer that is registered while a transaction runs looks again after its commit: nothing is missed, nothing told twice;
//  - lines hold no lock while a handler runs. A transaction is only complete when the handlers have heard of it, except one that a handler has
//    begun: that one would wait for itself.

internal import Dispatch
internal import LMDB
internal import Platform

/// The observers at a moment.
struct ObserverList {
  /// Grows with each registration.
  var serial = 0
  var byType: [IndexKeyRecordHash: [any AnyObserver]] = [:]
}

/// What one observer has to hear of one transaction.
struct News {
  let observer: any AnyObserver
  /// What the observer knows when it has heard it.
  let state: ObservedState
  let tell: @Sendable () -> Void
}

/// What an observer knows: the bytes of the records, or that they could not be read.
enum ObservedState: Sendable, Equatable {
  case records([UInt8])
  case failure
}

/// An observer, whatever its records.
protocol AnyObserver: AnyObject, Sendable {
  var prefix: IndexKeyRecordHash { get }
  /// Its place in the order of registrations.
  var serial: Int { get set }
  /// What it knows last.
  var state: ObservedState? { get set }
  /// Whether one of some keys, which are sorted, may matter.
  func isTouched(by keys: [[UInt8]]) -> Bool
  /// What is new in a transaction, after what it knows last or another state; nil for nothing.
  func look(in context: TransactionContext, after state: ObservedState?) -> News?
  /// The news that nothing could be read.
  func failure(_ error: any Error) -> News
}

/// Handlers that are called for a transaction.
struct Deliveries: Sendable {
  private let group = DispatchGroup()

  func add(_ news: News, to line: DispatchQueue) { line.async(group: group) { news.tell() } }

  /// Waits for the handlers, unless one of them asks.
  func wait() { if DispatchQueue.getSpecific(key: Observation.isLine) == nil { group.wait() } }

  /// Calls a closure when the handlers have been called.
  func notify(_ body: @escaping @Sendable () -> Void) {
    group.notify(queue: .global(), execute: body)
  }
}

/// The observers of a directory.
final class Observation: Sendable {
  private struct State {
    var observers = ObserverList()
    /// How many transactions have been committed whose news are in their lines.
    var commits = 0
    var lines: [IndexKeyRecordHash: DispatchQueue] = [:]

    mutating func line(_ prefix: IndexKeyRecordHash) -> DispatchQueue {
      if let line = lines[prefix] { return line }
      let line = DispatchQueue(label: "Empire.observation")
      line.setSpecific(key: Observation.isLine, value: true)
      lines[prefix] = line
      return line
    }
  }

  /// Whether code runs in a line.
  static let isLine = DispatchSpecificKey<Bool>()

  private let state = Mutex(State())
  /// How many observers there are, for those who need not know more.
  private let count = Atomic<Int>(0)
  let turn = WriteTurn()

  /// The observers now.
  var observers: ObserverList {
    count.load(ordering: .acquiring) == 0 ? ObserverList() : state.withLock { $0.observers }
  }

  /// Adds an observer with what it knows of a state of the records that no commit has passed since.
  ///
  /// - Parameters:
  ///   - observer: The observer.
  ///   - read: Lets it read, and returns what it has to hear at once, if anything.
  func register(_ observer: some AnyObserver, _ read: () throws -> News?) throws {
    while true {
      let commits = state.withLock { $0.commits }
      let first = try read()
      let isDone = state.withLock { state in
        guard state.commits == commits else { return false }
        state.observers.serial += 1
        observer.serial = state.observers.serial
        state.observers.byType[observer.prefix, default: []].append(observer)
        // Into the line under the lock: before what any transaction has to tell.
        if let first { state.line(observer.prefix).async { first.tell() } }
        return true
      }
      if isDone {
        count.add(1, ordering: .releasing)
        return
      }
    }
  }

  func remove(_ observer: some AnyObserver) {
    let wasThere = state.withLock { state in
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

  /// Puts the news of a transaction that has been committed into their lines. Called in the write turn.
  ///
  /// - Parameters:
  ///   - writes: What the transaction has kept.
  ///   - read: Calls a closure in a transaction that reads what has been committed.
  /// - Returns: What the handlers have to hear; nil if there is nothing.
  func publish(
    _ writes: WriteState, reading read: ((TransactionContext) throws -> [News]) throws -> [News]
  ) -> Deliveries? {
    let late = state.withLock { state in
      state.commits += 1
      return state.observers.byType.values.joined().filter { $0.serial > writes.observers.serial }
    }
    var news = writes.news
    if !late.isEmpty {
      do {
        news += try read { context in late.compactMap { $0.look(in: context, after: nil) } }
      } catch {
        news += late.map { $0.failure(error) }
      }
    }
    if news.isEmpty { return nil }
    let deliveries = Deliveries()
    state.withLock { state in
      for item in news {
        item.observer.state = item.state
        deliveries.add(item, to: state.line(item.observer.prefix))
      }
    }
    return deliveries
  }
}

/// Whose turn it is to write in a directory, in this process.
///
/// A turn may end in another function than it began in, so it is no `Mutex` with a closure.
///
/// Unchecked: the pointer never changes, and what it points to is made for use by several threads.
final class WriteTurn: @unchecked Sendable {
  private let lock: UnsafeMutablePointer<pthread_mutex_t>

  init() {
    lock = .allocate(capacity: 1)
    lock.initialize(to: pthread_mutex_t())
    // It does not fail without attributes.
    pthread_mutex_init(lock, nil)
  }

  deinit {
    pthread_mutex_destroy(lock)
    lock.deallocate()
  }

  func begin() { pthread_mutex_lock(lock) }
  func end() { pthread_mutex_unlock(lock) }
}
