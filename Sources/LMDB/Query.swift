// The entries that a cursor iterates over: a start, a direction and an end.

public import CLMDB

/// How a cursor moves from the start key to its end.
///
/// The payload is the **end**, nil for the end of the database.
public enum ComparisonOperator {
  /// Ascending, from the first key above the start to the last one at or before the end.
  case greater(MDB_val?)
  /// Ascending, from the first key at or above the start to the last one at or before the end.
  case greaterOrEqual(MDB_val?)
  /// Descending, from the last key below the start to the last one at or above the end.
  case less(MDB_val?)
  /// Descending, from the last key at or below the start to the last one at or above the end.
  case lessOrEqual(MDB_val?)
  /// Ascending, from the first key at or above the start to the last one before the end.
  case range(MDB_val)
  /// Ascending, from the first key at or above the start to the last one at or before the end.
  case closedRange(MDB_val)

  /// Whether the order is ascending.
  public var forward: Bool {
    switch self {
    case .greater, .greaterOrEqual, .range, .closedRange: true
    case .less, .lessOrEqual: false
    }
  }

  /// Whether a key equal to the start belongs to the result.
  public var startInclusive: Bool {
    switch self {
    case .greaterOrEqual, .lessOrEqual, .range, .closedRange: true
    case .greater, .less: false
    }
  }

  /// Whether a key equal to the end belongs to the result.
  public var endInclusive: Bool {
    if case .range = self { false } else { true }
  }

  /// The end, or nil for the end of the database.
  public var endKey: MDB_val? {
    switch self {
    case .greater(let end), .greaterOrEqual(let end), .less(let end), .lessOrEqual(let end): end
    case .range(let end), .closedRange(let end): end
    }
  }
}

/// The entries that a cursor returns.
public struct Query {
  /// The direction and the end.
  public let comparison: ComparisonOperator
  /// The start. The key need not exist.
  public let key: MDB_val
  /// The maximum number of entries; nil for all.
  public let limit: Int?
  /// Whether only as many leading bytes of a key are compared as the bound has. Keys that begin
  /// with the bound then count as equal to it.
  public let truncating: Bool

  /// Creates a query.
  ///
  /// - Parameters:
  ///   - comparison: The direction and the end.
  ///   - key: The start.
  ///   - limit: The maximum number of entries; nil for all.
  ///   - truncating: Whether keys that begin with a bound count as equal to it.
  public init(
    comparison: ComparisonOperator, key: MDB_val, limit: Int? = nil, truncating: Bool = false
  ) {
    self.comparison = comparison
    self.key = key
    self.limit = limit
    self.truncating = truncating
  }
}
