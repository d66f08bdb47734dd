// CachingStore: a store that has values in memory, and the changes that make its cache forget.

import Platform

/// A store that has values in memory.
protocol CachingStore<Value>: ValueStore {
  var cache: ValueCache<Value> { get }
  /// The store that has all values. It carries out the calls that the cache does not help with.
  var base: any ValueStore<Value> { get }
}

extension CachingStore {
  /// The stores that one transaction can change together with this one: those of the inner store.
  public var domain: any StoreDomain { base.domain }

  /// The values with some ids, in the order of the ids.
  public func load(_ ids: [Value.ID]) async throws -> [Value] { try await base.load(ids) }

  /// The values of a query.
  public func values(_ query: ValueQuery<Value>) async throws -> [Value] {
    try await base.values(query)
  }

  /// How many values a query has.
  public func count(_ query: ValueQuery<Value>) async throws -> Int {
    try await base.count(query)
  }

  /// The changes of a query's values, beginning at their present state.
  public func changes(_ query: ValueQuery<Value>) -> ValueChanges<Value> { base.changes(query) }

  /// Calls a handler with the ids of values that have changed.
  public func subscribe(
    changedIDs handler: @escaping @Sendable ([Value.ID]?) -> Void
  ) -> ValueSubscription { base.subscribe(changedIDs: handler) }

  /// Migrates all values of retained versions.
  public func migrate(step: Int) async throws { try await base.migrate(step: step) }
}

/// The values that a transaction is changing and that are cached. Their changes end when the
/// transaction has returned.
final class CachedChanges: Sendable {
  private let ends = Mutex<[@Sendable () -> Void]>([])

  /// Notes that values are changed now.
  func begin<V: Persistable>(_ ids: @autoclosure () -> [V.ID], in store: any ValueStore<V>) {
    guard let cache = (store as? any CachingStore<V>)?.cache else { return }
    let ids = ids()
    cache.beginChange(of: ids)
    ends.withLock { $0.append { cache.endChange(of: ids) } }
  }

  func end() {
    for end in ends.withLock({ $0 }) { end() }
  }
}
