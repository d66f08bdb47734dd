// Searches of fields with different tokenizers, on every engine and in every state of the
// indexes: each word is found in each field by the tokenizer of that field.

import DflatTestSupport
import Platform
import Testing

@testable import Dflat

@Suite("Searches with a tokenizer for each field")
struct MixedSearchTests {
  private typealias Entry = Mixed.Entry

  private static func entry(
    _ id: Int32, title: String? = nil, body: String? = nil, note: String? = nil,
    tag: String? = nil, source: String? = nil
  ) -> Entry {
    Entry(
      id: id, title: title, body: body, note: note, tag: tag,
      source: source.map { Mixed.Source(name: $0) })
  }

  private func store(_ entries: [Entry], in workspace: some TestWorkspace) throws {
    try workspace.write([Entry.self]) { txn in
      for entry in entries { try txn.submit(Mixed.EntryChangeRequest.creationRequest(entry)) }
    }
  }

  private func found(_ workspace: TemporaryWorkspace, _ text: String) -> [Int32] {
    workspace.dflat.fetch(for: Entry.self).where(Entry.search(text)).map(\.id)
  }

  @Test(
    "Stems, characters of Chinese, Japanese and Korean, and parts of words in one type",
    arguments: TestEngine.inEveryIndexState)
  func languages(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      try store(
        [
          Self.entry(1, title: "Running in the city", body: "京都の朝に走る。Stories of runners"),
          Self.entry(2, title: "The runs", body: "She is running in 東京都, story by story"),
          Self.entry(3, note: "prerunning, ｶﾞｰﾄﾞ, Ｃａｆｅ\u{301}", tag: "京都 runs"),
          Self.entry(4, body: "서울에서 cafés", source: "Café stories"),
          Self.entry(5, title: "東京都", note: "東京都"),
        ], in: workspace)
      var random = SeededGenerator(seed: 1)
      try workspace.disturbIndexes(of: Entry._schema, using: &random)
      func fts5(_ text: String) throws -> [Int32] {
        workspace.dflat.fetch(for: Entry.self).where(try Entry.search(fts5: text)).map(\.id)
      }
      for _ in 0..<3 {
        // Stems in the title and the body, parts in the note, whole words in the tag.
        #expect(found(workspace, "run") == [1, 2, 3])
        #expect(found(workspace, "runs") == [1, 2, 3])
        #expect(found(workspace, "unnin") == [3])
        #expect(found(workspace, "story") == [1, 2] && found(workspace, "stories") == [1, 2, 4])
        // Each word by itself, in whatever field.
        #expect(found(workspace, "running 京都") == [1, 2, 3])
        #expect(found(workspace, "京都 -東") == [1, 3])
        #expect(found(workspace, "都") == [1, 2, 3, 5] && found(workspace, "東京") == [2, 5])
        #expect(found(workspace, "울에") == [4])
        #expect(found(workspace, "\"京都 runs\"") == [3])
        // Accents and width.
        #expect(found(workspace, "cafe") == [3, 4] && found(workspace, "ＣＡＦÉ") == [3, 4])
        #expect(found(workspace, "ガード") == [3] && found(workspace, "か") == [])
        // Signs are words of the note alone.
        #expect(found(workspace, "story !") == [] && found(workspace, "\", \"") == [3])
        #expect(try fts5("title : 東京都") == [5] && fts5("title : 東京") == [])
        #expect(try fts5("{body note} : (runs OR 東京)") == [2, 5])
        #expect(try fts5("title : \"!\"") == [] && fts5("NEAR(東 都, 1)") == [2, 5])
        let entries = workspace.dflat.fetch(for: Entry.self)
        #expect(entries.where(!Entry.search("run")).map(\.id) == [4, 5])
        #expect(entries.where(Entry.note.search("京都")).map(\.id) == [5])
        #expect(entries.where(Entry.source.name.search("story")).map(\.id) == [])
        let run = Entry.search("run")
        #expect(
          Set(entries.where(run, limit: 3, orderBy: [run.rank([Entry.title: 3])]).map(\.id))
            == [1, 2, 3])
        try workspace.write([Entry.self]) { _ in }
      }
    }
  }

  // MARK: Against the dullest search

  /// What texts and searches are made of.
  private static let pieces = [
    "run", "runs", "Running", "story", "stories", "café", "cafe\u{301}", "CAFÉS", "ab", "a", "Ａ",
    "ｒｕｎ", "京", "都", "京都", "東京都", "서울", "ガ", "ｶﾞ", "カ", "🎉", "++", "Straße", "ế", "é",
  ]
  private static let gaps = [" ", " ", " ", ", ", "", "\u{3000}", "-", "。"]

  private static func text(_ random: inout SeededGenerator, most: Int) -> String? {
    if random.oneIn(4) { return nil }
    return (0..<Int.random(in: 0...most, using: &random)).map { _ in
      random.pick(pieces) + random.pick(gaps)
    }.joined()
  }

  /// The words of a text: those that a list of scalars is divided into.
  private static func words(_ text: String, _ tokenizer: SearchTokenizer) -> [[UInt32]] {
    func scalars(_ token: [UInt8]) -> [UInt32] {
      String(decoding: token, as: UTF8.self).unicodeScalars.map(\.value)
    }
    // These are compared with FTS5 elsewhere.
    if tokenizer == .unicode61 || tokenizer == .porter {
      return tokenizer.tokens(of: text).map(scalars)
    }
    var words: [[UInt32]] = [[]]
    for scalar in foldedScalars(text) {
      if scalar >= 0x3041, scalar < 0x1F000 {
        words += [[scalar], []]
      } else if SearchFolding.isInWord(scalar), scalar < 0x1F000 {
        words[words.count - 1].append(scalar)
      } else {
        words.append([])
      }
    }
    words.removeAll(where: \.isEmpty)
    guard tokenizer == .porterCJK else { return words }
    return words.map { word in
      let text = String(String.UnicodeScalarView(word.compactMap { Unicode.Scalar($0) }))
      return scalars(SearchTokenizer.porter.tokens(of: text)[0])
    }
  }

  /// Whether a phrase is in a text; nil if it has no words.
  private static func contains(
    _ text: String?, _ phrase: String, isPrefix: Bool, _ tokenizer: SearchTokenizer
  ) -> Bool? {
    let isPart = tokenizer == .trigram
    let wanted = isPart ? foldedScalars(phrase).map { [$0] } : words(phrase, tokenizer)
    if wanted.isEmpty { return nil }
    let all = isPart ? foldedScalars(text ?? "").map { [$0] } : words(text ?? "", tokenizer)
    return all.indices.contains { start in
      all.count - start >= wanted.count
        && wanted.indices.allSatisfy { place in
          let word = all[start + place]
          return isPrefix && place == wanted.count - 1
            ? word.starts(with: wanted[place]) : word == wanted[place]
        }
    }
  }

  private struct Term {
    let phrase: String
    let isPrefix: Bool
    let isUnwanted: Bool

    init(_ random: inout SeededGenerator) {
      var phrase = random.pick(pieces)
      if random.oneIn(3) { phrase += random.pick([" ", "", "-"]) + random.pick(pieces) }
      self.phrase = phrase
      isPrefix = random.oneIn(4)
      isUnwanted = random.oneIn(5)
    }

    var text: String { (isUnwanted ? "-" : "") + "\"\(phrase)\"" + (isPrefix ? "*" : "") }

    /// nil if it has no words for any field.
    func matches(_ entry: Entry) -> Bool? {
      let fields: [(String?, SearchTokenizer)] = [
        (entry.title, .porter), (entry.body, .porterCJK), (entry.note, .trigram),
        (entry.tag, .cjk), (entry.source?.name, .unicode61),
      ]
      let found = fields.compactMap { contains($0, phrase, isPrefix: isPrefix, $1) }
      return found.isEmpty ? nil : found.contains(true)
    }
  }

  private static func matches(_ terms: [Term], _ entry: Entry) -> Bool {
    let wanted = terms.filter { !$0.isUnwanted }.compactMap { $0.matches(entry) }
    return !wanted.isEmpty && wanted.allSatisfy { $0 }
      && !terms.contains { $0.isUnwanted && $0.matches(entry) == true }
  }

  @Test(
    "Random texts in several scripts against a comparison at each place",
    arguments: TestEngine.inEveryIndexState)
  func random(engine: TestEngine) throws {
    try withSeed { random in
      for _ in 0..<(isLongRun ? 40 : 1) { try round(engine, &random) }
    }
  }

  private func round(_ engine: TestEngine, _ random: inout SeededGenerator) throws {
    func entry(_ id: Int32) -> Entry {
      Self.entry(
        id, title: Self.text(&random, most: 4), body: Self.text(&random, most: 6),
        note: Self.text(&random, most: 4), tag: Self.text(&random, most: 3),
        source: Self.text(&random, most: 2))
    }
    try withTemporaryWorkspace(engine) { workspace in
      try store((1...30).map { entry($0) }, in: workspace)
      let watched = [Term(&random)]
      let heard = Mutex<[Int32]>([])
      let first = workspace.dflat.fetch(for: Entry.self).where(Entry.search(watched[0].text))
      heard.withLock { $0 = first.map(\.id) }
      let subscription = workspace.dflat.subscribe(fetchedResult: first) { result in
        heard.withLock { $0 = result.map(\.id) }
      }
      for step in 0..<3 as Range<Int32> {
        try workspace.disturbIndexes(of: Entry._schema, using: &random)
        let all = workspace.dflat.fetch(for: Entry.self).all()
        for _ in 0..<30 {
          let terms = (0..<random.pick([1, 1, 2, 3])).map { _ in Term(&random) }
          let text = terms.map(\.text).joined(separator: " ")
          let expected = all.filter { Self.matches(terms, $0) }.map(\.id)
          #expect(
            found(workspace, text) == expected, "DFLAT_SEED=\(random.seed), \(engine): \(text)")
          let left = all.map(\.id).filter { !expected.contains($0) }
          #expect(
            workspace.dflat.fetch(for: Entry.self).where(!Entry.search(text)).map(\.id) == left,
            "DFLAT_SEED=\(random.seed), \(engine): not \(text)")
        }
        let (note, body) = (Self.text(&random, most: 4), Self.text(&random, most: 4))
        let added = entry(100 + step)
        try workspace.write([Entry.self]) { txn in
          let old = try #require(
            workspace.dflat.fetch(for: Entry.self).where(Entry.id == step + 1).first)
          let request = try #require(Mixed.EntryChangeRequest.changeRequest(old))
          request.note = note
          request.body = body
          try txn.submit(request)
          try txn.submit(Mixed.EntryChangeRequest.creationRequest(added))
        }
        let kept = workspace.dflat.fetch(for: Entry.self).all()
          .filter { Self.matches(watched, $0) }
        #expect(
          heard.withLock { $0 } == kept.map(\.id),
          "DFLAT_SEED=\(random.seed), \(engine): \(watched[0].text), live")
      }
      subscription.cancel()
    }
  }
}
