// Several reads from one snapshot, with errors thrown.

/// The context that `read` passes to its closure. It is valid only inside the closure, on its
/// thread.
public final class ReadContext {
  let core: WorkspaceCore
  let scope = ContextScope()

  fileprivate init(_ core: WorkspaceCore) {
    self.core = core
  }

  /// Begins a query for the objects of a type.
  /// - Parameter type: The entity type.
  /// - Throws: `WorkspaceError` if the context is used after its closure has ended.
  public func fetch<Element: Atom>(for type: Element.Type) throws -> ThrowingQueryBuilder<Element> {
    try scope.requireOpen()
    return ThrowingQueryBuilder(builder: QueryBuilder(core), scope: scope)
  }
}

extension Workspace {
  /// Calls `body` on this thread with a snapshot of the data, taken at its first fetch.
  ///
  ///     let (open, late) = try dflat.read { context in
  ///       try (context.fetch(for: Task.self).where(!Task.isDone),
  ///            context.fetch(for: Task.self).where(Task.due < now))
  ///     }
  ///
  /// Writers continue in the meantime. Inside a transaction or snapshot of this workspace, `body`
  /// uses that one's view.
  ///
  /// On a server, `body` may run again, from its beginning, so it should have no effects. The
  /// server can refuse what it has read beside other programs; the third time `body` waits for a
  /// state that the server cannot refuse. If the connection is lost, `body` runs again on another
  /// one, as often as the closure of `write` does after conflicts.
  ///
  /// - Parameter body: What to read.
  /// - Throws: The errors of `body`; `StorageError`; `WorkspaceError.shutDown`.
  public func read<R>(_ body: (ReadContext) throws -> R) throws -> R {
    try _core.read(body)
  }

  /// Calls `body` on a thread of the workspace's target queue, with a snapshot of the data; see the
  /// synchronous `read`.
  ///
  /// If the task is cancelled, queries end before their next row; on SQLite also while they look
  /// for it.
  ///
  /// - Parameter body: What to read.
  /// - Throws: The errors of `body`; `WorkspaceError.shutDown`; `CancellationError` if a query was
  ///   ended.
  public func read<R: Sendable>(
    _ body: @escaping @Sendable (ReadContext) throws -> R
  ) async throws -> R {
    let core = _core
    let interruption = ReadInterruption()
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        core.jobQueues.run {
          continuation.resume(
            with: Result { try interruption.during { try core.read(body) } })
        }
      }
    } onCancel: {
      interruption.cancel()
    }
  }
}

extension WorkspaceCore {
  fileprivate func read<R>(_ body: (ReadContext) throws -> R) throws -> R {
    if !canRead { throw WorkspaceError.shutDown }
    let context = ReadContext(self)
    defer { context.scope.close() }
    return try confirming { try body(context) }
  }
}
