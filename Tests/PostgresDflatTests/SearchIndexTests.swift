// The server's index of words: which searches use it, and that it hides no object.

import Dflat
import DflatTestSupport
import Foundation
import PostgresDflat
import PostgresTestSupport
import Testing

@Suite("Searches on the server")
struct SearchIndexTests {
  private typealias Story = Tale.Story

  /// Waits until a search is answered by the index.
  private func build(_ search: TextSearch<Story>, in dflat: PostgresWorkspace) async throws {
    for _ in 0..<100 {
      let explanation = try dflat.fetch(for: Story.self).explain(where: search)
      if !explanation.indexedFields.isEmpty { return }
      _ = dflat.fetch(for: Story.self).where(search)
      try await dflat.write(Story.self) { _ in }
    }
    Issue.record("the index of words was not built")
  }

  @Test("A search finds its candidates by the index, and looks at no other object")
  func plan() async throws {
    try await withSchema { schema in
      let dflat = postgresWorkspace(schema: schema)
      try await dflat.write(Story.self) { txn in
        try txn.insert(
          contentsOf: (0..<3000 as Range<Int32>).map {
            Story(id: $0, title: "hello n\($0)", body: $0 % 1000 == 7 ? "a rare word" : "more")
          })
      }
      try PlainConnection().run("ANALYZE \"\(schema)\".tale__story_v1")
      let stories = dflat.fetch(for: Story.self)
      let rare = try stories.explain(where: Story.search("rar*"))
      #expect(rare.plan.contains { $0.contains("Bitmap Index Scan") }, "\(rare.plan)")
      #expect(rare.indexedFields.contains("title, body, writer.name, extra.as(Quote).text, motto"))
      #expect(rare.rowByRow != nil, "phrases and fields are looked at in each candidate")
      #expect(stories.where(Story.search("rar*")).map(\.id) == [7, 1007, 2007])
      #expect(stories.where(Story.search("\"word rare\"")).isEmpty)
      #expect(stories.where(Story.title.search("rare")).isEmpty)
      #expect(stories.where(Story.search("n12 hello")).map(\.id) == [12])
      #expect(stories.where(Story.search("carpe -more")).map(\.id) == [7, 1007, 2007])
      await dflat.shutdown()
    }
  }

  @Test("Words and texts of any kind are found: long ones, signs, NUL, and very many words")
  func oddTexts() async throws {
    try await withSchema { schema in
      let dflat = postgresWorkspace(schema: schema)
      let long = String(repeating: "longword", count: 700)
      let many = (0..<200_000).map { "w\($0)" }.joined(separator: " ")
      let texts = [
        "it's a \\ 'quoted' & | ! <-> :* word", long, many, "Ünïcödé ЖЗИ 東京", "under_score a\0b",
        "", "𝕳ello 🎈 ͏x", "longwordlong",
      ]
      try await dflat.write(Story.self, Verse.Poem.self) { txn in
        for (place, text) in texts.enumerated() {
          try txn.insert(Story(id: Int32(place), title: text, motto: ""))
          try txn.insert(Verse.Poem(id: Int32(place), title: text))
        }
      }
      try await build(Story.search("word"), in: dflat)
      func found(_ text: String) -> [Int32] {
        dflat.fetch(for: Story.self).where(Story.search(text)).map(\.id)
      }
      #expect(found("quoted") == [0] && found("word") == [0] && found("it's") == [0])
      #expect(found(long) == [1] && found("longword*") == [1, 7] && found("longwordlong") == [7])
      #expect(found(String(long.dropLast()) + "*") == [1] && found(long + "x").isEmpty)
      #expect(found("w199999") == [2] && found("w1999*") == [2] && found("w200000").isEmpty)
      #expect(found("unicode жзи") == [3] && found("東*") == [3])
      #expect(found("score") == [4] && found("b") == [4])
      #expect(found("_ OR |").isEmpty)
      let poems = dflat.fetch(for: Verse.Poem.self)
      for _ in 0..<4 {
        #expect(poems.where(Verse.Poem.search("quot")).map(\.id) == [0])
        #expect(poems.where(Verse.Poem.search("\"d' & |\"")).map(\.id) == [0])
        #expect(poems.where(Verse.Poem.search("wordlong")).map(\.id) == [1, 7])
        #expect(poems.where(Verse.Poem.search("w19999")).map(\.id) == [2])
        try await dflat.write(Verse.Poem.self) { _ in }
      }
      await dflat.shutdown()
    }
  }

  @Test("Versions with other full-text fields write the same table, and each finds all")
  func versions() async throws {
    try await withSchema { schema in
      let old = postgresWorkspace(schema: schema)
      let new = postgresWorkspace(schema: schema)
      func found(_ text: String) -> [[Int32]] {
        [
          old.fetch(for: Tale.Story.self).where(Tale.Story.search(text)).map(\.id),
          new.fetch(for: TALE.Story.self).where(TALE.Story.search(text)).map(\.id),
        ]
      }
      try await old.write(Tale.Story.self) { txn in
        _ = try txn.insert(Tale.Story(id: 1, title: "hello", body: "world"))
      }
      try await new.write(TALE.Story.self) { txn in
        _ = try txn.insert(TALE.Story(id: 2, title: "hello", body: "world"))
      }
      for round in 0..<6 as Range<Int32> {
        #expect(found("hello") == [Array(1...2 + 2 * round), Array(1...2 + 2 * round)])
        #expect(found("world") == [Array(1...2 + 2 * round), []])
        // The default of an absent text is another one in each version.
        #expect(found("carpe") == [Array(1...2 + 2 * round), []])
        #expect(found("memento") == [[], Array(1...2 + 2 * round)])
        try await old.write(Tale.Story.self, attempts: 100) { txn in
          _ = try txn.insert(Tale.Story(id: 3 + 2 * round, title: "hello", body: "world"))
        }
        try await new.write(TALE.Story.self, attempts: 100) { txn in
          _ = try txn.insert(TALE.Story(id: 4 + 2 * round, title: "hello", body: "world"))
          let first = try #require(try txn.fetch(for: TALE.Story.self).all().first)
          try txn.upsert(first.with { $0.title = "hello \(round)" })
        }
        #expect(found("\(round)") == [[1], [1]])
      }
      await old.shutdown()
      await new.shutdown()
    }
  }
}
