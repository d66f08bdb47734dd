// A file with full-text tables and compound indexes that an earlier version of this library made:
// every later version reads it, trusts its indexes, and writes the same.

import Dflat
import DflatTestSupport
import Foundation
import SQLiteAccess
import SQLiteDflat
import Testing

@Suite("Files of earlier versions")
struct GoldenFileTests {
  private typealias Story = Tale.Story
  private typealias Memo = Desk.Memo

  /// The transactions that made the file, with `DFLAT_GOLDEN=path`.
  private func fill(_ file: TemporaryFile) throws {
    try file.dflat.write(Story.self, Memo.self) { txn in
      try txn.insert(
        contentsOf: (1...12 as ClosedRange<Int32>).map { id in
          Story(
            id: id, title: "Hello number \(id)", body: id % 3 == 0 ? "Über naïve words" : nil,
            writer: id % 4 == 0 ? Tale.Writer(name: "Ada Lovelace") : nil,
            extra: id % 5 == 0 ? .quote(Tale.Quote(text: "to be or not to be")) : nil,
            year: 1900 + id)
        })
      try txn.insert(
        contentsOf: (1...20 as ClosedRange<Int32>).map { number in
          Memo(
            number: number, archived: number % 2 == 0, sortDate: Int64(number) * 7 % 10,
            title: number % 3 == 0 ? "Äpfel \(number)" : "memo \(number)",
            state: number % 4 == 0 ? .done : .open, rank: number % 5 == 0 ? nil : number,
            owner: Desk.Owner(handle: "owner \(number % 3)", floor: 2),
            topic: "topic \(number % 2)", issue: number, code: "Code\(number)", score: number % 6)
        })
    }
    try file.dflat.write(Story.self, Memo.self) { txn in
      _ = try txn.update(Story(id: 2)) { $0.title = "Bye" }
      _ = try txn.delete(Story(id: 11))
      _ = try txn.update(Memo(number: 4)) { $0.archived = false }
      _ = try txn.delete(Memo(number: 20))
    }
  }

  /// Everything in a file but the segments in which FTS5 keeps its words, and the schemas, which
  /// earlier versions did not write.
  private func contents(_ file: TemporaryFile) throws -> [String] {
    let connection = try file.foreignConnection()
    defer { try? connection.close() }
    let schema = try connection.rows(
      "SELECT type, name, tbl_name, sql FROM sqlite_master "
        + "WHERE tbl_name <> 'dflat_schemas' ORDER BY type, name")
    var lines = schema.map { "\($0)" }
    for row in schema where row[0] == .text("table") {
      guard let name = row[1].text, !name.contains("__fulltext__"), name != "sqlite_sequence" else {
        continue
      }
      lines += try connection.rows("SELECT * FROM \"\(name)\"").map { "\(name) \($0)" }
    }
    try connection.execute(
      "CREATE VIRTUAL TABLE temp.v USING fts5vocab('main', '\(words)', 'instance')")
    lines += try connection.rows("SELECT * FROM v ORDER BY doc, col, offset").map { "\($0)" }
    return lines
  }

  private let words =
    "tale__story_v1__fulltext__unicode61__x__f6__x__f8__x__f10__f4__x__f14__u1__f4__x__f16"

  private func expectAnswers(_ file: TemporaryFile) throws {
    let stories = file.dflat.fetch(for: Story.self)
    #expect(stories.all().map(\.id) == [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12])
    #expect(stories.where(Story.search("hello uber")).map(\.id) == [3, 6, 9, 12])
    #expect(stories.where(Story.search("\"not to\" love*")).isEmpty)
    #expect(stories.where(Story.search("love* -uber")).map(\.id) == [4, 8])
    #expect(stories.where(Story.search("bye")).map(\.id) == [2])
    #expect(try stories.explain(where: Story.search("bye")).indexes == [words])
    let memos = file.dflat.fetch(for: Memo.self)
    let open = !Memo.archived && Memo.sortDate > 5
    let found = memos.where(open, orderBy: [Memo.sortDate.ascending]).map(\.number)
    #expect(found == [1, 11, 4, 7, 17])
    let explanation = try memos.explain(where: open)
    #expect(explanation.indexes == ["desk__memo_v1__x__f6__x__f8"])
    #expect(memos.where(Memo.title.caseInsensitive == "äPFEL 9").map(\.number) == [9])
    #expect(memos.where(Memo.topic == "topic 1" && Memo.issue == 7).map(\.number) == [7])
  }

  @Test("Searches and compound indexes are answered as they are", arguments: [true, false])
  func reading(isReadOnly: Bool) throws {
    try withFixture("search", configure: { $0.isReadOnly = isReadOnly }) { file in
      let before = try Data(contentsOf: URL(fileURLWithPath: file.path))
      try expectAnswers(file)
      #expect(try Data(contentsOf: URL(fileURLWithPath: file.path)) == before)
    }
  }

  @Test("The file is sound, and stays so when it is written")
  func writing() async throws {
    try await withFixture("search") { file in
      #expect(try await file.dflat.checkIntegrity(of: Story.self, Memo.self) == [])
      try await file.dflat.write(Story.self, Memo.self) { txn in
        _ = try txn.insert(Story(id: 40, title: "Hello again"))
        _ = try txn.update(Story(id: 3)) { $0.body = nil }
        _ = try txn.delete(Memo(number: 3))
      }
      let stories = file.dflat.fetch(for: Story.self)
      #expect(stories.where(Story.search("hello again")).map(\.id) == [40])
      #expect(stories.where(Story.search("uber")).map(\.id) == [6, 9, 12])
      #expect(try stories.explain(where: Story.search("bye")).indexes == [words])
      #expect(try await file.dflat.checkIntegrity(of: Story.self, Memo.self) == [])
    }
  }

  @Test("The same transactions make the same file today")
  func same() throws {
    try withTemporaryFile(.file) { file in
      try fill(file)
      try expectAnswers(file)
      file.dflat.shutdown(flags: .truncate)
      if let path = ProcessInfo.processInfo.environment["DFLAT_GOLDEN"] {
        try FileManager.default.copyItem(atPath: file.path, toPath: path)
      }
      try withFixture("search") { golden in
        let (now, then) = (try contents(file), try contents(golden))
        #expect(now == then)
      }
    }
  }
}
