// RowOrder: indexes of all rows of a table, in the order in which they were inserted, and in that
// of their ids. Records are in the order of ids only if these are integers.
//
// They are kept as the indexes of properties are, so that each is complete, or it is not used. A
// limited query without an order reads as many rows as its limit, as long as few of those that it
// reads fail its condition. A range of ids reads those that are in it.

import Dflat
import Empire
import Silo

enum RowOrder {
  /// The index in the order of insertion. No property has this name.
  static let insertion = "#"
  /// The index in the order of ids.
  static let ids = "#id"

  /// The names of the indexes that a type has.
  static func indexes<V: Persistable>(of type: V.Type) -> [String] {
    V.ID._Key.self is any FixedWidthInteger.Type ? [insertion] : [insertion, ids]
  }

  /// The entries of a row.
  /// - Parameter object: What is stored there; nil if that cannot be read.
  static func entries<V: Persistable>(
    of object: Canonical<V>?, _ table: String, _ row: RowPlace
  ) -> [IndexedValue] {
    func entry(_ index: String, _ order: UInt64, _ hash: UInt64) -> IndexedValue {
      IndexedValue(
        table: table, index: index, order: order, hash: hash, number: row.number,
        rowHash: row.hash)
    }
    let first = entry(insertion, order(of: row.number), 0)
    guard let object, indexes(of: V.self).contains(ids),
      let place = IndexPlace(.string("\(object.id)"))
    else { return [first] }
    return [first, entry(ids, place.order, place.hash)]
  }
}

extension EmpireTransaction {
  /// Adds a row that is inserted.
  func noteInsertion<V: Persistable>(of object: Canonical<V>, at row: RowPlace) throws {
    for entry in RowOrder.entries(of: object, Canonical<V>._schema.table, row) {
      try context.insert(entry)
    }
  }

  /// Removes a row that is removed.
  func forgetInsertion<V: Persistable>(of object: Canonical<V>, at row: RowPlace) throws {
    for entry in RowOrder.entries(of: object, Canonical<V>._schema.table, row) {
      // In a damaged file there may be none.
      try removeEntry(entry.index, entry.table, order: entry.order, hash: entry.hash, of: row)
    }
  }

  /// The objects of a limited query in the order of insertion.
  /// - Parameter count: How many rows the table has at most.
  /// - Returns: nil if all rows must be read, or if that is faster.
  func firstObjects<V: Persistable>(
    _ query: ValueQuery<V>, of count: Int
  ) throws -> [Canonical<V>]? {
    // A look-up takes as long as reading some rows.
    var rest = max(100, count / 8)
    guard query.order.isEmpty, let limit = query.limit.map({ max(0, $0) }), limit <= rest,
      var pages = try InsertionPages(in: context, Canonical<V>._schema.table)
    else { return nil }
    let filter = query.condition.map { Self.filter($0) }
    var objects: [Canonical<V>] = []
    while objects.count < limit, !pages.isAtEnd {
      if rest == 0 { return nil }
      let page = min(limit, rest, 1000)
      for place in try pages.next(page) {
        if objects.count == limit { break }
        guard let object: Canonical<V> = try object(at: place) else { continue }
        if filter?.matches(object) ?? true { objects.append(object) }
        try filter?.throwFailure()
      }
      rest -= page
    }
    return objects
  }

  /// The first objects in the order of insertion, without damaged ones; nil if all rows must be
  /// read.
  func firstReadableObjects<V: Persistable>(_ limit: Int) throws -> [Canonical<V>]? {
    guard var pages = try InsertionPages(in: context, Canonical<V>._schema.table) else {
      return nil
    }
    var objects: [Canonical<V>] = []
    while objects.count < limit, !pages.isAtEnd {
      for place in try pages.next(min(limit, 1000)) where objects.count < limit {
        if let object: Canonical<V> = try? object(at: place) { objects.append(object) }
      }
    }
    return objects
  }

  private static func filter<V: Persistable>(
    _ condition: some QueryExpression<Bool, Canonical<V>>
  ) -> ObjectFilter<Canonical<V>> { ObjectFilter(condition) }
}

/// The rows of a table in the order of insertion, page by page.
private struct InsertionPages {
  private let context: Empire.TransactionContext
  private let table: String
  private var start: UInt64 = 0
  private(set) var isAtEnd = false

  /// Returns nil if the index of the order is not complete.
  init?(in context: Empire.TransactionContext, _ table: String) throws {
    guard try CompleteIndex.exists(in: context, table, RowOrder.insertion) else { return nil }
    self.context = context
    self.table = table
  }

  mutating func next(_ count: Int) throws -> [RowPlace] {
    let entries = try IndexedValue.select(
      in: context, limit: count, table: table, index: RowOrder.insertion,
      order: .greaterOrEqual(start))
    if entries.count == count, let last = entries.last?.order, last < .max {
      start = last + 1
    } else {
      isAtEnd = true
    }
    return entries.map(\.place)
  }
}
