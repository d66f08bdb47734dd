// Tables that a program has beside its objects: a repair changes nothing of them that is sound.

import DflatTestSupport
import Foundation
import Platform
import SQLiteAccess
import SQLiteDflat
import Testing

@testable import DflatTools

@Suite("Repair of tables of programs")
struct ProgramTableTests {
  /// Statements, and a query that gives the same in both files.
  private static let cases: [(statements: [String], query: String)] = [
    // Names like those of indexes.
    (
      [
        "CREATE TABLE blog__post_v1_0__f98 (x, y)",
        "INSERT INTO blog__post_v1_0__f98 VALUES (1, 2)",
      ],
      "SELECT * FROM blog__post_v1_0__f98"
    ),
    (
      [
        "CREATE TABLE blog__post_v1_0__fulltext__mine (x)",
        "INSERT INTO blog__post_v1_0__fulltext__mine VALUES (1)",
      ],
      "SELECT * FROM blog__post_v1_0__fulltext__mine"
    ),
    (
      ["CREATE TABLE _dflat_notes (x)", "INSERT INTO _dflat_notes VALUES (1)"],
      "SELECT * FROM _dflat_notes"
    ),
    (
      [
        "CREATE TABLE sales__f2024 (x)", "CREATE INDEX index__sales__f2024 ON sales__f2024 (x)",
        "INSERT INTO sales__f2024 VALUES (1)",
      ], "SELECT * FROM sales__f2024"
    ),
    // Names that are the same to Swift, and not to SQLite.
    (
      [
        "CREATE TABLE caf\u{E9} (x)", "CREATE TABLE cafe\u{301} (x)",
        "INSERT INTO caf\u{E9} VALUES (1)", "INSERT INTO cafe\u{301} VALUES (2)",
      ],
      "SELECT (SELECT x FROM caf\u{E9}), (SELECT x FROM cafe\u{301})"
    ),
    // A key that is not the row id, and the smallest row id.
    (
      [
        "CREATE TABLE n (id INTEGER PRIMARY KEY DESC, b)",
        "INSERT INTO n VALUES (5, 'a'), (7, 'b')",
      ],
      "SELECT rowid, * FROM n ORDER BY rowid"
    ),
    (
      [
        "CREATE TABLE n (id INTEGER PRIMARY KEY, b)",
        "INSERT INTO n VALUES (-9223372036854775808, 'a'), (7, 'b')",
      ], "SELECT * FROM n ORDER BY id"
    ),
    // Copies of objects, and references to them.
    (
      [
        "CREATE TABLE history (id INTEGER PRIMARY KEY, a TEXT, b INTEGER, p BLOB)",
        "INSERT INTO history (a, b, p) SELECT __pk0, __pk1, p FROM blog__post_v1_0",
      ],
      "SELECT count(*), count(DISTINCT p) FROM history"
    ),
    (
      [
        "CREATE TABLE notes (id INTEGER PRIMARY KEY, post TEXT REFERENCES blog__post_v1_0(__pk0), b BLOB)",
        "INSERT INTO notes (post, b) VALUES ('1', 'text'), ('1', 'x'), ('2', x'000102')",
      ],
      "SELECT * FROM notes ORDER BY id"
    ),
    // Values of zeros.
    (
      ["CREATE TABLE n (a, b)", "INSERT INTO n VALUES (1, zeroblob(100000)), (2, zeroblob(5000))"],
      "SELECT a, length(b), typeof(b) FROM n ORDER BY a"
    ),
    // Triggers and views.
    (
      [
        "CREATE TABLE n (a)", "CREATE VIEW v AS SELECT a FROM n",
        "CREATE TRIGGER tr INSTEAD OF INSERT ON v BEGIN INSERT INTO n VALUES (new.a); END",
        "CREATE TRIGGER audit AFTER INSERT ON n BEGIN SELECT '_dflat_index'; END",
        "CREATE VIEW st AS SELECT 'UPDATE _dflat_index' AS a",
      ],
      "SELECT type, name, sql FROM sqlite_master WHERE type IN ('view', 'trigger') "
        + "AND name NOT GLOB '_dflat*' ORDER BY name"
    ),
    (
      ["PRAGMA user_version = 7", "PRAGMA application_id = -1234"],
      "SELECT * FROM pragma_user_version, pragma_application_id"
    ),
    (
      [
        "CREATE TABLE s (id INTEGER PRIMARY KEY AUTOINCREMENT)",
        "INSERT INTO s VALUES (5000000000000000000)", "DELETE FROM s",
      ],
      "SELECT seq FROM sqlite_sequence WHERE name = 's'"
    ),
    // Texts in double quotes, which this library's own statements may not have.
    (
      [
        "CREATE TABLE n (a DEFAULT 'x', b CHECK (b <> 'y'))", "INSERT INTO n (b) VALUES (1)",
        "PRAGMA writable_schema = ON",
        #"UPDATE sqlite_master SET sql = replace(sql, char(39), '"') WHERE name = 'n'"#,
      ], "SELECT sql FROM sqlite_master WHERE name = 'n'"
    ),
    // The name of the table of doubtful rows.
    (
      ["CREATE TABLE dflat_doubtful (a, b)", "INSERT INTO dflat_doubtful VALUES (1, 2)"],
      "SELECT * FROM dflat_doubtful"
    ),
  ]

