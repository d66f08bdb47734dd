// Dictionaries: the stores of all namespaces of a workspace.

import Platform

/// The stores of all namespaces.
final class Dictionaries: Sendable {
  let main = DictionaryStore(namespace: "")
  private let others = Mutex<[DictionaryKey: DictionaryStore]>([:])

  /// The stores that were used.
  var all: [DictionaryStore] { [main] + others.withLock { Array($0.values) } }

  func store(_ namespace: String) -> DictionaryStore {
    if namespace.isEmpty { return main }
    return others.withLock { others in
      let key = main.key(namespace)
      if let store = others[key] { return store }
      let store = DictionaryStore(namespace: namespace)
      others[key] = store
      return store
    }
  }
}
