// Changing the values of a store by itself.

extension ValueStore {
  /// Saves a value: it replaces the stored value with its id, if there is one.
  ///
  /// A ``Silo`` knows more than its store: pins, tombstones, the rules of relations, and when values
  /// were used. Values that a silo keeps are changed through it.
  ///
  /// - Parameter value: The value.
  /// - Throws: `StorageError`, with `.alreadyExists` if a unique property has the same content in
  ///   another value; `SiloError.newerVersion`.
  public func save(_ value: Value) async throws { try await save([value]) }

  /// Saves values in one transaction. Of several values with one id the last one counts.
  /// - Parameter values: The values.
  /// - Throws: The same errors as `save` for one value; then none is saved.
  public func save(_ values: some Sequence<Value>) async throws {
    let values = Array(values)
    try await change(values.map { $0.id }) { try $0.save(values) }
  }

  /// Removes a value.
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
    return try await change(ids) { try $0.remove(Value.self, ids) }
  }

  /// The values of a query, as `values(_:)` returns them.
  /// - Throws: `UnreadableValue`; the errors of the storage.
  public func query(_ query: ValueQuery<Value>) async throws -> [Value] {
    try await values(query)
  }

  private func change<R: Sendable>(
    _ ids: [Value.ID], _ body: @escaping @Sendable (any StoreTransaction) throws -> R
  ) async throws -> R {
    // What is changed is not read from memory meanwhile.
    let cachedChanges = CachedChanges()
    cachedChanges.begin(ids, in: self)
    defer { cachedChanges.end() }
    return try await domain.write([Value.self], body)
  }
}

extension ValueStore {
  /// Refuses a table of a version that the program does not know.
  /// - Throws: `SiloError.newerVersion`, `SiloError.unknownVersion`; the errors of the storage.
  func requireVersion() async throws {
    // Caches would not ask.
    _ = try await domain.store(of: Value.self).load([])
  }
}
