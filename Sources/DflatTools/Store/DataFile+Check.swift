// Checking a file: the same check that programs have, with all types that the file knows.

import Dflat
import SQLiteAccess
public import SQLiteDflat

extension DataFile {
  /// Checks a whole file, as ``check(limit:until:_:)`` does. That SQLite refuses to open a file is a
  /// finding.
  ///
  /// - Parameters:
  ///   - path: The file. It must exist.
  ///   - schemas: As ``open(_:schemas:readerLimit:)`` takes them.
  ///   - limit: How many findings are reported at most.
  ///   - progress: Called now and then with how far it is.
  /// - Throws: ``ToolError`` if there is no such file, nothing in it looks like a database, it
  ///   cannot be read, or a schema has errors.
  public static func check(
    _ path: String, schemas: [String] = [], limit: Int = 100,
    _ progress: (@Sendable (CheckProgress) -> Void)? = nil
  ) throws -> CheckReport {
    try requireFile(path)
    let given = try schemas.map { try GivenSchema(path: $0) }
    return try withToolErrors {
      let file: DataFile
      do { file = try openStored(path, given) } catch let error as StorageError
        where error.cause == .corruptFile
      {
        let isCut = DamagedFile.endsInFirstPage(path)
        guard isCut || DamagedFile.hasPages(path) else { throw error }
        let finding = CheckFinding(
          what: .damagedFile, severity: .damage, table: nil, row: nil,
          message: "SQLite cannot open it: \(error.message)",
          advice: isCut
            ? "restore a backup: only the beginning of the file is left" : error.advice ?? "")
        return CheckReport(
          findings: [finding], isCut: false, checkedTypes: [], uncheckedTables: [])
      }
      defer { file.close() }
      return try file.check(limit: limit, progress)
    }
  }

  /// Checks the whole file without changing anything, beside running programs: SQLite's own
  /// structures, each object against its checksum and its schema, the key columns, all kinds of
  /// indexes, references, the dictionary, the marks of indexes, and the schemas that the file
  /// keeps.
  ///
  /// It reads one state of the file. Memory is bounded; see `SQLiteWorkspace.check(_:)`.
  /// - Parameters:
  ///   - limit: How many findings are reported at most.
  ///   - stop: Ends it soon, with an error; nil for nothing.
  ///   - progress: Called now and then with how far it is.
  /// - Throws: ``ToolError`` if the file cannot be read.
  public func check(
    limit: Int = 100, until stop: StopSignal? = nil,
    _ progress: (@Sendable (CheckProgress) -> Void)? = nil
  ) throws -> CheckReport {
    var options = CheckOptions()
    options.findingLimit = max(1, limit)
    options.onProgress = progress
    return try withToolErrors {
      try workspace.inspect(wholeFile: true) { connection in
        try connection.interrupting(every: 1000, when: { stop?.isGiven == true }) {
          let entities = types.compactMap(\.entity) + (try typesWithoutTable(connection))
          let report = try FileCheck.report(on: connection, of: entities, options)
          let status = FileStatus(path: path, isInWALMode: connection.headerSaysWAL)
          guard status.lacksLog, report.findings.isEmpty, try connection.hasNoTables() else {
            return report
          }
          let finding = CheckFinding(
            what: .damagedFile, severity: .note, table: nil, row: nil,
            message: FileStatus.missingLog, advice: FileStatus.missingLogAdvice)
          return CheckReport(
            findings: [finding], isCut: false, checkedTypes: [], uncheckedTables: [])
        }
      }
    }
  }

  /// The types of the schemas that are given, where something in the file that is not like their
  /// tables has the name: a view, or a table of another program.
  private func typesWithoutTable(_ connection: Connection) throws -> [EntitySchema] {
    let tables = Set(types.map(\.table))
    let found = try given.filter { schema in
      try !tables.contains(schema.table)
        && connection.value(
          "SELECT 1 FROM sqlite_master WHERE name = ? COLLATE NOCASE", [.text(schema.table)])
          != nil
    }
    return StoredType.all(given: found).compactMap(\.entity)
  }
}
