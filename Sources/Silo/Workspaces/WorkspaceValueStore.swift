// WorkspaceValueStore: values in a workspace, as rows of their entity.

public import Dflat

/// Keeps values in a workspace: a SQLite file, memory, a server.
///
///     let dflat = SQLiteWorkspace(filePath: path)
///     let store = WorkspaceValueStore<Task>(dflat)
public struct WorkspaceValueStore<Value: Persistable>: ValueStore {
  private let workspaceDomain: WorkspaceDomain

  /// The stores in the same workspace.
  public var domain: any StoreDomain { workspaceDomain }

  /// A store in a workspace. Several stores in one workspace can be changed in one transaction.
  public init(_ workspace: any Workspace) {
    workspaceDomain = WorkspaceDomains.domain(of: workspace)
    workspaceDomain.versions.order.add(Value.self)
  }

  private var workspace: any Workspace { workspaceDomain.workspace }

  private func prepare() async throws {
    try await workspaceDomain.versions.prepare(Value.self, in: workspace)
  }

  /// The values with some ids, in the order of the ids.
  public func load(_ ids: [Value.ID]) async throws -> [Value] {
    // One value is read faster than another thread is reached.
    if ids.count <= 1 {
      try await prepare()
      return try readHere { try $0.stored(Value.self, ids) }
    }
    return try await read { try $0.stored(Value.self, ids) }
  }

  /// The values of a query.
  public func values(_ query: ValueQuery<Value>) async throws -> [Value] {
    try await read { context in
      try Value._values(context.query(query).scan)
    }
  }

  /// How many values a query has.
  public func count(_ query: ValueQuery<Value>) async throws -> Int {
    try await read { try $0.query(query).count() }
  }

  private func read<R: Sendable>(
    _ body: @escaping @Sendable (ReadContext) throws -> R
  ) async throws -> R {
    try await prepare()
    let (versions, workspace) = (workspaceDomain.versions, workspace)
    return try await workspace.read { context in
      try versions.reading(Value.self, in: workspace, context, body)
    }
  }

  private func readHere<R>(_ body: (ReadContext) throws -> R) throws -> R {
    try workspace.read { context in
      try workspaceDomain.versions.reading(Value.self, in: workspace, context, body)
    }
  }

  /// The changes of a query's values, beginning at their present state.
  public func changes(_ query: ValueQuery<Value>) -> ValueChanges<Value> {
    let versions = workspaceDomain.versions
    let workspace = workspace
    do {
      try versions.check(Value.self, in: workspace)
      try readHere { _ in }
    } catch {
      return ValueChanges(failing: error) { workspace.errorHandler?($0) }
    }
    if Value.migrations.readTypes.isEmpty, versions.order.before(Value.self).isEmpty {
      versions.registerForWatching(Value.self, in: workspace)
    } else if !versions.isPrepared(Value.self) {
      // What is migrated enters then.
      Task { [self] in
        do { try await migrate(step: 500) } catch WorkspaceError.shutDown {
          // The program has ended what this is for.
        } catch ValueMigrationError.failed {
          // It was reported when it was found.
        } catch {
          if !versions.failures.deliver(error) { workspace.errorHandler?(error) }
        }
      }
    }
    let objects = workspace.fetch(for: Canonical<Value>.self)
    let limit: Limit = query.limit.map { .limit($0) } ?? .noLimit
    func fetch(
      _ condition: some QueryExpression<Bool, Canonical<Value>>
    ) -> FetchedResult<Canonical<Value>> {
      objects.where(condition, limit: limit, orderBy: query.order)
    }
    let start =
      query.condition.map { fetch($0) } ?? objects.all(limit: limit, orderBy: query.order)
    let states = workspace.subscribe(fetchedResult: start, bufferingPolicy: .unbounded)
    return ValueChanges(from: start, states) { workspace.errorHandler?($0) }
  }

  /// Calls a handler with the ids of values that have changed.
  public func subscribe(
    changedIDs handler: @escaping @Sendable ([Value.ID]?) -> Void
  ) -> ValueSubscription {
    let subscription = workspace.subscribe(changedKeysOf: Canonical<Value>.self) { keys in
      let ids = keys.map { keys in keys.compactMap { Value.ID(_key: $0) } }
      // A key that is none of this type's belongs to no value.
      handler(ids)
    }
    return ValueSubscription { subscription.cancel() }
  }

  /// Migrates all values of retained versions.
  public func migrate(step: Int) async throws {
    try await prepare()
    // Another process may have moved the table on since the first use.
    try readHere { _ in }
    let versions = workspaceDomain.versions
    let migrations = Value.migrations
    // Those that read others were carried out before the first use, as far as they could.
    if !migrations.readTypes.isEmpty {
      let failures = try await versions.migrate(to: Value.self, size: step, in: workspace)
      if let failure = failures.first { throw failure }
      return
    }
    func leftOut<Old: Persistable>(_ old: Old.Type) -> LeftOutObjects {
      versions.leftOut(of: old, to: Value.self)
    }
    func migrate<Old: Persistable>(_ old: Old.Type) async throws {
      try await workspace.migrate(
        migrations.migration(from: old, leavingOut: leftOut(old)), step: step)
    }
    func failure<Old: Persistable>(_ old: Old.Type) -> ValueMigrationError? {
      leftOut(old).errors.first.map { old.reason(of: $0) }
    }
    // Those that could not be migrated are tried again.
    for old in migrations.oldTypes { leftOut(old).removeAll() }
    for old in migrations.oldTypes { try await migrate(old) }
    for old in migrations.oldTypes { if let failure = failure(old) { throw failure } }
  }
}
