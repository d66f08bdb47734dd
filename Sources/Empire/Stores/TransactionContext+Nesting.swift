// Nested transactions: their changes are part of the transaction around them, or are rolled back
// alone.

internal import LMDB
internal import Platform

extension TransactionContext {
  /// Runs a closure in a nested transaction. If it throws, none of its changes remain, and the
  /// transaction around it may continue.
  ///
  /// - Parameters:
  ///   - readOnly: Whether the transaction only reads; LMDB refuses it.
  ///   - isMember: Whether observers see it as a transaction of its own.
  ///   - block: The work to do.
  /// - Returns: What the closure returns.
  /// - Throws: The closure's error, `CancellationError`, `MDBError`, `StoreError`.
  @usableFromInline
  func nested<T>(
    readOnly: Bool = false, isMember: Bool = false,
    _ block: (TransactionContext) throws -> sending T
  ) throws -> sending T {
    try checkActive()
    if isReadOnly {
      throw MDBError.failure(
        Int(EINVAL), "a read-only transaction in '\(core.environment.path)' has no children")
    }
    var child: WriteState?
    var isCommitted = false
    defer { writes?.end(child, isCommitted: isCommitted) }
    let result = try Transaction.with(
      env: core.environment, parent: transaction, readOnly: readOnly
    ) { transaction in
      child = writes.map { WriteState(inside: $0) }
      let context = TransactionContext(
        ContextState(
          core: core, transaction: transaction, isReadOnly: readOnly, writes: child,
          indexHandle: state.indexHandle))
      let result = try OpenTransactions.with(context, block)
      if isMember { child?.collectUpdates(in: context) }
      return result
    }
    isCommitted = true
    return result
  }
}
