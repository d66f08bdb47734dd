// TransactionValues: what the steps of a migration read, in a transaction.

/// The values in a transaction.
struct TransactionValues: MigrationValues {
  private let transaction: any RetainingTransaction
  private let storedVersion: (String) throws -> Int?
  private let decisions: Decisions

  init(_ transaction: any RetainingTransaction, storedVersion: @escaping (String) throws -> Int?) {
    self.transaction = transaction
    self.storedVersion = storedVersion
    decisions = Decisions(transaction)
  }

  func load<V: Persistable>(_ type: V.Type, _ ids: [V.ID]) throws -> [V] {
    try transaction.load(type, ids)
  }
  func values<V: Persistable>(of type: V.Type) throws -> [V] {
    try transaction.values(ValueQuery<V>())
  }
  func isOutdated<V: Persistable>(_ value: V, from version: Int) throws -> Bool {
    try decisions.areNewer(than: value, from: version)
  }
  func version(of table: String) throws -> Int? { try storedVersion(table) }
}
