// Files of silos explain themselves, too.

import DflatTestSupport
import DflatTools
import Foundation
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
}
