// TypeSet: the entity types that a transaction names.
//
// A set has mostly one or two types and is read several times in each transaction. So the first one
// is kept apart, which needs no allocation, and nothing is hashed. Invariant: `first` and `rest`
// are without duplicates, in ascending order of addresses.

struct TypeSet: Sendable, Equatable, ExpressibleByArrayLiteral {
  private var first: EntitySchema?
  private var rest: [EntitySchema] = []
  /// The types among them that a transaction does not name, and that its deletions can reach.
  private var implied: [EntitySchema] = []

  init(arrayLiteral types: EntitySchema...) {
    for type in types { insert(type) }
  }

  var types: [EntitySchema] { first.map { [$0] + rest } ?? [] }

  var isEmpty: Bool { first == nil }

  func contains(_ type: EntitySchema) -> Bool {
    first === type || !rest.isEmpty && rest.contains { $0 === type }
  }

  /// Whether the transaction names a type.
  func names(_ type: EntitySchema) -> Bool {
    contains(type) && (implied.isEmpty || !implied.contains { $0 === type })
  }

  /// Adds the types whose objects the deletion of an object can read or change, by the rules of
  /// references.
  mutating func addTypesOfDeletion() {
    if first?.referrers.isEmpty != false, rest.allSatisfy({ $0.referrers.isEmpty }) { return }
    for type in types {
      for reached in type.typesOfDeletion where !contains(reached) {
        implied.append(reached)
        insert(reached)
      }
    }
  }

  mutating func insert(_ type: EntitySchema) {
    guard let first else {
      first = type
      return
    }
    if first === type { return }
    if Self.isAscending(type, first) {
      rest.insert(first, at: 0)
      self.first = type
      return
    }
    let place = rest.firstIndex { !Self.isAscending($0, type) } ?? rest.endIndex
    if place < rest.endIndex, rest[place] === type { return }
    rest.insert(type, at: place)
  }

  mutating func formUnion(_ other: TypeSet) {
    if self == other { return }
    if isEmpty {
      self = other
    } else {
      other.forEach { insert($0) }
    }
  }

  func forEach(_ body: (EntitySchema) -> Void) {
    if let first { body(first) }
    for type in rest { body(type) }
  }

  /// The number of the first type's table; nil if there is no type.
  var firstTable: Int? { first?.tableNumber }

  /// The numbers of the other types' tables, each once. Versions of one type have one table.
  var otherTables: [Int] {
    if rest.isEmpty { return [] }
    var tables: [Int] = []
    for type in rest where type.tableNumber != firstTable && !tables.contains(type.tableNumber) {
      tables.append(type.tableNumber)
    }
    return tables
  }

  /// Whether no table has objects of both sets.
  func isDisjoint(with other: TypeSet) -> Bool {
    if let first, other.hasTable(of: first) { return false }
    return rest.isEmpty || !rest.contains { other.hasTable(of: $0) }
  }

  private func hasTable(of type: EntitySchema) -> Bool {
    let table = type.tableNumber
    return firstTable == table || !rest.isEmpty && rest.contains { $0.tableNumber == table }
  }

  static func == (left: TypeSet, right: TypeSet) -> Bool {
    if left.first !== right.first { return false }
    if left.rest.isEmpty, right.rest.isEmpty { return true }
    // Compares the references themselves: accessing the objects would retain them.
    return left.rest.withUnsafeBytes { left in
      right.rest.withUnsafeBytes { equalBytes(left, $0) }
    }
  }

  private static func isAscending(_ left: EntitySchema, _ right: EntitySchema) -> Bool {
    ObjectIdentifier(left) < ObjectIdentifier(right)
  }
}
