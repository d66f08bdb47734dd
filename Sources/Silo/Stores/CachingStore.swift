// CachingStore: a store that has values in memory, and the changes that make its cache forget.

import Platform

/// A store that has values in memory.
protocol CachingStore<Value>: ValueStore {
  var cache: ValueCache<Value> { get }
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
