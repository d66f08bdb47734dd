// MigrationReader: the values of other types that a step of a migration reads, as they were.
//
// A step between old versions expects the other values in versions of its own time. These may be
// stored, or come from still older ones by the other type's own steps. Values that were migrated
// further cannot be had back, so that the types that are read are migrated after those that read
// them; see `MigrationOrder`.

import Dflat

/// Reads values of other types in a step of a migration.
///
///     Migrate(from: V1.self, to: Task.self, reading: User.V1.self) { old, others in
///       Task(id: old.id, ownerName: try others.load(User.V1.self, old.owner)?.name ?? "")
///     }
///
/// It is valid only inside the step.
public final class MigrationReader {
  private static let greatestDepth = 8

  private let source: any MigrationValues
  /// What the step that is running reads; nil outside of steps.
  private var allowed: [any Persistable.Type]?
  private var depth = 0
  /// The values that come from older ones, by type; `[IDKey: value]`.
  private var derived: [ObjectIdentifier: Any] = [:]

  package init(_ source: any MigrationValues) { self.source = source }

  /// A reader of some values, for tests.
  public convenience init(of values: [any Persistable]) {
    self.init(GivenValues(values: values))
  }

  /// The value with an id, in this version; nil if there is none.
  /// - Throws: `MigrationsError.undeclaredReading` if the step was not declared to read the type;
  ///   `MigrationsError.alreadyMigrated`; the errors of the storage.
  public func load<V: Persistable>(_ type: V.Type, _ id: V.ID) throws -> V? {
    try load(type, [id]).first
  }

  /// The values with some ids, in this version, in the order of the ids. Ids without a value are
  /// left out.
  /// - Throws: The same errors as `load` for one value.
  public func load<V: Persistable>(
    _ type: V.Type, _ ids: some Sequence<V.ID>
  ) throws -> [V] {
    try requireAllowed(type)
    let ids = Array(ids)
    var found: [IDKey<V.ID._Key>: V] = [:]
    for value in try source.load(type, ids) { found[IDKey(value.id._key)] = value }
    if found.count < ids.count {
      for (key, value) in try older(type) where found[key] == nil { found[key] = value }
      if ids.contains(where: { found[IDKey($0._key)] == nil }) { try requireCurrent(type) }
    }
    return ids.compactMap { found[IDKey($0._key)] }
  }

  /// All values of a type, in this version.
  /// - Throws: The same errors as `load`.
  public func values<V: Persistable>(of type: V.Type) throws -> [V] {
    try requireAllowed(type)
    try requireCurrent(type)
    let stored = try source.values(of: type)
    let known = IDSet<V>(stored.lazy.map { $0.id })
    return stored + (try older(type).values.filter { !known.contains($0.id) })
  }

  private func requireAllowed<V: Persistable>(_ type: V.Type) throws {
    guard let allowed, !allowed.contains(where: { $0 == type }) else { return }
    throw MigrationsError.undeclaredReading(type.version)
  }

  /// Throws if values of a version were migrated further.
  private func requireCurrent<V: Persistable>(_ type: V.Type) throws {
    if let stored = try source.version(of: V._canonical.name), stored > V._canonical.version {
      throw MigrationsError.alreadyMigrated(type.version)
    }
  }

  /// The values of a version that are stored in older ones.
  private func older<V: Persistable>(_ type: V.Type) throws -> [IDKey<V.ID._Key>: V] {
    func convert<Newest: Persistable>(_ newest: Newest.Type) throws -> [V] {
      let migrations = Newest.migrations
      func convert<Old: Persistable>(_ old: Old.Type) throws -> [V] {
        try source.values(of: old).flatMap { try migrations.convert($0, to: type, self) }
      }
      return try migrations.oldTypes.filter { $0._canonical.version < V._canonical.version }
        .flatMap { try convert($0) }
    }
    let id = ObjectIdentifier(type)
    if let known = derived[id] as? [IDKey<V.ID._Key>: V] { return known }
    guard depth < Self.greatestDepth else { throw MigrationsError.circularReading(type.version) }
    depth += 1
    defer { depth -= 1 }
    var values: [IDKey<V.ID._Key>: V] = [:]
    let newest: any Persistable.Type = V._newest
    for value in try convert(newest) { values[IDKey(value.id._key)] = value }
    derived[id] = values
    return values
  }

  /// Runs a step, which may read what it was declared to read.
  func run(_ step: any MigrationStep, _ value: any Persistable) throws -> [any Persistable] {
    let outer = allowed
    allowed = step._reads
    defer { allowed = outer }
    return try step._migrate(value, self)
  }
}

/// Where a reader finds values.
package protocol MigrationValues {
  /// The stored ones of some ids.
  func load<V: Persistable>(_ type: V.Type, _ ids: [V.ID]) throws -> [V]
  /// All stored ones.
  func values<V: Persistable>(of type: V.Type) throws -> [V]
  /// The version that a table was migrated to; nil if it is not known.
  func version(of table: String) throws -> Int?
}

private struct GivenValues: MigrationValues {
  let values: [any Persistable]

