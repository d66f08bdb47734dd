// Evaluates a plan with the maps of a table.
//
// The primary key and each index have a map in the order of their values. A condition on one of
// them is a range of the map and a test; for several, sets of row ids are intersected or united.
// Candidates are passed to the collector in the order that it expects: the plan's, or by ascending
// row id.

import Dflat

/// The candidates of a plan in a table.
struct MemoryQuery {
  let plan: Plan
  let table: MemoryTable
  /// The positions of the schema's indexes in the table.
  let indexes: [Int]

  var schema: EntitySchema { plan.query.schema }

  /// Calls `body` with candidates until it returns false.
  func forEachCandidate(_ body: (Row) throws -> Bool) throws {
    func find(_ id: Int64) throws -> Bool {
      try table.rows.find(KeyView(id: id)).map { try body($0.row) } ?? true
    }
    if let scan = plan.scan {
      let columns = schema.indexes[scan.index].columns
      let test = KeyTest(plan.predicate, columns.map(\.field))
      let entries = table.indexes[indexes[scan.index]].entries
      if scan.orderedColumns == 0 {
        _ = try ids(entries, test, \.self).allSatisfy(find)
      } else if scan.orderedColumns == columns.count, !scan.isDescending {
        // Entries with equal values are ordered by id.
        try walk(entries, test) { try find($1) }
      } else {
        try inOrder(scan.orderedColumns, scan.isDescending, entries, test, \.self, find)
      }
    } else if plan.isOrderedByEngine, let term = plan.query.order.first {
      // Without an index the order is that of the key's first field.
      let test = KeyTest(plan.predicate, schema.primaryKey)
      try inOrder(1, term.isDescending, table.keys, test, \.id, find)
    } else if let predicate = plan.predicate {
      _ = try ids(predicate).allSatisfy(find)
    } else {
      try table.forEachRow(after: plan.query.order.isEmpty ? plan.query.start?.id : nil, body)
    }
  }

  /// Calls `body` with the ids in a map in the order of their first values; those for which these
  /// are equal come in ascending order.
  private func inOrder<Value>(
    _ count: Int, _ isDescending: Bool, _ map: SortedMap<Value>, _ test: KeyTest,
    _ id: (Value) -> Int64, _ body: (Int64) throws -> Bool
  ) throws {
    var group: [Int64] = []
    var values: [UInt8] = []
    var isWanted = true
    func endGroup() throws {
      isWanted = try isWanted && group.sorted().allSatisfy(body)
      group.removeAll(keepingCapacity: true)
    }
    try walk(map, test, isDescending) { key, value in
      let next = test.values(of: key, count)
      if next != values { try endGroup() }
      values = next
      group.append(id(value))
      return isWanted
    }
    try endGroup()
  }

  /// The ids of the rows that satisfy a predicate, in ascending order.
  private func ids(_ predicate: IndexPredicate) -> [Int64] {
    if case .never = predicate { return [] }
    if let field = predicate.onlyField { return ids(predicate, on: field) }
    switch predicate {
    case .and:
      let sets = setsOfConjunction(predicate.partsByField).sorted { $0.count < $1.count }
      return sets.dropFirst().reduce(sets[0]) { common, other in
        let others = Set(other)
        return common.filter(others.contains)
      }
    case .or: return Set(predicate.partsByField.flatMap(ids)).sorted()
    default: preconditionFailure("each of these is about one field")
    }
  }

  /// The ids of the rows that satisfy each part. What is about the primary key is one part: all of
  /// its fields together have a range of the map.
  private func setsOfConjunction(_ parts: [IndexPredicate]) -> [[Int64]] {
    var rest = parts
    let second = rest.partition { $0.onlyField?.isKey == true }
    let ofKey = Array(rest[second...])
    var sets = rest[..<second].map(ids)
    if !ofKey.isEmpty {
      sets.append(ids(table.keys, KeyTest(.and(ofKey), schema.primaryKey), \.id))
    }
    return sets
  }

  /// The ids of the rows that satisfy a predicate on one field, in ascending order.
  private func ids(_ predicate: IndexPredicate, on field: FieldDescriptor) -> [Int64] {
    switch field.column {
    case .index(let index):
      ids(table.indexes[indexes[index]].entries, KeyTest(predicate, [field]), \.self)
    case .key: ids(table.keys, KeyTest(predicate, schema.primaryKey), \.id)
    case nil: preconditionFailure("a plan is about a field without an index")
    }
  }

  private func ids<Value>(
    _ map: SortedMap<Value>, _ test: KeyTest, _ id: (Value) -> Int64
  ) -> [Int64] {
    var ids: [Int64] = []
    walk(map, test) { _, value in
      ids.append(id(value))
      return true
    }
    return ids.sorted()
  }

  /// Calls `body` with the entries of a map whose keys pass a test, in the order of keys, until it
  /// returns false.
  private func walk<Value>(
    _ map: SortedMap<Value>, _ test: KeyTest, _ isDescending: Bool = false,
    _ body: (SortKey, Value) throws -> Bool
  ) rethrows {
    var isWanted = true
    for step in test.ranges.indices where isWanted {
      let place = isDescending ? test.ranges.count - 1 - step : step
      try map.forEach(in: test.ranges[place], descending: isDescending) { key, value in
        isWanted = try !test.passes(key) || body(key, value)
        return isWanted
      }
    }
  }
}
