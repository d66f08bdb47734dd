// The full-text table of a type with `trigram`: parts of every length are found by it, and a table
// that FTS5's own tokenizer has filled, as earlier versions made it, is not used.

import DflatTestSupport
import SQLiteDflat
import Testing

@testable import Dflat

@Suite("Full-text tables for parts of texts")
struct FullTextPartTests {
  private typealias Poem = Verse.Poem

  private var words: String { Poem._schema.fullText?.table ?? "" }

  private func store(_ poems: [Poem], in file: TemporaryFile) throws {
    try file.write([Poem.self]) { txn in
      for poem in poems { try txn.submit(Verse.PoemChangeRequest.creationRequest(poem)) }
    }
  }

  private static let poems = (1...40).map { number in
    Poem(
      id: number, title: number % 4 == 0 ? "東京" : "N\(number)",
      text: number % 10 == 1 ? "京都へ行く 🎉" : "a+b")
  }

  private func found(_ file: TemporaryFile, _ text: String) -> [Int32] {
    file.dflat.fetch(for: Poem.self).where(Poem.search(text)).map(\.id)
  }

  private func isUsed(_ file: TemporaryFile) throws -> Bool {
    try file.dflat.fetch(for: Poem.self).explain(where: Poem.search("ab")).indexes == [words]
  }

  /// Searches whose results do not depend on the table.
  private func check(_ file: TemporaryFile) {
    #expect(found(file, "京都") == [1, 11, 21, 31] && found(file, "京都へ") == [1, 11, 21, 31])
    #expect(found(file, "京").count == 14 && found(file, "東京").count == 10)
    #expect(found(file, "🎉") == [1, 11, 21, 31])
    #expect(found(file, "n1") == [1, 10, 11, 13, 14, 15, 17, 18, 19])
    let withoutCity = (1...40 as ClosedRange<Int32>).filter { $0 % 4 != 0 && $0 % 10 != 1 }
    #expect(found(file, "+b -東") == withoutCity)
  }

  @Test("Searches of one, two and more characters read the table alone")
  func plans() async throws {
    try await withTemporaryFile { file in
      try store(Self.poems, in: file)
      let poems = file.dflat.fetch(for: Poem.self)
      for text in ["京", "京都", "京都へ", "京都へ行", "\"🎉\"", "+", "a -京", "京都 行く"] {
        let search = Poem.search(text)
        let plan = try poems.explain(where: search)
        #expect(plan.indexes == [words] && plan.rowByRow == nil, "\(text)")
        let best = try poems.explain(where: search, limit: 20, orderBy: [search.rank])
        #expect(best.rowByRow == nil && !best.isSortedInMemory, "\(text)")
      }
      check(file)
      #expect(try await file.dflat.checkIntegrity(of: Poem.self).isEmpty)
    }
  }

  @Test("The table follows changes, and has the words of the objects")
  func upkeep() async throws {
    try await withTemporaryFile { file in
      try store(Self.poems, in: file)
      try file.write([Poem.self]) { txn in
        for id in [1, 2, 3] as [Int32] {
          let poem = try #require(file.dflat.fetch(for: Poem.self).where(Poem.id == id).first)
          if id == 1 {
            try txn.submit(try #require(Verse.PoemChangeRequest.deletionRequest(poem)))
          } else {
            let request = try #require(Verse.PoemChangeRequest.changeRequest(poem))
            request.text = id == 2 ? "京" : nil
            try txn.submit(request)
          }
        }
      }
      #expect(found(file, "京都") == [11, 21, 31] && found(file, "京 -東").prefix(2) == [2, 11])
      #expect(!found(file, "+b").contains(3) && found(file, "N3").contains(3))
      #expect(try isUsed(file))
      #expect(try await file.dflat.checkIntegrity(of: Poem.self).isEmpty)
    }
  }

  @Test("A table of an earlier version is not trusted, does no harm, and is filled again")
  func earlierVersion() async throws {
    try await withTemporaryFile { file in
      try store(Self.poems, in: file)
      await file.dflat.shutdown()
      let guards = try file.sqlite3(
        "SELECT group_concat(sql, '; ') FROM sqlite_master WHERE type = 'trigger' AND "
          + "name LIKE 'dflat_fulltext_%'")
      #expect(guards.contains("CREATE TRIGGER"))
      // As it was made by the tokenizer of FTS5, from the texts themselves.
      let earlier = "verse__poem_v1__fulltext__trigram__x__f6__x__f8"
      let texts = Self.poems.map { "(\($0.id), '\($0.title ?? "")', '\($0.text ?? "")')" }
      try file.tamper(
        "DROP TABLE \"\(words)\"; "
          + "CREATE VIRTUAL TABLE \"\(earlier)\" USING fts5(\"f6\", \"f8\", content='', tokenize='trigram'); "
          + "INSERT INTO \"\(earlier)\" (rowid, f6, f8) VALUES \(texts.joined(separator: ", ")); "
          + "\(guards.replacing(words, with: earlier)); UPDATE _dflat_index "
          + "SET side = '\(earlier)', verified = 9223372036854775807 WHERE side = '\(words)'")
      let later = TemporaryFile(path: file.path)
      #expect(try !isUsed(later))
      check(later)
      #expect(try await later.dflat.checkIntegrity(of: Poem.self).isEmpty)
      let reader = TemporaryFile(path: file.path) { $0.isReadOnly = true }
      check(reader)
      await reader.dflat.shutdown()
      // A write before the table is filled.
      try store([Poem(id: 41, title: "京都")], in: later)
      #expect(found(later, "京都") == [1, 11, 21, 31, 41])
      // The program that uses the other table fills it anew, too.
      #expect(
        try file.sqlite3("SELECT verified FROM _dflat_index WHERE side = '\(earlier)'")
          .hasPrefix("-9223372036854775808"))
      try await later.dflat.indexesReady(for: Poem.self)
      #expect(try isUsed(later))
      #expect(found(later, "京都") == [1, 11, 21, 31, 41] && found(later, "東京").count == 10)
      #expect(try await later.dflat.checkIntegrity(of: Poem.self).isEmpty)
      #expect(later.takeErrors().isEmpty)
      await later.dflat.shutdown()
    }
  }
}
