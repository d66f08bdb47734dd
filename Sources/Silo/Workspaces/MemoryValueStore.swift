// MemoryValueStore: values in memory.

import Dflat
public import MemoryDflat

/// Keeps values in memory; nothing is written.
///
/// Its answers are those of any other store. Stores that share a workspace can be changed in one
/// transaction: `Silos(.memory)` makes such stores.
public struct MemoryValueStore<Value: Persistable>: CachingStore {
  let base: any ValueStore<Value>
  /// The values that were loaded by their ids.
  let cache = ValueCache<Value>(.max)

  /// An empty store with a memory of its own.
  public init() {
    self.init(in: MemoryWorkspace())
  }

  /// A store in a memory that it shares with others.
  public init(in memory: MemoryWorkspace) {
    let store = WorkspaceValueStore<Value>(memory)
    base = store
    cache.follow(store)
  }

  /// The value with an id; nil if it is not stored.
  public func load(_ id: Value.ID) async throws -> Value? {
    try await cache.value(id) { try await base.load([id]).first }
  }
}
