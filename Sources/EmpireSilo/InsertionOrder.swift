// InsertionOrder: an index of all rows of a table in the order in which they were inserted.
//
// It is kept as the indexes of properties are, so that it is complete, or it is not used. A limited
// query without an order reads as many rows as its limit, as long as few of those that it reads
// fail its condition.

import Dflat
import Empire
import Silo

enum InsertionOrder {
  /// The name of the index. No property has it.
  static let index = "#"

  /// The entry of a row.
  static func entry(_ table: String, _ row: RowPlace) -> IndexedValue {
    IndexedValue(
      table: table, index: index, order: order(of: row.number), hash: 0, number: row.number,
      rowHash: row.hash)
  }
}

extension EmpireTransaction {
  /// Adds a row that is inserted.
  func noteInsertion(_ table: String, _ row: RowPlace) throws {
    try context.insert(InsertionOrder.entry(table, row))
  }

  /// Removes a row that is removed.
  func forgetInsertion(_ table: String, _ row: RowPlace) throws {
    try context.delete(InsertionOrder.entry(table, row))
  }

  /// The objects of a limited query in the order of insertion.
  /// - Parameter count: How many rows the table has at most.
  /// - Returns: nil if all rows must be read, or if that is faster.
  func firstObjects<V: Persistable>(
    _ query: ValueQuery<V>, of count: Int
  ) throws -> [Canonical<V>]? {
    let table = Canonical<V>._schema.table
    let context = try context
    // A look-up takes as long as reading some rows.
    var rest = max(100, count / 8)
    guard query.order.isEmpty, let limit = query.limit.map({ max(0, $0) }), limit <= rest,
      try !CompleteIndex.select(in: context, table: table, index: InsertionOrder.index).isEmpty
    else { return nil }
    let filter = query.condition.map { Self.filter($0) }
    var objects: [Canonical<V>] = []
    var start: UInt64 = 0
    while objects.count < limit {
      if rest == 0 { return nil }
      let page = min(limit, rest, 1000)
      let entries = try IndexedValue.select(
        in: context, limit: page, table: table, index: InsertionOrder.index,
        order: .greaterOrEqual(start))
      for entry in entries {
        if objects.count == limit { break }
        guard let object: Canonical<V> = try object(at: entry.place) else { continue }
        if filter?.matches(object) ?? true { objects.append(object) }
        try filter?.throwFailure()
      }
      guard entries.count == page, let last = entries.last?.order, last < .max else { break }
      rest -= page
      start = last + 1
    }
    return objects
  }

  private static func filter<V: Persistable>(
    _ condition: some QueryExpression<Bool, Canonical<V>>
  ) -> ObjectFilter<Canonical<V>> { ObjectFilter(condition) }
}
