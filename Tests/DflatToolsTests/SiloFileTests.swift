// Files of silos explain themselves, too.

import DflatTestSupport
import DflatTools
import Foundation
import SQLiteAccess
import SQLiteDflat
import Silo
import Testing

@Persistable(version: 2, table: "chores", shape: "id:I title:S done:B tags:[S]")
struct Chore: Identifiable, Hashable, Sendable {
  var id: Int
  var title: String
  var done: Bool
  var tags: [String]
}

@Persistable(version: 1, table: "lists", shape: "id:I chores:@[Chore]")
struct ChoreList: Identifiable, Hashable, Sendable {
  var id: Int
  var chores: RelatedList<Chore>
}

@Suite("A file of a silo")
struct SiloFileTests {
  @Test("The types of a silo are shown with their names")
  func types() async throws {
    let directory = try makeTemporaryDirectory()
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let path = "\(directory)/test.db"
    let workspace = SQLiteWorkspace(filePath: path)
    let chores = Silos(in: workspace)[Chore.self]
    try await chores.save(Chore(id: 7, title: "wash", done: true, tags: ["a", "b"]))
    try await chores.save(Chore(id: 8, title: "cook", done: false, tags: []))
    await workspace.shutdown()
    let file = try DataFile.open(path)
    defer { file.close() }
    let type = try #require(file.types.first { $0.table.hasPrefix("chores") })
    #expect(type.problem == nil && type.origin != .unknown)
    let answer = try file.query("\(type.table) where 'a' in tags", selecting: "id, title, done")
    let lines = try answer.objects.map { String(decoding: try $0.json(), as: UTF8.self) }
    #expect(lines == [#"{"done":true,"id":7,"title":"wash"}"#])
    #expect(try type.schemaText().contains("title: string"))
  }

  @Test(
    "What has the name of a relation's table is found, and its removal helps",
    arguments: ["CREATE TABLE lists__chores (x)", "CREATE VIEW lists__chores AS SELECT 1 AS x"])
  func takenNames(sql: String) async throws {
    try await withTemporaryFile { file in
      let lists = Silos(in: file.dflat)[ChoreList.self]
      func save(_ id: Int) async throws {
        try await lists.save(ChoreList(id: id, chores: RelatedList([.unresolved(id: 7)])))
      }
      try await save(1)
      try file.tamper("DROP TABLE lists__chores; \(sql)")
      let report = try await file.dflat.check()
      let finding = try #require(report.findings.first { $0.what == .takenName })
      #expect(report.worst == .note && finding.table == "lists__chores", "\(report.findings)")
      try await save(2)
      #expect(file.takeErrors().map(\.table) == ["lists__chores"])
      let statement = try #require(finding.advice.firstMatch(of: /(DROP|ALTER) [^;:]*/)).output.0
      try file.tamper(String(statement).replacing("…", with: "others"))
      try await save(3)
      let connection = try file.foreignConnection()
      #expect(
        try connection.rows(
          "SELECT name FROM sqlite_master WHERE sql LIKE '%owner INTEGER, element%'"
        ).count == 1)
      try connection.close()
      #expect(try await !file.dflat.check().findings.contains { $0.what == .takenName })
      _ = file.takeErrors()
    }
  }

  @Test("The table of a relation is no table of plain SQL, and does not come back from a repair")
  func relations() async throws {
    let directory = try makeTemporaryDirectory()
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let path = "\(directory)/test.db"
    let workspace = SQLiteWorkspace(filePath: path)
    let lists = Silos(in: workspace)[ChoreList.self]
    try await lists.save(ChoreList(id: 1, chores: RelatedList([.unresolved(id: 7)])))
    await workspace.shutdown()
    let table = "SELECT name FROM sqlite_master WHERE sql LIKE '%owner INTEGER, element%'"
    func tables(_ path: String) throws -> [[SQLValue]] {
      let connection = try Connection(path: path)
      defer { try? connection.close() }
      return try connection.rows(table)
    }
    #expect(try tables(path).count == 1)
    let saved = "\(directory)/saved.db"
    _ = try await Repair.run(from: path, to: saved)
    #expect(try tables(saved).isEmpty)
    let file = try DataFile.open(path)
    defer { file.close() }
    #expect(try file.information().otherTables.isEmpty)
  }
}
