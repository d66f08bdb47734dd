// Checking a file: its pages, its rows against their schemas, its indexes against the rows.

import Dflat
import Platform
import SQLiteAccess
import SQLiteDflat

extension DataFile {
  /// Checks the whole file without changing anything, beside running programs: SQLite's own
  /// structures, each object against its schema, the key columns, all kinds of indexes, references,
  /// the dictionary, and the schemas that the file keeps.
  ///
  /// It reads the whole file, several times for types with indexes.
  /// - Parameter limit: How many findings are reported at most.
  /// - Throws: ``ToolError`` if the file cannot be read.
  public func check(limit: Int = 100) throws -> CheckReport {
    let entities = types.compactMap(\.entity)
    return try withToolErrors {
      var findings = try workspace.inspectIntegrity(
        of: entities + [DictionaryItem.schema], limit: limit
      ).map { CheckFinding($0) }
      findings += try workspace.inspect { try Self.damagedSchemas($0) }
      // What cannot be read is reported already.
      if !findings.contains(where: { $0.severity == .damage }) {
        for entity in entities where !entity.references.isEmpty && findings.count < limit {
          try workspace.danglingReferences(of: entity) { reference in
            guard findings.count < limit else { return }
            findings.append(CheckFinding(reference, in: entity.table))
          }
        }
      }
      let order = CheckFinding.Severity.allCases
      let sorted = order.flatMap { severity in findings.filter { $0.severity == severity } }
      return CheckReport(
        findings: Array(sorted.prefix(limit)), isCut: sorted.count >= limit,
        checkedTypes: types.filter { $0.entity != nil }.map(\.name),
        uncheckedTables: types.filter { $0.entity == nil }.map(\.table))
    }
  }

  private static func damagedSchemas(_ connection: Connection) throws -> [CheckFinding] {
    try StoredTables(connection).schemas.sorted { $0.key < $1.key }.flatMap { table, kept in
      kept.compactMap { schema -> CheckFinding? in
        if SHA256.hexadecimal(schema.bytes) == schema.digest,
          (try? BinarySchema(bytes: schema.bytes)) != nil
        {
          return nil
        }
        return CheckFinding(
          kind: "damagedSchema", severity: .note, table: "dflat_schemas", row: nil,
          message: "the schema of \(table) with the digest \(schema.digest) is damaged",
          advice: "delete the row from dflat_schemas: a program that writes adds it again")
      }
    }
  }
}

extension CheckFinding {
  init(_ finding: IntegrityFinding) {
    let (severity, advice) = Self.meaning(of: finding.kind)
    self.init(
      kind: finding.kind.rawValue, severity: severity, table: finding.table, row: finding.rowid,
      message: finding.message, advice: advice)
  }

  init(_ reference: DanglingReference, in table: String) {
    self.init(
      kind: IntegrityFinding.Kind.danglingReference.rawValue, severity: .note, table: table,
      row: reference.id, message: reference.description,
      advice: "nothing forbids it: look whether the program means it")
  }

  private static func meaning(of kind: IntegrityFinding.Kind) -> (Severity, String) {
    switch kind {
    case .damagedFile:
      (.damage, "save what can be read with 'dflat repair', and restore a backup")
    case .damagedRow:
      (.damage, "delete the row by its row id, and store the object again from a backup")
    case .wrongKey: (.damage, "update the object in a program, which writes its key again")
    case .wrongWords: (.repairable, "drop the table of the words: the next search builds it again")
    case .damagedIndex:
      (.repairable, "do nothing: the next transaction of the type creates the index again")
    case .danglingReference: (.note, "nothing forbids it: look whether the program means it")
    default: (.repairable, "do nothing: the next query that uses the index repairs it")
    }
  }
}
