// TypeSet: the entity types that a transaction names.
//
// A set has mostly one or two types and is read several times in each transaction. So it is an
// array without duplicates in ascending order of addresses, and nothing is hashed.

struct TypeSet: Sendable, Equatable, ExpressibleByArrayLiteral {
  private(set) var types: [EntitySchema] = []
  /// The types among them that a transaction does not name, and that its deletions can reach.
  private var implied: [EntitySchema] = []

  init(arrayLiteral types: EntitySchema...) {
    for type in types { insert(type) }
  }

  var isEmpty: Bool { types.isEmpty }

  func contains(_ type: EntitySchema) -> Bool {
    types.contains { $0 === type }
  }

  /// Whether the transaction names a type.
  func names(_ type: EntitySchema) -> Bool {
    contains(type) && (implied.isEmpty || !implied.contains { $0 === type })
  }

  /// Adds the types whose objects the deletion of an object can read or change, by the rules of
  /// references.
  mutating func addTypesOfDeletion() {
    if types.allSatisfy({ $0.referrers.isEmpty }) { return }
    for type in types {
      for reached in type.typesOfDeletion where !contains(reached) {
        implied.append(reached)
        insert(reached)
      }
    }
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

  /// The numbers of the types' tables, each once. Versions of one type have one table.
  var tables: some Collection<Int> {
    types.indices.lazy.filter { place in
      let table = types[place].tableNumber
      return !types[..<place].contains { $0.tableNumber == table }
    }.map { types[$0].tableNumber }
  }

  /// Whether no table has objects of both sets.
  func isDisjoint(with other: TypeSet) -> Bool {
    !types.contains { type in
      other.types.contains { $0.tableNumber == type.tableNumber }
    }
  }

  static func == (left: TypeSet, right: TypeSet) -> Bool {
    // Compares the references themselves: accessing the objects would retain them.
    left.types.withUnsafeBytes { left in
      right.types.withUnsafeBytes { equalBytes(left, $0) }
    }
  }

  private static func isAscending(_ left: EntitySchema, _ right: EntitySchema) -> Bool {
    ObjectIdentifier(left) < ObjectIdentifier(right)
  }
}
