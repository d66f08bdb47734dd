// CachedValueStore: a store that keeps some values of another one in memory.

import Dflat

/// Keeps the values that were used last in memory, around another store.
///
///     let silos = Silos(
///       CachedValueStore(of: WorkspaceValueStore<User>(dflat), limit: 1000),
///       WorkspaceValueStore<Task>(dflat))
///
/// Values that are loaded by their ids come from memory if they are there. Queries go to the store,
/// and what they find is cached. Changes are written to the store at once. The answers are those of
/// the store itself: what a transaction of the silos changes is not read from memory from then on,
/// and changes by others end the caching of the values concerned. In a workspace that other
/// processes or workspaces share, each of their commits ends the caching of all. So does a change
/// of the type's values through another `Store` of the same LMDB directory. Changes of an Empire
/// store by other processes are not noticed: do not cache one that they share.
public struct CachedValueStore<Value: Persistable>: CachingStore {
  let base: any ValueStore<Value>
  let cache: ValueCache<Value>

  /// A store around a store.
  /// - Parameters:
  ///   - store: The store that has all values.
  ///   - limit: How many values are kept in memory at most.
  public init(of store: some ValueStore<Value>, limit: Int) {
    precondition(limit >= 0, "CachedValueStore(of:limit:) was called with the limit \(limit)")
    base = store
    cache = ValueCache(limit)
    cache.follow(store)
  }

  /// The value with an id; nil if it is not stored.
  public func load(_ id: Value.ID) async throws -> Value? {
    try await cache.value(id) { try await base.load([id]).first }
  }

  /// The values with some ids, in the order of the ids.
  public func load(_ ids: [Value.ID]) async throws -> [Value] {
    let (known, missing, state) = cache.values(ids)
    if missing.isEmpty { return ids.compactMap { known[IDKey($0._key)] } }
    let loaded = try await base.load(missing)
    cache.insert(loaded, readIn: state)
    if missing.count == ids.count { return loaded }
    // The cached ones may be older than the others.
    if !known.isEmpty, cache.state != state { return try await base.load(ids) }
    var all = known
    for value in loaded { all[IDKey(value.id._key)] = value }
    return ids.compactMap { all[IDKey($0._key)] }
  }

  /// The values of a query.
  public func values(_ query: ValueQuery<Value>) async throws -> [Value] {
    let state = cache.state
    let values = try await base.values(query)
    cache.insert(values, readIn: state)
    return values
  }
}
