// SiloState: what all copies of a silo share: its store, which can be exchanged, and its observers,
// which do not notice that.

import Dflat
import Platform

/// The state of a silo of any type.
protocol AnySiloState: AnyObject, Sendable {
  var gate: WriteGate { get }
}

final class SiloState<Value: Persistable>: AnySiloState {
  private struct State {
    var store: any ValueStore<Value>
    var watches: [ObjectIdentifier: SiloWatch<Value>] = [:]
    /// Whether the store knows the relations of the type.
    var hasRecordedRules = false
  }

  private let state: Mutex<State>
  /// The values in memory, if the first store keeps all there.
  private let firstMemory: ValueCache<Value>?
  private let hasMoved = Atomic(false)
  let gate = WriteGate()
  let resolving = ResolverState<Value>()
  let accesses = AccessTracker<Value>()

  var store: any ValueStore<Value> { state.withLock { $0.store } }

  var hasRecordedRules: Bool {
    get { state.withLock(\.hasRecordedRules) }
    set { state.withLock { $0.hasRecordedRules = newValue } }
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
  /// - Parameter report: Called with errors, and the store's own way to report them.
  func changes(
    _ query: ValueQuery<Value>,
    report: @escaping @Sendable (any Error, _ otherwise: @Sendable (any Error) -> Void) -> Void
  ) -> ValueChanges<Value> {
    let (states, continuation) = AsyncStream<WatchedState<Value>>.makeStream()
    let watch = SiloWatch(query, continuation)
    let id = ObjectIdentifier(watch)
    continuation.onTermination = { [weak self] _ in
      watch.end()
      self?.forget(id)
    }
    // A store that is exchanged from now on is followed behind this one.
    let (store, number) = state.withLock { state in
      state.watches[id] = watch
      return (state.store, watch.nextNumber())
    }
    let start = watch.follow(store, number)
    return ValueChanges(from: start.start, states, failure: start.failure) {
      report($0, start.report)
    }
  }

  private func forget(_ id: ObjectIdentifier) {
    _ = state.withLock { $0.watches.removeValue(forKey: id) }
  }

  /// Exchanges the store for one with the same values. Called while there are no writers.
  func exchange(for store: any ValueStore<Value>) async {
    let watches = state.withLock { state in
      state.store = store
      hasMoved.store(true, ordering: .releasing)
      return Array(state.watches.values)
    }
    for watch in watches { await watch.switchStore(to: store) }
  }
}

/// Passes the states of a query on, from one store after the other.
///
/// Each store has a task that reads its states. When the store is exchanged, the task reads what
/// the store has sent until then, and only after that the next store is followed. So the states of
/// the stores stay in order, and none is lost.
final class SiloWatch<Value: Persistable>: Sendable {
  private struct Source {
    /// Of the present store; greater than those before.
    var number = 0
    /// The task of the present store.
    var task: Task<Void, Never>?
    var hasEnded = false
  }

  private let query: ValueQuery<Value>
  private let continuation: AsyncStream<WatchedState<Value>>.Continuation
  private let source = Mutex(Source())

  init(
    _ query: ValueQuery<Value>, _ continuation: AsyncStream<WatchedState<Value>>.Continuation
  ) {
    self.query = query
    self.continuation = continuation
  }

  /// A number for the next store.
  func nextNumber() -> Int {
    source.withLock { source in
      source.number += 1
      return source.number
    }
  }

  /// Begins to follow a store. It may call handlers of the program, so no lock is held.
  /// - Returns: Its changes, of which those after the present state are passed on.
  func follow(_ store: any ValueStore<Value>, _ number: Int) -> ValueChanges<Value> {
    let changes = store.changes(query)
    start(changes, of: store, number)
    return changes
  }

  /// Goes on with another store, once everything that the store before has sent is passed on.
  func switchStore(to store: any ValueStore<Value>) async {
    let number = nextNumber()
    let task = source.withLock { $0.task.take() }
    task?.cancel()
    await task?.value
    let changes = store.changes(query)
    if let failure = changes.failure {
      // Its values are not known, which does not mean that there are none.
      continuation.yield(.failed(failure))
      return continuation.finish()
    }
    continuation.yield(.switched(changes.start))
    start(changes, of: store, number)
  }

  private func start(
    _ changes: ValueChanges<Value>, of store: any ValueStore<Value>, _ number: Int
  ) {
    source.withLock { source in
      guard source.number == number, !source.hasEnded else { return }
      source.task = Task { [self] in
        var count = changes.start.count
        for await state in changes.storeStates {
          if state.count < count || query.limit != nil, let error = await refusal(of: store) {
            if isPresent(number) { continuation.yield(.failed(error)) }
            break
          }
          count = state.count
          continuation.yield(.next(state))
        }
        // The store has ended by itself.
        if isPresent(number) { continuation.finish() }
      }
    }
  }

  private func isPresent(_ number: Int) -> Bool { source.withLock { $0.number == number } }

  /// Why the values cannot be watched any more: values that go may have been migrated by another
  /// process, to a version that this one does not know.
  private func refusal(of store: any ValueStore<Value>) async -> SiloError? {
    do {
      try await store.requireVersion()
      return nil
    } catch { return error as? SiloError }
  }

  func end() {
    let task = source.withLock { source in
      source.hasEnded = true
      return source.task.take()
    }
    task?.cancel()
  }
}
