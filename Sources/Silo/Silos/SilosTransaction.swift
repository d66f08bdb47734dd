// SilosTransaction: what `write` passes to its closure.

public import Dflat

/// A transaction over silos. It is valid only inside the closure of `write`, on its thread.
public final class SilosTransaction {
  let silos: Silos
  /// nil while the types are found out.
  private var transaction: (any StoreTransaction)?
  private let declared: [any Persistable.Type]
  private var missing: [any Persistable.Type] = []
  private var hasEnded = false

  /// The uploads that are stored at the end.
  var pendingUploads: [StoredUpload] = []
  /// What makes the tombstones of this transaction end with its uploads.
  private(set) var deletions: [(any StoreTransaction) throws -> Void] = []
  /// What refuses evictions of values that have become managed since.
  var evictionChecks: [() throws -> Void] = []
  /// The types that have no tombstones.
  var hasNoTombstones: Set<ObjectIdentifier> = []
  /// The values that were changed.
  private var changes: [() -> [Subject]] = []
  private var consequences: [@Sendable (Silos) -> Void] = []

  private let cachedChanges: CachedChanges

  init(
    _ silos: Silos, _ transaction: (any StoreTransaction)?, _ declared: [any Persistable.Type],
    _ cachedChanges: CachedChanges
  ) {
    self.cachedChanges = cachedChanges
    self.silos = silos
    self.transaction = transaction
    self.declared = declared
  }

  /// Stores what belongs to the changes.
  /// - Returns: What is to be done after the commit.
  func finish() throws -> [@Sendable (Silos) -> Void] {
    if transaction != nil { try recordRules(of: declared) }
    try storeUploads()
    for check in evictionChecks { try check() }
    return consequences
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

  /// The transaction, for a type and what is stored beside its values.
  /// - Throws: `UndeclaredTypes`, after which the closure runs again.
  func access<V: Persistable>(_ type: V.Type) throws -> any StoreTransaction {
    if hasEnded { throw SiloError.escapedTransaction }
    if let transaction, declared.contains(where: { $0 == type }) { return transaction }
    if !missing.contains(where: { $0 == type }) { missing.append(type) }
    throw UndeclaredTypes(types: missing)
  }

  // MARK: What it has done

  /// Notes that values are about to be changed.
  func willChange<V: Persistable>(_ type: V.Type, _ ids: @autoclosure () -> [V.ID]) {
    if type is any Bookkeeping.Type { return }
    cachedChanges.begin(ids(), in: silos[type].store)
  }

  /// Has something done when the transaction is committed.
  func afterCommit(_ action: @escaping @Sendable (Silos) -> Void) { consequences.append(action) }

  /// Notes that values were saved.
  func noteChange<V: Persistable>(of values: [V]) {
    if values.isEmpty || V.self is any Bookkeeping.Type { return }
    willChange(V.self, values.map { $0.id })
    changes.append { values.map { Subject(V.self, $0.id) } }
    let accesses = silos[V.self].state.accesses
    if accesses.isCollecting {
      // Before the commit: trimming sees no value whose use it does not know.
      _ = accesses.note(values.lazy.map { $0.id })
      afterCommit { $0[V.self].noteUse(of: [], isChange: true) }
    }
  }

  /// Notes that values belong to the uploads of this transaction.
  func noteSubjects<V: Persistable>(of type: V.Type, _ ids: [V.ID]) {
    changes.append { ids.map { Subject(type, $0) } }
  }

  /// Notes that values were deleted.
  func noteDeletion<V: Persistable>(of type: V.Type, _ ids: [V.ID]) {
    hasNoTombstones.remove(ObjectIdentifier(type))
    noteSubjects(of: type, ids)
    willChange(type, ids)
    // Before the commit: an answer that is on its way must not be stored after the tombstone is
    // over.
    silos[type].state.resolving.discard(ids)
    deletions.append { store in
      try store.save(
        try store.load(Tombstone<V>.self, ids).map { tombstone in
          var tombstone = tombstone
          tombstone.isUntilUploaded = true
          return tombstone
        })
    }
  }

  /// Removes values and their marks.
  /// - Returns: How many were stored.
  func remove<V: Persistable>(_ type: V.Type, _ ids: [V.ID]) throws -> Int {
    if type is any Bookkeeping.Type { return try access(type).remove(type, ids) }
    // A pin stays until it is ended, whether its value is stored or not.
    let pins = try access(type).load(Mark<V>.self, ids).filter { $0.isPinned }
    let count = try forget(type, ids)
    try access(type).save(
      pins.map { pin in
        var mark = Mark<V>(id: pin.id)
        mark.isPinned = true
        return mark
      })
    return count
  }

  /// The values that this transaction has changed, if it uploads anything.
  func uploadedChanges() -> Set<Subject> {
    pendingUploads.isEmpty ? [] : Set(changes.flatMap { $0() })
  }

  /// The values that were changed, each once.
  func changedSubjects() -> [String] {
    var seen: Set<Subject> = []
    return changes.flatMap { $0() }.filter { seen.insert($0).inserted }.map(\.text)
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
  ///   - ifDeleted: What happens if the value was deleted and that is not uploaded yet.
  /// - Throws: `StorageError`, with `.alreadyExists` if a unique property has the same content in
  ///   another value; `SiloError.deleted`.
  public func save(
    _ value: Value, related: RelatedSaving = .references, ifDeleted: DeletedSaving = .refuse
  ) throws {
    try save([value], related: related, ifDeleted: ifDeleted)
  }

  /// Saves values. Of several values with one id the last one counts.
  /// - Parameters:
  ///   - values: The values.
  ///   - related: What happens to related values.
  ///   - ifDeleted: What happens to values that were deleted, if that is not uploaded yet.
  /// - Throws: The same errors as `save` for one value.
  public func save(
    _ values: some Sequence<Value>, related: RelatedSaving = .references,
    ifDeleted: DeletedSaving = .refuse
  ) throws {
    switch related {
    case .references: try transaction.save(Array(values), ifDeleted: ifDeleted)
    case .deep: try DeepSaving(Array(values)).save(in: transaction, ifDeleted: ifDeleted)
    }
  }

  /// Removes a value, whatever refers to it. Deletions that a server is to learn of are made with
  /// `delete`.
  /// - Returns: Whether it was stored.
  /// - Throws: The errors of the storage.
  @discardableResult
  public func remove(_ id: Value.ID) throws -> Bool { try remove([id]) > 0 }

  /// Removes values.
  /// - Returns: How many were stored.
  /// - Throws: The errors of the storage.
  @discardableResult
  public func remove(_ ids: some Sequence<Value.ID>) throws -> Int {
    try transaction.remove(Value.self, Array(ids))
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
