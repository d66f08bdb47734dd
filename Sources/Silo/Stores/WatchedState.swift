// WatchedState: what the observer of a query gets, through all stores that a silo will have.

import Dflat

/// A state of watched values.
enum WatchedState<Value: Persistable>: Sendable {
  /// After a transaction.
  case next(FetchedResult<Canonical<Value>>)
  /// In another store, whose rows have other ids.
  case switched(FetchedResult<Canonical<Value>>)
  /// The values cannot be watched any more. The last state.
  case failed(any Error)
}
