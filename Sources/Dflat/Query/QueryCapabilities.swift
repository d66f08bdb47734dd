// What planning has to know of an engine.

/// Which parts of queries an engine answers by its keys and indexes. The rest is evaluated on rows.
public struct QueryCapabilities: Sendable {
  /// The greatest number of comparisons and constants in a predicate.
  public var maximumPredicateSize: Int
  /// How deep conjunctions and disjunctions in a predicate may be nested.
  public var maximumPredicateDepth: Int
  /// Whether rows that satisfy a predicate satisfy it exactly as evaluation on their bytes would. Otherwise they are evaluated
  /// again.
  public var isExact: Bool
  /// Whether it delivers rows in the order of one key field or index.
  public var canOrder: Bool
  /// Whether the order of unsigned 64-bit numbers is theirs, and not that of their bits as signed ones.
  public var ordersUnsigned: Bool

  /// Capabilities of an engine that answers everything, but for what is said otherwise.
  public init(
    maximumPredicateSize: Int = .max, maximumPredicateDepth: Int = .max, isExact: Bool = true,
    canOrder: Bool = true, ordersUnsigned: Bool = true
  ) {
    self.maximumPredicateSize = maximumPredicateSize
    self.maximumPredicateDepth = maximumPredicateDepth
    self.isExact = isExact
    self.canOrder = canOrder
    self.ordersUnsigned = ordersUnsigned
  }
}
