// RowSearch: which rows may satisfy a condition, by what it says about ids and indexed properties.
//
// What is found contains every row that satisfies the condition, and perhaps others: each row is
// looked at afterwards.

import Dflat
import Empire
import Silo

/// Where a row is in its table.
struct RowPlace: Hashable {
  let hash: UInt64
  let number: Int64
}

struct RowSearch<Value: Persistable> {
  private static var capabilities: QueryCapabilities {
    QueryCapabilities(
      isExact: false, canOrder: false, usesCompoundIndexes: false, elements: .candidates)
  }

  private let schema: EntitySchema
  private let predicate: IndexPredicate?
  /// Whether there is an index in the order of the ids.
  private let hasOrderOfIDs: Bool
  private var most = 0

  /// - Parameter isComplete: Whether an index, given by its storage name, has all values.
  init(_ query: ValueQuery<Value>, isComplete: (String) throws -> Bool) rethrows {
    let schema = Canonical<Value>._schema
    self.schema = schema
    let query = Query(schema: schema, condition: query.condition?._node)
    predicate = try Plan(query, Self.capabilities) { place in
      try KeptIndex(of: schema, at: place).map { try isComplete($0.name) } ?? false
    }.predicate
    hasOrderOfIDs =
      try predicate != nil && RowOrder.indexes(of: Value.self).contains(RowOrder.ids)
      && isComplete(RowOrder.ids)
  }

  /// The range in which the hashes of all such rows are. Only those of integers have the order of
  /// the ids.
  var hashes: ClosedRange<UInt64> {
    guard Value.ID._Key.self is any FixedWidthInteger.Type, let predicate,
      let id = schema.primaryKey.first
    else { return .all }
    return predicate.range(of: id) { rowHash($0) }
  }

  /// The range in which the hashes of all such rows are, as far as it follows from the ids alone:
  /// for one id, of any type, its hash.
  var observedHashes: ClosedRange<UInt64> {
    let ids: [Dflat.Value]
    switch predicate {
    case .compare(let field, .equal, let id) where field.column == .key(0): ids = [id]
    case .oneOf(let field, let values) where field.column == .key(0): ids = values
    default: return hashes
    }
    let all = ids.compactMap { rowHash($0) }
    guard let least = all.min(), let greatest = all.max() else { return hashes }
    return least...greatest
  }

  /// The places of the rows; nil if they could be anywhere, or are more than some number.
  mutating func places(
    in context: Empire.TransactionContext, atMost most: Int
  ) throws -> Set<RowPlace>? {
    self.most = most
    return try predicate.flatMap { try places($0, context) }
  }

  private func places(
    _ predicate: IndexPredicate, _ context: Empire.TransactionContext
  ) throws -> Set<RowPlace>? {
    switch predicate {
    case .never: return []
    case .compare(let field, .equal, let value): return try places(field, [value], context)
    case .compare(let field, _, _): return try places(field, within: predicate, context)
    case .oneOf(let field, let values): return try places(field, values, context)
    case .or(let parts):
      var all: Set<RowPlace> = []
      for part in parts {
        guard let places = try places(part, context) else { return nil }
        all.formUnion(places)
        if all.count > most { return nil }
      }
      return all
    case .and(let parts):
      // One part is enough, since each row is looked at; ranges of a field are cut together.
      for part in parts.sorted(by: { $0.width < $1.width }) {
        let found =
          if let field = part.rangeField {
            try places(field, within: predicate, context)
          } else { try places(part, context) }
        if let found { return found }
      }
      return nil
    case .contains(let index, let values):
      return try places(KeptIndex.elements(index).name, values, context)
    case .isNull, .bits, .search: return nil
    }
  }

