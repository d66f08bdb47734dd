// Queries: leading components that are fixed, and an operator on the next one.

public import Foundation
internal import StandardConformances

/// A condition on one component of a key.
public enum ComparisonOperator<Value: IndexKeyComparable> {
  /// Above the value. Ascending.
  case greaterThan(Value)
  /// At or above the value. Ascending.
  case greaterOrEqual(Value)
  /// Below the value. Descending.
  case lessThan(Value)
  /// At or below the value. Descending.
  case lessOrEqual(Value)
  /// Equal to one of the values, in their order.
  case within([Value])
  /// At or above the lower bound, and below the upper one. Ascending.
  case range(Range<Value>)
  /// At or above the lower bound, and at or below the upper one. Ascending.
  case closedRange(ClosedRange<Value>)

  /// Equal to the value.
  ///
  /// - Parameter value: The value. NaN is in no range; a query for it throws `SerializeError`.
  /// - Returns: The range of this value alone.
  @inlinable
  public static func equals(_ value: Value) -> Self {
    value <= value ? .closedRange(value...value) : .within([value])
  }

  /// At or below the value. Descending.
  ///
  /// - Parameter value: The value.
  /// - Returns: The operator.
  @inlinable
  public static func lessThanOrEqual(_ value: Value) -> Self { .lessOrEqual(value) }

  /// At or above the value. Ascending.
  ///
  /// - Parameter value: The value.
  /// - Returns: The operator.
  @inlinable
  public static func greaterThanOrEqual(_ value: Value) -> Self { .greaterOrEqual(value) }
}

extension ComparisonOperator: Equatable {}
extension ComparisonOperator: Hashable where Value: Hashable {}
extension ComparisonOperator: Sendable where Value: Sendable {}

/// A query in key order: leading components that are fixed, and an operator on the next one.
///
/// The components after that one may have any value. Where a query is used, the compiler checks its
/// types against those that the record's key or index begins with, and infers the types of
/// literals. The functions that `@IndexKeyRecord` generates also have labels: `Person.query(city:
/// "Kyoto", name: .greaterThan("B"))`.
public struct Query<each Component: QueryComponent, Last: QueryComponent> {
  /// The operator on the component after the fixed ones.
  public let last: ComparisonOperator<Last>
  /// The fixed components.
  public let components: (repeat each Component)
  /// The maximum number of records; nil for all.
  public let limit: Int?

  /// Creates a query.
  ///
  /// - Parameters:
  ///   - value: The fixed components.
  ///   - last: The operator on the next one.
  ///   - limit: The maximum number of records; nil for all, none for 0 or less.
  @inlinable
  public init(
    _ value: repeat each Component, last: ComparisonOperator<Last>, limit: Int? = nil
  ) {
    components = (repeat each value)
    self.last = last
    self.limit = limit
  }
}

extension Query: Sendable where repeat each Component: Sendable, Last: Sendable {}

/// An error of a query. This library's own functions never throw it.
public enum QueryError: Error, Hashable, Sendable {
  /// An invalid limit.
  case limitInvalid(Int)
  /// A query that cannot be answered from the order of the keys.
  case unsupportedQuery
}

extension QueryError: LocalizedError, CustomStringConvertible {
  /// What is wrong with the query, and what to do.
  public var description: String { sentence(problem, advice: recoverySuggestion) }

  private var problem: String {
    switch self {
    case .limitInvalid(let limit): "a query cannot have the limit \(limit)"
    case .unsupportedQuery: "the order of the keys does not answer this query"
    }
  }

  /// The same as ``description``.
  public var errorDescription: String? { description }

  /// What can be done about it.
  public var recoverySuggestion: String? {
    switch self {
    case .limitInvalid: "use a limit above 0, or none"
    case .unsupportedQuery: "fix the components before the operator, or add an index"
    }
  }
}
