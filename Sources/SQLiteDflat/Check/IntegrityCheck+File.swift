// IntegrityCheck+File: what a file has beside types: the marks of its indexes, and the schemas that
// it keeps for tools.

import Dflat
import Platform
import SQLiteAccess

extension IntegrityCheck {
  /// Checks that the marks of indexes can be read.
  mutating func checkMarks() throws {
    try noting(IndexMarks.table) { check in
      guard try check.exists(IndexMarks.table) else { return }
      let columns = try check.connection.rows("PRAGMA table_info(\(IndexMarks.table))")
        .compactMap { $0[1].text }
      guard columns == ["side", "main", "absent", "verified"] else {
        return check.add(
          IntegrityFinding(
            .damagedMark, table: IndexMarks.table,
            message: "the table of the marks has other columns than it should have"))
      }
      let rows = try check.connection.statement(
        "SELECT side FROM \(IndexMarks.table) WHERE typeof(side) <> 'text' "
          + "OR typeof(main) <> 'text' OR typeof(verified) <> 'integer' "
          + "OR typeof(absent) NOT IN ('text', 'null')")
      while try rows.step(), !check.isFull {
        check.add(
          IntegrityFinding(
            .damagedMark, table: IndexMarks.table,
            message: "the mark of \(rows.string(0) ?? "a table without a name") is none"))
      }
    }
  }

  /// The tables of the file; nil if they cannot be read.
  mutating func storedTables() throws -> StoredTables? {
    var tables: StoredTables?
    try noting("sqlite_master") { tables = try StoredTables($0.connection) }
    return tables
  }

  /// Checks the schemas that the file keeps.
  mutating func checkSchemas(_ tables: StoredTables) throws {
    try noting(StoredSchemas.table) { try $0.checkFormOfSchemas() }
    for (table, kept) in tables.schemas.sorted(by: { $0.key < $1.key }) {
      for schema in kept {
        if schema.isWhole, (try? BinarySchema(bytes: schema.bytes)) != nil { continue }
        add(
          IntegrityFinding(
            .damagedSchema, table: StoredSchemas.table,
            message: "the schema of \(table) with the digest \(schema.digest) is damaged"))
      }
    }
  }

  /// Looks for schemas that are no bytes, and for a table with other columns.
  private mutating func checkFormOfSchemas() throws {
    guard try exists(StoredSchemas.table) else { return }
    guard let odd = try? connection.statement(StoredSchemas.findOdd) else {
      return addTaken(
        StoredSchemas.table, .note,
        (
          "a table of another program has the name of the table with the schemas, so the file "
            + "keeps none for tools",
          "rename it, if tools are to show the objects: ALTER TABLE \(StoredSchemas.table) "
            + "RENAME TO …"
        ))
    }
    while try odd.step(), !isFull {
      add(
        IntegrityFinding(
          .damagedSchema, table: StoredSchemas.table, rowid: odd.int64(0),
          message: "the schema of \(odd.string(1) ?? "a table without a name") is none"))
    }
  }
}
