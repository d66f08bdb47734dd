// Views, indexes and tables of other programs that have the names of Dflat's own tables. The advice
// of the check is followed to the letter.

import Dflat
import DflatTestSupport
import Foundation
import Platform
import SQLiteAccess
import Testing

@testable import SQLiteDflat

@Suite("Names that other programs have taken")
struct TakenNameTests {
  private static let table = "blog__post_v1_0"
  private static let likes = "\(table)__f10"

  /// Runs the statement that an advice ends with, with a name in place of an ellipsis.
  private func follow(_ advice: String, _ file: TemporaryFile) throws {
    let statement = try #require(advice.firstMatch(of: /(DROP|ALTER) [^;:]*/)).output.0
    try file.tamper(String(statement).replacing("…", with: "\"of another program\""))
  }

  @Test(
    "A view or an index is named by the check and by a write, and its removal helps",
    arguments: [
      ("DROP TABLE \(likes); CREATE VIEW \(likes) AS SELECT 1 AS x", likes, "the index of likes"),
      (
        "DROP TABLE \(likes); CREATE TABLE o (x); CREATE INDEX \(likes) ON o (x)", likes,
        "the index of likes"
      ),
      (
        "DROP TABLE \(likes); CREATE VIEW \(likes.uppercased()) AS SELECT 1 AS rowid, 2 AS f10",
        likes.uppercased(), "the index of likes"
      ),
      (
        "DROP TABLE _dflat_index; CREATE VIEW _dflat_index AS SELECT 1", "_dflat_index",
        "the marks of its indexes"
      ),
      ("DROP TABLE \(table); CREATE VIEW \(table) AS SELECT 1", table, "its objects"),
    ])
  func views(sql: String, name: String, purpose: String) async throws {
    try await withTemporaryFile { file in
      try file.store([post(1, likes: 5)])
      try file.tamper(sql)
      let options = CheckOptions(of: Post.self)
      let report = try await file.dflat.check(options)
      let finding = try #require(report.findings.first)
      #expect(finding.what == .takenName && finding.table == name, "\(report.findings)")
      #expect(finding.severity == .damage && finding.message.contains(purpose))
      #expect(report.findings.filter { $0.what == .takenName }.count == 1)
      let error = await #expect(throws: StorageError.self) {
        try await file.dflat.write(Post.self) { _ = try $0.insert(post(2)) }
      }
      #expect(error?.table == name && "\(error!)".contains("DROP"), "\(error as Any)")
      #expect("\(error!)".contains(purpose))
      try follow(report.nextStep, file)
      try await file.dflat.write(Post.self) { _ = try $0.insert(post(2, likes: 5)) }
      try await file.dflat.indexesReady(for: Post.self)
      #expect(file.posts.where(Post.likes == 5).map(\.number).last == 2)
      #expect(try await file.dflat.check(options).findings == [])
      _ = file.takeErrors()
    }
  }

  @Test("A table of another program can be renamed, and the index is made again")
  func tables() async throws {
    try await withTemporaryFile { file in
      try file.store([post(1, likes: 5)])
      let sql = "CREATE TABLE \(Self.likes) (x); INSERT INTO \(Self.likes) VALUES ('kept')"
      try file.tamper("DROP TABLE \(Self.likes); \(sql)")
      let options = CheckOptions(of: Post.self)
      let report = try await file.dflat.check(options)
      #expect(report.findings.map(\.what) == [.damagedIndex] && report.worst == .repairable)
      try follow(report.nextStep, file)
      try await file.dflat.write(Post.self) { _ = try $0.insert(post(2, likes: 5)) }
      try await file.dflat.indexesReady(for: Post.self)
      #expect(file.posts.where(Post.likes == 5).map(\.number) == [1, 2])
      #expect(try await file.dflat.check(options).findings == [])
      let connection = try file.foreignConnection()
      #expect(try connection.rows("SELECT x FROM \"of another program\"") == [["kept"]])
      try connection.close()
      _ = file.takeErrors()
    }
  }

  @Test("The table of another type whose name differs only in case is neither read nor written")
  func otherCase() async throws {
    try await withTemporaryFile { file in
      try file.store([post(1)])
      try file.tamper(
        "ALTER TABLE \(Self.table) RENAME TO x; ALTER TABLE x RENAME TO \"BLOG__Post_v1_0\"")
      let other = file.secondWorkspace()
      for (dflat, errors) in [(file.dflat, file.takeErrors), (other.dflat, other.takeErrors)] {
        let error = await #expect(throws: StorageError.self) {
          try await dflat.write(Post.self) { _ = try $0.upsert(post(1, likes: 9)) }
        }
        #expect(error?.table == "BLOG__Post_v1_0" && error?.message.contains(Self.table) == true)
        if dflat === file.dflat { continue }
        #expect(dflat.fetch(for: Post.self).all().isEmpty)
        #expect(dflat.fetch(for: Post.self).where(Post.likes == 0).isEmpty)
        #expect(dflat.find(Post.self, (site: "s", number: 1)) == nil)
        let reported = errors()
        #expect(reported.count == 3 && reported.allSatisfy { $0.message == error?.message })
      }
      let report = try await other.dflat.check(CheckOptions(of: Post.self))
      #expect(report.findings.map(\.what) == [.takenName] && report.worst == .damage)
      #expect(try file.sqlite3("SELECT count(*) FROM BLOG__Post_v1_0") == "1")
      await other.dflat.shutdown()
      _ = file.takeErrors()
    }
  }

  @Test("An entity does not misread the objects of one whose name differs in case")
  func otherEntity() async throws {
    var memos = BinarySchema(Desk.Memo._schema)
    let root = try #require(memos.objects.firstIndex { $0.name == memos.root })
    memos.root = "blog.POST"
    memos.objects[root].name = memos.root
    let bytes = memos.encoded()
    let digest = SHA256.hexadecimal(bytes)
    let row: [SQLValue] = [
      .text(Self.table), .text(digest), .text("1"), .text(""), .blob(bytes),
    ]
    let insert = "INSERT INTO dflat_schemas VALUES (?, ?, ?, ?, ?)"
    try await withTemporaryFile { file in
      let connection = try file.foreignConnection()
      try StoredSchemas.createTable(connection)
      try connection.execute(Post._schema.mainTableStatement)
      try connection.execute(insert, row)
      try connection.close()
      let error = await #expect(throws: StorageError.self) {
        try await file.dflat.write(Post.self) { _ = try $0.insert(post(1)) }
      }
      #expect(error?.table == Self.table && error?.message.contains("'POST'") == true)
      #expect(file.posts.all().isEmpty)
      #expect(file.takeErrors().map(\.message) == [error?.message])
      let report = try await file.dflat.check(CheckOptions(of: Post.self))
      #expect(report.findings.map(\.what) == [.takenName] && report.worst == .damage)
    }
    // The entity that was stored first keeps the table.
    try await withTemporaryFile { file in
      try file.store([post(1)])
      let connection = try file.foreignConnection()
      try connection.execute(insert, row)
      try connection.close()
      try await file.dflat.write(Post.self) { _ = try $0.insert(post(2)) }
      #expect(file.posts.all().count == 2)
    }
  }

  @Test("Two versions of a type find the same once")
  func versions() async throws {
    try await withTemporaryFile { file in
      try await file.dflat.write(Press.Article.self) { txn in
        _ = try txn.insert(Press.Article(slug: "a", title: "old", code: 1, votes: 1))
      }
      try await file.dflat.write(PRESS.Article.self) { txn in
        _ = try txn.insert(PRESS.Article(slug: "b", headline: "new"))
      }
      let table = Press.Article._schema.table
      try file.tamper("UPDATE \(table) SET p = x'00' WHERE rowid = 1")
      let report = try await file.dflat.check()
      #expect(report.findings.filter { $0.what == .damagedRow }.count == 1, "\(report.findings)")
      _ = file.takeErrors()
    }
  }
}
