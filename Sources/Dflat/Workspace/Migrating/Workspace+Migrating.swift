// Migrating, as programs call it.

extension Workspace {
  /// Migrates all objects, and waits until that is done.
  ///
  ///     try await dflat.migrate(migration)
  ///
  /// It goes on in steps. Each is a transaction of its own, which takes its place in the lines of both types when the one before
  /// it is committed: transactions that are called meanwhile run in between, and a process that ends loses nothing but the step that it
  /// was in. Called again, it goes on where the file says. Nothing is migrated twice, also if several processes do it.
  ///
  /// From this call on the new type is complete, see ``migrateWhenUsed(_:)``.
  ///
  /// - Parameters:
  ///   - migration: What becomes of the old objects.
  ///   - step: How many objects a transaction migrates at most. While it does nobody else writes.
  /// - Throws: `MigrationError` for an object that could not be migrated: those before it are, it and those behind it are not.
  ///   `StorageError`; `WorkspaceError.shutDown`; `CancellationError` if the task is cancelled, which does not stop the migration.
  public func migrate<Old: Atom, New: Atom>(
    _ migration: Migration<Old, New>, step: Int = 500
  ) async throws {
    for try await _ in migrationProgress(migration, step: step) {}
    try Task.checkCancellation()
  }

  /// Migrates all objects, and tells how far each step has come; it ends when nothing is left. See ``migrate(_:step:)``.
  ///
  /// - Parameters:
  ///   - migration: What becomes of the old objects.
  ///   - step: How many objects a transaction migrates at most.
  /// - Returns: A sequence that throws what `migrate` throws. Ending it early does not stop the migration.
  public func migrationProgress<Old: Atom, New: Atom>(
    _ migration: Migration<Old, New>, step: Int = 500
  ) -> AsyncThrowingStream<MigrationProgress, any Error> {
    require(step > 0, "migrate(_:step:) was called with a step of \(step) objects")
    let core = _core
    return AsyncThrowingStream { continuation in
      core.migrate(MigrationPlan(migration), step: step) { outcome in
        switch outcome {
        case .success(let progress):
          continuation.yield(progress)
          if progress.isFinished { continuation.finish() }
        case .failure(let error): continuation.finish(throwing: error)
        }
      }
    }
  }

  /// Migrates objects when their new type is used, for as long as this workspace lasts. Call it before the type is used.
  ///
  ///     let dflat = SQLiteWorkspace(filePath: path, configuration: configuration)
  ///     dflat.migrateWhenUsed(migration)
  ///
  /// Nothing is read or written by this call. From now on the new type is complete, whatever the file has:
  ///
  /// - Fetches find old objects as well, as their successors. Those are not stored yet: their `_rowid` is −1. Such a fetch calls the
  ///   function for each old object that is left, needs no right to write, and begins to migrate in steps, behind what waits. It
  ///   works with a workspace that only reads, too.
  /// - Before a transaction that names the new type begins, or a subscription to it, what is left is migrated in steps. So there all
  ///   objects are stored ones.
  /// - An object that cannot be migrated is left out of fetches, and told to the error hook. Transactions that look at the new type
  ///   fail with its `MigrationError` until the object was changed by a transaction that names the old type.
  ///
  /// Old objects that an older program stores later are migrated, too.
  ///
  /// - Parameter migration: What becomes of the old objects. Several migrations to one type add up; one from the same old type
  ///   takes the place of the one before.
  public func migrateWhenUsed<Old: Atom, New: Atom>(_ migration: Migration<Old, New>) {
    _core.migrations.add(MigrationPlan(migration), step: nil)
  }
}
