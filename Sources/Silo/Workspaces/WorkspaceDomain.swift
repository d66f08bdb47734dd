// WorkspaceDomain: the stores in one workspace, and transactions over them.

import Dflat
import Platform

/// The stores in a workspace.
final class WorkspaceDomain: VersionedDomain {
  let workspace: any Workspace
  let versions = Versions()
  var failures: MigrationFailures { versions.failures }

  init(_ workspace: any Workspace) {
    self.workspace = workspace
  }

  var isShared: Bool { workspace.isShared }

  func store<V: Persistable>(of type: V.Type) -> any ValueStore<V> {
    WorkspaceValueStore<V>(workspace)
  }

  func read<R: Sendable>(
    _ types: [any Persistable.Type],
    _ body: @escaping @Sendable (any RetainingTransaction) throws -> R
  ) async throws -> R {
    for type in types { try await versions.prepare(type, in: workspace) }
    return try await workspace.read { [workspace, versions] context in
      for type in types { try versions.reading(type, in: workspace, context) { _ in } }
      let reading = WorkspaceReading(context)
      defer { reading.end() }
      return try body(reading)
    }
  }

  func reportToStorage(_ error: any Error) { workspace.errorHandler?(error) }

  func write<R: Sendable>(
    _ types: [any Persistable.Type],
    _ body: @escaping @Sendable (any StoreTransaction) throws -> R
  ) async throws -> R {
    let entities = types.flatMap { $0._entities }
    for type in types { try await versions.prepare(type, in: workspace) }
    let runs = Mutex(0)
    return try await workspace.write(types: entities) { [workspace, versions] context in
      let run = runs.withLock { runs in
        runs += 1
        return runs
      }
      // Another connection was in the way, and may be again and again.
      if run > 2 { try context.beginWriting() }
      return try versions.writing(types, context, in: workspace, body)
    }
  }
}

extension Persistable {
  /// The entities that a transaction over the type's values uses.
  static var _entities: [any Atom.Type] {
    func entity<V: Persistable>(_ type: V.Type) -> any Atom.Type { Canonical<V>.self }
    let retained = RetainedVersions.of(self).older.map { entity($0.type) }
    return [Canonical<Self>.self] + _companions.map { entity($0) } + retained
  }
}

/// A transaction in a workspace. Used on its thread only.
final class WorkspaceTransaction: RetainingTransaction {
  private var openContext: WriteContext?
  private let settlement: Settlement?
  /// The types whose values were read or changed.
  private(set) var used: Set<ObjectIdentifier> = []

  /// - Parameter settles: Whether changes are decisions, which hold for older versions, too.
  init(_ context: WriteContext, settles: Bool = true) {
    openContext = context
    settlement = settles ? Settlement() : nil
  }

  func end() { openContext = nil }

  private func context(for type: any Persistable.Type) throws -> WriteContext {
    guard let openContext else { throw SiloError.escapedTransaction }
    used.insert(ObjectIdentifier(type))
    return openContext
  }

  func save<V: Persistable>(_ values: [V]) throws {
    try context(for: V.self)._upsert(Canonical<V>.self, V._rows(of: values))
    try settlement?.settle(V.self, values.map { $0.id }, in: self)
  }

  func save<V: Persistable>(rows: [Canonical<V>]) throws {
    // What they carry from where they were read means nothing here.
    let rows = rows.map { $0._row.withBytes { DflatRow(sound: $0) } }
    try context(for: V.self)._upsert(Canonical<V>.self, rows)
  }

  func remove<V: Persistable>(_ type: V.Type, _ ids: [V.ID]) throws -> Int {
    let count = try context(for: type).delete(Canonical<V>.self, keys: ids.map { $0._key }).deleted
    try settlement?.settle(type, ids, in: self)
    return count
  }

  func hasRows<V: Persistable>(_ type: V.Type) throws -> Bool {
    try context(for: type).query(Canonical<V>.self).exists()
  }

  func rows<V: Persistable>(of type: V.Type, limit: Int?) throws -> [Canonical<V>] {
    try context(for: type).query(type, limit: limit)
  }

  func load<V: Persistable>(_ type: V.Type, _ ids: [V.ID]) throws -> [V] {
    try context(for: type).stored(V.self, ids)
  }

  func values<V: Persistable>(_ query: ValueQuery<V>) throws -> [V] {
    try V._values(context(for: V.self).query(query).scan)
  }

  func count<V: Persistable>(_ query: ValueQuery<V>) throws -> Int {
    try context(for: V.self).query(query).count()
  }
}

/// A snapshot of a workspace, for what only reads. Used on its thread only.
private final class WorkspaceReading: RetainingTransaction {
  private var openContext: ReadContext?

  init(_ context: ReadContext) { openContext = context }

  func end() { openContext = nil }

  private var context: ReadContext {
    get throws {
      guard let openContext else { throw SiloError.escapedTransaction }
      return openContext
    }
  }

  private func refusal<V: Persistable>(_ type: V.Type) -> StorageError {
    StorageError(
      .readOnly, table: Canonical<V>._schema.table, message: "this transaction only reads")
  }

  func save<V: Persistable>(_ values: [V]) throws { throw refusal(V.self) }

  func save<V: Persistable>(rows: [Canonical<V>]) throws { throw refusal(V.self) }

  func remove<V: Persistable>(_ type: V.Type, _ ids: [V.ID]) throws -> Int { throw refusal(type) }

  func hasRows<V: Persistable>(_ type: V.Type) throws -> Bool {
    try context.query(Canonical<V>.self).exists()
  }

  func rows<V: Persistable>(of type: V.Type, limit: Int?) throws -> [Canonical<V>] {
    try context.query(type, limit: limit)
  }

  func load<V: Persistable>(_ type: V.Type, _ ids: [V.ID]) throws -> [V] {
    try context.stored(V.self, ids)
  }

  func values<V: Persistable>(_ query: ValueQuery<V>) throws -> [V] {
    try V._values(context.query(query).scan)
  }

  func count<V: Persistable>(_ query: ValueQuery<V>) throws -> Int {
    try context.query(query).count()
  }
}

/// Where queries for stored values can be asked.
protocol ValueSource {
  func query<Element: Atom>(_ type: Element.Type) -> ObjectQuery<Element>
  func find<Element: Atom>(_ type: Element.Type, _ key: Element.ID) throws -> Element?
}

extension ReadContext: ValueSource {}
extension WriteContext: ValueSource {}

extension ValueSource {
  /// The stored forms of values, in the order of insertion.
  fileprivate func query<V: Persistable>(_ type: V.Type, limit: Int?) throws -> [Canonical<V>] {
    let objects = query(Canonical<V>.self)
    return try (limit.map { objects.limit($0) } ?? objects).fetch().map { $0 }
  }

  /// A query as Dflat has it.
  func query<V: Persistable>(_ query: ValueQuery<V>) -> ObjectQuery<Canonical<V>> {
    var objects = self.query(Canonical<V>.self).orderBy(query.order)
    if let condition = query.condition { objects = objects.where(condition) }
    if let limit = query.limit { objects = objects.limit(limit) }
    return objects
  }

  /// The values with some ids, in the order of the ids.
  func stored<V: Persistable>(_ type: V.Type, _ ids: [V.ID]) throws -> [V] {
    if ids.count == 1 {
      return try find(Canonical<V>.self, ids[0]._key).map { [try $0.value()] } ?? []
    }
    return try V._values(ids) { try query(Canonical<V>.self).scan(keys: ids.map { $0._key }, $0) }
  }
}