  func load<V: Persistable>(_ type: V.Type, _ ids: [V.ID]) -> [V] {
    let wanted = IDSet<V>(ids)
    return values(of: type).filter { wanted.contains($0.id) }
  }
  func values<V: Persistable>(of type: V.Type) -> [V] { values.compactMap { $0 as? V } }
  func version(of table: String) -> Int? { nil }
}

/// The values in a transaction.
private struct TransactionValues: MigrationValues {
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

extension Migrations {
  /// The types that steps read, and all older versions of these, from which they may come.
  package var readTypes: [any Persistable.Type] {
    func older<V: Persistable>(_ type: V.Type, than version: Int) -> [any Persistable.Type] {
      V.migrations.oldTypes.filter { $0._canonical.version < version }
    }
    var types: [any Persistable.Type] = []
    var rest = steps.flatMap(\._reads)
    while let type = rest.popLast() {
      if types.contains(where: { $0 == type }) { continue }
      types.append(type)
      let newest: any Persistable.Type = type._newest
      let olds = older(newest, than: type._canonical.version)
      rest += olds
      // What the steps between them read.
      if !olds.isEmpty { rest += newest._readsOfSteps }
    }
    return types
  }

  /// Migrates all values of a retained version, in transactions of bounded size. Those that cannot
  /// be migrated are left as they are.
  /// - Parameters:
  ///   - old: The version.
  ///   - size: How many values one transaction migrates at most.
  ///   - write: Runs a transaction.
  /// - Returns: Why values could not be migrated.
  /// - Throws: What is wrong with the steps themselves; the errors of the storage.
  package func migrate<Old: Persistable>(
    all old: Old.Type, size: Int,
    _ write: (
      @escaping @Sendable (
        any StoreTransaction, @escaping (_ table: String) throws -> Int?
      ) throws -> MigrationOutcome<Old>
    ) async throws -> MigrationOutcome<Old>
  ) async throws -> [MigrationsError] {
    var failures: [MigrationFailure<Old>] = []
    while true {
      let failed = failures.map(\.id)
      do {
        let outcome = try await write { transaction, storedVersion in
          try step(
            from: old, limit: size, besides: failed, in: transaction, storedVersion: storedVersion)
        }
        failures += outcome.failures
        if outcome.count < size { return failures.map(\.reason) }
      } catch let failure as MigrationFailure<Old> {
        // Its transaction is undone. The next one leaves the value out.
        failures.append(failure)
      }
    }
  }

  /// Migrates some values of a retained version, in a transaction.
  private func step<Old: Persistable>(
    from old: Old.Type, limit: Int, besides failed: [Old.ID],
    in transaction: any StoreTransaction, storedVersion: @escaping (String) throws -> Int?
  ) throws -> MigrationOutcome<Old> {
    let skipped = IDSet<Old>(failed)
    let values = try transaction.values(ValueQuery<Old>(limit: limit + failed.count))
      .filter { !skipped.contains($0.id) }.prefix(limit)
    let reader = MigrationReader(
      TransactionValues(transaction: transaction, storedVersion: storedVersion))
    var outcome = MigrationOutcome<Old>(count: values.count, failures: [])
    for value in values {
      let new: [Value]
      do { new = try migrateAll(value, reading: reader) } catch let error as MigrationsError {
        throw error
      } catch {
        outcome.failures.append(MigrationFailure(value, error))
        continue
      }
      do { try transaction.save(new) } catch let error as StorageError
        where error.cause == .alreadyExists || error.cause == .invalidValue
      {
        throw MigrationFailure(value, error)
      }
      _ = try transaction.remove(Old.self, [value.id])
    }
    return outcome
  }
}

/// What a transaction of a migration has done.
package struct MigrationOutcome<Old: Persistable>: Sendable {
  /// How many values it has looked at.
  let count: Int
  fileprivate(set) var failures: [MigrationFailure<Old>]
}

/// A value that cannot be migrated.
struct MigrationFailure<Old: Persistable>: Error {
  let id: Old.ID
  let reason: MigrationsError

  init(_ value: Old, _ error: any Error) {
    id = value.id
    reason = .failed(Old.version, id: "\(value.id)", reason: "\(error)")
  }
}

extension Migrations {
  /// The values that come from retained versions and are not stored as this one yet. Those that
  /// cannot be migrated are left out.
  package func unmigrated(
    in transaction: any StoreTransaction, storedVersion: @escaping (String) throws -> Int?
  ) throws -> [Value] {
    let reader = MigrationReader(
      TransactionValues(transaction: transaction, storedVersion: storedVersion))
    func unmigrated<Old: Persistable>(_ old: Old.Type) throws -> [Value] {
      try transaction.values(ValueQuery<Old>()).flatMap {
        (try? migrateAll($0, reading: reader)) ?? []
      }
    }
    return try oldTypes.flatMap { try unmigrated($0) }
  }
}

extension Persistable {
  fileprivate static var _readsOfSteps: [any Persistable.Type] {
    migrations.steps.flatMap(\._reads)
  }
}
