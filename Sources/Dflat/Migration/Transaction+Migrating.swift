// What a transaction looks at has been migrated before it began. Another program may have stored old objects since.

extension Transaction {
  /// Makes sure that all objects of a type are there, before they are read for the first time.
  /// - Throws: `StorageError` with `.conflict`, or why they could not be migrated.
  func requireMigrated(_ schema: EntitySchema) throws {
    guard let place = pendingPlans.firstIndex(where: { $0.new === schema }) else { return }
    let plan = pendingPlans[place]
    if try read(nil, { try plan.isNeeded($0) }) { throw unmigrated(plan) }
  }

  /// The same for all types, when the transaction begins to write. From then on nobody else does.
  func requireMigrated() throws {
    let plans = pendingPlans
    pendingPlans = []
    for plan in plans where try read(nil, { try plan.isNeeded($0) }) { throw unmigrated(plan) }
  }

  private func unmigrated(_ plan: MigrationPlan) -> any Error {
    workspace.migrations.failure(of: plan.new)
      ?? StorageError(
        .conflict, table: plan.new.table,
        message:
          "another program stored objects of an older type before the transaction began to write")
  }
}
