// UnmigratedValue: values of retained versions that could not be migrated, and what becomes of
// them.

import Dflat

/// A value of a retained version that could not be migrated.
///
///     for entry in try await tasks.unmigrated {
///       print(entry.version, entry.error)
///       if let old = entry.oldValue(as: Task.V1.self) {
///         try await tasks.replaceUnmigrated(entry, with: Task(id: old.id, title: "untitled"))
///       }
///     }
public struct UnmigratedValue<Value: Persistable>: Sendable {
  /// The id of the old value; nil if ids of its version are of another type.
  public let id: Value.ID?
  /// The version in which it is stored.
  public let version: EntityVersionName
  /// Why it could not be migrated: mostly `ValueMigrationError.failed`, with what the step has
  /// thrown.
  public let error: any Error
  /// The old value; nil if it cannot be read.
  public let oldValue: (any Persistable)?
  /// Whether the old value is stored.
  let isStored: @Sendable (any StoreTransaction) throws -> Bool
  /// Removes the old value, and returns whether it was stored.
  let remove: @Sendable (any StoreTransaction) throws -> Bool

  init<Old: Persistable>(_ object: Canonical<Old>, _ error: any Error) {
    let key = object.id
    id = (key as? Value.ID._Key).flatMap { Value.ID(_key: $0) }
    version = Old.version
    self.error = error
    oldValue = try? object.value()
    isStored = { transaction in
      let id = Field<Old.ID._Key, Canonical<Old>>(Old._canonical.keyOffset)
      return try transaction.count(ValueQuery<Old>(where: id == key)) > 0
    }
    remove = { transaction in
      guard let id = Old.ID(_key: key) else { return false }
      return try transaction.remove(Old.self, [id]) > 0
    }
  }

  /// The old value, if it is of a type.
  /// - Parameter type: A retained version: `entry.oldValue(as: Task.V1.self)`.
  public func oldValue<Old: Persistable>(as type: Old.Type) -> Old? { oldValue as? Old }
}

extension Silo {
  /// The values of retained versions that could not be migrated, those of the newest version first.
  ///
  /// The silo does not have them: no query finds them. They stay as they are until a step can
  /// migrate them, or until the program decides about their ids: a value that is saved, removed,
  /// evicted or deleted takes the older ones with its id along. Those whose step gives its values
  /// other ids stay; what is made of them later does not replace what was decided about since.
  ///
  /// - Throws: `SiloError.newerVersion`, `SiloError.unknownVersion`; what is wrong with the steps
  ///   themselves; the errors of the storage.
  public var unmigrated: [UnmigratedValue<Value>] {
    get async throws {
      try await requireVersion()
      if RetainedVersions.of(Value.self).older.isEmpty { return [] }
      do {
        return try await silos.write([Value.self]) { try $0[Value.self].unmigrated }
      } catch let error as StorageError where error.cause == .readOnly {
        return try await unmigratedOfReadOnly()
      }
    }
  }

  /// Nothing is migrated there: those are listed that could not be.
  private func unmigratedOfReadOnly() async throws -> [UnmigratedValue<Value>] {
    guard let domain = store.domain as? any VersionedDomain else { return [] }
    return try await domain.read([Value.self]) { transaction in
      func entries<Old: Persistable>(_ old: Old.Type) throws -> [UnmigratedValue<Value>] {
        try transaction.rows(of: old, limit: nil).compactMap { object in
          Value.failure(of: object, in: domain).map { UnmigratedValue(object, $0) }
        }
      }
      return try RetainedVersions.of(Value.self).older.flatMap { try entries($0.type) }
    }
  }

  /// Replaces a value that could not be migrated, all in one transaction.
  /// - Parameters:
  ///   - entry: The old value, which is removed.
  ///   - value: What is saved in its place, as by `save`.
  /// - Returns: Whether it was done; false if the old value is no longer there, after which nothing
  ///   is changed.
  /// - Throws: The same errors as `save`.
  @discardableResult
  public func replaceUnmigrated(
    _ entry: UnmigratedValue<Value>, with value: Value
  ) async throws -> Bool { try await replaceUnmigrated(entry, with: [value]) }

  /// Replaces a value that could not be migrated by several, all in one transaction.
  /// - Parameters:
  ///   - entry: The old value, which is removed.
  ///   - values: What is saved in its place, as by `save`.
  /// - Returns: Whether it was done; false if the old value is no longer there, after which nothing
  ///   is changed.
  /// - Throws: The same errors as `save`.
  @discardableResult
  public func replaceUnmigrated(
    _ entry: UnmigratedValue<Value>, with values: some Sequence<Value>
  ) async throws -> Bool {
    let values = Array(values)
    return try await silos.write([Value.self]) {
      try $0[Value.self].replaceUnmigrated(entry, with: values)
    }
  }

  /// Removes a value that could not be migrated. It leaves no tombstone: use `delete` with its id
  /// for a deletion that a server is to learn of.
  /// - Returns: Whether it was still there.
  /// - Throws: The errors of the storage.
  @discardableResult
  public func deleteUnmigrated(_ entry: UnmigratedValue<Value>) async throws -> Bool {
    try await silos.write([Value.self]) { try $0[Value.self].deleteUnmigrated(entry) }
  }