  @Test("What is sound is the same in the new file", arguments: cases.indices)
  func same(index: Int) throws {
    let (statements, query) = Self.cases[index]
    let file = try ProgramFile(statements)
    let before = try file.rows(query, in: file.path)
    try file.repair()
    let after = try file.rows(query, in: file.saved)
    #expect(after == before && !after.isEmpty, "\(String(describing: file.report))")
    #expect(file.report?.isComplete == true, "\(String(describing: file.report))")
  }

  @Test("A table of plain SQL with the name of a type that is given stays what it is")
  func given() throws {
    let file = try ProgramFile([
      "CREATE TABLE note (id TEXT PRIMARY KEY, title TEXT)", "INSERT INTO note VALUES ('k', 't')",
    ])
    let schema = file.directory + "/note.fbs"
    try "table Note { id: string (primary); title: string; } root_type Note;".write(
      toFile: schema, atomically: true, encoding: .utf8)
    try file.repair(schemas: [schema])
    #expect(try file.rows("SELECT * FROM note", in: file.saved) == [[.text("k"), .text("t")]])
  }

  @Test("A statement that would make rows of its own is not run", .endsSometime)
  func endless() throws {
    let statement =
      "CREATE TABLE n AS WITH RECURSIVE s(v) AS "
      + "(SELECT 1 UNION ALL SELECT v + 1 FROM s) SELECT v FROM s"
    let file = try ProgramFile([
      "CREATE TABLE n (v)", "INSERT INTO n VALUES ('kept')", "PRAGMA writable_schema = ON",
      "UPDATE sqlite_master SET sql = '\(statement)' WHERE name = 'n'",
    ])
    try file.repair()
    #expect(file.report?.notCreated.first?.contains("rows of its own") == true)
    #expect(file.report?.isComplete == false)
  }

  @Test("A transaction that was interrupted is not in the new file")
  func rollbackJournal() throws {
    let file = try ProgramFile([
      "CREATE TABLE acc (id INTEGER PRIMARY KEY, amount, pad)",
      "INSERT INTO acc "
        + "WITH RECURSIVE s(v) AS (VALUES(1) UNION ALL SELECT v + 1 FROM s WHERE v < 500) "
        + "SELECT v, 100, hex(zeroblob(100)) FROM s",
    ])
    let interrupted = file.directory + "/interrupted.db"
    let connection = try Connection(path: file.path)
    try connection.execute("PRAGMA cache_size = 1")
    try connection.execute("BEGIN IMMEDIATE")
    try connection.execute("UPDATE acc SET amount = 999")
    try connection.execute("CREATE TABLE never (a)")
    try connection.execute("INSERT INTO never SELECT pad FROM acc")
    for suffix in ["", "-journal"] {
      try FileManager.default.copyItem(atPath: file.path + suffix, toPath: interrupted + suffix)
    }
    try connection.execute("ROLLBACK")
    try connection.close()
    // What the transaction has written is in the file.
    let written = try Data(contentsOf: URL(filePath: interrupted))
    #expect(try written != Data(contentsOf: URL(filePath: file.path)))
    let report = try Repair.runAndWait(from: interrupted, to: file.saved)
    #expect(report.isComplete, "\(report)")
    #expect(
      try file.rows("SELECT amount, count(*) FROM acc GROUP BY 1", in: file.saved)
        == [[.integer(100), .integer(500)]])
    #expect(
      try file.rows("SELECT 1 FROM sqlite_master WHERE name = 'never'", in: file.saved).isEmpty)
  }

  @Test(
    "The log of another file is not taken for one of the new file", arguments: ["-wal", "-journal"])
  func logOfAnother(suffix: String) throws {
    let file = try ProgramFile([])
    try Data("x".utf8).write(to: URL(filePath: file.saved + suffix))
    let error = #expect(throws: ToolError.self) { try file.repair() }
    #expect(error?.message.contains("saved.db\(suffix)") == true)
    #expect(!FileManager.default.fileExists(atPath: file.saved))
  }

  @Test("The new file can be read by nobody who cannot read the damaged one")
  func permissions() throws {
    let file = try ProgramFile([])
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
    try file.repair()
    let attributes = try FileManager.default.attributesOfItem(atPath: file.saved)
    #expect(attributes[.posixPermissions] as? Int == 0o600)
  }
}
