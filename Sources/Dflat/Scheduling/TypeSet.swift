// TypeSet: the entity types that a transaction names.
//
// Mostly one or two, and looked at several times in each transaction: an array in ascending order of addresses, in which nothing
// has to be hashed. It keeps true that no type is in it twice.

struct TypeSet: Sendable, Equatable, ExpressibleByArrayLiteral {
  private(set) var types: [EntitySchema] = []

  init(arrayLiteral types: EntitySchema...) {
    for type in types { insert(type) }
  }

  var isEmpty: Bool { types.isEmpty }

  func contains(_ type: EntitySchema) -> Bool {
    types.contains { $0 === type }
  }

  mutating func insert(_ type: EntitySchema) {
    let place = types.firstIndex { !Self.isAscending($0, type) } ?? types.endIndex
    if place < types.endIndex, types[place] === type { return }
    if place == types.endIndex { types.append(type) } else { types.insert(type, at: place) }
  }

  mutating func formUnion(_ other: TypeSet) {
    if self == other { return }
    if isEmpty {
      self = other
    } else {
      for type in other.types { insert(type) }
    }
  }

  func isDisjoint(with other: TypeSet) -> Bool {
    var left = types[...]
    var right = other.types[...]
    while let first = left.first, let second = right.first {
      if first === second { return false }
      if Self.isAscending(first, second) { left.removeFirst() } else { right.removeFirst() }
    }
    return true
  }

  static func == (left: TypeSet, right: TypeSet) -> Bool {
    // The references themselves: to look at the objects would be to retain them.
    left.types.withUnsafeBytes { left in
      right.types.withUnsafeBytes { equalBytes(left, $0) }
    }
  }

  private static func isAscending(_ left: EntitySchema, _ right: EntitySchema) -> Bool {
    ObjectIdentifier(left) < ObjectIdentifier(right)
  }
}
