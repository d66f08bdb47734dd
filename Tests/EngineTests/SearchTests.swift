// Searches: what they find, on every engine and in every state of the indexes.

import DflatTestSupport
import Platform
import Testing

@testable import Dflat

@Suite("Searches")
struct SearchTests {
  private typealias Story = Tale.Story

  private static func story(
    _ id: Int32, _ title: String?, _ body: String? = nil, writer: String? = nil,
    quote: String? = nil, motto: String? = nil, year: Int32 = 0
  ) -> Story {
    Story(
      id: id, title: title, body: body, writer: writer.map { Tale.Writer(name: $0) },
      extra: quote.map { .quote(Tale.Quote(text: $0)) }, motto: motto, year: year)
  }

  private func store(_ stories: [Story], in workspace: some TestWorkspace) throws {
    try workspace.write([Story.self]) { txn in
      for story in stories { try txn.submit(Tale.StoryChangeRequest.creationRequest(story)) }
    }
  }

  private func found(_ workspace: TemporaryWorkspace, _ text: String) -> [Int32] {
    workspace.dflat.fetch(for: Story.self).where(Story.search(text)).map(\.id)
  }

  private static let library = [
    story(1, "Hello, World", "A world of its own.", writer: "Ada Lovelace", year: 1843),
    story(2, "Hellas", "Über den Wörtern", quote: "hello darkness", year: 1967),
    story(3, nil, nil, motto: "semper idem"),
    story(4, "World's end", "say hello to the world", writer: "Émile Zola", year: 1885),
    story(5, "日本語の本", "本を読む。東京 大阪", motto: ""),
  ]

