// SilosTransaction: what `write` passes to its closure.

public import Dflat

/// A transaction over silos. It is valid only inside the closure of `write`, on its thread.
public final class SilosTransaction {
  private let silos: Silos
  /// nil while the types are found out.
  private var transaction: (any StoreTransaction)?
  private let declared: [any Persistable.Type]
  private var missing: [any Persistable.Type] = []
  private var hasEnded = false

  init(
    _ silos: Silos, _ transaction: (any StoreTransaction)?, _ declared: [any Persistable.Type]
  ) {
    self.silos = silos
    self.transaction = transaction
    self.declared = declared
  }

  func end() {
    transaction = nil
    hasEnded = true
  }

  /// The types that were used and not declared; nil if there are none.
  var undeclared: UndeclaredTypes? { missing.isEmpty ? nil : UndeclaredTypes(types: missing) }

  /// The values of a type, in this transaction.
  public subscript<Value: Persistable>(type: Value.Type) -> SiloTransaction<Value> {
    SiloTransaction(self)
  }

  /// The transaction, for a type.
  /// - Throws: `UndeclaredTypes`, after which the closure runs again.
  func access<V: Persistable>(_ type: V.Type) throws -> any StoreTransaction {
    if hasEnded { throw SiloError.escapedTransaction }
    if let transaction, declared.contains(where: { $0 == type }) { return transaction }
    if !missing.contains(where: { $0 == type }) { missing.append(type) }
    throw UndeclaredTypes(types: missing)
  }
}

/// The values of a type, in a transaction.
public struct SiloTransaction<Value: Persistable> {
  let transaction: SilosTransaction

  init(_ transaction: SilosTransaction) { self.transaction = transaction }

  /// Saves a value: it replaces the stored value with its id, if there is one.
  /// - Parameters:
  ///   - value: The value.
  ///   - related: What happens to related values.
  /// - Throws: `StorageError`, with `.alreadyExists` if a unique property has the same content in
  ///   another value.
  public func save(_ value: Value, related: RelatedSaving = .references) throws {
    try save([value], related: related)
  }

  /// Saves values. Of several values with one id the last one counts.
  /// - Parameters:
  ///   - values: The values.
  ///   - related: What happens to related values.
  /// - Throws: The same errors as `save` for one value.
  public func save(
    _ values: some Sequence<Value>, related: RelatedSaving = .references
  ) throws {
    switch related {
    case .references: try transaction.access(Value.self).save(Array(values))
    case .deep: try DeepSaving(Array(values)).save(in: transaction)
    }
  }

  /// Removes a value.
  /// - Returns: Whether it was stored.
  /// - Throws: The errors of the storage.
  @discardableResult
  public func remove(_ id: Value.ID) throws -> Bool { try remove([id]) > 0 }

  /// Removes values.
  /// - Returns: How many were stored.
  /// - Throws: The errors of the storage.
  @discardableResult
  public func remove(_ ids: some Sequence<Value.ID>) throws -> Int {
    try transaction.access(Value.self).remove(Value.self, Array(ids))
  }

  /// The value with an id; nil if it is not stored.
  /// - Throws: `UnreadableValue`; the errors of the storage.
  public func load(_ id: Value.ID) throws -> Value? { try load([id]).first }

  /// The values with some ids, in the order of the ids. Ids without a value are left out.
  /// - Throws: `UnreadableValue`; the errors of the storage.
  public func load(_ ids: some Sequence<Value.ID>) throws -> [Value] {
    try transaction.access(Value.self).load(Value.self, Array(ids))
  }

  /// The values for which a condition is true; see ``Silo/values(where:orderBy:limit:)``.
  /// - Throws: `UnreadableValue`; the errors of the storage.
  public func values(
    where condition: some QueryExpression<Bool, Canonical<Value>>,
    orderBy order: [OrderBy<Canonical<Value>>] = [], limit: Int? = nil
  ) throws -> [Value] {
    let query = ValueQuery(where: condition, orderBy: order, limit: limit)
    return try transaction.access(Value.self).values(query)
  }

  /// All values.
  /// - Throws: `UnreadableValue`; the errors of the storage.
  public func values(
    orderBy order: [OrderBy<Canonical<Value>>] = [], limit: Int? = nil
  ) throws -> [Value] {
    try transaction.access(Value.self).values(
      ValueQuery<Value>(orderBy: order, limit: limit))
  }

  /// How many values a condition is true for.
  /// - Throws: The errors of the storage.
  public func count(
    where condition: some QueryExpression<Bool, Canonical<Value>>
  ) throws -> Int {
    try transaction.access(Value.self).count(ValueQuery(where: condition))
  }

  /// How many values there are.
  /// - Throws: The errors of the storage.
  public func count() throws -> Int {
    try transaction.access(Value.self).count(ValueQuery<Value>())
  }
}
