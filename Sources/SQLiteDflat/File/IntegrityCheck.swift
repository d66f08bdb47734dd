// IntegrityCheck: reads a whole file and compares its parts, in one state.
//
//  - SQLite's own check covers pages, b-trees, and SQLite's indexes;
//  - each object is verified against its schema, and its key columns against the object;
//  - a side table must have, up to its greatest row id, a row with the right values for each
//    object, and no other row. A side table that is missing or ends earlier is not built yet;
//  - a full-text table must have the words of each object; see IntegrityCheck+FullText.swift;
//  - a table of elements must have those of each object; see IntegrityCheck+Elements.swift.
//
// It has a connection of its own, so a long check takes no reader away from queries.

import Dflat
import SQLiteAccess

extension SQLiteEngine: IntegrityCheckingStorageEngine {
  func checkIntegrity(of schemas: [EntitySchema], limit: Int) throws -> [IntegrityFinding] {
    try withStorageErrors {
      let connection: Connection
      do {
        connection = try Connection.openForReading(
          path: path, mayRepair: !configuration.isReadOnly,
          busyTimeoutMilliseconds: configuration.busyTimeoutMilliseconds)
      } catch let error as SQLiteError where error.isNoSuchFile {
        if configuration.isReadOnly { throw error }
        return []
      } catch let error as SQLiteError where error.isCorrupt {
        return [IntegrityFinding(.damagedFile, message: error.message)]
      }
      defer { try? connection.close() }
      var check = IntegrityCheck(connection, limit)
      try check.run(schemas.map { sql(for: $0) })
      return check.findings
    }
  }
}

struct IntegrityCheck {
  let connection: Connection
  private let limit: Int
  /// For how many objects the words are compared at once; some 40 bytes of memory each.
  let rowsAtOnce: Int
  private(set) var findings: [IntegrityFinding] = []

  init(_ connection: Connection, _ limit: Int, rowsAtOnce: Int = 1 << 20) {
    self.connection = connection
    self.limit = limit
    self.rowsAtOnce = rowsAtOnce
  }

  mutating func run(_ tables: [TableSQL]) throws {
    do { try connection.begin(.deferred) } catch {
      return try addDamage(error, table: nil)
    }
    defer { if connection.isInTransaction { try? connection.rollback() } }
    try checkFile()
    for table in tables {
      if isFull { return }
      guard try exists(table.table) else { continue }
      try noting(table.table) { try $0.checkObjects(table) }
      for side in table.sides where !isFull {
        try noting(side.table) { try $0.check(side, of: table) }
      }
      if let fullText = table.fullText, !isFull, try exists(fullText.table) {
        try checkWords(of: fullText, table)
      }
      for elements in table.elements where !isFull {
        try noting(elements.table) { try $0.checkElements(of: elements, table) }
      }
    }
  }

  var isFull: Bool { findings.count >= limit }

  mutating func add(_ finding: IntegrityFinding) {
    if !isFull { findings.append(finding) }
  }

  /// Records damage that ends the reading of a table.
  private mutating func noting(
    _ table: String, _ body: (inout IntegrityCheck) throws -> Void
  ) throws {
    do { try body(&self) } catch let error as SQLiteError {
      try addDamage(error, table: table)
    }
  }

  private mutating func addDamage(_ error: SQLiteError, table: String?) throws {
    guard error.isCorrupt else { throw error }
    add(IntegrityFinding(.damagedFile, table: table, message: error.message))
  }

  private func exists(_ table: String) throws -> Bool {
    do {
      let statement = try connection.statement(
        "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?")
      try statement.bind(1, table)
      return try statement.step()
    } catch  where error.isCorrupt {
      return false
    }
  }

  private mutating func checkFile() throws {
    do {
      let lines = try connection.statement("PRAGMA main.integrity_check(\(limit))")
      while try lines.step() {
        let line = lines.string(0) ?? ""
        if line != "ok" { add(IntegrityFinding(.damagedFile, message: line)) }
      }
    } catch {
      try addDamage(error, table: nil)
    }
  }

  private mutating func checkObjects(_ table: TableSQL) throws {
    let schema = table.schema
    let keys = schema.primaryKey.compactMap { schema.column(named: $0.path) }
    let columns = table.keyColumns.map { ", \($0)" }.joined()
    let rows = try connection.statement(
      "SELECT rowid, p\(columns) FROM \(table.quoted) ORDER BY rowid")
    while try rows.step(), !isFull {
      let bytes = rows.object(1)
      do { try schema.layout.verify(bytes) } catch {
        add(
          IntegrityFinding(
            .damagedRow, table: table.table, rowid: rows.int64(0), message: error.storedReason))
        continue
      }
      let values = SideValues(keys, in: bytes)
      if rows.holds(values, from: 2) { continue }
      let key = values.row.map { schema.describeKey(of: $0) } ?? ""
      add(
        IntegrityFinding(
          .wrongKey, table: table.table, rowid: rows.int64(0),
          message: "the key columns are not the object's key, \(key)"))
    }
  }

  private mutating func check(_ side: SideTable, of table: TableSQL) throws {
    guard try side.hasShape(on: connection) else {
      return add(
        IntegrityFinding(
          .damagedIndex, table: side.table,
          message: "the index of \(side.name) has other columns than an index has"))
    }
    guard let readers = side.readers,
      let extent = try IndexExtent.read(of: side, connection), let last = extent.side
    else { return }
    let values = side.columns.map { ", s.\($0.quoted)" }.joined()
    let rows = try connection.statement(
      "SELECT m.rowid, m.p, s.rowid\(values) FROM \(table.quoted) AS m "
        + "LEFT JOIN \(side.table.quoted) AS s ON s.rowid = m.rowid "
        + "WHERE m.rowid <= ? ORDER BY m.rowid")
    try rows.bind(1, last)
    while try rows.step(), !isFull {
      let bytes = rows.object(1)
      if rows.isNull(2) {
        add(
          IntegrityFinding(
            .missingIndexRow, table: side.table, rowid: rows.int64(0),
            message: "the index of \(side.name) lacks the object"))
        continue
      }
      let values = SideValues(readers, in: bytes)
      if rows.holds(values, from: 3) || table.schema.isDamaged(bytes) { continue }
      add(
        IntegrityFinding(
          .wrongIndexRow, table: side.table, rowid: rows.int64(0),
          message: "the index has another value than the object, which has "
            + (values.row.map { side.describe($0) } ?? side.name)))
    }
    let orphans = try connection.statement(
      "SELECT s.rowid FROM \(side.table.quoted) AS s LEFT JOIN \(table.quoted) AS m "
        + "ON m.rowid = s.rowid WHERE m.rowid IS NULL")
    while try orphans.step(), !isFull {
      add(
        IntegrityFinding(
          .orphanIndexRow, table: side.table, rowid: orphans.int64(0),
          message: "the index of \(side.name) has a row without an object"))
    }
  }
}
