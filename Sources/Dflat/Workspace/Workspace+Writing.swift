// Transactions that return what they made and throw what went wrong.

import Synchronization

extension Workspace {
  /// Runs a transaction over these types and returns what `body` returns, when it is committed.
  ///
  ///     let post = try await dflat.write(Post.self, Tag.self) { txn in
  ///       try txn.upsert(Tag(name: "swift"))
  ///       return try txn.insert(Post(title: "first"))
  ///     }
  ///
  /// Transactions that share a type run one after another, in the order of the calls; see `performChanges`, beside which this may
  /// be used freely.
  ///
  /// An error that leaves `body` undoes everything and is rethrown. A task that is cancelled before the commit undoes everything,
  /// too, with `CancellationError`. If another connection has changed what `body` had read before its first change, `body` runs
  /// again, from the beginning: apart from the transaction it should have no effects.
  ///
  /// - Parameters:
  ///   - types: The entity types that `body` fetches or changes.
  ///   - attempts: How often `body` runs at most because of changes by other connections.
  ///   - body: The transaction, on a thread of the workspace's target queue.
  /// - Returns: What `body` returns.
  /// - Throws: What `body` throws; `StorageError`, with `.conflict` after the last attempt, if it could not be committed;
  ///   `WorkspaceError`; `CancellationError`.
  public func write<each Element: Atom, R: Sendable>(
    _ types: repeat (each Element).Type, attempts: Int = 8,
    body: @escaping @Sendable (WriteContext) throws -> R
  ) async throws -> R {
    var schemas: TypeSet = []
    for type in repeat each types { schemas.insert(type._schema) }
    return try await _core.write(schemas, attempts, body)
  }
}

extension WorkspaceCore {
  fileprivate func write<R: Sendable>(
    _ types: TypeSet, _ attempts: Int,
    _ body: @escaping @Sendable (WriteContext) throws -> R
  ) async throws -> R {
    require(attempts > 0, "write(_:attempts:body:) was called with \(attempts) attempts")
    if types.isEmpty { throw WorkspaceError.noTypes }
    if let outer = RunningWrite.current, outer.contains(types, of: self) {
      throw WorkspaceError.nestedWrite
    }
    for _ in 1..<attempts {
      do { return try await writeOnce(types, body) } catch let error as StorageError
        where error.cause == .conflict
      {
        try Task.checkCancellation()
      }
    }
    return try await writeOnce(types, body)
  }

  private func writeOnce<R: Sendable>(
    _ types: TypeSet, _ body: @escaping @Sendable (WriteContext) throws -> R
  ) async throws -> R {
    let running = RunningWrite(self, types)
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let result = Made<R>()
        let isAccepted = enqueue(types, reportsFailures: false) { transaction in
          if running.isCancelled { return transaction.fail(CancellationError()) }
          let context = WriteContext(transaction)
          RunningWrite.$current.withValue(running) {
            do { result.value = try body(context) } catch { transaction.fail(error) }
          }
          context.scope.close()
          running.end()
          if running.isCancelled { transaction.fail(CancellationError()) }
        } _: { failure in
          if let failure { return continuation.resume(throwing: failure) }
          guard let value = result.value else {
            preconditionFailure("a transaction was committed that has made nothing")
          }
          continuation.resume(returning: value)
        }
        if !isAccepted { continuation.resume(throwing: WorkspaceError.shutDown) }
      }
    } onCancel: {
      running.cancel()
    }
  }
}

/// What a transaction's body has made.
///
/// Unchecked: the completion, which reads it, comes after the body.
private final class Made<R: Sendable>: @unchecked Sendable {
  var value: R?
}

/// A transaction whose closure runs, as tasks that begin in it see it.
final class RunningWrite: Sendable {
  @TaskLocal static var current: RunningWrite?

  private let core: WorkspaceCore
  private let types: TypeSet
  private let hasEnded = Atomic(false)
  private let cancelled = Atomic(false)

  fileprivate init(_ core: WorkspaceCore, _ types: TypeSet) {
    self.core = core
    self.types = types
  }

  /// Whether a transaction would wait for this one.
  fileprivate func contains(_ types: TypeSet, of core: WorkspaceCore) -> Bool {
    core === self.core && !hasEnded.load(ordering: .acquiring)
      && !types.isDisjoint(with: self.types)
  }

  var isCancelled: Bool { cancelled.load(ordering: .acquiring) }

  fileprivate func end() { hasEnded.store(true, ordering: .releasing) }

  fileprivate func cancel() { cancelled.store(true, ordering: .releasing) }
}