  @Test("Words, beginnings, phrases and exclusions", arguments: TestEngine.inEveryIndexState)
  func words(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      try store(Self.library, in: workspace)
      var random = SeededGenerator(seed: 1)
      try workspace.disturbIndexes(of: Story._schema, using: &random)
      // At first searches look at each object; then the index is built.
      for _ in 0..<3 {
        #expect(found(workspace, "hello") == [1, 2, 4])
        #expect(found(workspace, "hello world") == [1, 4])
        #expect(found(workspace, "hell*") == [1, 2, 4])
        #expect(found(workspace, "\"hello world\"") == [1])
        #expect(found(workspace, "\"say hello") == [4])
        #expect(found(workspace, "\"the wor\"*") == [4])
        #expect(found(workspace, "hello -world") == [2])
        #expect(found(workspace, "hello -\"hello world\"") == [2, 4])
        // Without regard to case and accents, in nested fields and unions as well.
        #expect(found(workspace, "EMILE") == [4])
        #expect(found(workspace, "uber wort*") == [2])
        #expect(found(workspace, "darkness") == [2])
        // The default of an absent text.
        #expect(found(workspace, "carpe") == [1, 2, 4])
        #expect(found(workspace, "東京") == [5])
        #expect(found(workspace, "") == [] && found(workspace, "-hello") == [])
        let all = workspace.dflat.fetch(for: Story.self)
        #expect(all.where(!Story.search("hello")).map(\.id) == [3, 5])
        #expect(all.where(Story.search("hello") && Story.year > 1900).map(\.id) == [2])
        #expect(all.where(Story.search("hello") || Story.year == 0).map(\.id) == [1, 2, 3, 4, 5])
        #expect(
          all.where(Story.search("hello"), limit: 2, orderBy: [Story.year.descending]).map(\.id)
            == [2, 4])
        #expect(all.where(Story.title.search("hello")).map(\.id) == [1])
        #expect(all.where(!Story.title.search("hello")).map(\.id) == [2, 3, 4, 5])
        #expect(all.where(Story.writer.name.search("zola")).map(\.id) == [4])
        #expect(all.where(Story.extra.as(Tale.Quote.self).text.search("dark*")).map(\.id) == [2])
        #expect(try workspace.dflat.query(Story.self).where(Story.search("hello")).count() == 3)
        try workspace.write([Story.self]) { _ in }
      }
    }
  }

  @Test("Text of a user is never an error", arguments: TestEngine.all)
  func anyText(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      try store(Self.library, in: workspace)
      for text in [
        "\"", "\"\"", "*", "-", "--", "\"*", "-\"", "(", "hello (", "AND", "hello AND", "NEAR(",
        "^",
        "title:", "a\0b", "\0", "\u{FFFF}", "“hello", "{}", "'", "\\", "hello*world*", "***",
      ] {
        _ = found(workspace, text)
      }
      #expect(found(workspace, "hello\0world") == [1, 4])
      #expect(found(workspace, "“hello world”") == [1])
      #expect(found(workspace, String(repeating: "hello ", count: 20_000)) == [1, 2, 4])
      #expect(found(workspace, (0..<15_000).map { "w\($0)" }.joined(separator: " ")) == [])
      #expect(found(workspace, String(repeating: "hello", count: 20_000)) == [])
      #expect(found(workspace, "hello -" + String(repeating: "x -", count: 30_000)) == [1, 2, 4])
      withSeed { random in
        for _ in 0..<300 {
          let scalars = (0..<Int.random(in: 0...12, using: &random)).compactMap { _ in
            random.oneIn(2)
              ? "\"*-() :^+a".unicodeScalars.randomElement(using: &random)
              : Unicode.Scalar(UInt32.random(in: 0...0x10FFFF, using: &random))
          }
          var text = String.UnicodeScalarView()
          text.append(contentsOf: scalars)
          _ = found(workspace, String(text))
        }
      }
    }
  }

  @Test("A word of tens of thousands of bytes", arguments: TestEngine.all)
  func longWord(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      // Indexes cut such words, the second one inside of a character.
      let starts = ["", "x"]
      let words = starts.map { $0 + String(repeating: "ж", count: 16_400) }
      try workspace.write([Mixed.Entry.self]) { txn in
        for (id, word) in words.enumerated() {
          try txn.submit(
            Mixed.EntryChangeRequest.creationRequest(
              Mixed.Entry(id: Int32(id), title: word, tag: "foo \(word)")))
        }
      }
      let all = workspace.dflat.fetch(for: Mixed.Entry.self)
      for (id, word) in words.enumerated() {
        #expect(all.where(Mixed.Entry.tag.search(word)).map(\.id) == [Int32(id)])
        #expect(all.where(Mixed.Entry.tag.search("\"foo \(word)\"")).map(\.id) == [Int32(id)])
        #expect(all.where(Mixed.Entry.title.search(word)).map(\.id) == [Int32(id)])
        let beginning = starts[id] + String(repeating: "ж", count: 100) + "*"
        #expect(all.where(Mixed.Entry.tag.search(beginning)).map(\.id) == [Int32(id)])
      }
    }
  }

  @Test("The language of FTS5, and where a search in it is wrong", arguments: TestEngine.all)
  func fts5(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      try store(Self.library, in: workspace)
      func found(_ text: String) throws -> [Int32] {
        workspace.dflat.fetch(for: Story.self).where(try Story.search(fts5: text)).map(\.id)
      }
      #expect(try found("hello AND world OR darkness") == [1, 2, 4])
      #expect(try found("hello NOT world") == [2])
      #expect(try found("title : hello") == [1])
      #expect(try found("- title : hello") == [2, 4])
      #expect(try found("{title \"writer.name\"} : (zola OR world)") == [1, 4])
      #expect(try found("\"extra.as(Quote).text\" : dark*") == [2])
      #expect(try found("^ world") == [4])
      #expect(try found("NEAR(say world, 3)") == [4])
      #expect(try found("NEAR(say world, 2)") == [])
      #expect(try found("hello + world") == [1])
      let wrong = [
        ("", 0), ("hello AND", 9), ("\"hello", 0), ("(hello", 6), ("hello)", 5),
        ("body2 : hello", 0),
        ("hello ! world", 6), ("a + ", 4), ("NEAR(a, x)", 8), ("a* + b", 3), ("title :", 7),
        ("(a) b", 4), ("a (b)", 2), ("- hello", 7), ("{} : a", 1),
        (String(repeating: "(", count: 60) + "a", 51), ("title : writer : a", 15),
      ]
      for (text, position) in wrong {
        do throws(SearchSyntaxError) {
          _ = try Story.search(fts5: text)
          Issue.record("'\(text)' is accepted")
        } catch {
          #expect(error.position == position, "\(error)")
          #expect(error.search == text && !error.message.isEmpty)
        }
      }
    }
  }

  @Test("Stems and parts of words", arguments: TestEngine.inEveryIndexState)
  func tokenizers(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      try workspace.write([Prose.Essay.self, Verse.Poem.self]) { txn in
        for (id, text) in [(1, "She was running"), (2, "runs in the family"), (3, "a ruin")] {
          try txn.submit(
            Prose.EssayChangeRequest.creationRequest(Prose.Essay(id: Int32(id), text: text)))
        }
        for (id, title, text) in [
          (1, "東京都", "京都へ行く"), (2, "Kyoto", "Tokyo"), (3, "ab", "xyzab"),
        ] {
          try txn.submit(
            Verse.PoemChangeRequest.creationRequest(
              Verse.Poem(id: Int32(id), title: title, text: text)))
        }
      }
      var random = SeededGenerator(seed: 2)
      try workspace.disturbIndexes(of: Prose.Essay._schema, using: &random)
      try workspace.disturbIndexes(of: Verse.Poem._schema, using: &random)
      func essays(_ text: String) -> [Int32] {
        workspace.dflat.fetch(for: Prose.Essay.self).where(Prose.Essay.search(text)).map(\.id)
      }
      func poems(_ text: String) -> [Int32] {
        workspace.dflat.fetch(for: Verse.Poem.self).where(Verse.Poem.search(text)).map(\.id)
      }
      for _ in 0..<3 {
        #expect(essays("run") == [1, 2] && essays("RUNNING") == [1, 2] && essays("ruins") == [3])
        #expect(essays("\"families run\"") == [] && essays("\"run in\"") == [2])
        #expect(poems("京都へ") == [1] && poems("KYO") == [2] && poems("kyo") == [2])
        // Two characters are too few for the index, so the objects are looked at.
        #expect(poems("京都") == [1] && poems("AB") == [3] && poems("b") == [3])
        #expect(poems("kyo ok") == [2] && poems("yz -tok") == [3] && poems("京都 -行く") == [])
        try workspace.write([Prose.Essay.self, Verse.Poem.self]) { _ in }
      }
    }
  }

  @Test("Transactions and snapshots see their own texts", arguments: TestEngine.inEveryIndexState)
  func views(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      try store(Self.library, in: workspace)
      var random = SeededGenerator(seed: 3)
      try workspace.disturbIndexes(of: Story._schema, using: &random)
      let dflat = workspace.dflat
      try workspace.write([Story.self]) { txn in
        let first = try #require(dflat.fetch(for: Story.self).where(Story.id == 1).first)
        let request = try #require(Tale.StoryChangeRequest.changeRequest(first))
        request.title = "Goodbye"
        try txn.submit(request)
        let last = try #require(dflat.fetch(for: Story.self).where(Story.id == 4).first)
        let deletion = try #require(Tale.StoryChangeRequest.deletionRequest(last))
        try txn.submit(deletion)
        try txn.submit(
          Tale.StoryChangeRequest.creationRequest(Self.story(6, "hello again", "goodbye")))
        #expect(found(workspace, "hello") == [2, 6])
        #expect(found(workspace, "goodbye") == [1, 6])
      }
      #expect(found(workspace, "hello") == [2, 6])
      dflat.fetchWithinASnapshot {
        #expect(found(workspace, "goodbye") == [1, 6])
        onAnotherThread {
          _ = try? workspace.write([Story.self]) { txn in
            try txn.submit(Tale.StoryChangeRequest.creationRequest(Self.story(7, "goodbye")))
          }
        }
        #expect(found(workspace, "goodbye") == [1, 6])
      }
      #expect(found(workspace, "goodbye") == [1, 6, 7])
      // What an aborted transaction has written is not found.
      try workspace.write([Story.self]) { txn in
        try txn.submit(Tale.StoryChangeRequest.creationRequest(Self.story(8, "goodbye")))
        #expect(found(workspace, "goodbye") == [1, 6, 7, 8])
        txn.abort()
      }
      #expect(found(workspace, "goodbye") == [1, 6, 7])
    }
  }

  @Test(
    "Random changes, searches and live results against a filter",
    arguments: TestEngine.inEveryIndexState)
  func random(engine: TestEngine) throws {
    try withSeed { random in
      for _ in 0..<(isLongRun ? 40 : 1) { try round(engine, &random) }
    }
  }

  private func round(_ engine: TestEngine, _ random: inout SeededGenerator) throws {
    try withTemporaryWorkspace(engine) { workspace in
      let dflat = workspace.dflat
      func text(_ most: Int = 6) -> String? {
        random.oneIn(4) ? nil : RandomWords.text(&random, most: most)
      }
      func change(_ id: Int32) throws {
        let story = Self.story(
          id, text(), text(12), writer: text(2), quote: text(3),
          motto: random.oneIn(2) ? nil : RandomWords.text(&random), year: id % 5)
        let kind = Int.random(in: 0..<4, using: &random)
        try workspace.write([Story.self]) { txn in
          let stored = dflat.fetch(for: Story.self).where(Story.id == id).first
          guard let stored else {
            try txn.submit(Tale.StoryChangeRequest.creationRequest(story))
            return
          }
          if kind == 0, let request = Tale.StoryChangeRequest.deletionRequest(stored) {
            try txn.submit(request)
          } else if let request = Tale.StoryChangeRequest.changeRequest(stored) {
            if kind == 1 { request.year += 1 } else { request.title = story.title }
            if kind == 3 {
              request.extra = story.extra
              request.motto = story.motto
            }
            try txn.submit(request)
          }
        }
      }
      for id in 1...40 as ClosedRange<Int32> { try change(id) }
      let watched = TextSearchCase(RandomWords.search(&random))
      let live = Mutex<[Int32]>([])
      let first = dflat.fetch(for: Story.self).where(watched.condition && Story.year < 4)
      live.withLock { $0 = first.map(\.id) }
      let subscription = dflat.subscribe(fetchedResult: first) { result in
        live.withLock { $0 = result.map(\.id) }
      }
      for step in 0..<30 {
        if step % 10 == 0 { try workspace.disturbIndexes(of: Story._schema, using: &random) }
        try change(Int32.random(in: 1...45, using: &random))
        let all = dflat.fetch(for: Story.self).all()
        let search = TextSearchCase(RandomWords.search(&random))
        let expected = all.filter { search.matches($0) }.map(\.id)
        let result = dflat.fetch(for: Story.self).where(search.condition).map(\.id)
        #expect(
          result == expected, "DFLAT_SEED=\(random.seed), \(engine): \(search.text)")
        let kept = all.filter { watched.matches($0) && $0.year < 4 }.map(\.id)
        #expect(
          live.withLock { $0 } == kept,
          "DFLAT_SEED=\(random.seed), \(engine): \(watched.text), live")
      }
      subscription.cancel()
    }
  }

  /// A search, and whether an object matches it by its own bytes.
  private struct TextSearchCase {
    let text: String
    let condition: TextSearch<Story>

    init(_ text: String) {
      self.text = text
      condition = Story.search(text)
    }

    func matches(_ story: Story) -> Bool {
      story._row.read { Program(condition._node).evaluate($0) == .true }
    }
  }

  @Test("Live results follow a search", arguments: TestEngine.all)
  func live(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      try store(Self.library, in: workspace)
      let heard = Mutex<[[Int32]]>([])
      let hello = workspace.dflat.fetch(for: Story.self).where(Story.search("hello"))
      let subscription = workspace.dflat.subscribe(fetchedResult: hello) { result in
        heard.withLock { $0.append(result.map(\.id)) }
      }
      try store([Self.story(9, "Hello!"), Self.story(10, "Nothing")], in: workspace)
      try workspace.write([Story.self]) { txn in
        for (id, title) in [(1, "Bye"), (3, "hello")] as [(Int32, String)] {
          let story = try #require(
            workspace.dflat.fetch(for: Story.self).where(Story.id == id).first)
          let request = try #require(Tale.StoryChangeRequest.changeRequest(story))
          request.title = title
          try txn.submit(request)
        }
      }
      #expect(heard.withLock { $0 } == [[1, 2, 4, 9], [2, 3, 4, 9]])
      subscription.cancel()
    }
  }
}
