// The public API of copies from one workspace to another.

extension Workspace {
  /// Copies objects, and all dictionaries, to another workspace, of any engine.
  ///
  ///     let report = try await file.copy(Post.self, Author.self, to: server)
  ///
  /// The source is not changed, and transactions and queries go on there. One state of it is copied
  /// first, in portions; then what was changed since, until little is left. Then everything is
  /// compared, by numbers and digests, and the last changes are copied while transactions of these
  /// types, and all other writes to the source, wait for a moment. So the target has all
  /// transactions of the source that were called before that moment, and none that were called
  /// later.
  ///
  /// A program that goes on with the target does that in `switchOver`:
  ///
  ///     try await file.copy(Post.self, Author.self, to: server, switchOver: { app.use(server) })
  ///
  /// Transactions of the source that waited run after it, and are stored in the source only.
  ///
  /// Objects keep their bytes, with fields that only a newer schema knows, and their row ids, so
  /// their order. The target builds its own indexes. Objects of types that are not named stay
  /// behind. The target must have no objects of these types and no values in dictionaries, and
  /// only the copy may write to it. A type that is migrated when it is used is copied as it is
  /// stored; name its old type, too.
  ///
  /// A copy that was cancelled or has failed, or whose process has ended, is continued by calling
  /// it again. What is there is compared with the source, and is not stored again.
  ///
  /// Memory does not depend on the number of objects.
  ///
  /// A server cannot exclude other programs at the end of the copy: stop those that write to the
  /// source first. Otherwise the target has what they had committed when the copy ended, and if
  /// they commit all the time, the copy ends with ``CopyError/sourceKeepsChanging``.
  ///
  /// - Parameters:
  ///   - types: The entity types. All that have references to each other should be named.
  ///   - target: The other workspace.
  ///   - progress: Called after each portion, on a thread of the copy.
  ///   - switchOver: Called when the target has everything, while transactions of these types wait.
  ///     It must not wait for the source. If it throws, so does the copy, and another call
  ///     continues it.
  /// - Returns: What was copied.
  /// - Throws: ``CopyError``; `CancellationError`; the error of `switchOver`; `StorageError`;
  ///   `WorkspaceError.shutDown` if one of the two is shut down.
  @discardableResult
  public func copy<each Element: Atom>(
    _ types: repeat (each Element).Type, to target: any Workspace,
    progress: (@Sendable (CopyProgress) -> Void)? = nil,
    switchOver: (@Sendable () throws -> Void)? = nil
  ) async throws -> CopyReport {
    var schemas: [EntitySchema] = []
    for type in repeat each types { schemas.append(type._schema) }
    return try await _core.copy(schemas, to: target._core, progress, switchOver)
  }

  /// Copies objects of types that are known only when the program runs; see `copy` with a list of
  /// types.
  ///
  /// - Parameters:
  ///   - types: The entity types.
  ///   - target: The other workspace.
  ///   - progress: Called after each portion, on a thread of the copy.
  ///   - switchOver: Called when the target has everything, while transactions of these types wait.
  /// - Returns: What was copied.
  /// - Throws: The same errors as `copy` with a list of types.
  @discardableResult
  public func copy(
    types: [any Atom.Type], to target: any Workspace,
    progress: (@Sendable (CopyProgress) -> Void)? = nil,
    switchOver: (@Sendable () throws -> Void)? = nil
  ) async throws -> CopyReport {
    try await _core.copy(types.map { $0._schema }, to: target._core, progress, switchOver)
  }
}

extension WorkspaceCore {
  fileprivate func copy(
    _ schemas: [EntitySchema], to target: WorkspaceCore,
    _ progress: (@Sendable (CopyProgress) -> Void)?, _ switchOver: (@Sendable () throws -> Void)?
  ) async throws -> CopyReport {
    try Task.checkCancellation()
    if self === target { throw CopyError.ontoItself }
    var tables: [EntitySchema] = []
    for schema in schemas where !tables.contains(where: { $0 === schema }) {
      if tables.contains(where: { $0.table == schema.table }) {
        throw CopyError.sameTable(schema.table)
      }
      tables.append(schema)
    }
    if tables.isEmpty { throw CopyError.noTypes }
    let cancellation = CopyCancellation()
    let all = tables
    return try await withTaskCancellationHandler {
      try await accepted {
        // The target must not be closed meanwhile either.
        guard target.acceptUnlessClosed() else { throw WorkspaceError.shutDown }
        defer { target.endAccepted() }
        return try WorkspaceCopy(self, target, all, cancellation, progress).run(switchOver)
      }
    } onCancel: {
      cancellation.cancel()
    }
  }
}
