// Files with tables of other programs: with texts in double quotes, collations and functions that
// only those programs have, and values that are not of their columns' types.

import CSQLite
import DflatTestSupport
import Foundation
import SQLiteAccess
import SQLiteDflat
import Testing

@testable import DflatTools

@Suite("Definitions of other programs")
struct ForeignDefinitionsTests {
  /// Calls `body` with a closed file of a post, and tables that `sql` makes.
  /// - Parameter knows: Whether the connection has the collation `my` and the function `twice`.
  private func withTables(
    _ sql: String, knows: Bool = false, _ body: (_ path: String) throws -> Void
  ) throws {
    let directory = try makeTemporaryDirectory()
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let file = TemporaryFile(path: "\(directory)/a.db")
    try file.store([post(1)])
    file.dflat.shutdown()
    let connection = try Connection(path: file.path)
    if knows { addDefinitions(to: connection) }
    connection.withHandle {
      csqlite_db_config_boolean($0, SQLITE_DBCONFIG_DQS_DDL, 1, nil)
      csqlite_db_config_boolean($0, SQLITE_DBCONFIG_DQS_DML, 1, nil)
    }
    try connection.execute(sql)
    try connection.checkpoint(.truncate)
    try connection.close()
    try body(file.path)
  }

  private func addDefinitions(to connection: Connection) {
    connection.withHandle { handle in
      // The longer text is the greater one, so that another order is noticed.
      let collation = sqlite3_create_collation_v2(
        handle, "my", SQLITE_UTF8, nil, { _, first, _, second, _ in first - second }, nil)
      let function = sqlite3_create_function_v2(
        handle, "twice", 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS, nil,
        { context, _, values in
          sqlite3_result_int64(context, 2 * sqlite3_value_int64(values?[0]))
        }, nil, nil, nil)
      #expect(collation == SQLITE_OK && function == SQLITE_OK)
    }
  }

  private static let collated =
    "CREATE TABLE w (name TEXT COLLATE my PRIMARY KEY, b) WITHOUT ROWID; "
    + "INSERT INTO w VALUES ('zz', 1), ('aaa', 2), ('bbbb', 3)"
  private static let computed =
    "CREATE TABLE w (a); CREATE INDEX i ON w (twice(a)); INSERT INTO w VALUES (1), (-4), (3)"

  private func backUp(_ path: String) throws -> String {
    let file = try DataFile.open(path)
    defer { file.close() }
    _ = try file.backup(to: path + ".copy")
    _ = try file.backup(into: path + ".backups")
    _ = try file.backup(into: path + ".backups")
    return path + ".copy"
  }

  @Test("A vacuum keeps definitions with texts in double quotes")
  func doubleQuotes() throws {
    let sql = #"CREATE TABLE n (a DEFAULT "x", b CHECK (b <> "y")); INSERT INTO n (b) VALUES (1)"#
    try withTables(sql) { path in
      _ = try DataFile.vacuum(path)
      let connection = try Connection(path: path)
      #expect(try connection.rows("SELECT a, b FROM n") == [["x", 1]])
      try connection.close()
    }
    try withTables(sql) { path in
      let file = TemporaryFile(path: path)
      file.dflat.shutdown(flags: .vacuum)
      #expect(file.errors.takeAll().isEmpty)
    }
  }

  @Test("A file with definitions of its program is backed up", arguments: [collated, computed])
  func backedUp(sql: String) throws {
    try withTables(sql, knows: true) { path in
      let copy = try Connection(path: try backUp(path))
      addDefinitions(to: copy)
      #expect(try copy.rows("SELECT * FROM w").count == 3)
      #expect(try copy.rows("PRAGMA integrity_check") == [["ok"]])
      try copy.close()
    }
  }

