// Reading several things in one state of the data, with errors thrown.

/// What `read` hands to its closure. It has a meaning only inside, on the closure's thread.
public final class ReadContext {
  private let core: WorkspaceCore
  fileprivate let scope = ContextScope()

  fileprivate init(_ core: WorkspaceCore) {
    self.core = core
  }

  /// Begins a query for the objects of a type.
  /// - Parameter type: The entity type.
  /// - Throws: `WorkspaceError` if the context is used too late.
  public func fetch<Element: Atom>(for type: Element.Type) throws -> ThrowingQueryBuilder<Element> {
    try scope.requireOpen()
    return ThrowingQueryBuilder(builder: QueryBuilder(core), scope: scope)
  }
}

extension Workspace {
  /// Calls `body` on this thread with one state of the data in view, that of its first fetch.
  ///
  ///     let (open, late) = try dflat.read { context in
  ///       try (context.fetch(for: Task.self).where(!Task.isDone),
  ///            context.fetch(for: Task.self).where(Task.due < now))
  ///     }
  ///
  /// Others go on writing meanwhile. Inside a transaction or snapshot of this workspace it joins that.
  ///
  /// - Parameter body: What to read.
  /// - Throws: What `body` throws; `WorkspaceError.shutDown`.
  public func read<R>(_ body: (ReadContext) throws -> R) throws -> R {
    try _core.read(body)
  }

  /// Calls `body` on a thread of the workspace's target queue, with one state of the data in view; see the other form.
  ///
  /// - Parameter body: What to read.
  /// - Throws: What `body` throws; `WorkspaceError.shutDown`.
  public func read<R: Sendable>(
    _ body: @escaping @Sendable (ReadContext) throws -> R
  ) async throws -> R {
    let core = _core
    return try await withCheckedThrowingContinuation { continuation in
      core.lanes.run { continuation.resume(with: Result { try core.read(body) }) }
    }
  }
}

extension WorkspaceCore {
  fileprivate func read<R>(_ body: (ReadContext) throws -> R) throws -> R {
    if !canRead { throw WorkspaceError.shutDown }
    let context = ReadContext(self)
    defer { context.scope.close() }
    return try fetchWithinASnapshot { () throws -> R in try body(context) }
  }
}