  /// Tries to migrate the values again that could not be migrated, like ``migrate(step:)``.
  /// - Returns: Those that still cannot be migrated.
  /// - Throws: What is wrong with the steps themselves; the errors of the storage.
  @discardableResult
  public func retryUnmigrated() async throws -> [UnmigratedValue<Value>] {
    do { try await migrate() } catch ValueMigrationError.failed {}
    return try await unmigrated
  }

  /// Migrates all values of retained versions, and waits until that is done.
  ///
  /// It is not necessary to call this: a silo is complete from its first use on, and migrates what
  /// is left in steps when it is used. The steps are transactions of their own; interrupted
  /// anywhere, the next call goes on.
  ///
  /// - Parameter step: How many values one transaction migrates at most.
  /// - Throws: `ValueMigrationError.failed` for a value that could not be migrated, which is left
  ///   as it is and which the silo does not have, see ``unmigrated``; the errors of the storage.
  public func migrate(step: Int = 500) async throws {
    precondition(step > 0, "migrate(step:) was called with \(step)")
    guard try await migrateBetweenMoves(step) else { return }
    try await silos.write([Value.self]) { try $0.forgetDecisions(of: Value.self) }
  }

  /// Migrates the values in the silo's store, which is not exchanged meanwhile: a move would leave
  /// behind what is migrated after it has read the store.
  /// - Returns: Whether something is noted as decided about ids.
  private func migrateBetweenMoves(_ step: Int) async throws -> Bool {
    await state.gate.enter()
    defer { state.gate.leave() }
    let store = store
    try await store.migrate(step: step)
    if RetainedVersions.of(Value.self).older.isEmpty { return false }
    return try await store.domain.store(of: Decided<Value>.self).count(ValueQuery()) > 0
  }
}

extension SiloTransaction {
  /// The values of retained versions that could not be migrated; see ``Silo/unmigrated``.
  /// - Throws: The errors of the storage.
  public var unmigrated: [UnmigratedValue<Value>] {
    get throws {
      guard let store = try transaction.access(Value.self) as? any RetainingTransaction else {
        return []
      }
      let domain = transaction.silos[Value.self].store.domain as? any VersionedDomain
      func entries<Old: Persistable>(_ old: Old.Type) throws -> [UnmigratedValue<Value>] {
        try store.rows(of: old, limit: nil).map { object in
          let failure = domain.flatMap { Value.failure(of: object, in: $0) }
          let unknown = MigrationFailure(object, NotMigratedYet()).reason
          return UnmigratedValue(object, failure ?? unknown)
        }
      }
      return try RetainedVersions.of(Value.self).older.flatMap { try entries($0.type) }
    }
  }

  /// Replaces a value that could not be migrated; see `replaceUnmigrated` of a silo.
  /// - Returns: False if the old value is no longer there, after which nothing is changed.
  /// - Throws: The same errors as `save`.
  @discardableResult
  public func replaceUnmigrated(_ entry: UnmigratedValue<Value>, with value: Value) throws -> Bool {
    try replaceUnmigrated(entry, with: [value])
  }

  /// Replaces a value that could not be migrated by several.
  /// - Returns: False if the old value is no longer there, after which nothing is changed.
  /// - Throws: The same errors as `save`.
  @discardableResult
  public func replaceUnmigrated(
    _ entry: UnmigratedValue<Value>, with values: some Sequence<Value>
  ) throws -> Bool {
    let store = try transaction.access(Value.self)
    let values = Array(values)
    // Before anything is removed: the caller may go on after a refusal.
    do { try transaction.refuseDeleted(values) } catch let error as SiloError {
      if try entry.isStored(store) { throw error }
    }
    guard try entry.remove(store) else { return false }
    try save(values)
    return true
  }

  /// Removes a value that could not be migrated; see ``Silo/deleteUnmigrated(_:)``.
  /// - Returns: Whether it was still there.
  /// - Throws: The errors of the storage.
  @discardableResult
  public func deleteUnmigrated(_ entry: UnmigratedValue<Value>) throws -> Bool {
    try entry.remove(transaction.access(Value.self))
  }
}

/// A value that came after the others were migrated.
private struct NotMigratedYet: Error, CustomStringConvertible {
  var description: String { "it was stored after the others had been migrated" }
}

extension Persistable {
  /// Why an old value of the type could not be migrated; nil if nothing is known against it.
  fileprivate static func failure<Old: Persistable>(
    of object: Canonical<Old>, in domain: any VersionedDomain
  ) -> ValueMigrationError? {
    if let known = domain.failures.reason(Old.self, row: object._rowid) { return known }
    let migrations = migrations
    if !migrations.readTypes.isEmpty { return nil }
    do { _ = try migrations.migrateAll(object.value()) } catch let error as ValueMigrationError {
      return error
    } catch {
      return MigrationFailure(object, error).reason
    }
    return nil
  }
}

extension SilosTransaction {
  /// Forgets the decisions about ids, if older versions have no values that they could be about.
  fileprivate func forgetDecisions<V: Persistable>(of type: V.Type) throws {
    guard let store = try access(type) as? any RetainingTransaction,
      try !RetainedVersions.of(type).older.contains(where: { try store.hasRows($0.type) })
    else { return }
    let decided = try store.values(ValueQuery<Decided<V>>())
    _ = try store.remove(Decided<V>.self, decided.map { $0.id })
  }
}
