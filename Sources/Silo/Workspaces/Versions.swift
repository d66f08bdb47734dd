// Versions in a workspace: which version of each table it has, and the migrations to the newest.
//
// The workspace's dictionary records the version of each table. It is recorded before anything is
// migrated, so that an older program never takes a table that was moved on for an empty one.
// Another process may do so at any time: the version that counts is that of the snapshot or
// transaction which reads the values.

import Dflat
import Platform

/// The versions of the tables in a workspace.
final class Versions: Sendable {
  private static let namespace = "silo.versions"
  /// The types whose version is recorded.
  private let prepared = Mutex<Set<ObjectIdentifier>>([])
  /// The types whose retained versions are migrated when they are used.
  private let registered = Mutex<Set<ObjectIdentifier>>([])

  /// The values that the migrations in steps leave out, by their types.
  private let leftOut = Mutex<[ObjectIdentifier: LeftOutObjects]>([:])
  /// Those of all migrations.
  let failures = MigrationFailures()

  /// The values of a retained version that could not be migrated and are left out.
  func leftOut<Old: Persistable, New: Persistable>(
    of old: Old.Type, to new: New.Type
  ) -> LeftOutObjects {
    leftOut.withLock { leftOut in
      let objects =
        leftOut[ObjectIdentifier(old)]
        ?? LeftOutObjects(
          where: { error in
            // What is wrong with the steps themselves is wrong for all values.
            if case .failed = old.reason(of: error) { return true } else { return false }
          },
          reporting: { [failures] error in
            let reason = old.reason(of: error)
            guard failures.note(reason, old, row: error.rowid) else { return nil }
            return ReportedFailure(reason: reason, reported: error, failures: failures)
          },
          decisions: WorkspaceDecisions<Old, New>())
      leftOut[ObjectIdentifier(old)] = objects
      return objects
    }
  }

  let order = MigrationOrder()

  /// What was found stored about a type: the version, when no other connection had committed
  /// anything after the token. Between two equal tokens it is not looked up again.
  private let verified = Mutex<[ObjectIdentifier: (token: CommitToken, version: Int?)]>([:])

  /// Refuses a table of a version that the program does not know, as far as the workspace
  /// remembers.
  /// - Throws: `SiloError.newerVersion`, `SiloError.unknownVersion`.
  func check<V: Persistable>(_ type: V.Type, in workspace: any Workspace) throws {
    if let stored = Self.remembered(V._canonical.name, in: workspace) {
      try V.require(storedVersion: stored)
    }
  }

  private static func remembered(_ table: String, in workspace: any Workspace) -> Int? {
    workspace.dictionary(namespace: namespace)[table, Int.self]
  }

  /// Reads values of a type, unless their table has a version that the program does not know.
  ///
  /// Another connection may have moved the table on, so the version is that of the same snapshot.
  func reading<V: Persistable, R>(
    _ type: V.Type, in workspace: any Workspace, _ context: ReadContext,
    _ body: (ReadContext) throws -> R
  ) throws -> R {
    let result = Result { try body(context) }
    if workspace.isShared {
      let id = ObjectIdentifier(type)
      let token = context.commitToken
      if token == nil || verified.withLock({ $0[id]?.token }) != token {
        let stored = try context.storedValue(
          V._canonical.name, as: Int.self, inDictionary: Self.namespace)
        if let stored { try V.require(storedVersion: stored) }
        if let token { verified.withLock { $0[id] = (token, stored) } }
      }
    }
    return try result.get()
  }

  /// Runs a transaction's closure, and refuses a table of a version that the program does not know.
  /// The versions of the types that it has used are recorded.
  func writing<R>(
    _ types: [any Persistable.Type], _ context: WriteContext, in workspace: any Workspace,
    _ body: (any StoreTransaction) throws -> R
  ) throws -> R {
    let transaction = WorkspaceTransaction(context)
    defer { transaction.end() }
    let result = Result { try body(transaction) }
    let used = transaction.used
    let own = types.filter { used.contains(ObjectIdentifier($0)) }
    // What is stored beside values outlives their migrations, but belongs to the newest version.
    let beside = types.filter { type in
      type._companions.contains { used.contains(ObjectIdentifier($0)) }
    }
    if case .failure(let error) = result {
      // What it found may come from a table that was moved on.
      if !(error is UndeclaredTypes) {
        for type in own + beside {
          do { try confirm(type, context, in: workspace) } catch let refusal as SiloError {
            throw refusal
          } catch {}
        }
      }
      throw error
    }
    for type in beside { try confirm(type, context, in: workspace) }
    for type in own { try record(type, context, in: workspace) }
    return try result.get()
  }

  /// Refuses a table of a version that the program does not know, as the transaction finds it.
  /// - Returns: Whether the version of the type is recorded.
  @discardableResult
  private func confirm<V: Persistable>(
    _ type: V.Type, _ context: WriteContext, in workspace: any Workspace
  ) throws -> Bool {
    let schema = V._canonical
    try check(type, in: workspace)
    guard workspace.isShared else {
      return Self.remembered(schema.name, in: workspace) == schema.version
    }
    let id = ObjectIdentifier(type)
    let token = context.commitToken
    if let token, let known = verified.withLock({ $0[id] }), known.token == token,
      known.version == schema.version
    {
      return true
    }
    let stored = try context.storedValue(
      schema.name, as: Int.self, inDictionary: Self.namespace)
    if let stored { try V.require(storedVersion: stored) }
    if let token { verified.withLock { $0[id] = (token, stored) } }
    return stored == schema.version
  }

