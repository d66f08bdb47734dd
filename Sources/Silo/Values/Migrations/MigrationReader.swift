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
  /// - Throws: `ValueMigrationError.undeclaredReading` if the step was not declared to read the
  ///   type; `ValueMigrationError.alreadyMigrated`; the errors of the storage.
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
    let known = Set(stored.lazy.map { IDKey($0.id._key) })
    return stored + (try older(type).values.filter { !known.contains(IDKey($0.id._key)) })
  }

  private func requireAllowed<V: Persistable>(_ type: V.Type) throws {
    guard let allowed, !allowed.contains(where: { $0 == type }) else { return }
    throw ValueMigrationError.undeclaredReading(type.version)
  }

  /// Throws if values of a version were migrated further.
  private func requireCurrent<V: Persistable>(_ type: V.Type) throws {
    if let stored = try source.version(of: V._canonical.name), stored > V._canonical.version {
      throw ValueMigrationError.alreadyMigrated(type.version)
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
    guard depth < Self.greatestDepth else {
      throw ValueMigrationError.circularReading(type.version)
    }
    depth += 1
    defer { depth -= 1 }
    var values: [IDKey<V.ID._Key>: V] = [:]
    let newest: any Persistable.Type = V._newest
    for value in try convert(newest) { values[IDKey(value.id._key)] = value }
    derived[id] = values
    return values
  }

  /// Whether something was decided about the id of a value that came of an older version.
  func isOutdated<V: Persistable>(_ value: V, from version: Int) throws -> Bool {
    try source.isOutdated(value, from: version)
  }

  /// Runs a step, which may read what it was declared to read.
  func run(_ step: any MigrationStep, _ value: any Persistable) throws -> [any Persistable] {
    let outer = allowed
    allowed = step._step.reads
    defer { allowed = outer }
    return try step._step.migrate(value, self)
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
  /// Whether something was decided about the id of a value that came of an older version.
  func isOutdated<V: Persistable>(_ value: V, from version: Int) throws -> Bool
}

private struct GivenValues: MigrationValues {
  let values: [any Persistable]

  func load<V: Persistable>(_ type: V.Type, _ ids: [V.ID]) -> [V] {
    let wanted = Set(ids.lazy.map { IDKey($0._key) })
    return values(of: type).filter { wanted.contains(IDKey($0.id._key)) }
  }
  func values<V: Persistable>(of type: V.Type) -> [V] { values.compactMap { $0 as? V } }
  func version(of table: String) -> Int? { nil }
  func isOutdated<V: Persistable>(_ value: V, from version: Int) -> Bool { false }
}

extension Migrations {
  /// The types that steps read, and all older versions of these, from which they may come.
  package var readTypes: [any Persistable.Type] {
    func older<V: Persistable>(_ type: V.Type, than version: Int) -> [any Persistable.Type] {
      V.migrations.oldTypes.filter { $0._canonical.version < version }
    }
    var types: [any Persistable.Type] = []
    var rest = steps.flatMap(\._step.reads)
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
}

extension Persistable {
  fileprivate static var _readsOfSteps: [any Persistable.Type] {
    migrations.steps.flatMap(\._step.reads)
  }
}
