// A cache follows the store whose values it has.

import Dflat

extension ValueCache {
  /// Forgets what others change in a store.
  func follow(_ store: some ValueStore<Value>) {
    keep(store.subscribe(changedIDs: forgetting))
    // The domain, which the store keeps, keeps the workspace.
    guard let domain = store.domain as? WorkspaceDomain, domain.isShared else { return }
    compare { [weak domain] in try? domain?.workspace.commitToken() }
  }
}
