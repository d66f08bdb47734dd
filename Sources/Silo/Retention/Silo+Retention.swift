// Keeping values: the retention policy, pins, and eviction.

import Dflat

extension Silo {
  /// Which values the silo keeps by itself; `.everything` by default.
  ///
  /// The policy is a setting of the process: set it when the program starts. Times of last use are
  /// stored in batches; see ``trim(step:)``.
  public var retention: RetentionPolicy {
    get { state.accesses.policy }
    nonmutating set {
      state.accesses.policy = newValue
      noteUse(of: [], isChange: true)
    }
  }

  /// Pins values: they are managed until they are unpinned, also if they are stored only later.
  /// - Throws: The errors of the storage.
  public func pin(_ ids: some Sequence<Value.ID>) async throws {
    let ids = Array(ids)
    try await silos.write([Value.self]) { try $0[Value.self].pin(ids) }
  }

  /// Pins a value.
  /// - Throws: The errors of the storage.
  public func pin(_ id: Value.ID) async throws { try await pin([id]) }

  /// Ends the pins of values.
  /// - Throws: The errors of the storage.
  public func unpin(_ ids: some Sequence<Value.ID>) async throws {
    let ids = Array(ids)
    try await silos.write([Value.self]) { try $0[Value.self].unpin(ids) }
  }

  /// Ends the pin of a value.
  /// - Throws: The errors of the storage.
  public func unpin(_ id: Value.ID) async throws { try await unpin([id]) }

  /// Whether a value is managed: pinned, about to be uploaded, or retained by a managed value.
  /// - Throws: `SiloError.unknownReferrer`; the errors of the storage.
  public func isManaged(_ id: Value.ID) async throws -> Bool {
    try await silos.write([Value.self]) { try $0[Value.self].isManaged(id) }
  }

  /// Forgets a value that the server still has. What refers to it goes on doing so, unresolved.
  /// - Returns: Whether it was stored.
  /// - Throws: `SiloError.managed`, `SiloError.unknownReferrer`; the errors of the storage.
  @discardableResult
  public func evict(_ id: Value.ID) async throws -> Bool { try await evict([id]) > 0 }

  /// Forgets values that the server still has, all or none.
  /// - Returns: How many were stored.
  /// - Throws: `SiloError.managed`, `SiloError.unknownReferrer`; the errors of the storage.
  @discardableResult
  public func evict(_ ids: some Sequence<Value.ID>) async throws -> Int {
    let ids = Array(ids)
    return try await silos.write([Value.self]) { try $0[Value.self].evict(ids) }
  }
}

extension SiloTransaction {
  /// Pins a value; see ``Silo/pin(_:)-(Value.ID)``.
  /// - Throws: The errors of the storage.
  public func pin(_ id: Value.ID) throws { try pin([id]) }

  /// Pins values; see ``Silo/pin(_:)-(Value.ID)``.
  /// - Throws: The errors of the storage.
  public func pin(_ ids: some Sequence<Value.ID>) throws { try setPinned(Array(ids), true) }

  /// Ends the pin of a value.
  /// - Throws: The errors of the storage.
  public func unpin(_ id: Value.ID) throws { try unpin([id]) }

  /// Ends the pins of values.
  /// - Throws: The errors of the storage.
  public func unpin(_ ids: some Sequence<Value.ID>) throws { try setPinned(Array(ids), false) }

  private func setPinned(_ ids: [Value.ID], _ isPinned: Bool) throws {
    let store = try transaction.access(Value.self)
    let marks = try store.load(Mark<Value>.self, ids)
    let known = IDSet<Value>(marks.lazy.map { $0.id })
    let unknown = isPinned ? ids.filter { !known.contains($0) }.map(Mark<Value>.init) : []
    try store.save(
      (marks + unknown).map { mark in
        var mark = mark
        mark.isPinned = isPinned
        return mark
      })
  }

  /// Whether a value is managed; see ``Silo/isManaged(_:)``.
  /// - Throws: `SiloError.unknownReferrer`; the errors of the storage.
  public func isManaged(_ id: Value.ID) throws -> Bool {
    try RetentionCheck.managed(Value.self, [id], in: transaction).contains(id)
  }

  /// Keeps a value, as one that this transaction changes, until the transaction's uploads are done.
  /// - Throws: The errors of the storage.
  public func keepUntilUploaded(_ id: Value.ID) throws {
    _ = try transaction.access(Value.self)
    transaction.noteSubjects(of: Value.self, [id])
  }

  /// Forgets a value; see ``Silo/evict(_:)-(Value.ID)``.
  /// - Returns: Whether it was stored.
  /// - Throws: `SiloError.managed`, `SiloError.unknownReferrer`; the errors of the storage.
  @discardableResult
  public func evict(_ id: Value.ID) throws -> Bool { try evict([id]) > 0 }

  /// Forgets values; see ``Silo/evict(_:)-(Value.ID)``.
  /// - Returns: How many were stored.
  /// - Throws: `SiloError.managed`, `SiloError.unknownReferrer`; the errors of the storage.
  @discardableResult
  public func evict(_ ids: some Sequence<Value.ID>) throws -> Int {
    let ids = Array(ids)
    let managed = try RetentionCheck.managed(Value.self, ids, in: transaction)
    let changed = transaction.uploadedChanges()
    if let id = ids.first(where: {
      managed.contains($0) || changed.contains(Subject(Value.self, $0))
    }) {
      throw SiloError.managed(type: "\(Value.self)", id: "\(id)")
    }
    transaction.noteEviction(of: Value.self, ids)
    return try transaction.forget(Value.self, ids)
  }
}
