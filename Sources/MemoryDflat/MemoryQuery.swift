// Evaluates a plan with the maps of a table.
//
// A plan's predicate consists of conditions on single fields. Each field has a map in the order of
// its values. So a condition on one field is a range of the map and a test; for several fields,
// sets of row ids are intersected or united. Candidates are passed to the collector in the order
// that it expects: the plan's, or by ascending row id.

import Dflat

/// The candidates of a plan in a table.
struct MemoryQuery {
  let plan: Plan
  let table: MemoryTable
  /// The positions of the schema's indexes in the table.
  let indexes: [Int]

  /// Calls `body` with candidates until it returns false.
  func forEachCandidate(_ body: (Row) -> Bool) {
    if plan.isOrderedByEngine, let term = plan.query.order.first, let field = term.field {
      return inOrder(of: field, isDescending: term.isDescending) { id in
        table.rows[id].map { body($0.row) } ?? true
      }
    }
    guard let predicate = plan.predicate else {
      return table.rows.forEach { _, stored in body(stored.row) }
    }
    for id in ids(predicate) {
      if let stored = table.rows[id], !body(stored.row) { return }
    }
  }

  /// The rows that satisfy the predicate, which concerns this field, in the order of its values;
  /// rows with equal values are ordered by id.
  private func inOrder(
    of field: FieldDescriptor, isDescending: Bool, _ body: (Int64) -> Bool
  ) {
    let test = FieldTest(plan.predicate)
    if !isDescending, case .index? = field.column {
      return forEach(field, test) { _, id in body(id) }
    }
    // Rows are grouped by value, not ordered by id.
    var group: [Int64] = []
    var value: IndexValue?
    var isWanted = true
    func endGroup() {
      for id in group.sorted() where isWanted { isWanted = body(id) }
      group.removeAll(keepingCapacity: true)
    }
    forEach(field, test, isDescending: isDescending) { next, id in
      if next != value { endGroup() }
      value = next
      group.append(id)
      return isWanted
    }
    endGroup()
  }

  /// The ids of the rows that satisfy a predicate, in ascending order.
  private func ids(_ predicate: IndexPredicate) -> [Int64] {
    if case .never = predicate { return [] }
    if let field = predicate.onlyField {
      var ids: [Int64] = []
      forEach(field, FieldTest(predicate)) { _, id in
        ids.append(id)
        return true
      }
      ids.sort()
      return ids
    }
    switch predicate {
    case .and:
      let sets = predicate.partsByField.map(ids).sorted { $0.count < $1.count }
      return sets.dropFirst().reduce(sets[0]) { common, other in
        let others = Set(other)
        return common.filter(others.contains)
      }
    case .or: return Set(predicate.partsByField.flatMap(ids)).sorted()
    default: preconditionFailure("each of these is about one field")
    }
  }

  /// Calls `body` with the values of a field and the ids of rows that pass a test, in the order of
  /// values, until it returns false.
  private func forEach(
    _ field: FieldDescriptor, _ test: FieldTest, isDescending: Bool = false,
    _ body: (IndexValue, Int64) -> Bool
  ) {
    switch field.column {
    case .index(let index):
      walk(table.indexes[indexes[index]].entries, test, isDescending, \.value) { entry, _ in
        !test.passes(entry.value) || body(entry.value, entry.id)
      }
    case .key(0):
      walk(table.keys, test, isDescending, \.first) { key, row in
        !test.passes(key.first) || body(key.first, row.id)
      }
    case .key(let place):
      // Rows are not ordered by a later field of the key: all are examined.
      table.keys.forEach { key, row in !test.passes(key[place]) || body(key[place], row.id) }
    case nil: preconditionFailure("a plan is about a field without an index")
    }
  }

  private func walk<Key, Value>(
    _ map: SortedMap<Key, Value>, _ test: FieldTest, _ isDescending: Bool,
    _ value: (Key) -> IndexValue, _ body: (Key, Value) -> Bool
  ) {
    if isDescending {
      map.forEachReversed(before: { test.isAbove(value($0)) }) { key, entry in
        !test.isBelow(value(key)) && body(key, entry)
      }
    } else {
      map.forEach(after: { test.isBelow(value($0)) }) { key, entry in
        !test.isAbove(value(key)) && body(key, entry)
      }
    }
  }
}

