// Checking a whole database: its layout, its objects, and everything that follows from them.

public import Dflat
import Platform

extension PostgresWorkspace {
  /// Checks the whole database, without changing anything.
  ///
  ///     let report = try await dflat.check(CheckOptions(of: Post.self, Author.self))
  ///     for finding in report.findings { print(finding, finding.advice) }
  ///     print(report.nextStep)
  ///
  /// It checks that the tables have the columns, keys, indexes and triggers that they were made
  /// with, each object against its schema, its key, its index columns and its references, which
  /// transactions have written the rows, and the log, the ledger and the schemas that the database
  /// keeps. The types are those of `options`, and those that the workspace has used since it was
  /// opened. Of other objects only the form is checked; the report names their tables. The server's
  /// own files are not checked: pg_amcheck and data checksums are for that.
  ///
  /// Transactions and queries go on meanwhile, in this program and in others. The check reads a
  /// single state, in portions, on a connection of its own: until it has ended, the server keeps
  /// what transactions replace or delete. Memory is bounded, whatever the database has. A role that
  /// may SELECT all tables is enough, and a standby is as good as the primary.
  ///
  /// - Parameter options: What is checked, and what is called with the progress.
  /// - Returns: What was found. A database in which nothing was stored has no findings.
  /// - Throws: `StorageError` without a connection, or without the right to read a table;
  ///   `CancellationError` soon after the task was cancelled; `WorkspaceError.shutDown`. It can be
  ///   called on any thread.
  public func check(_ options: CheckOptions = CheckOptions()) async throws -> CheckReport {
    let isCancelled = CheckCancellation()
    return try await withTaskCancellationHandler {
      try Task.checkCancellation()
      return try await _core.accepted { [engine] in
        try engine.check(
          options.schemas + engine.usedSchemas, options, isCancelled: { isCancelled.value })
      }
    } onCancel: {
      isCancelled.set()
    }
  }

  /// The same on the calling thread, for tools.
  /// - Parameter isCancelled: Asked now and then; ends it with a `CancellationError`.
  package func check(
    _ schemas: [EntitySchema], _ options: CheckOptions, isCancelled: @escaping () -> Bool
  ) throws -> CheckReport {
    try engine.check(schemas, options, isCancelled: isCancelled)
  }
}

/// Whether the task of a check was cancelled.
private final class CheckCancellation: Sendable {
  private let cancelled = Atomic<Bool>(false)

  func set() { cancelled.store(true, ordering: .relaxed) }

  var value: Bool { cancelled.load(ordering: .relaxed) }
}

extension PostgresEngine {
  fileprivate func check(
    _ schemas: [EntitySchema], _ options: CheckOptions, isCancelled: @escaping () -> Bool
  ) throws -> CheckReport {
    var known: [EntitySchema] = []
    for schema in schemas where schema !== DictionaryItem.schema {
      if !known.contains(where: { $0.table == schema.table }) { known.append(schema) }
    }
    return try withStorageErrors {
      var check = ServerCheck(
        self, try connector.connect(.reading), options, isCancelled: isCancelled)
      return try check.run(known)
    }
  }
}

extension PostgresEngine: IntegrityCheckingStorageEngine {
  func checkIntegrity(of schemas: [EntitySchema], limit: Int) throws -> [IntegrityFinding] {
    var options = CheckOptions()
    options.findingLimit = limit
    options.checksReferences = false
    let report = try check(schemas, options, isCancelled: { false })
    return report.findings.filter { $0.severity == .damage }.map {
      IntegrityFinding($0.what, table: $0.table, rowid: $0.row, message: $0.message)
    }
  }
}
