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
  let uses = Uses<Value>()

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
  func exchange(for store: any ValueStore<Value>) {
    let watches = state.withLock { state in
      state.store = store
      hasMoved.store(true, ordering: .releasing)
      return state.watches.values.map { ($0, $0.nextNumber()) }
    }
    for (watch, number) in watches { watch.switchStore(to: store, number) }
  }
}

/// A state of watched values.
enum WatchedState<Value: Persistable>: Sendable {
  /// After a transaction.
  case next(FetchedResult<Canonical<Value>>)
  /// In another store, whose rows have other ids.
  case switched(FetchedResult<Canonical<Value>>)
  /// The values cannot be watched any more. The last state.
  case failed(any Error)
}

/// Passes the states of a query on, from one store after the other.
///
/// A state is passed on under the lock, so that none of an earlier store comes late. That may wake
/// the program's task. A task that is cancelled calls `end` while it cannot be woken, so `end` must
/// not wait for the lock: if it is taken, its holder ends the watching.
final class SiloWatch<Value: Persistable>: Sendable {
  private let query: ValueQuery<Value>
  private let continuation: AsyncStream<WatchedState<Value>>.Continuation
  /// The task that reads from the present store, and its number: an earlier one may be late.
  private let source = Mutex<(number: Int, task: Task<Void, Never>?)>((0, nil))
  private let hasEnded = Atomic(false)

  init(
    _ query: ValueQuery<Value>, _ continuation: AsyncStream<WatchedState<Value>>.Continuation
  ) {
    self.query = query
    self.continuation = continuation
  }

  /// A number for a store, greater than those before. Only the store with the last one is followed.
  func nextNumber() -> Int {
    let (number, task) = source.withLock { source in
      source.number += 1
      return (source.number, source.task.take())
    }
    task?.cancel()
    return number
  }

  /// Begins to follow a store. It may call handlers of the program, so no lock is held.
  /// - Returns: Its changes, of which those after the present state are passed on.
  func follow(_ store: any ValueStore<Value>, _ number: Int) -> ValueChanges<Value> {
    let changes = store.changes(query)
    start(changes, of: store, number)
    return changes
  }

  /// Goes on with another store.
  func switchStore(to store: any ValueStore<Value>, _ number: Int) {
    let changes = store.changes(query)
    source.withLock { source in
      if source.number == number { continuation.yield(.switched(changes.start)) }
    }
    start(changes, of: store, number)
  }

  private func start(
    _ changes: ValueChanges<Value>, of store: any ValueStore<Value>, _ number: Int
  ) {
    source.withLock { source in
      guard source.number == number else { return }
      source.task = Task { [self] in
        var count = changes.start.count
        for await state in changes.storeStates {
          if state.count < count || query.limit != nil, let error = await refusal(of: store) {
            pass(.failed(error), from: number)
            break
          }
          count = state.count
          pass(.next(state), from: number)
        }
        finish(number)
      }
    }
    stopIfEnded()
  }

  /// Why the values cannot be watched any more: values that go may have been migrated by another
  /// process, to a version that this one does not know.
  private func refusal(of store: any ValueStore<Value>) async -> SiloError? {
    do {
      // Caches would not ask.
      _ = try await store.domain.store(of: Value.self).load([])
      return nil
    } catch { return error as? SiloError }
  }

  /// Ends the watching, because the store does.
  private func finish(_ number: Int) {
    if source.withLock({ $0.number == number }) { continuation.finish() }
  }

  private func pass(_ state: WatchedState<Value>, from number: Int) {
    source.withLock { source in
      if source.number == number { continuation.yield(state) }
    }
    stopIfEnded()
  }

  func end() {
    hasEnded.store(true, ordering: .sequentiallyConsistent)
    stopIfEnded()
  }

  /// Called after each use of the lock.
  private func stopIfEnded() {
    if !hasEnded.load(ordering: .sequentiallyConsistent) { return }
    let task = source.withLockIfAvailable { source in
      source.number += 1
      return source.task.take()
    }
    task??.cancel()
  }
}
