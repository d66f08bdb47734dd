// Work on what is stored as a whole: checks, and maintenance between transactions.

import Dispatch

extension WorkspaceCore {
  /// Runs an engine's work while it has no open write transaction and none can begin, on a thread
  /// that may wait. For engines.
  /// - Throws: The errors of `body`; `WorkspaceError.shutDown`.
  package func betweenTransactions(_ body: @escaping @Sendable () throws -> Void) async throws {
    try await accepted { [coordinator] in
      var result: Result<Void, any Error>?
      coordinator.withoutOpenGroup { result = Result(catching: body) }
      try result?.get()
    }
  }

  /// Checks what is stored of some types; see `Workspace`.
  func checkIntegrity(of schemas: [EntitySchema], limit: Int) async throws -> [IntegrityFinding] {
    if limit < 1 { throw QueryError.emptyCheck(limit) }
    return try await accepted { [self] in
      var findings: [IntegrityFinding] = []
      if let engine = engine as? any IntegrityCheckingStorageEngine {
        findings = try engine.checkIntegrity(of: schemas + [DictionaryItem.schema], limit: limit)
      }
      for schema in schemas where !schema.references.isEmpty && findings.count < limit {
        do {
          try forEachDanglingReference(of: schema) { reference in
            findings.append(
              IntegrityFinding(
                .danglingReference, table: schema.table, rowid: reference.id,
                message: "\(reference)"))
            return findings.count < limit
          }
        } catch let error as StorageError where error.cause == .corruptFile {
          // What was found is not lost, and the engine may have found nothing wrong here.
          findings.append(
            IntegrityFinding(.damagedFile, table: schema.table, message: error.message))
        }
      }
      return findings
    }
  }

  /// Runs `body` on a thread that may wait. The engine stays open until it has ended.
  package func accepted<R: Sendable>(
    _ body: @escaping @Sendable () throws -> R
  ) async throws -> R {
    accepted.enter()
    defer { accepted.leave() }
    if transactions.isClosed { throw WorkspaceError.shutDown }
    return try await withCheckedThrowingContinuation { continuation in
      DispatchQueue.global().async { continuation.resume(with: Result(catching: body)) }
    }
  }
}

extension Workspace {
  /// Checks everything that is stored of some types, without changing anything.
  ///
  ///     for finding in try await dflat.checkIntegrity(of: Post.self, Tag.self) { print(finding) }
  ///
  /// It reads the storage itself, each object against its schema, keys and indexes against the
  /// objects, and the dictionaries, all of one state, and then the references of the objects. That
  /// takes as long as reading all of it; transactions and queries go on meanwhile. Indexes that are
  /// missing or not complete are no findings, since they are built when they are needed. Memory
  /// depends on the number of different keys in references.
  ///
  /// In an engine without stored data, such as the memory engine, only references are checked.
  /// - Parameters:
  ///   - types: The entity types.
  ///   - limit: The greatest number of findings, at least 1; the check ends when there are so many.
  /// - Returns: What was found; empty if everything is sound.
  /// - Throws: `StorageError` if the storage cannot be opened; `QueryError` for a limit below 1;
  ///   `WorkspaceError.shutDown`.
  public func checkIntegrity<each Element: Atom>(
    of types: repeat (each Element).Type, limit: Int = 1000
  ) async throws -> [IntegrityFinding] {
    var schemas: [EntitySchema] = []
    for type in repeat each types { schemas.append(type._schema) }
    return try await _core.checkIntegrity(of: schemas, limit: limit)
  }
}