  @Test("It is checked as far as that is possible", arguments: [collated, computed])
  func checked(sql: String) throws {
    try withTables(sql, knows: true) { path in
      let report = try DataFile.check(path)
      #expect(report.findings.map(\.what) == [.uncheckedTable], "\(report.findings)")
      #expect(report.worst == .note && report.findings.first?.table == "w")
      #expect(report.checkedTypes == ["Post"])
      let missing = sql == Self.collated ? "the collation my" : "the function twice"
      let file = try DataFile.open(path)
      #expect(try file.incomparableTables() == ["w (\(missing))"])
      file.close()
      #expect(report.findings.first?.message.contains(missing) == true)
      #expect(report.nextStep.contains("program") && !report.nextStep.contains("sound"))
    }
  }

  @Test("Damaged pages of such a file are damage nevertheless", arguments: [collated, computed])
  func damaged(sql: String) throws {
    try withTables(sql, knows: true) { path in
      let connection = try Connection(path: path)
      let root = try #require(
        try connection.value("SELECT rootpage FROM sqlite_master WHERE name = 'w'")?.integer)
      let size = try #require(try connection.pragma("page_size")?.integer)
      try connection.close()
      let handle = try #require(FileHandle(forWritingAtPath: path))
      // Where its first cell is: in the header of the page.
      try handle.seek(toOffset: UInt64((root - 1) * size + 8))
      try handle.write(contentsOf: Data([0, 2]))
      try handle.close()
      #expect(try DataFile.check(path).worst == .damage)
      #expect(throws: ToolError.self) { try backUp(path) }
      #expect(!FileManager.default.fileExists(atPath: path + ".copy"))
    }
  }

  @Test("A vacuum says which definition it lacks", arguments: [collated, computed])
  func notVacuumed(sql: String) throws {
    try withTables(sql, knows: true) { path in
      let error = #expect(throws: ToolError.self) { try DataFile.vacuum(path) }
      #expect(error?.message.contains(sql == Self.collated ? "collation my" : "twice") == true)
      #expect(error?.advice?.contains("program") == true, "\(error as Any)")
      let names = try FileManager.default.contentsOfDirectory(
        atPath: URL(filePath: path).deletingLastPathComponent().path)
      #expect(names == ["a.db"])
      let connection = try Connection(path: path, mode: .readOnly)
      #expect(connection.headerSaysWAL)
      try connection.close()
    }
  }

  /// SQL that makes rows with a number in a column of texts.
  private func numbers(_ count: Int) -> String {
    "CREATE TABLE a (x); WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n "
      + "LIMIT \(count)) INSERT INTO a SELECT i FROM n; "
      + "ALTER TABLE a ADD COLUMN tt TEXT DEFAULT true"
  }

  @Test("Values that are not of their column's type are copied and noted", arguments: [1, 500])
  func values(count: Int) throws {
    try withTables(numbers(count)) { path in
      _ = try backUp(path)
      _ = try DataFile.vacuum(path)
      let report = try DataFile.check(path)
      #expect(report.worst == .note)
      #expect(report.findings.allSatisfy { $0.what == .oddValue }, "\(report.findings)")
    }
  }

  @Test("They do not hide damage")
  func hidden() throws {
    let index = "; CREATE TABLE z (b); INSERT INTO z VALUES (1), (2); CREATE INDEX zb ON z (b)"
    try withTables(numbers(500) + index) { path in
      let connection = try Connection(path: path)
      // Rows without entries in their index.
      try connection.execute(
        "PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = 'CREATE INDEX zb ON z (b) "
          + "WHERE b > 1' WHERE name = 'zb'")
      try connection.close()
      let writer = try Connection(path: path)
      try writer.execute("INSERT INTO z VALUES (0), (-1)")
      try writer.execute(
        "PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = 'CREATE INDEX zb ON z (b)' "
          + "WHERE name = 'zb'")
      try writer.close()
      #expect(try DataFile.check(path).worst == .damage)
      let error = #expect(throws: ToolError.self) { try backUp(path) }
      #expect(error?.message.contains("zb") == true, "\(error as Any)")
    }
  }
}
