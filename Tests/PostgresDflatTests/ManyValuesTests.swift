// Conditions with many values: each is found by a key or an index.

import Dflat
import DflatTestSupport
import PostgresDflat
import PostgresTestSupport
import Testing

@Suite("Many values on a server")
struct ManyValuesTests {
  private typealias Writer = Guild.Writer
  private typealias Memo = Desk.Memo

  /// Short and long texts; some of these are shortened in the key's column.
  private func handle(_ number: Int) -> String {
    let odd = ["\"", "\\", "é\u{301}", "\u{0}", "{1,NULL}", String(repeating: "long", count: 700)]
    return "\(odd[number % odd.count])\(number)"
  }

  @Test("Texts of the key are found by the key, whatever is in them")
  func texts() async throws {
    try await withSchema { schema in
      let dflat = postgresWorkspace(schema: schema)
      try await dflat.write(Writer.self) { txn in
        try txn.insert(contentsOf: (0..<3000).map { Writer(handle: handle($0), name: "\($0)") })
      }
      let wanted = stride(from: 0, to: 3000, by: 2).map(handle)
      let writers = dflat.query(Writer.self)
      let found = writers.where(Writer.handle.in(wanted + ["nobody"]))
      #expect(try found.fetch().map(\.handle) == wanted)
      let explanation = try found.explain()
      #expect(explanation.indexes == ["__pk0"], "\(explanation)")
      #expect(explanation.statement?.contains("= ANY($1)") == true, "\(explanation)")
      #expect(try writers.where(Writer.handle.notIn(wanted)).count() == 1500)
      await dflat.shutdown()
    }
  }

  @Test("Numbers are found by the key and by an index, and no other row is sent")
  func numbers() async throws {
    try await withSchema { schema in
      let dflat = postgresWorkspace(schema: schema)
      try await dflat.write(Memo.self) { txn in
        try txn.insert(contentsOf: (1...6000).map { Memo(number: $0, score: $0 / 4) })
      }
      try PlainConnection().run("ANALYZE \"\(schema)\".\"\(Memo._schema.table)\"")
      let ids = (1...6000).filter { $0 % 5 == 0 } as [Int32]
      let memos = dflat.query(Memo.self)
      let byKey = try memos.where(Memo.number.in(ids)).explain()
      #expect(byKey.rowByRow == nil && byKey.indexes == ["__pk0"], "\(byKey)")
      #expect(try memos.where(Memo.number.in(ids)).fetch().map(\.number) == ids)
      // A few of many.
      let few = try memos.where(Memo.number.in([7, 8, 9])).explain()
      #expect(few.plan.contains { $0.contains("Index") }, "\(few.plan)")
      let scores = (1...1400).map { $0 * 2 } as [Int32]
      let scored = memos.where(Memo.score.in(scores))
      #expect(try scored.count() == (1...6000).count { scores.contains($0 / 4) })
      #expect(try scored.explain().indexedFields == ["score"])
      #expect(try scored.explain().rowByRow == nil)
      // Each comparison of its own makes a statement longer, so there are fewer of them.
      let any = ids.map { Memo.number == $0 }.dropFirst().reduce(Memo.number == ids[0]) { $0 || $1 }
      #expect(try memos.where(any).count() == ids.count)
      let result = try await dflat.write(Memo.self) { try $0.delete(where: Memo.number.in(ids)) }
      #expect(result.deleted == ids.count)
      #expect(try memos.count() == 6000 - ids.count)
      await dflat.shutdown()
    }
  }

  @Test("An index of texts, which has their beginnings, finds many values")
  func indexedTexts() async throws {
    typealias Article = Press.Article
    try await withSchema { schema in
      let dflat = postgresWorkspace(schema: schema)
      let long = String(repeating: "x", count: 300)
      let labels = (0..<1500).map { $0 % 3 == 0 ? "\(long)\($0)" : "\($0)" }
      try await dflat.write(Article.self) { txn in
        try txn.insert(
          contentsOf: labels.enumerated().map { Article(slug: "\($0)", label: $1, code: Int32($0)) }
        )
      }
      let articles = dflat.query(Article.self)
      let wanted = articles.where(Article.label.in(labels.dropFirst(100) + ["\(long)none"]))
      #expect(try wanted.count() == 1400)
      #expect(try wanted.explain().indexedFields == ["label"])
      #expect(try wanted.explain().rowByRow == nil)
      await dflat.shutdown()
    }
  }
}
