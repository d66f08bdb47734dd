// The public API of migrations.

extension Workspace {
  /// Migrates all objects, and waits until that is done.
  ///
  ///     try await dflat.migrate(migration)
  ///
  /// The migration runs in steps. Each step is a transaction of its own, which is queued for both
  /// types when the previous one is committed: transactions that are called in the meantime run in
  /// between, and a process that ends loses only the current step. A later call continues from the
  /// state of the file. No object is migrated twice, even if several processes run the migration.
  ///
  /// From this call on the new type is complete, see ``migrateWhenUsed(_:)``.
  ///
  /// - Parameters:
  ///   - migration: How to convert the old objects.
  ///   - step: The largest number of objects in one transaction. Mostly no other transaction can
  ///     write while it runs.
  /// - Throws: `MigrationError` for an object that could not be migrated: the objects before it are
  ///   migrated, it and those after it are not. `StorageError`; `WorkspaceError.shutDown`;
  ///   `CancellationError` if the task is cancelled, which does not stop the migration.
  public func migrate<Old: Atom, New: Atom>(
    _ migration: Migration<Old, New>, step: Int = 500
  ) async throws {
    for try await _ in migrationProgress(migration, step: step) {}
    try Task.checkCancellation()
  }

  /// Migrates all objects, and reports the progress after each step. The sequence ends when nothing
  /// is left. See ``migrate(_:step:)``.
  ///
  /// - Parameters:
  ///   - migration: How to convert the old objects.
  ///   - step: The largest number of objects in one transaction.
  /// - Returns: A sequence that throws the same errors as `migrate`. Ending it early does not stop
  ///   the migration.
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

  /// Migrates objects when their new type is used, as long as this workspace exists. Call it before
  /// the type is used.
  ///
  ///     let dflat = SQLiteWorkspace(filePath: path, configuration: configuration)
  ///     dflat.migrateWhenUsed(migration)
  ///
  /// This call reads and writes nothing. From now on the new type is complete, whatever the file
  /// contains:
  ///
  /// - Fetches also find old objects, converted to their successors. These are not stored yet:
  ///   their `_rowid` is −1. Such a fetch calls the function for each remaining old object, needs
  ///   no write lock, and starts a migration in steps, queued behind waiting transactions. It works
  ///   in a read-only workspace, too.
  /// - Before a transaction that names the new type begins, or a subscription to it, the remaining
  ///   objects are migrated in steps. So there all objects are stored ones.
  /// - An object that cannot be migrated is left out of fetches, and reported to the error hook.
  ///   Transactions that read the new type fail with its `MigrationError` until a transaction that
  ///   names the old type has changed the object.
  ///
  /// Old objects that an older program stores later are migrated, too.
  ///
  /// - Parameter migration: How to convert the old objects. Several migrations to one type add up;
  ///   one from the same old type replaces the previous one.
  public func migrateWhenUsed<Old: Atom, New: Atom>(_ migration: Migration<Old, New>) {
    _core.migrations.add(MigrationPlan(migration), step: nil)
  }
}
