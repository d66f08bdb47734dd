// The answer to a query, among all objects of a type.

import Dflat
import Silo

extension ValueQuery {
  /// The objects of a query, among all of the type.
  func objects(of all: [Canonical<Value>]) throws -> [Canonical<Value>] {
    var objects = all.sorted { $0._rowid < $1._rowid }
    if let condition {
      let filter = Self.filter(condition)
      objects = objects.filter { filter.matches($0) }
      try filter.throwFailure()
    }
    if !order.isEmpty {
      objects = objects.enumerated().sorted { left, right in
        for key in order {
          let result = key.areInSortingOrder(left.element, right.element)
          if result != .same { return result == key.sortingOrder }
        }
        return left.offset < right.offset
      }.map(\.element)
    }
    return limit.map { Array(objects.prefix(Swift.max(0, $0))) } ?? objects
  }

  private static func filter(
    _ condition: some QueryExpression<Bool, Canonical<Value>>
  ) -> ObjectFilter<Canonical<Value>> { ObjectFilter(condition) }
}
