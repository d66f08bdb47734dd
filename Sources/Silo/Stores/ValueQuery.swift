// ValueQuery: which values of a store, and in which order.

public import Dflat

/// Which values of a store are asked for.
public struct ValueQuery<Value: Persistable>: Sendable {
  /// The condition; nil for all values. Values for which it is unknown are left out.
  public var condition: (any QueryExpression<Bool, Canonical<Value>>)?
  /// The order, from the most to the least significant key; ties are in order of insertion.
  public var order: [OrderBy<Canonical<Value>>]
  /// How many values at most; nil for all.
  public var limit: Int?

  /// A query.
  public init(
    where condition: (any QueryExpression<Bool, Canonical<Value>>)? = nil,
    orderBy order: [OrderBy<Canonical<Value>>] = [], limit: Int? = nil
  ) {
    self.condition = condition
    self.order = order
    self.limit = limit
  }
}
