// Checks of full-text tables against the objects.

import Dflat
import DflatTestSupport
import Foundation
import SQLiteAccess
import Testing

@testable import SQLiteDflat

@Suite("Checks of full-text tables")
struct FullTextIntegrityTests {
  private typealias Story = Tale.Story
  private let words =
    "tale__story_v1__fulltext__unicode61__x__f6__x__f8__x__f10__f4__x__f14__u1__f4__x__f16"

  private func store(_ count: Int32, in file: TemporaryFile) throws {
    try file.write([Story.self]) { txn in
      for id in 1...count {
        try txn.submit(
          Tale.StoryChangeRequest.creationRequest(
            Story(id: id, title: "hello n\(id)", body: id % 2 == 0 ? nil : "Über words", year: id)))
      }
    }
  }

  /// Removes the guards, so that changes to the table are not noticed.
  private func disarm(_ file: TemporaryFile) throws {
    let guards = try file.sqlite3(
      "SELECT group_concat('DROP TRIGGER \"' || name || '\";', ' ') FROM sqlite_master "
        + "WHERE type = 'trigger' AND name LIKE 'dflat_fulltext_%'")
    #expect(guards.contains("DROP TRIGGER"))
    try file.tamper(guards)
  }

  private func check(_ file: TemporaryFile, limit: Int = 1000) async throws -> [String] {
    try await file.dflat.checkIntegrity(of: Story.self, limit: limit).map {
      #expect($0.table == words)
      return "\($0.kind) \($0.rowid ?? 0)"
    }
  }

  /// Damage, and what the check finds.
  private var damages: [(sql: String, findings: [String])] {
    let table = "\"\(words)\""
    let remove = "INSERT INTO \(table) (\(table), rowid, f6, f8, f16) VALUES ('delete', "
    return [
      // Words that the object does not have, and has in other places.
      ("INSERT INTO \(table) (rowid, f6) VALUES (3, 'wrong')", ["wrongWords 3"]),
      (
        remove + "3, 'hello n3', 'Über words', 'carpe diem'); "
          + "INSERT INTO \(table) (rowid, f6, f8, f16) VALUES (3, 'n3 hello', 'Über words', "
          + "'carpe diem')", ["wrongWords 3"]
      ),
      (
        remove + "3, 'hello n3', 'Über words', 'carpe diem'); "
          + "INSERT INTO \(table) (rowid, f6, f8, f16) VALUES (3, 'Über words', 'hello n3', "
          + "'carpe diem')", ["wrongWords 3"]
      ),
      // Words that the object has, and the table lacks.
      (remove + "5, '', 'Über words', ''); ", ["missingIndexRow 5"]),
      (
        remove + "5, '', 'Über words', ''); INSERT INTO \"\(words)_docsize\" VALUES (5, x'00')",
        ["wrongWords 5"]
      ),
      ("DELETE FROM \"\(words)_docsize\" WHERE id = 5", ["missingIndexRow 5"]),
      ("INSERT INTO \(table) (rowid, f6) VALUES (1000, 'wrong')", ["orphanIndexRow 1000"]),
      (
        "INSERT INTO \(table) (rowid, f6) VALUES (-7, 'wrong'); "
          + "DELETE FROM \"\(words)_docsize\" WHERE id = -7", ["orphanIndexRow -7"]
      ),
      ("DELETE FROM tale__story_v1 WHERE rowid = 2", ["orphanIndexRow 2"]),
      (
        "UPDATE tale__story_v1 SET p = (SELECT p FROM tale__story_v1 WHERE rowid = 7) "
          + "WHERE rowid = 9", ["wrongWords 9"]
      ),
      (
        "DROP TABLE \(table); CREATE VIRTUAL TABLE \(table) USING fts5(x)", ["damagedIndex 0"]
      ),
      ("DROP TABLE \"\(words)_data\"", ["damagedIndex 0"]),
      ("DROP TABLE \"\(words)_docsize\"", ["damagedIndex 0"]),
      ("DELETE FROM \"\(words)_data\"", ["damagedIndex 0"]),
      // What is missing is not built yet.
      ("DROP TABLE \(table)", []),
      ("INSERT INTO \(table) (\(table)) VALUES ('delete-all')", []),
    ]
  }