  /// Records the version of a type in a transaction that changes its values.
  func record<V: Persistable>(
    _ type: V.Type, _ context: WriteContext, in workspace: any Workspace
  ) throws {
    if try confirm(type, context, in: workspace) { return }
    let schema = V._canonical
    var dictionary = context.dictionary(namespace: Self.namespace)
    if let stored = dictionary[schema.name, Int.self] { try V.require(storedVersion: stored) }
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
      Self.remembered(V._canonical.name, in: workspace) != V._canonical.version
    {
      do {
        try await workspace.write { context in
          // Another task may have recorded the version by now. Still the transaction has to use a
          // dictionary, since it names no types.
          _ = context.dictionary(namespace: Self.namespace)
          try self.record(V.self, context, in: workspace)
        }
      } catch let error as StorageError where error.cause == .readOnly {
        // A program that cannot write cannot take anything away from older programs either.
      }
    }
    if V.migrations.readTypes.isEmpty {
      register(type, in: workspace)
    } else {
      _ = try await migrate(to: type, in: workspace)
    }
    _ = prepared.withLock { $0.insert(ObjectIdentifier(type)) }
  }

  /// Has retained versions migrated, now that a type is watched. The version is recorded before.
  func registerForWatching<V: Persistable>(_ type: V.Type, in workspace: any Workspace) {
    let schema = V._canonical
    if !V.migrations.steps.isEmpty, workspace.isWritable,
      Self.remembered(schema.name, in: workspace) != schema.version
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
      workspace.migrateWhenUsed(
        migrations.migration(from: old, leavingOut: leftOut(of: old, to: type)))
    }
    // A second task waits here until the migrations are known.
    registered.withLock { registered in
      guard registered.insert(ObjectIdentifier(type)).inserted else { return }
      for old in migrations.oldTypes { register(old) }
    }
  }

  /// Migrates the values of retained versions with steps that read others, and reports those that
  /// cannot be migrated.
  /// - Returns: Why values could not be migrated, which are left out.
  func migrate<V: Persistable>(
    to new: V.Type, size: Int = 500, in workspace: any Workspace
  ) async throws -> [ValueMigrationError] {
    let migrations = V.migrations
    let read = migrations.readTypes
    return try await migrations.migrateStored(size: size, failures) { reason in
      if !failures.deliver(reason) { workspace.errorHandler?(reason) }
    } write: { old, step in
      let decided = ([new] + migrations.oldTypes + read).flatMap { decisions(about: $0) }
      let entities = ([old, new] + read + decided).map { entity($0) }
      return try await workspace.write(types: entities) { context in
        let transaction = WorkspaceTransaction(context, settles: false)
        defer { transaction.end() }
        return try step(transaction) { table in
          context.dictionary(namespace: Self.namespace)[table, Int.self]
        }
      }
    }
  }

  private func entity<V: Persistable>(_ type: V.Type) -> any Atom.Type { Canonical<V>.self }

  /// What was decided about ids of a type; empty if there are no older versions.
  private func decisions<V: Persistable>(about type: V.Type) -> [any Persistable.Type] {
    RetainedVersions.of(type).older.isEmpty ? [] : [Decided<V>.self]
  }

  /// Whether the first use of a type is prepared.
  func isPrepared<V: Persistable>(_ type: V.Type) -> Bool {
    prepared.withLock { $0.contains(ObjectIdentifier(type)) }
  }
}

extension Persistable {
  /// Refuses a table of a version that this type neither is nor comes from by its migrations.
  /// - Throws: `SiloError.newerVersion`, `SiloError.unknownVersion`.
  package static func require(storedVersion stored: Int) throws {
    let (table, known) = (_canonical.name, _canonical.version)
    if stored == known { return }
    if stored > known {
      throw SiloError.newerVersion(table: table, stored: stored, known: known)
    }
    // A retained version is used by itself in tests, and has no steps of its own.
    if _newest != Self.self { return }
    let older = migrations.oldTypes.map { $0._canonical.version }
    if !older.contains(stored) {
      throw SiloError.unknownVersion(table: table, stored: stored, known: older.sorted() + [known])
    }
  }
}

extension Persistable {
  /// Why a value of this version could not be migrated.
  static func reason(of error: MigrationError) -> ValueMigrationError {
    if case .function(let reason as ValueMigrationError) = error.cause { return reason }
    return .failed(version, id: "in row \(error.rowid)", reason: error.description)
  }
}

extension Migrations {
  /// The migration of one retained version, as Dflat runs it.
  func migration<Old: Persistable>(
    from old: Old.Type, leavingOut leftOut: LeftOutObjects
  ) -> Migration<Canonical<Old>, Canonical<Value>> {
    Migration.several(from: Canonical<Old>.self, to: Canonical<Value>.self) { object in
      do {
        return try migrateAll(object.value()).map { Canonical($0) }
      } catch let error as ValueMigrationError {
        throw error
      } catch {
        throw MigrationFailure(object, error).reason
      }
    }
    .leavingOut(leftOut)
  }
}
