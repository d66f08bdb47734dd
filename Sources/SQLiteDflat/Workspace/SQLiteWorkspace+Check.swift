// Checking a whole file: its structure, its objects, and everything that follows from them.

import Dflat
import Platform
package import SQLiteAccess

extension SQLiteWorkspace {
  /// Checks the whole file, without changing anything.
  ///
  ///     let report = try await dflat.check(CheckOptions(of: Post.self, Author.self))
  ///     for finding in report.findings { print(finding, finding.advice) }
  ///     print(report.nextStep)
  ///
  /// It checks the structure of the file as SQLite does, each object against its checksum and its
  /// schema, its key and its references, all indexes against the objects, the dictionary, the marks
  /// that say which indexes are complete, and the schemas that the file keeps for tools. The types
  /// are those of `options`, and those that the workspace has used since it was opened. Of other
  /// objects only the form and the checksums are checked; the report names their tables.
  ///
  /// Transactions and queries go on meanwhile, in this program and in others. The check reads a
  /// single state, by a connection of its own: the log grows until it has ended, and with a long
  /// check beside many transactions that takes disk space. It takes about as long as SQLite's check
  /// of the structure and reading all objects. Memory is bounded, whatever the file has.
  ///
  /// - Parameter options: What is checked, and what is called with the progress.
  /// - Returns: What was found. A file that does not exist yet has no findings.
  /// - Throws: `StorageError` if the file cannot be opened or read for another reason than damage,
  ///   which is a finding; `CancellationError` soon after the task was cancelled;
  ///   `WorkspaceError.shutDown`. It can be called on any thread.
  public func check(_ options: CheckOptions = CheckOptions()) async throws -> CheckReport {
    let cancellation = CheckCancellation()
    return try await withTaskCancellationHandler {
      try Task.checkCancellation()
      return try await _core.accepted { [engine] in
        try engine.check(options, cancellation)
      }
    } onCancel: {
      cancellation.cancel()
    }
  }
}

/// Whether the task of a check was cancelled.
private final class CheckCancellation: Sendable {
  private let cancelled = Atomic<Bool>(false)

  func cancel() { cancelled.store(true, ordering: .relaxed) }

  var isCancelled: Bool { cancelled.load(ordering: .relaxed) }
}

extension SQLiteEngine {
  fileprivate func check(
    _ options: CheckOptions, _ cancellation: CheckCancellation
  ) throws -> CheckReport {
    var schemas: [EntitySchema] = []
    for schema in options.schemas + usedSchemas where schema !== DictionaryItem.schema {
      if !schemas.contains(where: { $0 === schema }) { schemas.append(schema) }
    }
    return try withCheckingConnection { connection in
      do {
        let second = secondConnection(beside: connection)
        defer { try? second?.close() }
        return try connection.interrupting(every: 1000, when: { cancellation.isCancelled }) {
          guard let second else {
            return try FileCheck.report(on: connection, of: schemas, options)
          }
          return try second.interrupting(every: 1000, when: { cancellation.isCancelled }) {
            try FileCheck.report(on: connection, and: second, of: schemas, options)
          }
        }
      } catch let error as SQLiteError where error.isInterrupted && cancellation.isCancelled {
        throw CancellationError()
      }
    } ifDamaged: { finding in
      CheckReport(
        findings: [CheckFinding(finding, isTrusted: false)], isCut: false, checkedTypes: [],
        uncheckedTables: [])
    } orMissing: {
      CheckReport(findings: [], isCut: false, checkedTypes: [], uncheckedTables: [])
    }
  }
}

extension SQLiteEngine {
  /// Another connection for a check; nil if it is of no use, or cannot be opened now.
  private func secondConnection(beside connection: Connection) -> Connection? {
    if ScanSizes.processors < 2 || connection.isWithoutLocks { return nil }
    return try? Connection.openForReading(
      path: path, mayRepair: false,
      busyTimeoutMilliseconds: configuration.busyTimeoutMilliseconds)
  }
}

/// The check of a whole file, for workspaces and tools.
package enum FileCheck {
  /// - Parameters:
  ///   - connection: It is in no transaction.
  ///   - second: Another one to the same file, if there is one.
  ///   - schemas: The types that are known, without that of the dictionary.
  ///   - options: The limit, and what is called with the progress.
  /// - Throws: `SQLiteError`.
  package static func report(
    on connection: Connection, and second: Connection? = nil, of schemas: [EntitySchema],
    _ options: CheckOptions
  ) throws -> CheckReport {
    let limit = max(1, options.findingLimit)
    var check = IntegrityCheck(connection, limit, .everything, onProgress: options.onProgress)
    check.checksReferences = options.checksReferences
    check.second = second
    var unknown: [String] = []
    try check.run((schemas + [DictionaryItem.schema]).map { TableSQL($0) }) { check in
      try check.checkMarks()
      guard let tables = try check.storedTables() else { return }
      try check.checkSchemas(tables)
      let known = Set(schemas.map(\.table) + [DictionaryItem.schema.table])
      unknown = tables.mains.map(\.table).filter { !known.contains($0) }
      for table in unknown where !check.isFull { try check.checkUnknown(table) }
    }
    let findings = (check.findings + check.notes).prefix(limit).map {
      CheckFinding(
        $0, isTrusted: $0.table.map(check.trusted.contains) ?? false,
        meaning: $0.kind == .takenName ? $0.table.flatMap { check.takenNames[$0] } : nil)
    }
    return CheckReport(
      findings: findings, isCut: findings.count >= limit,
      checkedTypes: schemas.filter { check.checked.contains($0.table) }.map(\.layout.name),
      uncheckedTables: unknown)
  }
}
