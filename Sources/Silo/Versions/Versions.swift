// Versions in a workspace: which version of each table it has, and the migrations to the newest.
//
// The workspace's dictionary records the version of each table. It is recorded before anything is
// migrated, so that an older program never takes a table that was moved on for an empty one.

import Dflat
import Platform

/// The versions of the tables in a workspace.
final class Versions: Sendable {
  private static let namespace = "silo.versions"
  /// The types whose version is recorded.
  private let prepared = Mutex<Set<ObjectIdentifier>>([])
  /// The types whose retained versions are migrated when they are used.
  private let registered = Mutex<Set<ObjectIdentifier>>([])

  let order = MigrationOrder()

  /// Refuses a table of a newer version.
  /// - Throws: `SiloError.newerVersion`.
  func check<V: Persistable>(_ type: V.Type, in workspace: any Workspace) throws {
    let known = V._canonical.version
    if let stored = Self.stored(V._canonical.name, in: workspace), stored > known {
      throw SiloError.newerVersion(table: V._canonical.name, stored: stored, known: known)
    }
  }

  private static func stored(_ table: String, in workspace: any Workspace) -> Int? {
    workspace.dictionary(namespace: namespace)[table, Int.self]
  }

  /// Records the version of a type in a transaction that changes its values.
  func record<V: Persistable>(
    _ type: V.Type, _ context: WriteContext, in workspace: any Workspace
  ) throws {
    try check(type, in: workspace)
    let schema = V._canonical
    if Self.stored(schema.name, in: workspace) == schema.version { return }
    var dictionary = context.dictionary(namespace: Self.namespace)
    if let stored = dictionary[schema.name, Int.self], stored > schema.version {
      throw SiloError.newerVersion(table: schema.name, stored: stored, known: schema.version)
    }
    dictionary[schema.name, Int.self] = schema.version
  }

  /// Prepares the first use of a type: records its version, and has retained versions migrated when
  /// they are used.
  ///
  /// Types whose steps read others are migrated here, before those that they read.
  func prepare<V: Persistable>(
    _ type: V.Type, in workspace: any Workspace, after types: [any Persistable.Type] = []
  ) async throws {
    try check(type, in: workspace)
    if isPrepared(type) { return }
    for other in order.before(type) where !types.contains(where: { $0 == other }) {
      try await prepare(other, in: workspace, after: types + [type])
    }
    if !V.migrations.steps.isEmpty,
      Self.stored(V._canonical.name, in: workspace) != V._canonical.version
    {
      do {
        try await workspace.write { try self.record(V.self, $0, in: workspace) }
      } catch let error as StorageError where error.cause == .readOnly {
        // A program that cannot write cannot take anything away from older programs either.
      }
    }
    if V.migrations.readTypes.isEmpty {
      register(type, in: workspace)
    } else {
      for old in V.migrations.oldTypes { try await migrate(old, to: type, in: workspace) }
    }
    _ = prepared.withLock { $0.insert(ObjectIdentifier(type)) }
  }

  /// Has retained versions migrated, now that a type is watched. The version is recorded before.
  func registerForWatching<V: Persistable>(_ type: V.Type, in workspace: any Workspace) {
    let schema = V._canonical
    if !V.migrations.steps.isEmpty, workspace._core.isWritable,
      Self.stored(schema.name, in: workspace) != schema.version
    {
      // The migrations take the old types, too, and come behind.
      let entities: [Any.Type] = V.migrations.oldTypes.map { entity($0) }
      workspace.performChanges(entities) { context in
        var dictionary = context.dictionary(namespace: Self.namespace)
        if dictionary[schema.name, Int.self] ?? 0 < schema.version {
          dictionary[schema.name, Int.self] = schema.version
        }
      } completionHandler: { _ in
      }
    }
    register(type, in: workspace)
  }

  /// Has retained versions migrated when they are used.
  func register<V: Persistable>(_ type: V.Type, in workspace: any Workspace) {
    let migrations = V.migrations
    func register<Old: Persistable>(_ old: Old.Type) {
      workspace.migrateWhenUsed(migrations.migration(from: old))
    }
    // A second task waits here until the migrations are known.
    registered.withLock { registered in
      guard registered.insert(ObjectIdentifier(type)).inserted else { return }
      for old in migrations.oldTypes { register(old) }
    }
  }

  /// Migrates the values of a retained version with steps that read others.
  private func migrate<Old: Persistable, V: Persistable>(
    _ old: Old.Type, to new: V.Type, in workspace: any Workspace
  ) async throws {
    let migrations = V.migrations
    let entities = ([old, new] + migrations.readTypes).map { entity($0) }
    let size = 500
    while true {
      let (count, failure) = try await workspace.write(types: entities) { context in
        let transaction = WorkspaceTransaction(context)
        defer { transaction.end() }
        return try migrations.step(from: old, limit: size, in: transaction) { table in
          context.dictionary(namespace: Self.namespace)[table, Int.self]
        }
      }
      if let failure { throw failure }
      if count < size { return }
    }
  }

  private func entity<V: Persistable>(_ type: V.Type) -> any Atom.Type { Canonical<V>.self }

  private func isPrepared<V: Persistable>(_ type: V.Type) -> Bool {
    prepared.withLock { $0.contains(ObjectIdentifier(type)) }
  }
}

extension Migrations {
  /// The migration of one retained version, as Dflat runs it.
  func migration<Old: Persistable>(
    from old: Old.Type
  ) -> Migration<Canonical<Old>, Canonical<Value>> {
    .several(from: Canonical<Old>.self, to: Canonical<Value>.self) { object in
      try migrateAll(object.value()).map { Canonical($0) }
    }
  }
}

extension Silo {
  /// Migrates all values of retained versions, and waits until that is done.
  ///
  /// It is not necessary to call this: a silo is complete from its first use on, and migrates what is
  /// left in steps when it is used. The steps are transactions of their own; interrupted anywhere,
  /// the next call goes on.
  ///
  /// - Parameter step: How many values one transaction migrates at most.
  /// - Throws: `MigrationError` for a value that could not be migrated; the errors of the storage.
  public func migrate(step: Int = 500) async throws {
    precondition(step > 0, "migrate(step:) was called with \(step)")
    try await store.migrate(step: step)
  }
}
