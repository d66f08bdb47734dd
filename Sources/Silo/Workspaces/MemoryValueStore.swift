// MemoryValueStore: values in memory.

import Dflat
public import MemoryDflat

/// Keeps values in memory; nothing is written.
///
/// Its answers are those of any other store. Stores that share a workspace can be changed in one
/// transaction: `Silos(.memory)` makes such stores.
public struct MemoryValueStore<Value: Persistable>: ValueStore, CachingStore {
  private let store: WorkspaceValueStore<Value>
  /// The values that were loaded by their ids.
  let cache = ValueCache<Value>(.max)

  /// The stores in the same memory.
  public var domain: any StoreDomain { store.domain }

  /// An empty store with a memory of its own.
  public init() {
    self.init(in: MemoryWorkspace())
  }

  /// A store in a memory that it shares with others.
  public init(in memory: MemoryWorkspace) {
    store = WorkspaceValueStore(memory)
    cache.follow(store)
  }

  /// The value with an id; nil if it is not stored.
  public func load(_ id: Value.ID) async throws -> Value? {
    try await cache.value(id) { try await store.load([id]).first }
  }

  /// The values with some ids, in the order of the ids.
  public func load(_ ids: [Value.ID]) async throws -> [Value] { try await store.load(ids) }

  /// The values of a query.
  public func values(_ query: ValueQuery<Value>) async throws -> [Value] {
    try await store.values(query)
  }

  /// How many values a query has.
  public func count(_ query: ValueQuery<Value>) async throws -> Int {
    try await store.count(query)
  }

  /// The changes of a query's values, beginning at their present state.
  public func changes(_ query: ValueQuery<Value>) -> ValueChanges<Value> { store.changes(query) }

  /// Calls a handler with the ids of values that have changed.
  public func subscribe(
    changedIDs handler: @escaping @Sendable ([Value.ID]?) -> Void
  ) -> ValueSubscription { store.subscribe(changedIDs: handler) }

  /// Migrates all values of retained versions.
  public func migrate(step: Int) async throws { try await store.migrate(step: step) }
}
