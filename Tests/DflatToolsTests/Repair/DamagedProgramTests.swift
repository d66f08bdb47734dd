// Tables that a program has beside its objects, in files that are damaged: no row of them is
// nowhere, and none gets among those of another table.

import DflatTestSupport
import Foundation
import Platform
import SQLiteAccess
import SQLiteDflat
import Testing

@testable import DflatTools

@Suite("Repair of damaged tables of programs")
struct DamagedProgramTests {
  @Test("Doubtful rows come beside a program's own table with their name")
  func doubtful() throws {
    let file = try ProgramFile([
      "CREATE TABLE dflat_doubtful (a, b)", "CREATE TABLE n (a, b)",
      "INSERT INTO n VALUES (1, hex(zeroblob(20000)))",
    ])
    var bytes = try Data(contentsOf: URL(filePath: file.path))
    let middle = try #require(bytes.range(of: Data(repeating: 0x30, count: 4000)))
    let place = (middle.lowerBound / 4096 + 1) * 4096
    bytes.replaceSubrange(place..<(place + 4096), with: Data(count: 4096))
    try bytes.write(to: URL(filePath: file.path))
    try file.repair()
    #expect(file.report?.tables.first { $0.table == "n" }?.doubtful == 1)
    #expect(try file.rows("SELECT * FROM dflat_doubtful", in: file.saved).isEmpty)
    #expect(
      try file.rows("SELECT \"table\" FROM dflat_doubtful_", in: file.saved) == [[.text("n")]])
  }

  @Test("Rows without row ids come back if only a program can create their table")
  func unknownCollation() throws {
    let file = try ProgramFile([
      "CREATE TABLE w (name TEXT PRIMARY KEY, b) WITHOUT ROWID",
      "INSERT INTO w VALUES ('a', 1), ('b', 2)", "PRAGMA writable_schema = ON",
      "UPDATE sqlite_master SET sql = replace(sql, 'TEXT', 'TEXT COLLATE my') WHERE name = 'w'",
    ])
    try file.repair()
    #expect(
      try file.rows("SELECT c0, c1 FROM w ORDER BY 1", in: file.saved)
        == [[.text("a"), .integer(1)], [.text("b"), .integer(2)]])
    #expect(file.report?.notCreated.count == 1)
  }

  @Test("A changed bit in the kind of a page loses no row of a table")
  func kindOfPage() throws {
    let file = try ProgramFile([
      "CREATE TABLE n (a INTEGER PRIMARY KEY, b)",
      "WITH RECURSIVE s(v) AS (VALUES(1) UNION ALL SELECT v + 1 FROM s WHERE v < 400) "
        + "INSERT INTO n SELECT v, hex(v) || 'some text of a row' FROM s",
    ])
    let whole = try Data(contentsOf: URL(filePath: file.path))
    let pages = stride(from: 4096, to: whole.count, by: 4096).filter {
      whole[$0] == 13 && whole[$0..<($0 + 4096)].range(of: Data("some text of a row".utf8)) != nil
    }
    #expect(pages.count > 2)
    for page in pages {
      for bit in 0..<8 {
        var bytes = whole
        bytes[page] ^= 1 << bit
        try bytes.write(to: URL(filePath: file.path))
        try? FileManager.default.removeItem(atPath: file.saved)
        try file.repair()
        #expect(
          try file.rows("SELECT count(*) FROM n", in: file.saved) == [[.integer(400)]], "\(bit)")
      }
    }
  }

  @Test("Deleted rows do not come back if the beginning of the list of free pages is lost")
  func lostFreeList() throws {
    // Without the maps of auto-vacuum only the list says which pages are free.
    let file = try ProgramFile(
      [
        "PRAGMA secure_delete = OFF", "CREATE TABLE n (a INTEGER PRIMARY KEY, b, c)",
        "WITH RECURSIVE s(v) AS (VALUES(1) UNION ALL SELECT v + 1 FROM s WHERE v < 2000) "
          + "INSERT INTO n SELECT v, CASE WHEN v > 1000 THEN 'deleted' ELSE 'current' END, "
          + "hex(zeroblob(50)) FROM s", "DELETE FROM n WHERE a > 1000",
      ], hasObjects: false)
    try loseFirstPage(file)
    try file.repair()
    #expect(
      try file.rows("SELECT c1, count(*) FROM recovered_1 GROUP BY 1", in: file.saved)
        == [[.text("current"), .integer(1000)]])
  }

  private func loseFirstPage(_ file: ProgramFile) throws {
    var bytes = try Data(contentsOf: URL(filePath: file.path))
    bytes.replaceSubrange(0..<4096, with: Data(count: 4096))
    try bytes.write(to: URL(filePath: file.path))
  }

  @Test("A table of pairs is no index of objects, and no index comes back as a table")
  func pairs() throws {
    let file = try ProgramFile([
      "CREATE TABLE n (a INTEGER PRIMARY KEY, b)",
      "WITH RECURSIVE s(v) AS (VALUES(1) UNION ALL SELECT v + 1 FROM s WHERE v < 500) "
        + "INSERT INTO n SELECT v, 'own ' || v FROM s",
    ])
    // All pages of sqlite_master.
    let pages = try file.rows(
      "SELECT pageno FROM dbstat WHERE name = 'sqlite_schema'", in: file.path)
    var bytes = try Data(contentsOf: URL(filePath: file.path))
    for page in pages {
      let start = (Int(try #require(page[0].integer)) - 1) * 4096
      bytes.replaceSubrange(start..<(start + 4096), with: Data(count: 4096))
    }
    try bytes.write(to: URL(filePath: file.path))
    try file.repair()
    let tables = (file.report?.tables ?? []).map(\.table).filter { $0.hasPrefix("recovered") }
    var own = 0
    var others = 0
    for table in tables {
      for row in try file.rows("SELECT * FROM \(table)", in: file.saved) {
        if row.count == 2, row[1].text?.hasPrefix("own ") == true { own += 1 } else { others += 1 }
      }
    }
    #expect(own == 500 && others == 0, "\(String(describing: file.report))")
  }

  @Test("A row whose last page is a page of something else is not good")
  func exchangedOverflow() throws {
    let file = try ProgramFile([
      "CREATE TABLE n (a INTEGER PRIMARY KEY, b)", "CREATE TABLE m (a, b)",
      "INSERT INTO n VALUES (1, replace(hex(zeroblob(15000)), '0', 'B'))",
      "INSERT INTO m VALUES (1, 'another table')",
    ])
    var bytes = try Data(contentsOf: URL(filePath: file.path))
    let starts = stride(from: 4096, to: bytes.count, by: 4096)
    let leaf = try #require(
      starts.first { bytes[$0..<($0 + 4096)].range(of: Data("another table".utf8)) != nil })
    let last = try #require(
      starts.first { bytes[$0..<($0 + 8)] == Data([0, 0, 0, 0, 66, 66, 66, 66]) })
    let (one, two) = (Data(bytes[leaf..<(leaf + 4096)]), Data(bytes[last..<(last + 4096)]))
    bytes.replaceSubrange(leaf..<(leaf + 4096), with: two)
    bytes.replaceSubrange(last..<(last + 4096), with: one)
    try bytes.write(to: URL(filePath: file.path))
    try file.repair()
    #expect(try file.rows("SELECT * FROM n", in: file.saved).isEmpty)
    #expect(file.report?.tables.first { $0.table == "n" }?.doubtful == 1)
  }

  @Test("A page of objects in the place of one of another table loses none of both")
  func exchangedLeaves() throws {
    let sample = try SampleFile(count: 40, hasLog: false)
    let directory = try makeTemporaryDirectory()
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let (broken, saved) = ("\(directory)/broken.db", "\(directory)/saved.db")
    let size = SampleFile.pageSize
    for other in sample.pages("leaf", { $0 != SampleFile.table && $0 != "sqlite_schema" }) {
      for post in sample.pages("leaf", { $0 == SampleFile.table }) {
        var bytes = sample.bytes
        let (first, second) = ((other - 1) * size..<other * size, (post - 1) * size..<post * size)
        bytes.replaceSubrange(first, with: sample.bytes[second])
        bytes.replaceSubrange(second, with: sample.bytes[first])
        try Data(bytes).write(to: URL(filePath: broken))
        try? FileManager.default.removeItem(atPath: saved)
        let report = try Repair.runAndWait(from: broken, to: saved)
        let connection = try Connection(path: saved)
        let counts = try connection.rows(
          """
          SELECT (SELECT count(*) FROM \(SampleFile.table)),
            (SELECT count(*) FROM city WHERE name LIKE 'city %'),
            (SELECT count(*) FROM pair WHERE a LIKE 'a%'),
            (SELECT count(*) FROM \(StoredType.dictionaryTable))
          """)
        try connection.close()
        #expect(
          counts == [
            [.integer(Int64(sample.posts.count)), .integer(40), .integer(40), .integer(2)]
          ],
          "pages \(other) and \(post): \(report.tables)")
      }
    }
  }

  /// Where overflow pages of texts of B begin.
  private func overflowPages(_ bytes: Data) -> [Int] {
    let text = Data("BBBB".utf8)
    return stride(from: 4096, to: bytes.count, by: 4096).filter { page in
      guard bytes[page] == 0 else { return false }
      return bytes[(page + 4)..<(page + 8)] == text
    }
  }

  /// Changes the bytes of a page of the file.
  private func change(
    _ file: ProgramFile, _ sql: String, _ change: (inout Data, Int) -> Void
  ) throws {
    let page = try #require(try file.rows(sql, in: file.path).first?[0].integer)
    var bytes = try Data(contentsOf: URL(filePath: file.path))
    change(&bytes, (Int(page) - 1) * 4096)
    try bytes.write(to: URL(filePath: file.path))
  }

  @Test("A table with copies of objects keeps its rows beside damaged objects")
  func copies() throws {
    let file = try ProgramFile([
      "CREATE TABLE history (id INTEGER PRIMARY KEY, a, b, p)",
      "INSERT INTO history SELECT rowid, __pk0, __pk1, p FROM blog__post_v1_0",
      "CREATE TABLE trash AS SELECT rowid, __pk0, __pk1, p FROM blog__post_v1_0 WHERE rowid % 2",
    ])
    try change(
      file, "SELECT rootpage FROM sqlite_master WHERE name = 'blog__post_v1_0'"
    ) { bytes, page in bytes.replaceSubrange(page..<(page + 4096), with: Data(count: 4096)) }
    try file.repair()
    #expect(
      try file.rows(
        "SELECT (SELECT count(*) FROM history), (SELECT count(*) FROM trash)", in: file.saved)
        == [[.integer(20), .integer(10)]])
    // What history has is not what the table of the objects had.
    #expect(
      try file.rows("SELECT count(*) FROM blog__post_v1_0", in: file.saved) == [[.integer(0)]])
  }

  @Test("A column with the name of the row id hides no damaged row")
  func columnNamedRowID() throws {
    let file = try ProgramFile([
      "CREATE TABLE t (rowid, b)",
      "INSERT INTO t VALUES (2, replace(hex(zeroblob(10000)), '0', 'B')), (1, 'x')",
    ])
    var bytes = try Data(contentsOf: URL(filePath: file.path))
    let chain = try #require(overflowPages(bytes).first)
    bytes.replaceSubrange(chain..<(chain + 4096), with: Data(count: 4096))
    try bytes.write(to: URL(filePath: file.path))
    try file.repair()
    let table = file.report?.tables.first { $0.table == "t" }
    #expect(table?.whole == 1 && table?.doubtful == 1, "\(String(describing: file.report))")
  }

  @Test("Tables that sqlite_master has lost come back, whatever other tables look like")
  func lostTables() throws {
    let rows = "WITH RECURSIVE s(v) AS (VALUES(1) UNION ALL SELECT v + 1 FROM s WHERE v < 50) "
    let file = try ProgramFile([
      "CREATE TABLE a (x TEXT, y INT, z)", "CREATE TABLE bb (x TEXT, y INT, z)",
      rows + "INSERT INTO a SELECT 'a' || v, v, 1 FROM s",
      rows + "INSERT INTO bb SELECT 'b' || v, v, 2 FROM s",
    ])
    var bytes = try Data(contentsOf: URL(filePath: file.path))
    let place = try #require(bytes.range(of: Data("tablebbbb".utf8)))
    bytes[place.lowerBound] ^= 1
    try bytes.write(to: URL(filePath: file.path))
    try file.repair()
    var found = 0
    for table in file.report?.tables ?? [] where table.table.hasPrefix("recovered") {
      found += try file.rows("SELECT 1 FROM \(table.table) WHERE c2 = 2", in: file.saved).count
    }
    #expect(found == 50, "\(String(describing: file.report))")
    #expect(try file.rows("SELECT count(*) FROM a WHERE z = 1", in: file.saved) == [[.integer(50)]])
  }

  @Test("A table without row ids whose root is lost has the rows of its leaves")
  func lostRoot() throws {
    let file = try ProgramFile([
      "CREATE TABLE w (a TEXT PRIMARY KEY, b) WITHOUT ROWID",
      "WITH RECURSIVE s(v) AS (VALUES(1) UNION ALL SELECT v + 1 FROM s WHERE v < 1000) "
        + "INSERT INTO w SELECT 'key ' || v, hex(zeroblob(30)) FROM s",
    ])
    try change(file, "SELECT rootpage FROM sqlite_master WHERE name = 'w'") { bytes, page in
      bytes[page + 3] ^= 64
    }
    try file.repair()
    let saved = try #require(
      try file.rows("SELECT count(*) FROM w", in: file.saved).first?[0].integer)
    #expect(saved > 950, "\(saved)")
  }

  @Test("A journal whose header is damaged is named, and the file is not called whole")
  func damagedJournal() throws {
    let file = try ProgramFile([])
    try Data(repeating: 0x55, count: 8192).write(to: URL(filePath: file.path + "-journal"))
    try file.repair()
    #expect(file.report?.hasDamagedJournal == true && file.report?.isComplete == false)
    #expect(file.report?.damage.first?.contains("the rollback journal is damaged") == true)
  }

  @Test("A sector or a page of zeros inside of a value is not taken for a part of it")
  func holes() throws {
    for hole in [4096 + 1024..<4096 + 1536, 2 * 4096..<3 * 4096] {
      let file = try ProgramFile([
        "CREATE TABLE n (a INTEGER PRIMARY KEY, b BLOB)",
        "INSERT INTO n VALUES (1, CAST(replace(hex(zeroblob(6000)), '0', 'B') AS BLOB))",
      ])
      var bytes = try Data(contentsOf: URL(filePath: file.path))
      let first = try #require(overflowPages(bytes).first)
      let place = first - 4096 + hole.lowerBound
      bytes.replaceSubrange(place..<(place + hole.count), with: Data(count: hole.count))
      try bytes.write(to: URL(filePath: file.path))
      try file.repair()
      let table = file.report?.tables.first { $0.table == "n" }
      #expect(table?.whole == 0 && table?.doubtful == 1, "\(hole)")
    }
  }
}
