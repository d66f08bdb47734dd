// IDSet: a set of ids.

/// Ids as stores compare them, by their bytes.
struct IDSet<Value: Persistable> {
  private(set) var keys: Set<IDKey<Value.ID._Key>> = []
  var isEmpty: Bool { keys.isEmpty }
  var count: Int { keys.count }

  init() {}

  init(_ ids: some Sequence<Value.ID>) {
    for id in ids { insert(id) }
  }

  func contains(_ id: Value.ID) -> Bool { keys.contains(IDKey(id._key)) }

  @discardableResult
  mutating func insert(_ id: Value.ID) -> Bool { keys.insert(IDKey(id._key)).inserted }
}