/// A condition on one field: the range that contains all matching values, and the test itself.
private struct FieldTest {
  private indirect enum Test {
    case always, never, isNull
    case compare(ComparisonOperator, IndexValue)
    case oneOf([IndexValue])
    /// `base` is the stored representation of zero.
    case bits(BitTest, mask: Int64, base: Int64)
    case all([Test])
    case any([Test])
  }

  private let test: Test
  /// The least and the greatest value that can pass; nil if there is no such bound.
  private let least: IndexValue?
  private let greatest: IndexValue?

  /// nil passes every value.
  init(_ predicate: IndexPredicate?) {
    test = predicate.map(Self.make) ?? .always
    (least, greatest) = Self.range(of: test)
  }

  func isBelow(_ value: IndexValue) -> Bool { least.map { value < $0 } ?? false }
  func isAbove(_ value: IndexValue) -> Bool { greatest.map { $0 < value } ?? false }
  func passes(_ value: IndexValue) -> Bool { Self.passes(value, test) }

  private static func make(_ predicate: IndexPredicate) -> Test {
    switch predicate {
    case .never: .never
    case .compare(_, let comparison, let value): .compare(comparison, IndexValue(value))
    case .oneOf(_, let values): .oneOf(values.map { IndexValue($0) }.sorted())
    case .isNull: .isNull
    case .bits(let field, let test, let mask):
      .bits(test, mask: mask.bits, base: field.type == .uint64 ? .min : 0)
    case .and(let parts): .all(parts.map(make))
    case .or(let parts): .any(parts.map(make))
    }
  }

  private static func range(of test: Test) -> (IndexValue?, IndexValue?) {
    switch test {
    case .compare(.equal, let value): return (value, value)
    case .compare(.less, let value), .compare(.lessOrEqual, let value): return (nil, value)
    case .compare(.greater, let value), .compare(.greaterOrEqual, let value): return (value, nil)
    case .oneOf(let values): return (values.first, values.last)
    case .isNull: return (.null, .null)
    case .all(let parts):
      let ranges = parts.map(range)
      return (ranges.compactMap(\.0).max(), ranges.compactMap(\.1).min())
    case .any(let parts):
      let ranges = parts.map(range)
      let isLimited = (ranges.allSatisfy { $0.0 != nil }, ranges.allSatisfy { $0.1 != nil })
      return (
        isLimited.0 ? ranges.compactMap(\.0).min() : nil,
        isLimited.1 ? ranges.compactMap(\.1).max() : nil
      )
    case .always, .never, .bits, .compare(.notEqual, _): return (nil, nil)
    }
  }

  /// Null satisfies `isNull` only.
  private static func passes(_ value: IndexValue, _ test: Test) -> Bool {
    switch test {
    case .always: true
    case .never: false
    case .isNull: value.isNull
    case .all(let parts): parts.allSatisfy { passes(value, $0) }
    case .any(let parts): parts.contains { passes(value, $0) }
    case .compare(let comparison, let constant):
      !value.isNull && comparison.accepts(IndexValue.compare(value, constant))
    case .oneOf(let values): !value.isNull && values.contains(value)
    case .bits(let test, let mask, let base):
      if case .integer(let number) = value {
        test == .contains ? (number ^ base) & mask == mask : (number ^ base) & mask != 0
      } else {
        false
      }
    }
  }
}

extension ComparisonOperator {
  /// Whether it holds for operands with this comparison result: negative, zero or positive.
  fileprivate func accepts(_ order: Int) -> Bool {
    switch self {
    case .equal: order == 0
    case .notEqual: order != 0
    case .less: order < 0
    case .lessOrEqual: order <= 0
    case .greater: order > 0
    case .greaterOrEqual: order >= 0
    }
  }
}

extension Value {
  /// The bits of a mask.
  fileprivate var bits: Int64 {
    switch self {
    case .integer(let value): value
    case .unsigned(let value): Int64(bitPattern: value)
    case .bool, .real, .string: preconditionFailure("a mask is an integer")
    }
  }
}
