// Silo: the values of one type.

public import Dflat

/// The values of one type, wherever they are stored.
///
///     let tasks = silos[Task.self]
///     try await tasks.save(task)
///     let open = try await tasks.values(
///       where: !Task.isDone, orderBy: [Task.created.descending])
///
/// All members may be called from any task.
public struct Silo<Value: Persistable>: Sendable {
  let state: SiloState<Value>
  /// The silos that it belongs to.
  let silos: Silos

  init(_ state: SiloState<Value>, of silos: Silos) {
    self.state = state
    self.silos = silos
  }

  var store: any ValueStore<Value> { state.store }

  /// Refuses a table of a version that the program does not know, for calls that would answer
  /// without its values.
  /// - Throws: `SiloError.newerVersion`, `SiloError.unknownVersion`; the errors of the storage.
  func requireVersion() async throws { try await store.requireVersion() }

  // MARK: Reading

  /// The value with an id; nil if it is not stored.
  /// - Throws: `UnreadableValue`; the errors of the storage.
  @inlinable
  public func load(_ id: Value.ID) async throws -> Value? {
    if let memory, let value = Value._find(id, in: memory) { return value }
    return try await stored(id)
  }

  /// The values in memory, if the silo keeps all there and does not note their uses.
  @usableFromInline
  var memory: ValueCache<Value>? { state.accesses.isCollecting ? nil : state.memory }

  @usableFromInline
  func stored(_ id: Value.ID) async throws -> Value? {
    let value = try await store.load(id)
    if let value, state.accesses.isCollecting { noteUse(of: CollectionOfOne(value.id)) }
    return value
  }

  /// The values with some ids, in the order of the ids. Ids without a value are left out.
  /// - Throws: `UnreadableValue`; the errors of the storage.
  public func load(_ ids: some Sequence<Value.ID>) async throws -> [Value] {
    used(try await store.load(Array(ids)))
  }

  /// The values for which a condition is true.
  ///
  /// - Parameters:
  ///   - condition: Values for which it is unknown are left out.
  ///   - order: Keys from most to least significant; ties are in order of insertion.
  ///   - limit: How many values at most.
  /// - Throws: `UnreadableValue`; the errors of the storage.
  public func values(
    where condition: some QueryExpression<Bool, Canonical<Value>>,
    orderBy order: [OrderBy<Canonical<Value>>] = [], limit: Int? = nil
  ) async throws -> [Value] {
    used(
      try await store.values(ValueQuery(where: condition, orderBy: order, limit: limit)))
  }

  /// All values.
  /// - Parameters:
  ///   - order: Keys from most to least significant; ties are in order of insertion.
  ///   - limit: How many values at most.
  /// - Throws: `UnreadableValue`; the errors of the storage.
  public func values(
    orderBy order: [OrderBy<Canonical<Value>>] = [], limit: Int? = nil
  ) async throws -> [Value] {
    used(try await store.values(ValueQuery(orderBy: order, limit: limit)))
  }

  /// Notes that values were used, if that matters.
  private func used(_ values: [Value]) -> [Value] {
    if state.accesses.isCollecting { noteUse(of: values.lazy.map { $0.id }) }
    return values
  }

  /// How many values a condition is true for.
  /// - Throws: The errors of the storage.
  public func count(
    where condition: some QueryExpression<Bool, Canonical<Value>>
  ) async throws -> Int {
    try await store.count(ValueQuery(where: condition))
  }

  /// How many values there are.
  /// - Throws: The errors of the storage.
  public func count() async throws -> Int { try await store.count(ValueQuery()) }

  // MARK: Watching

  /// The changes of the values for which a condition is true.
  ///
  ///     let changes = tasks.changes(where: !Task.isDone)
  ///     var rows = changes.initialValues
  ///     for await change in changes { change.apply(to: &rows) }
  ///
  /// The sequence has what changes after this call. What is there is
  /// ``ValueChanges/initialValues``; for an object that shows both see
  /// ``live(where:orderBy:limit:on:)``. For what other processes change see <doc:WatchingSilos>.
  ///
  /// - Parameters:
  ///   - condition: Values for which it is unknown are left out.
  ///   - order: Keys from most to least significant; ties are in order of insertion.
  ///   - limit: How many values at most.
  public func changes(
    where condition: some QueryExpression<Bool, Canonical<Value>>,
    orderBy order: [OrderBy<Canonical<Value>>] = [], limit: Int? = nil
  ) -> ValueChanges<Value> {
    changes(ValueQuery(where: condition, orderBy: order, limit: limit))
  }

  /// The changes of all values.
  /// - Parameters:
  ///   - order: Keys from most to least significant; ties are in order of insertion.
  ///   - limit: How many values at most.
  public func changes(
    orderBy order: [OrderBy<Canonical<Value>>] = [], limit: Int? = nil
  ) -> ValueChanges<Value> {
    changes(ValueQuery(orderBy: order, limit: limit))
  }

  func changes(_ query: ValueQuery<Value>) -> ValueChanges<Value> {
    state.changes(query) { [weak silos] error, report in
      if let handler = silos?.errorHandler { handler(error) } else { report(error) }
    }
  }

  // MARK: Changing

  /// Saves a value: it replaces the stored value with its id, if there is one.
  /// - Parameters:
  ///   - value: The value.
  ///   - related: What happens to related values.
  ///   - ifDeleted: What happens if the value was deleted and that is not uploaded yet.
  /// - Throws: `StorageError`, with `.alreadyExists` if a unique property has the same content in
  ///   another value; `SiloError.deleted`.
  public func save(
    _ value: Value, related: RelatedSaving = .references, ifDeleted: DeletedSaving = .refuse
  ) async throws {
    try await save([value], related: related, ifDeleted: ifDeleted)
  }

  /// Saves values in one transaction. Of several values with one id the last one counts.
  /// - Parameters:
  ///   - values: The values.
  ///   - related: What happens to related values.
  ///   - ifDeleted: What happens to values that were deleted, if that is not uploaded yet.
  /// - Throws: The same errors as `save` for one value; then none is saved.
  public func save(
    _ values: some Sequence<Value>, related: RelatedSaving = .references,
    ifDeleted: DeletedSaving = .refuse
  ) async throws {
    let values = Array(values)
    try await silos.write([Value.self]) {
      try $0[Value.self].save(values, related: related, ifDeleted: ifDeleted)
    }
  }

  /// Removes a value, whatever refers to it. Deletions that a server is to learn of are made with
  /// `delete`.
  /// - Returns: Whether it was stored.
  /// - Throws: The errors of the storage.
  @discardableResult
  public func remove(_ id: Value.ID) async throws -> Bool { try await remove([id]) > 0 }

  /// Removes values in one transaction.
  /// - Returns: How many were stored.
  /// - Throws: The errors of the storage.
  @discardableResult
  public func remove(_ ids: some Sequence<Value.ID>) async throws -> Int {
    let ids = Array(ids)
    return try await silos.write([Value.self]) {
      try $0[Value.self].remove(ids)
    }
  }
}
