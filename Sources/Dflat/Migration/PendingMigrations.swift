// PendingMigrations: checks that no old objects are left. The types of a transaction are migrated
// before it begins, but another program may have stored old objects since. If some are left out,
// the keys of what the transaction changes are noted; see `MigrationDecisions`.

final class PendingMigrations: TransactionPreparation {
  private var plans: [MigrationPlan]
  private let migrations: Migrations

  /// - Parameters:
  ///   - plans: The plans whose new types the transaction names.
  ///   - migrations: Knows why a plan could not be completed.
  init(_ plans: [MigrationPlan], _ migrations: Migrations) {
    self.plans = plans
    self.migrations = migrations
  }

  /// Makes sure that all objects of a type are migrated, before they are read for the first time.
  /// - Throws: `StorageError` with `.conflict`, or the error because of which they could not be
  ///   migrated.
  func prepareReading(_ schema: EntitySchema, in transaction: Transaction) throws {
    if let plan = plans.first(where: { $0.new === schema }) { try check(plan, transaction) }
  }

  func prepareWriting(in transaction: Transaction) throws {
    for plan in plans { try check(plan, transaction) }
  }

  func notesKeys(of schema: EntitySchema) -> Bool {
    plans.contains { plan in
      plan.new === schema && plan.sources.contains { $0.leftOut?.notesKeys == true }
    }
  }

  func note(_ keys: Set<KeyValues>, of schema: EntitySchema, in transaction: Transaction) throws {
    try transaction.writing(shared: true) { try KeyDecisions.note(keys, of: schema, $0) }
  }

  private func check(_ plan: MigrationPlan, _ transaction: Transaction) throws {
    guard try transaction.read(nil, { try plan.isNeeded($0) }) else { return }
    throw migrations.failure(of: plan.new)
      ?? StorageError(
        .conflict, table: plan.new.table,
        message:
          "another program stored objects of an older type before the transaction began to write")
  }
}
