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