  /// The rows with one of some values.
  private func places(
    _ field: FieldDescriptor, _ values: [Dflat.Value], _ context: Empire.TransactionContext
  ) throws -> Set<RowPlace>? {
    switch field.column {
    case .key:
      var places: Set<RowPlace> = []
      for value in values {
        guard let hash = rowHash(value) else { return nil }
        for row in try StoredRow.select(in: context, table: schema.table, hash: hash) {
          places.insert(RowPlace(hash: hash, number: row.number))
        }
      }
      return places
    case .index(let index):
      return try places(KeptIndex.property(schema.indexes[index]).name, values, context)
    case nil: return nil
    }
  }

  /// The rows that an index has for some values.
  private func places(
    _ index: String, _ values: [Dflat.Value], _ context: Empire.TransactionContext
  ) throws -> Set<RowPlace>? {
    var places: Set<RowPlace> = []
    for place in values.compactMap(IndexPlace.init) {
      let entries = try IndexedValue.select(
        in: context, limit: most + 1, table: schema.table, index: index, order: place.order,
        hash: place.hash)
      for entry in entries { places.insert(entry.place) }
      if places.count > most { return nil }
    }
    return places
  }

  /// The rows with the values of an index that a predicate leaves.
  private func places(
    _ field: FieldDescriptor, within predicate: IndexPredicate, _ context: Empire.TransactionContext
  ) throws -> Set<RowPlace>? {
    let index: String
    switch field.column {
    case .index(let place): index = KeptIndex.property(schema.indexes[place]).name
    case .key where hasOrderOfIDs: index = RowOrder.ids
    case .key, nil: return nil
    }
    let range = predicate.range(of: field) { IndexPlace($0)?.order }
    if range == .all { return nil }
    let entries = try IndexedValue.select(
      in: context, limit: most + 1, table: schema.table, index: index, order: .closedRange(range))
    return entries.count > most ? nil : Set(entries.map(\.place))
  }

  /// The hash of a row with an id; nil if no id has the value.
  private func rowHash(_ id: Dflat.Value) -> UInt64? {
    let isSigned = (Value.ID._Key.self as? any FixedWidthInteger.Type)?.isSigned
    return switch id {
    case .string(let text): isSigned == nil ? textHash(text.utf8) : nil
    case .integer(let value):
      isSigned.map { $0 ? order(of: value) : UInt64(max(0, value)) }
    case .unsigned(let value): isSigned == false ? value : nil
    case .bool, .real: nil
    }
  }
}

extension IndexedValue {
  var place: RowPlace { RowPlace(hash: rowHash, number: number) }
}

extension ClosedRange<UInt64> {
  fileprivate static var all: Self { 0...(.max) }
}

extension IndexPredicate {
  /// How many rows satisfy it, compared with other predicates: a guess.
  fileprivate var width: Int {
    switch self {
    case .never: 0
    case .compare(let field, .equal, _):
      field.column == .key(0) ? 0 : field.type == .bool ? 5 : 2
    case .oneOf(let field, _): field.column == .key(0) ? 1 : 3
    case .contains: 3
    case .or, .and: 4
    case .compare, .isNull, .bits, .search: 6
    }
  }

  /// The field of a comparison that is not about equality.
  fileprivate var rangeField: FieldDescriptor? {
    if case .compare(let field, let comparison, _) = self, comparison != .equal {
      field
    } else {
      nil
    }
  }

  /// The range in which the values of a field are if the predicate is satisfied.
  /// - Parameter order: A number that is in the order of values; nil if it does not say anything.
  fileprivate func range(
    of field: FieldDescriptor, _ order: (Dflat.Value) -> UInt64?
  ) -> ClosedRange<UInt64> {
    switch self {
    case .and(let parts):
      return parts.reduce(.all) { $0.clamped(to: $1.range(of: field, order)) }
    case .compare(field, let comparison, let value):
      guard let place = order(value) else { return .all }
      return switch comparison {
      case .equal: place...place
      case .greater, .greaterOrEqual: place...(.max)
      case .less, .lessOrEqual: 0...place
      case .notEqual: .all
      }
    default: return .all
    }
  }
}
