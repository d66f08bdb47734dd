// How a transaction gets on beside others, of other connections or of the same group.

extension Transaction {
  /// Where transactions share commits beside other connections: what the transaction reads may be
  /// written by a group that is open. Then it joins that group before it reads, and both are
  /// committed together.
  /// - Returns: nil if there is no such group.
  func leaseOfSharedCommit() throws -> WriteCoordinator.Lease? {
    let capabilities = workspace.engine.capabilities
    guard capabilities.canNest, !capabilities.excludesOtherWriters, view.isUnused,
      workspace.coordinator.written(types) != nil
    else { return nil }
    return try takeLease()
  }

  /// Whether other connections wait for it.
  var hasPrecedence: Bool {
    conflicts >= 4 && workspace.engine.capabilities.givesPrecedence
  }

  /// Called before the handler. A transaction with precedence begins to write before it reads, so
  /// that nothing of what it reads is changed before its end.
  func takePrecedence() throws {
    if hasPrecedence { _ = try takeLease() }
  }
}
