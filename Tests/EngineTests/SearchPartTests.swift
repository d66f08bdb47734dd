// Searches for parts of texts mean the same for every length: with the tokenizer `trigram`, one or
// two characters are found as three are, whatever they are.

import DflatTestSupport
import Platform
import Testing

@testable import Dflat

@Suite("Searches for parts of texts")
struct SearchPartTests {
  private typealias Poem = Verse.Poem

  private func store(_ poems: [Poem], in workspace: some TestWorkspace) throws {
    try workspace.write([Poem.self]) { txn in
      for poem in poems { try txn.submit(Verse.PoemChangeRequest.creationRequest(poem)) }
    }
  }

  private func found(_ workspace: TemporaryWorkspace, _ text: String) -> [Int32] {
    workspace.dflat.fetch(for: Poem.self).where(Poem.search(text)).map(\.id)
  }

  @Test("Signs are found, be it one, two or three", arguments: TestEngine.inEveryIndexState)
  func signs(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      try store(
        [
          Poem(id: 1, title: "party 🎉", text: "C++"), Poem(id: 2, title: "x 🎉🎉", text: "x"),
          Poem(id: 3, title: "🎉🎉🎉 x", text: "a+++b"), Poem(id: 4, title: "日", text: "x日本"),
          Poem(id: 5, title: "+", text: "本日"), Poem(id: 6, title: "", text: "a b"), Poem(id: 7),
        ], in: workspace)
      let heard = Mutex<[Int32]>([])
      let all = workspace.dflat.fetch(for: Poem.self)
      let subscription = workspace.dflat.subscribe(
        fetchedResult: all.where(Poem.search("\"🎉\""))
      ) { result in heard.withLock { $0 = result.map(\.id) } }
      var random = SeededGenerator(seed: 1)
      try workspace.disturbIndexes(of: Poem._schema, using: &random)
      func check() {
        #expect(found(workspace, "\"🎉\"") == [1, 2, 3] && found(workspace, "🎉") == [1, 2, 3])
        #expect(found(workspace, "\"🎉🎉\"") == [2, 3] && found(workspace, "\"🎉🎉🎉\"") == [3])
        #expect(found(workspace, "+") == [1, 3, 5] && found(workspace, "\"++\"") == [1, 3])
        #expect(found(workspace, "\"+++\"") == [3] && found(workspace, "++*") == [1, 3])
        #expect(found(workspace, "x -🎉") == [4] && found(workspace, "x -🎉🎉🎉") == [2, 4])
        #expect(found(workspace, "x -\"🎉🎉\"") == [4] && found(workspace, "x 🎉") == [2, 3])
        #expect(found(workspace, "日") == [4, 5] && found(workspace, "日本") == [4])
        #expect(found(workspace, "\" \"") == [1, 2, 3, 6] && found(workspace, "\"a b\"") == [6])
        #expect(found(workspace, "\"b\"") == [3, 6] && found(workspace, "C") == [1])
        #expect(found(workspace, "\"\"") == [] && found(workspace, "-🎉") == [])
        #expect(all.where(!Poem.search("🎉")).map(\.id) == [4, 5, 6, 7])
        #expect(all.where(Poem.title.search("+")).map(\.id) == [5])
        let fts5 = try? Poem.search(fts5: "text : (日 OR \"++\") NOT \"+++\"")
        #expect(fts5.map { all.where($0).map(\.id) } == [1, 4, 5])
      }
      for _ in 0..<3 {
        check()
        workspace.dflat.fetchWithinASnapshot { check() }
        try workspace.write([Poem.self]) { _ in check() }
      }
      // Live results follow them.
      try store([Poem(id: 8, title: "🎉"), Poem(id: 9, title: "nothing")], in: workspace)
      #expect(heard.withLock { $0 } == [1, 2, 3, 8])
      subscription.cancel()
    }
  }

  @Test(
    "Short parts are relevant, and the best come first", arguments: TestEngine.inEveryIndexState)
  func relevance(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      try store(
        [
          Poem(id: 1, title: "x 日本 y"), Poem(id: 2, title: "日本日本日"), Poem(id: 3, title: "日x本"),
          Poem(id: 4, title: "日本 日本 日本 日本"),
        ], in: workspace)
      var random = SeededGenerator(seed: 2)
      try workspace.disturbIndexes(of: Poem._schema, using: &random)
      for _ in 0..<3 {
        for text in ["日本", "\"日本\""] {
          let search = Poem.search(text)
          let best = workspace.dflat.fetch(for: Poem.self).where(
            search, limit: 3, orderBy: [search.rank])
          #expect(best.map(\.id) == [4, 2, 1])
        }
        try workspace.write([Poem.self]) { _ in }
      }
    }
  }

  // MARK: Against the dullest search

  private static let pieces = [
    "a", "b", "ab", "A", "é", "É", "e\u{301}", "k", "\u{212A}", "日", "本", "日本", "中", "🎉", "+",
    "++", "-", "_", " ", ".", "\u{3000}", "0", "@", "[", "`", "{", "~", "\u{7F}", "\t", "Ж", "ж",
    "Ѐ", "ѐ", "Ա", "ա", "\u{FFFD}", "ß", "İ", "\0", "ế", "e\u{302}\u{301}", "Ａ", "ｂ", "＋", "ｶ", "ﾞ",
    "ガ", "カ\u{3099}", "カ", "ﾊ", "ﾟ", "パ", "は", "ば", "ᾳ", "α",
  ]

  /// What of a text is searched: the scalars up to a NUL, folded.
  private static func folded(_ text: String) -> [UInt32] {
    foldedScalars(String(String.UnicodeScalarView(text.unicodeScalars.prefix { $0.value != 0 })))
  }

  private static func contains(_ text: String?, _ part: [UInt32]) -> Bool {
    let text = text.map(folded) ?? []
    return text.indices.contains { text[$0...].starts(with: part) }
  }

  @Test(
    "Parts of every length against a comparison at each place",
    arguments: TestEngine.inEveryIndexState)
  func random(engine: TestEngine) throws {
    try withSeed { random in
      for _ in 0..<(isLongRun ? 40 : 1) { try round(engine, &random) }
    }
  }

  private func round(_ engine: TestEngine, _ random: inout SeededGenerator) throws {
    func text(_ most: Int) -> String {
      (0..<Int.random(in: 0...most, using: &random)).map { _ in random.pick(Self.pieces) }.joined()
    }
    try withTemporaryWorkspace(engine) { workspace in
      try store(
        (1...30).map { Poem(id: $0, title: random.oneIn(5) ? nil : text(4), text: text(12)) },
        in: workspace)
      let watched = random.pick(["日", "+", "ab", "é"])
      let heard = Mutex<[Int32]>([])
      let first = workspace.dflat.fetch(for: Poem.self).where(Poem.search("\"\(watched)\""))
      heard.withLock { $0 = first.map(\.id) }
      let subscription = workspace.dflat.subscribe(fetchedResult: first) { result in
        heard.withLock { $0 = result.map(\.id) }
      }
      for step in 0..<3 as Range<Int32> {
        try workspace.disturbIndexes(of: Poem._schema, using: &random)
        let all = workspace.dflat.fetch(for: Poem.self).all()
        for _ in 0..<30 {
          let part = text(3)
          // A NUL in quotation marks is a blank.
          let wanted = Self.folded(part.replacing("\0", with: " "))
          let expected = all.filter { poem in
            !wanted.isEmpty
              && (Self.contains(poem.title, wanted) || Self.contains(poem.text, wanted))
          }
          #expect(
            found(workspace, "\"\(part)\"") == expected.map(\.id),
            "DFLAT_SEED=\(random.seed), \(engine): \(String(reflecting: part))")
          let left = all.filter { poem in !expected.contains { $0.id == poem.id } }
          #expect(
            workspace.dflat.fetch(for: Poem.self).where(!Poem.search("\"\(part)\"")).map(\.id)
              == left.map(\.id),
            "DFLAT_SEED=\(random.seed), \(engine): not \(String(reflecting: part))")
        }
        try store([Poem(id: 100 + step, title: text(6), text: watched + text(2))], in: workspace)
        let kept = workspace.dflat.fetch(for: Poem.self).all().filter {
          Self.contains($0.title, Self.folded(watched))
            || Self.contains($0.text, Self.folded(watched))
        }
        #expect(heard.withLock { $0 } == kept.map(\.id), "DFLAT_SEED=\(random.seed), \(engine)")
      }
      subscription.cancel()
    }
  }
}