  @Test(
    "Rows without words, words without a row, and wrong words are found", arguments: [true, false])
  func faults(isNoticed: Bool) async throws {
    for (sql, findings) in damages {
      try await withTemporaryFile { file in
        try store(9, in: file)
        #expect(try await check(file) == [])
        if !isNoticed { try disarm(file) }
        try file.tamper(sql)
        // Another program's changes of objects also leave wrong rows in side tables and keys.
        let found = try await file.dflat.checkIntegrity(of: Story.self).filter { $0.table == words }
        // Once the table is known to be wrong, it is looked at up to its greatest row. If nothing
        // is in it, it is not built yet.
        let isEmptied = sql.contains("delete-all")
        let expected = isEmptied && !isNoticed ? (1...9).map { "missingIndexRow \($0)" } : findings
        #expect(found.map { "\($0.kind) \($0.rowid ?? 0)" } == expected, "\(sql)")
      }
    }
  }

  @Test("What another version of the schema has filled with its defaults is not compared")
  func otherDefault() async throws {
    try await withTemporaryFile { file in
      try store(9, in: file)
      try file.tamper("INSERT INTO \"\(words)\" (rowid, f6) VALUES (3, 'wrong')")
      #expect(try await check(file) == ["wrongWords 3"])
      try file.tamper(
        "UPDATE _dflat_index SET absent = ',,,,memento mori' WHERE side = '\(words)'")
      #expect(try await check(file) == [])
    }
  }

  @Test("A table that is dropped is built anew and right again")
  func repair() async throws {
    try await withTemporaryFile { file in
      try store(9, in: file)
      try disarm(file)
      try file.tamper("INSERT INTO \"\(words)\" (rowid, f6) VALUES (3, 'wrong')")
      #expect(try await check(file) == ["wrongWords 3"])
      #expect(try await check(file) == ["wrongWords 3"])
      try file.tamper("DROP TABLE \"\(words)\"")
      try await file.dflat.indexesReady(for: Story.self)
      #expect(try await check(file) == [])
      #expect(try file.sqlite3("SELECT count(*) FROM \"\(words)_docsize\"") == "9")
    }
  }

  @Test("A check ends with the last finding that is wanted")
  func limit() async throws {
    try await withTemporaryFile { file in
      try store(30, in: file)
      try disarm(file)
      try file.tamper(
        "INSERT INTO \"\(words)\" (rowid, f6) SELECT rowid, 'wrong' FROM tale__story_v1")
      #expect(try await check(file).count == 30)
      #expect(try await check(file, limit: 7).count == 7)
    }
  }

  @Test("A table is read in parts", arguments: [1, 2, 7, 30, 31])
  func parts(rowsAtOnce: Int) throws {
    try withTemporaryFile { file in
      try store(30, in: file)
      try disarm(file)
      try file.tamper(
        "INSERT INTO \"\(words)\" (rowid, f6) "
          + "VALUES (3, 'wrong'), (14, 'x'), (30, 'y'), (31, 'z');"
          + "DELETE FROM tale__story_v1 WHERE rowid IN (5, 6)")
      let connection = try Connection.openForReading(path: file.path)
      var check = IntegrityCheck(connection, 1000, rowsAtOnce: rowsAtOnce)
      try check.run([TableSQL(Story._schema)])
      #expect(
        Set(check.findings.filter { $0.table == words }.map { "\($0.kind) \($0.rowid ?? 0)" }) == [
          "wrongWords 3", "wrongWords 14", "wrongWords 30", "orphanIndexRow 31", "orphanIndexRow 5",
          "orphanIndexRow 6",
        ])
      try connection.close()
    }
  }

  @Test("Any texts are as the tokenizers have them")
  func texts() async throws {
    var random = SeededGenerator(seed: 5)
    let texts = (0..<300).map { _ in RandomWords.text(&random) }
    try await withTemporaryFile { file in
      try await file.dflat.write(Prose.Essay.self, Verse.Poem.self, Story.self) { txn in
        for (number, text) in texts.enumerated() {
          let id = Int32(number)
          try txn.insert(Prose.Essay(id: id, text: text))
          try txn.insert(Verse.Poem(id: id, title: text, text: texts[299 - number]))
          try txn.insert(Story(id: id, title: text, body: texts[299 - number]))
        }
      }
      let findings = try await file.dflat.checkIntegrity(
        of: Prose.Essay.self, Verse.Poem.self, Story.self)
      #expect(findings == [])
      let tables = try file.sqlite3("SELECT count(*) FROM sqlite_master WHERE name LIKE '%docsize'")
      #expect(tables == "3")
    }
  }
}
