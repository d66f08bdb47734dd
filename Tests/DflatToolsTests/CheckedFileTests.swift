// Files that a check must not call sound.

import Dflat
import DflatTestSupport
import Foundation
import SQLiteAccess
import SQLiteDflat
import Testing

@testable import DflatTools

@Suite("Files that are not sound")
struct CheckedFileTests {
  private static let table = Post._schema.table
  private let schema = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().appending(path: "DflatTestSupport/Schemas/blog.fbs").path

  private func check(_ path: String, _ sql: String) throws -> CheckReport {
    let connection = try Connection(path: path)
    try connection.execute(sql)
    try connection.close()
    return try DataFile.check(path, schemas: [schema])
  }

  private func withPath(_ body: (String) throws -> Void) throws {
    let directory = try makeTemporaryDirectory()
    defer { try? FileManager.default.removeItem(atPath: directory) }
    try body("\(directory)/test.db")
  }

  @Test("A copy without its log is a finding")
  func withoutLog() throws {
    try withTemporaryFile { file in
      try file.store([post(1)])
      let copy = file.path + ".copy"
      try FileManager.default.copyItem(atPath: file.path, toPath: copy)
      let report = try DataFile.check(copy)
      // A file whose first transaction was rolled back has the same bytes.
      #expect(report.worst == .note && report.nextStep.contains("copy both"), "\(report)")
      try FileManager.default.copyItem(atPath: file.path + "-wal", toPath: copy + "-wal")
      let whole = try DataFile.check(copy)
      #expect(whole.findings.isEmpty && whole.checkedTypes == ["Post"], "\(whole)")
    }
  }

  @Test("A view that has the name of the table of a given type is a finding")
  func view() throws {
    try withPath { path in
      let sql = "CREATE VIEW \(Self.table) AS SELECT 1 AS rowid, 2 AS __pk0, 3 AS __pk1, 4 AS p"
      let report = try check(path, sql)
      #expect(report.findings.map(\.what) == [.takenName] && report.worst == .damage)
      #expect(report.checkedTypes.isEmpty)
    }
  }

  @Test("A table of a given type is checked, whatever the order of its columns")
  func order() throws {
    try withPath { path in
      let table =
        "CREATE TABLE \(Self.table) (p BLOB, __pk1 INTEGER, __pk0 TEXT, "
        + "rowid INTEGER PRIMARY KEY AUTOINCREMENT, UNIQUE(__pk0, __pk1))"
      let sound = try check(path, table)
      #expect(sound.findings.isEmpty && sound.checkedTypes == ["Post"], "\(sound)")
      let damaged = try check(
        path, "INSERT INTO \(Self.table) (p, __pk0, __pk1) VALUES (x'00112233', 'a', 1)")
      #expect(damaged.findings.map(\.what) == [.damagedRow], "\(damaged)")
    }
  }

  @Test("A table without the column of the objects is a finding")
  func noObjects() throws {
    try withPath { path in
      let table =
        "CREATE TABLE \(Self.table) (rowid INTEGER PRIMARY KEY, __pk0 TEXT, __pk1 INTEGER)"
      let report = try check(path, table)
      #expect(report.findings.map(\.what) == [.takenName] && report.worst == .damage)
    }
  }

  @Test("A file that ends in its first page is a finding", arguments: [16, 100, 2048])
  func cutShort(size: Int) throws {
    try withPath { path in
      _ = try check(path, "CREATE TABLE t (a)")
      let bytes = try Data(contentsOf: URL(filePath: path))
      try bytes.prefix(size).write(to: URL(filePath: path))
      let report = try DataFile.check(path)
      #expect(report.findings.map(\.what) == [.damagedFile] && report.worst == .damage)
      #expect(report.nextStep.contains("restore a backup"), "\(report.nextStep)")
    }
  }
}
