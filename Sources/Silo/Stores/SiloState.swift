// SiloState: what all copies of a silo share: its store, which can be exchanged, and its observers,
// which do not notice that.

import Dflat
import Platform

/// The state of a silo of any type.
protocol AnySiloState: AnyObject, Sendable {
  var gate: WriteGate { get }
  /// The values that uploads in a store of another domain wait for: the silo or the uploads were
  /// moved, and the others follow.
  var waitingElsewhere: Set<Subject> { get set }
}

final class SiloState<Value: Persistable>: AnySiloState {
  private struct State {
    var store: any ValueStore<Value>
    var watches: [ObjectIdentifier: SiloWatch<Value>] = [:]
    /// Whether the store knows the relations of the type.
    var hasRecordedRules = false
    var waitingElsewhere: Set<Subject> = []
  }

  private let state: Mutex<State>
  /// The values in memory, if the first store keeps all there.
  private let firstMemory: ValueCache<Value>?
  private let hasMoved = Atomic(false)
  let gate = WriteGate()
  let resolving = ResolverState<Value>()
  let uses = Uses<Value>()

  var store: any ValueStore<Value> { state.withLock { $0.store } }

  var hasRecordedRules: Bool {
    get { state.withLock(\.hasRecordedRules) }
    set { state.withLock { $0.hasRecordedRules = newValue } }
  }

  var waitingElsewhere: Set<Subject> {
    get { state.withLock(\.waitingElsewhere) }
    set { state.withLock { $0.waitingElsewhere = newValue } }
  }

  init(_ store: any ValueStore<Value>) {
    state = Mutex(State(store: store))
    let cache = (store as? any CachingStore<Value>)?.cache
    firstMemory = cache?.isUnlimited == true ? cache : nil
  }

  /// The values in memory, if the store keeps all there. A value that is not in it may be stored.
  var memory: ValueCache<Value>? {
    // A read that overlaps with a move may give what was there when it began.
    hasMoved.load(ordering: .acquiring) ? nil : firstMemory
  }

  /// Watches a query, through all stores that the silo will have.
  func changes(_ query: ValueQuery<Value>) -> ValueChanges<Value> {
    let (states, continuation) = AsyncStream<WatchedState<Value>>.makeStream()
    let watch = SiloWatch(query, continuation)
    let id = ObjectIdentifier(watch)
    continuation.onTermination = { [weak self] _ in
      watch.end()
      self?.forget(id)
    }
    // Under the lock, so that the store is not exchanged before the watch is known.
    let start = state.withLock { state in
      state.watches[id] = watch
      return watch.follow(state.store)
    }
    return ValueChanges(from: start.values, states, report: start.report)
  }

  private func forget(_ id: ObjectIdentifier) {
    _ = state.withLock { $0.watches.removeValue(forKey: id) }
  }

  /// Exchanges the store for one with the same values. Called while there are no writers.
  func exchange(for store: any ValueStore<Value>) {
    state.withLock { state in
      state.store = store
      hasMoved.store(true, ordering: .releasing)
      for watch in state.watches.values { watch.switchStore(to: store) }
    }
  }
}

/// A state of watched values.
enum WatchedState<Value: Persistable>: Sendable {
  /// After a transaction.
  case next(FetchedResult<Canonical<Value>>)
  /// In another store, whose rows have other ids.
  case switched(FetchedResult<Canonical<Value>>)
}

/// Passes the states of a query on, from one store after the other.
final class SiloWatch<Value: Persistable>: Sendable {
  private let query: ValueQuery<Value>
  private let continuation: AsyncStream<WatchedState<Value>>.Continuation
  /// The task that reads from the present store, and its number: an earlier one may be late.
  private let source = Mutex<(number: Int, task: Task<Void, Never>?)>((0, nil))

  init(
    _ query: ValueQuery<Value>, _ continuation: AsyncStream<WatchedState<Value>>.Continuation
  ) {
    self.query = query
    self.continuation = continuation
  }

  /// Begins to follow a store.
  /// - Returns: The present state, and where errors go.
  func follow(
    _ store: any ValueStore<Value>
  ) -> (values: FetchedResult<Canonical<Value>>, report: @Sendable (any Error) -> Void) {
    source.withLock { start(store, &$0) }
  }

  /// Goes on with another store.
  func switchStore(to store: any ValueStore<Value>) {
    source.withLock { source in
      let state = start(store, &source)
      continuation.yield(.switched(state.values))
    }
  }

  private func start(
    _ store: any ValueStore<Value>, _ source: inout (number: Int, task: Task<Void, Never>?)
  ) -> (values: FetchedResult<Canonical<Value>>, report: @Sendable (any Error) -> Void) {
    source.task?.cancel()
    source.number += 1
    let number = source.number
    let changes = store.changes(query)
    source.task = Task { [self] in
      for await state in changes.storeStates { pass(state, from: number) }
    }
    return (changes.start, changes.report)
  }

  private func pass(_ state: FetchedResult<Canonical<Value>>, from number: Int) {
    source.withLock { source in
      if source.number == number { continuation.yield(.next(state)) }
    }
  }

  func end() {
    source.withLock { source in
      source.number += 1
      source.task?.cancel()
      source.task = nil
    }
  }
}
