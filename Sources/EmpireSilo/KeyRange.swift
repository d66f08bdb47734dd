// KeyRange: queries in the order of an integer id, which is the order of the records. They are read
// no further than to their limit.

import Dflat
import Empire
import Silo

struct KeyRange<Value: Persistable> {
  private let query: ValueQuery<Value>
  private let limit: Int
  private let isDescending: Bool
  /// What the first and the last record are at least and at most; see `order(of:)`.
  private let bounds: ClosedRange<UInt64>

  /// Returns nil if the query has another order, or no limit.
  init?(_ query: ValueQuery<Value>, _ search: RowSearch<Value>) {
    guard Value.ID._Key.self is any FixedWidthInteger.Type, let limit = query.limit,
      query.order.count == 1, let order = query.order.first, order.isByStoredValue,
      order.name == "__pk0"
    else { return nil }
    self.query = query
    self.limit = max(0, limit)
    isDescending = order.sortingOrder == .descending
    bounds = search.hashes
  }

  /// The objects of the query, all of which are in some places.
  func objects(
    at places: Set<RowPlace>, _ object: (RowPlace) throws -> Canonical<Value>?
  ) throws -> [Canonical<Value>] {
    let filter = query.condition.map { Self.filter($0) }
    var objects: [Canonical<Value>] = []
    for place in places.sorted(by: { ($0.hash < $1.hash) != isDescending }) {
      if objects.count == limit { break }
      if let object = try object(place), filter?.matches(object) ?? true { objects.append(object) }
      try filter?.throwFailure()
    }
    return objects
  }

  /// The objects of the query, in whichever places.
  func objects(
    in context: Empire.TransactionContext, _ table: String,
    _ object: (StoredRow) throws -> Canonical<Value>
  ) throws -> [Canonical<Value>] {
    let filter = query.condition.map { Self.filter($0) }
    var objects: [Canonical<Value>] = []
    var page = min(limit, 100)
    var bounds = bounds
    while objects.count < limit {
      let records = try StoredRow.select(
        in: context, limit: page, table: table,
        hash: isDescending ? .lessOrEqual(bounds.upperBound) : .greaterOrEqual(bounds.lowerBound))
      for record in records {
        guard bounds.contains(record.hash) else { break }
        let object = try object(record)
        if filter?.matches(object) ?? true { objects.append(object) }
        if objects.count == limit { break }
      }
      try filter?.throwFailure()
      // Ids are unique, and so are the hashes of integers.
      guard records.count == page, let last = records.last?.hash, bounds.contains(last),
        last != (isDescending ? bounds.lowerBound : bounds.upperBound)
      else { break }
      bounds = isDescending ? bounds.lowerBound...(last - 1) : (last + 1)...bounds.upperBound
      page = min(page * 2, 1000)
    }
    return objects
  }

  private static func filter(
    _ condition: some QueryExpression<Bool, Canonical<Value>>
  ) -> ObjectFilter<Canonical<Value>> { ObjectFilter(condition) }
}
