// Waiting for indexes, and following their builds.

import Platform

extension Workspace {
  /// Builds the indexes of a type, as a query that uses one does, and waits until they are
  /// complete.
  ///
  /// Queries are correct without this: it is for programs that need them to be fast before they
  /// continue, for example after an index was added. Transactions run between the steps of the
  /// build. If other connections are in the way, such as a long snapshot on a server, it waits
  /// until they have ended.
  ///
  /// - Parameter type: The entity type.
  /// - Throws: `StorageError`, with `.alreadyExists` if stored objects have equal values of a field
  ///   that has become unique; all other indexes are complete then. With another cause if a server
  ///   does not create an index; the error hook gets this error, too. `WorkspaceError.shutDown`;
  ///   `CancellationError` if the task is cancelled, which does not stop the build.
  public func indexesReady<Element: Atom>(for type: Element.Type) async throws {
    for try await progress in indexProgress(for: type) where !progress.blocked.isEmpty {
      if progress.isFinished {
        throw progress.obstacle
          ?? StorageError(
            .alreadyExists, table: progress.blocked.joined(separator: ", "),
            message:
              "the index cannot be completed: stored objects have equal values of a field that "
              + "has become unique")
      }
    }
    try Task.checkCancellation()
  }

  /// Builds the indexes of a type, and reports the progress after each step. The sequence ends when
  /// they are complete, or nothing more can be built.
  ///
  /// - Parameter type: The entity type.
  /// - Returns: A sequence that throws `StorageError` or `WorkspaceError.shutDown`. Ending it early
  ///   does not stop the build.
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
