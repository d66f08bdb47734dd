// Deleting values: with the rules of relations, and with tombstones.

import Dflat

extension Silo {
  /// Deletes a value, by the rules of the relations that refer to it; see `DeletionRule`.
  ///
  /// The id is remembered, so that a late answer of a server cannot bring the value back: as long
  /// as an upload of the transaction waits, if it has enqueued any, and otherwise until
  /// ``forgetDeletion(_:)`` is called. A value may be deleted that is not stored.
  ///
  ///     try await silos.write { txn in
  ///       try txn[Task.self].delete(id)
  ///       try txn.enqueue(TaskUpload.delete(id))
  ///     }
  ///
  /// - Returns: Whether it was stored.
  /// - Throws: `SiloError.deletionDenied`, `SiloError.unknownReferrer`; the errors of the storage.
  @discardableResult
  public func delete(_ id: Value.ID) async throws -> Bool { try await delete([id]) > 0 }

  /// Deletes values, all or none; see ``delete(_:)-(Value.ID)``.
  /// - Returns: How many were stored, without those that rules have deleted besides.
  /// - Throws: `SiloError.deletionDenied`, `SiloError.unknownReferrer`; the errors of the storage.
  @discardableResult
  public func delete(_ ids: some Sequence<Value.ID>) async throws -> Int {
    let ids = Array(ids)
    return try await silos.write([Value.self]) { try $0[Value.self].delete(ids) }
  }

  /// Whether a value was deleted, and that is neither uploaded nor forgotten.
  /// - Throws: The errors of the storage.
  public func isDeleted(_ id: Value.ID) async throws -> Bool {
    try await requireVersion()
    return try await deleted([id]).contains(id)
  }

  /// Those of some ids that were deleted.
  func deleted(_ ids: [Value.ID]) async throws -> IDSet<Value> {
    // Mostly none was, which needs no transaction.
    let tombstones = store.domain.store(of: Tombstone<Value>.self)
    if try await tombstones.load(ids).isEmpty { return IDSet() }
    return try await silos.write([Value.self]) { try $0.deleted(Value.self, ids) }
  }

  /// Forgets that a value was deleted: the server knows it. Deletions whose transactions have
  /// enqueued uploads are forgotten when these are done.
  /// - Throws: The errors of the storage.
  public func forgetDeletion(_ id: Value.ID) async throws {
    try await silos.write([Value.self]) { try $0[Value.self].forgetDeletion(id) }
  }
}

extension SiloTransaction {
  /// Deletes a value; see ``Silo/delete(_:)-(Value.ID)``.
  /// - Returns: Whether it was stored.
  /// - Throws: `SiloError.deletionDenied`, `SiloError.unknownReferrer`; the errors of the storage.
  @discardableResult
  public func delete(_ id: Value.ID) throws -> Bool { try delete([id]) > 0 }

  /// Deletes values; see ``Silo/delete(_:)-(Value.ID)``.
  /// - Returns: How many were stored, without those that rules have deleted besides.
  /// - Throws: `SiloError.deletionDenied`, `SiloError.unknownReferrer`; the errors of the storage.
  @discardableResult
  public func delete(_ ids: some Sequence<Value.ID>) throws -> Int {
    try Deletion.delete(Value.self, Array(ids), in: transaction)
  }

  /// Whether a value was deleted; see ``Silo/isDeleted(_:)``.
  /// - Throws: The errors of the storage.
  public func isDeleted(_ id: Value.ID) throws -> Bool {
    try transaction.deleted(Value.self, [id]).contains(id)
  }

  /// Forgets that a value was deleted; see ``Silo/forgetDeletion(_:)``.
  /// - Throws: The errors of the storage.
  public func forgetDeletion(_ id: Value.ID) throws {
    _ = try transaction.access(Value.self).remove(Tombstone<Value>.self, [id])
  }
}
