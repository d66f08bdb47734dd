// Stores in whose use others get in between: what tasks beside each other may do, at a place that
// the test chooses.

import Platform
@testable import Silo

/// A domain before one of whose uses something else happens.
final class MeddledDomain: VersionedDomain {
  private struct State {
    /// How many uses pass before it.
    var rest = 0
    var action: (@Sendable () async -> Void)?
  }

  private let base: any VersionedDomain
  private let state = Mutex(State())

  init(_ base: any StoreDomain) {
    guard let base = base as? any VersionedDomain else {
      preconditionFailure("the domain belongs to another library")
    }
    self.base = base
  }

  /// Has something happen before a use, counted from now on.
  func meddle(before use: Int, _ action: @escaping @Sendable () async -> Void) {
    state.withLock { $0 = State(rest: use, action: action) }
  }

  /// Has it happen now, if it has not.
  func endMeddling() async { await state.withLock { $0.action.take() }?() }

  fileprivate func noteUse() async {
    let action = state.withLock { state in
      state.rest -= 1
      return state.rest < 0 ? state.action.take() : nil
    }
    await action?()
  }

  var failures: MigrationFailures { base.failures }

  func reportToStorage(_ error: any Error) { base.reportToStorage(error) }

  func store<V: Persistable>(of type: V.Type) -> any ValueStore<V> {
    MeddledStore(base: base.store(of: type), meddled: self)
  }

  func read<R: Sendable>(
    _ types: [any Persistable.Type],
    _ body: @escaping @Sendable (any RetainingTransaction) throws -> R
  ) async throws -> R {
    await noteUse()
    return try await base.read(types, body)
  }

  func write<R: Sendable>(
    _ types: [any Persistable.Type],
    _ body: @escaping @Sendable (any StoreTransaction) throws -> R
  ) async throws -> R {
    await noteUse()
    return try await base.write(types, body)
  }
}

/// A store of such a domain.
struct MeddledStore<Value: Persistable>: ValueStore {
  private let base: any ValueStore<Value>
  let meddled: MeddledDomain
  var domain: any StoreDomain { meddled }

  fileprivate init(base: any ValueStore<Value>, meddled: MeddledDomain) {
    self.base = base
    self.meddled = meddled
  }

  init(_ base: some ValueStore<Value>) {
    self.init(base: base, meddled: MeddledDomain(base.domain))
  }

  func load(_ ids: [Value.ID]) async throws -> [Value] {
    await meddled.noteUse()
    return try await base.load(ids)
  }

  func values(_ query: ValueQuery<Value>) async throws -> [Value] {
    await meddled.noteUse()
    return try await base.values(query)
  }

  func count(_ query: ValueQuery<Value>) async throws -> Int {
    await meddled.noteUse()
    return try await base.count(query)
  }

  func changes(_ query: ValueQuery<Value>) -> ValueChanges<Value> { base.changes(query) }

  func subscribe(
    changedIDs handler: @escaping @Sendable ([Value.ID]?) -> Void
  ) -> ValueSubscription { base.subscribe(changedIDs: handler) }

  func migrate(step: Int) async throws {
    await meddled.noteUse()
    try await base.migrate(step: step)
  }
}

/// What is done beside the program's own calls.
final class Aside: Sendable {
  private let tasks = Mutex<[_Concurrency.Task<Void, any Error>]>([])

  /// Begins to do something, and returns when it is done, or waits for a silo that is in use.
  func begin(
    _ gates: [WriteGate], _ body: @escaping @Sendable () async throws -> Void
  ) async {
    let isDone = Mutex(false)
    let task = _Concurrency.Task {
      defer { isDone.withLock { $0 = true } }
      try await body()
    }
    tasks.withLock { $0.append(task) }
    while !isDone.withLock(\.self), !gates.contains(where: \.isAwaited) {
      await _Concurrency.Task.yield()
    }
  }

  /// Waits for the end of what was begun.
  func end() async throws {
    for task in tasks.withLock(\.self) { try await task.value }
  }
}
