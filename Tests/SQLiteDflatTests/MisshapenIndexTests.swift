// Index tables that another program has replaced by tables with other columns.

import Dflat
import DflatTestSupport
import Foundation
import SQLiteAccess
import Testing

@testable import SQLiteDflat

@Suite("Index tables of another shape")
struct MisshapenIndexTests {
  private static let dates = "desk__memo_v1__x__f6__x__f8"
  private static let shapes = [
    "(rowid INTEGER PRIMARY KEY, x INTEGER)",
    "(rowid INTEGER PRIMARY KEY, f6 INTEGER)",
    "(f6 INTEGER, f8 INTEGER, PRIMARY KEY (f6, f8)) WITHOUT ROWID",
    "(f6 INTEGER, f8 INTEGER)",
    "(rowid INTEGER PRIMARY KEY, f6 INTEGER, f8 INTEGER, x INTEGER NOT NULL)",
    "(rowid INTEGER, f6 INTEGER, f8 INTEGER)",
    "(rowid INTEGER PRIMARY KEY, f6 INTEGER, f8 TEXT)",
    "(rowid INTEGER PRIMARY KEY, f6 INTEGER, f8 REAL)",
    "(rowid INTEGER PRIMARY KEY, f6 INTEGER, f8)",
    "(rowid INTEGER PRIMARY KEY, f6 INTEGER, f8 DECIMAL(10))",
  ]

  private static let links = "blog__post_v1_0__f20__u1__f4"

  @Test(
    "A column or a unique index with a collation of its own is replaced",
    arguments: [
      "CREATE TABLE \(links) (rowid INTEGER PRIMARY KEY, f20__u1__f4 TEXT COLLATE NOCASE)",
      "CREATE TABLE \(links) (rowid INTEGER PRIMARY KEY, f20__u1__f4 TEXT COLLATE RTRIM)",
      "CREATE TABLE \(links) (rowid INTEGER PRIMARY KEY, f20__u1__f4 TEXT); "
        + "CREATE INDEX other ON \(links) (f20__u1__f4 COLLATE NOCASE)",
    ])
  func collations(sql: String) async throws {
    try await withTemporaryFile { file in
      try file.store([post(1, link: "a"), post(2, link: "A"), post(3, link: "a ")])
      try file.tamper(
        "DROP TABLE \(Self.links); \(sql); INSERT INTO \(Self.links) VALUES (1, 'a'), (2, 'A'), "
          + "(3, 'a ')")
      let isShape = sql.contains("TEXT COLLATE")
      let findings = try await file.dflat.checkIntegrity(of: Post.self)
      #expect(
        findings.map { "\($0.kind) \($0.table ?? "")" }
          == (isShape ? ["damagedIndex \(Self.links)"] : []))
      func found() -> [[Int32]] {
        ["a", "A", "a "].map { link in
          file.posts.where(Post.attachment.as(Blog.Link.self).url == link).map(\.number)
        }
      }
      #expect(found() == [[1], [2], [3]])
      try file.store([post(4, link: "b")])
      #expect(found() == [[1], [2], [3]])
      try file.settle()
      #expect(file.takeErrors().map(\.table) == (isShape ? [Self.links] : []))
      try await file.dflat.indexesReady(for: Post.self)
      #expect(found() == [[1], [2], [3]])
      #expect(try await file.dflat.checkIntegrity(of: Post.self) == [])
    }
  }

  @Test("The names of types do not matter as long as SQLite converts nothing")
  func otherNames() async throws {
    try await withTemporaryFile { file in
      try file.tamper(
        "CREATE TABLE \(Self.dates) (rowid INTEGER PRIMARY KEY, f6 BIGINT, f8 int8 NULL)")
      let memos = (1...9).map { Desk.Memo(number: $0, archived: $0 % 2 == 0, sortDate: Int64($0)) }
      try await file.dflat.write(Desk.Memo.self) { _ = try $0.insert(contentsOf: memos) }
      try await file.dflat.indexesReady(for: Desk.Memo.self)
      #expect(file.takeErrors().isEmpty)
      let connection = try file.foreignConnection()
      defer { try? connection.close() }
      #expect(try connection.value("SELECT count(*) FROM \(Self.dates)")?.integer == 9)
    }
  }

  @Test("They are found, and created anew by the next transaction", arguments: shapes)
  func repair(shape: String) async throws {
    try await withTemporaryFile { file in
      let memos = (1...9).map { Desk.Memo(number: $0, archived: $0 % 2 == 0, sortDate: Int64($0)) }
      try await file.dflat.write(Desk.Memo.self) { _ = try $0.insert(contentsOf: memos) }
      let query = file.dflat.query(Desk.Memo.self)
        .where(!Desk.Memo.archived && Desk.Memo.sortDate > 2)
      #expect(try query.explain().indexes == [Self.dates])
      try file.tamper("DROP TABLE \(Self.dates); CREATE TABLE \(Self.dates) \(shape)")
      let findings = try await file.dflat.checkIntegrity(of: Desk.Memo.self)
      #expect(findings.map { "\($0.kind) \($0.table ?? "")" } == ["damagedIndex \(Self.dates)"])
      #expect(try query.count() == 4)
      try await file.dflat.write(Desk.Memo.self) { txn in
        _ = try txn.insert(Desk.Memo(number: 10, archived: false, sortDate: 10))
      }
      #expect(try query.count() == 5)
      try file.settle()
      let errors = file.takeErrors()
      #expect(errors.map(\.table) == [Self.dates], "\(errors)")
      #expect(
        errors.first?.message.contains("index of archived, sort_date had the wrong columns")
          == true,
        "\(errors)")
      try await file.dflat.indexesReady(for: Desk.Memo.self)
      #expect(try query.explain().indexes == [Self.dates])
      #expect(try query.count() == 5)
      #expect(try await file.dflat.checkIntegrity(of: Desk.Memo.self) == [])
    }
  }
}
