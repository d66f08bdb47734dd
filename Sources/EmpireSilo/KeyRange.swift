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
  private var bounds: ClosedRange<UInt64> = 0...(.max)

  /// Returns nil if the query has another order, or no limit.
  init?(_ query: ValueQuery<Value>) {
    guard Value.ID._Key.self is any FixedWidthInteger.Type, let limit = query.limit,
      query.order.count == 1, let order = query.order.first, order.isByStoredValue,
      order.name == "__pk0"
    else { return nil }
    self.query = query
    self.limit = max(0, limit)
    isDescending = order.sortingOrder == .descending
    if let condition = query.condition { narrow(by: condition._node) }
  }

  /// Narrows the range by the comparisons of the id that a condition implies.
  private mutating func narrow(by node: Node) {
    switch node {
    case .and(let parts): for part in parts { narrow(by: part) }
    case .comparison(let comparison, .field(let field), .constant(let value, _), _)
    where field.column == .key(0):
      guard let place = Self.place(of: value) else { return }
      switch comparison {
      case .equal: bounds = bounds.clamped(to: place...place)
      case .greater, .greaterOrEqual: bounds = bounds.clamped(to: place...(.max))
      case .less, .lessOrEqual: bounds = bounds.clamped(to: 0...place)
      default: break
      }
    default: break
    }
  }

  /// Where records of an id are, or those of the next one that ids can have.
  private static func place(of value: Dflat.Value) -> UInt64? {
    let isSigned = (Value.ID._Key.self as? any FixedWidthInteger.Type)?.isSigned ?? false
    return switch value {
    case .integer(let value): isSigned ? order(of: value) : UInt64(max(0, value))
    case .unsigned(let value): isSigned ? nil : value
    default: nil
    }
  }

  /// The objects of the query.
  func objects(
    in context: Empire.TransactionContext, _ table: String
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
        let object: Canonical<Value> = try record.object()
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
