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

  /// Calls `body` with candidates until it returns false.
  func forEachCandidate(_ body: (Row) -> Bool) {
    func find(_ id: Int64) -> Bool { table.rows[id].map { body($0.row) } ?? true }
    if let scan = plan.scan {
      let columns = schema.indexes[scan.index].columns
      let test = KeyTest(plan.predicate, columns.map(\.field))
      let entries = table.indexes[indexes[scan.index]].entries
      if scan.orderedColumns == 0 { return ids(entries, test).forEachWhile(find) }
      if scan.orderedColumns == columns.count, !scan.isDescending {
        // Entries with equal values are ordered by id.
        return walk(entries, test, false, \.key) { entry, _ in find(entry.id) }
      }
      return inOrder(
        scan.orderedColumns, scan.isDescending, entries, test, \.key, { entry, _ in entry.id }, find
      )
    }
    if plan.isOrderedByEngine, let term = plan.query.order.first {
      // Without an index the order is that of the key's first field.
      let test = KeyTest(plan.predicate, schema.primaryKey)
      return inOrder(1, term.isDescending, table.keys, test, \.self, { $1.id }, find)
    }
    guard let predicate = plan.predicate else {
      let start = plan.query.order.isEmpty ? plan.query.start?.id : nil
      return table.rows.forEach(after: { id in start.map { id <= $0 } ?? false }) { _, stored in
        body(stored.row)
      }
    }
    ids(predicate).forEachWhile(find)
  }

  private var schema: EntitySchema { plan.query.schema }

  /// Calls `body` with the rows of a map in the order of their first values; rows for which these
  /// are equal are ordered by id.
  private func inOrder<Key, Value>(
    _ count: Int, _ isDescending: Bool, _ map: SortedMap<Key, Value>, _ test: KeyTest,
    _ values: (Key) -> KeyTuple, _ id: (Key, Value) -> Int64, _ body: (Int64) -> Bool
  ) {
    var group: [Int64] = []
    var key: KeyTuple?
    var isWanted = true
    func endGroup() {
      for id in group.sorted() where isWanted { isWanted = body(id) }
      group.removeAll(keepingCapacity: true)
    }
    walk(map, test, isDescending, values) { entry, value in
      let next = values(entry)
      if key.map({ !next.hasPrefix(of: $0, count) }) ?? false { endGroup() }
      key = next
      group.append(id(entry, value))
      return isWanted
    }
    endGroup()
  }

  /// The ids of the rows that satisfy a predicate, in ascending order.
  private func ids(_ predicate: IndexPredicate) -> [Int64] {
    if case .never = predicate { return [] }
    if let field = predicate.onlyField { return ids(predicate, on: field) }
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

  /// The ids of the rows that satisfy a predicate on one field.
  private func ids(_ predicate: IndexPredicate, on field: FieldDescriptor) -> [Int64] {
    switch field.column {
    case .index(let index):
      return ids(table.indexes[indexes[index]].entries, KeyTest(predicate, [field]))
    case .key:
      var ids: [Int64] = []
      walk(table.keys, KeyTest(predicate, schema.primaryKey), false, \.self) { _, row in
        ids.append(row.id)
        return true
      }
      return ids.sorted()
    case nil: preconditionFailure("a plan is about a field without an index")
    }
  }

  private func ids(_ entries: SortedMap<IndexEntry, Void>, _ test: KeyTest) -> [Int64] {
    var ids: [Int64] = []
    walk(entries, test, false, \.key) { entry, _ in
      ids.append(entry.id)
      return true
    }
    return ids.sorted()
  }

  /// Calls `body` with the entries of a map whose values pass a test, in the order of values, until
  /// it returns false.
  private func walk<Key, Value>(
    _ map: SortedMap<Key, Value>, _ test: KeyTest, _ isDescending: Bool,
    _ values: (Key) -> KeyTuple, _ body: (Key, Value) -> Bool
  ) {
    if isDescending {
      map.forEachReversed(before: { test.isAbove(values($0)) }) { key, value in
        let values = values(key)
        return !test.isBelow(values) && (!test.passes(values) || body(key, value))
      }
    } else {
      map.forEach(after: { test.isBelow(values($0)) }) { key, value in
        let values = values(key)
        return !test.isAbove(values) && (!test.passes(values) || body(key, value))
      }
    }
  }
}

extension [Int64] {
  /// Calls `body` with the elements until it returns false.
  fileprivate func forEachWhile(_ body: (Int64) -> Bool) {
    for element in self { if !body(element) { return } }
  }
}
