// TransactionValues: what the steps of a migration read, in a transaction.

/// The values in a transaction.
struct TransactionValues: MigrationValues {
  let transaction: any StoreTransaction
  let storedVersion: (String) throws -> Int?

  func load<V: Persistable>(_ type: V.Type, _ ids: [V.ID]) throws -> [V] {
    try transaction.load(type, ids)
  }
  func values<V: Persistable>(of type: V.Type) throws -> [V] {
    try transaction.values(ValueQuery<V>())
  }
  func version(of table: String) throws -> Int? { try storedVersion(table) }
}
