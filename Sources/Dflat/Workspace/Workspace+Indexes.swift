// Waiting for indexes, and watching how they are built.

import Platform

extension Workspace {
  /// Builds the indexes of a type, as a query that mentions one does, and waits until they are complete.
  ///
  /// Queries are right in any case: this is for programs that want them fast before they go on, after an index was added for
  /// example. Transactions go on meanwhile, between the steps of the build.
  ///
  /// - Parameter type: The entity type.
  /// - Throws: `StorageError`, with `.alreadyExists` if stored objects have equal values of a field that has become unique: what
  ///   can be complete is, then. `WorkspaceError.shutDown`; `CancellationError` if the task is cancelled, which does not stop
  ///   the build.
  public func indexesReady<Element: Atom>(for type: Element.Type) async throws {
    for try await progress in indexProgress(for: type) where !progress.blocked.isEmpty {
      if progress.isFinished {
        throw StorageError(
          .alreadyExists, table: progress.blocked.joined(separator: ", "),
          message: "stored objects have equal values of a field that has become unique; "
            + "the error hook was told which")
      }
    }
    try Task.checkCancellation()
  }

  /// Builds the indexes of a type, and tells how far each step has come; it ends when they are complete, or no more can be done.
  ///
  /// - Parameter type: The entity type.
  /// - Returns: A sequence that throws `StorageError` or `WorkspaceError.shutDown`. Ending it early does not stop the build.
  public func indexProgress<Element: Atom>(
    for type: Element.Type
  ) -> AsyncThrowingStream<IndexProgress, any Error> {
    let core = _core
    return AsyncThrowingStream { continuation in
      core.buildIndexes(of: type._schema) { outcome in
        switch outcome {
        case .success(let progress):
          continuation.yield(progress)
          if progress.isFinished { continuation.finish() }
        case .failure(let error): continuation.finish(throwing: error)
        }
      }
    }
  }
}
