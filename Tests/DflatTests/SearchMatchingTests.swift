// How searches are matched with texts: long and repeated phrases, short parts, characters.

import DflatTestSupport
import Testing

@testable import Dflat

@Suite("Matches of searches")
struct SearchMatchingTests {
  private typealias Story = Tale.Story

  private func poem(_ text: String) -> Verse.Poem { Verse.Poem(id: 1, text: text) }

  private func matches(_ search: TextSearch<Prose.Essay>, _ text: String) -> Bool {
    Prose.Essay(id: 1, text: text)._row.read {
      Program(search._node).evaluate($0) == .true
    }
  }

  @Test("A long phrase in a long text of the same words", .endsSometime)
  func longPhrases() {
    let text = String(repeating: "a ", count: 60_000) + "b"
    func phrase(_ count: Int, _ end: String) -> TextSearch<Prose.Essay> {
      Prose.Essay.search("\"" + String(repeating: "a ", count: count) + end)
    }
    #expect(matches(phrase(30_000, ""), text))
    #expect(matches(phrase(60_000, "b\""), text))
    #expect(!matches(phrase(60_001, ""), text))
    #expect(!matches(phrase(30_000, "b a\""), text))
    #expect(matches(phrase(59_000, "b\"*"), text))
  }

  @Test("Phrases that repeat themselves are found as by looking at every place")
  func repeatedWords() throws {
    try withSeed { random in
      for _ in 0..<4000 {
        let letters = random.oneIn(2) ? ["a", "b"] : ["a", "b", "bc", "ca"]
        let text = (0..<Int.random(in: 0...14, using: &random)).map { _ in random.pick(letters) }
        let phrase = (0..<Int.random(in: 1...6, using: &random)).map { _ in random.pick(letters) }
        let (isPrefix, isInitial) = (random.oneIn(3), random.oneIn(5))
        let search = try Prose.Essay.search(
          fts5: (isInitial ? "^ " : "") + "\"\(phrase.joined(separator: " "))\""
            + (isPrefix ? "*" : ""))
        let places = 0...max(0, text.count - phrase.count)
        let isFound =
          text.count >= phrase.count
          && (isInitial ? 0...0 : places).contains { start in
            phrase.indices.allSatisfy { place in
              let word = text[start + place]
              return isPrefix && place == phrase.count - 1
                ? word.hasPrefix(phrase[place]) : word == phrase[place]
            }
          }
        #expect(
          matches(search, text.joined(separator: " ")) == isFound,
          "DFLAT_SEED=\(random.seed): \(phrase), \(text), \(isPrefix), \(isInitial)")
      }
    }
  }

  @Test("A part of a text is found in any bytes where its tokens are")
  func partsInAnyBytes() throws {
    let schema = Verse.Poem._schema
    let fields = schema.fullText?.columns.prefix(1).map(\.field) ?? []
    let pieces = [
      "a", "A", "k", "\u{212A}", "é", "É", "日", "本", "🎉", "+", " ", "\u{80}", "\u{FFFD}",
    ]
    try withSeed { random in
      for _ in 0..<4000 {
        let part = (0..<Int.random(in: 1...5, using: &random)).map { _ in random.pick(pieces) }
          .joined()
        let search = try SearchCondition(
          SearchSyntax(words: "\"\(part)\""), in: fields, of: schema, text: part, search: part)
        var text: [UInt8] = []
        for _ in 0..<Int.random(in: 0...10, using: &random) {
          text +=
            random.oneIn(3)
            ? [UInt8.random(in: random.oneIn(2) ? 0x80...0xFF : 0...0xFF, using: &random)]
            : Array(random.pick([part] + pieces).utf8)
        }
        let phrase = search.groups[0].phrases[0]
        var tokens: [[UInt8]] = []
        text.withUnsafeBytes {
          SearchTokenizer.trigram.forEachToken(in: $0) { token, _, _ in
            tokens.append(Array(token))
            return true
          }
        }
        let isThere = tokens.indices.contains { start in
          phrase.isPrefix
            ? tokens[start].starts(with: phrase.tokens[0])
            : tokens[start...].starts(with: phrase.tokens)
        }
        let isFound = text.withUnsafeBytes { bytes in search.matches { _ in bytes } }
        guard isFound == isThere else {
          Issue.record("DFLAT_SEED=\(random.seed): \(part) in \(text): \(isFound), not \(isThere)")
          return
        }
      }
    }
  }

  @Test("The snippet of a long text with many matches", .endsSometime)
  func longSnippet() throws {
    let words = (0..<40_000).map { $0 == 39_990 ? "world" : "hello" }
    let essay = Prose.Essay(id: 1, text: words.joined(separator: " "))
    let snippet = try #require(
      Prose.Essay.search("hello world").snippet(of: essay, in: Prose.Essay.text, words: 20_000))
    #expect(snippet.ranges.count == 20_000)
    #expect(snippet.marked("<", ">").contains("<world>"))
  }

  @Test("Highlights and snippets")
  func highlights() throws {
    let story = Story(
      id: 1, title: "Éclairs, éclair & more",
      body: (1...40).map { $0 == 30 ? "the Éclair" : $0 == 32 ? "world" : "w\($0)" }
        .joined(separator: " ") + ".")
    let search = Story.search("eclair* world -x")
    let title = try #require(search.highlights(in: Story.title, of: story))
    #expect(title.marked("<", ">") == "<Éclairs>, <éclair> & more")
    #expect(title.ranges.map { String(title.text[$0]) } == ["Éclairs", "éclair"])
    let snippet = try #require(search.snippet(of: story, in: Story.body, words: 8))
    #expect(snippet.marked("<", ">") == "…w29 the <Éclair> w31 <world> w33 w34 w35…")
    let short = try #require(search.snippet(of: story, in: Story.title))
    #expect(short == title)
    #expect(search.highlights(in: Story.writer.name, of: story) == nil)
    let phrase = Story.search("\"the eclair\"")
    #expect(
      phrase.snippet(of: story, in: Story.body, words: 2)?.marked("[", "]") == "…[the Éclair]…")
    let none = try #require(Story.search("zzz").snippet(of: story, in: Story.body, words: 3))
    #expect(none.text == "w1 w2 w3…" && none.ranges.isEmpty)
    let poem = Verse.Poem(id: 1, title: "東京都庁", text: "Kyoto, KYOTO")
    #expect(
      Verse.Poem.search("京都").highlights(in: Verse.Poem.title, of: poem)?.marked("<", ">")
        == "東<京都>庁")
    #expect(
      Verse.Poem.search("京 庁 都庁").highlights(in: Verse.Poem.title, of: poem)?.marked("<", ">")
        == "東<京><都庁>")
    #expect(
      Verse.Poem.search("\", \" t").highlights(in: Verse.Poem.text, of: poem)?.marked("<", ">")
        == "Kyo<t>o<, >KYO<T>O")
    #expect(
      Verse.Poem.search("yoto").highlights(in: Verse.Poem.text, of: poem)?.marked("<", ">")
        == "K<yoto>, K<YOTO>")
    let accents = Verse.Poem(id: 1, text: "cafe\u{301} CAFÉ ｃａｆｅ ｶﾞｶ")
    #expect(
      Verse.Poem.search("afe ガ").highlights(in: Verse.Poem.text, of: accents)?.marked("<", ">")
        == "c<afe\u{301}> C<AFÉ> ｃ<ａｆｅ> <ｶﾞ>ｶ")
    #expect(
      Verse.Poem.search("é").highlights(in: Verse.Poem.text, of: accents)?.marked("<", ">")
        == "caf<e\u{301}> CAF<É> ｃａｆ<ｅ> ｶﾞｶ")
    let entry = Mixed.Entry(
      id: 1, title: "Running cats", body: "The cats run in 東京都, ｒｕｎ!", note: "cats, RÚNNER")
    func marked(_ text: String, _ field: Field<String, Mixed.Entry>) -> String? {
      Mixed.Entry.search(text).highlights(in: field, of: entry)?.marked("<", ">")
    }
    #expect(marked("runs cat", Mixed.Entry.title) == "<Running> <cats>")
    #expect(
      marked("running 京都", Mixed.Entry.body) == "The cats <run> in 東<京都>, <ｒｕｎ>!")
    #expect(marked("run at", Mixed.Entry.note) == "c<at>s, <RÚN>NER")
  }

  @Test("A snippet contains what is found with all its words, and the mark around it")
  func longMatches() throws {
    let essay = Prose.Essay(id: 1, text: (1...40).map { "w\($0)" }.joined(separator: " "))
    func snippet(_ text: String, _ words: Int) throws -> String {
      try #require(
        Prose.Essay.search(text).snippet(of: essay, in: Prose.Essay.text, words: words)
      ).marked("[", "]")
    }
    #expect(try snippet("\"w20 w21 w22 w23\"", 6) == "…w19 [w20 w21 w22 w23] w24…")
    #expect(try snippet("\"w20 w21 w22 w23\"", 5) == "…[w20 w21 w22 w23] w24…")
    #expect(try snippet("\"w20 w21 w22 w23\"", 4) == "…[w20 w21 w22 w23]…")
    #expect(try snippet("\"w37 w38 w39 w40\"", 5) == "…w36 [w37 w38 w39 w40]")
    // The beginning of what is longer.
    #expect(try snippet("\"w20 w21 w22 w23\"", 3) == "…[w20 w21 w22]…")
    #expect(try snippet("\"w1 w2 w3\"", 2) == "[w1 w2]…")
    #expect(try snippet("\"w37 w38 w39 w40\"", 3) == "…[w37 w38 w39]…")
    // What is found as a whole comes first.
    #expect(try snippet("\"w20 w21 w22 w23\" w30", 3) == "…w29 [w30] w31…")
    #expect(try snippet("w20 \"w22 w23 w24\"", 5) == "…[w20] w21 [w22 w23 w24]…")
    // Words that are not separated: a range may begin and end inside of one.
    let poem = Verse.Poem(id: 1, title: "あいうえお東京都庁展望室かきくけこ", text: "ab cdefg hi jk")
    func title(_ text: String, _ words: Int) -> String? {
      Verse.Poem.search(text).snippet(of: poem, in: Verse.Poem.title, words: words)?
        .marked("[", "]")
    }
    #expect(title("東京都庁", 6) == "…お[東京都庁]展…" && title("東京都庁", 3) == "…[東京都]…")
    let part = Verse.Poem.search("\"efg h\"").snippet(of: poem, in: Verse.Poem.text, words: 2)
    #expect(part?.marked("[", "]") == "…cd[efg h]i…")
  }

  @Test("What is not wanted does not make an object relevant")
  func unwanted() throws {
    let search = try Prose.Essay.search(fts5: "swift OR (storage NOT other)")
    func relevance(_ text: String) -> Double {
      var text = text
      return text.withUTF8 { bytes in
        search.condition.relevance(weights: [1]) { _ in UnsafeRawBufferPointer(bytes) }
      }
    }
    #expect(relevance("swift other other") == relevance("swift"))
    #expect(relevance("swift storage") > relevance("swift"))
  }

  @Test("A NUL ends what is marked in a text")
  func markedBeforeNUL() throws {
    let search = Verse.Poem.search("ab")
    let marked = try #require(
      search.highlights(in: Verse.Poem.text, of: poem("xab\0hello ab")))
    #expect(marked.marked("<", ">") == "x<ab>\0hello ab")
    let end = try #require(search.highlights(in: Verse.Poem.text, of: poem("abxAB")))
    #expect(end.marked("<", ">") == "<ab>x<AB>")
  }

  @Test("Canonically equivalent texts find the same, and are different searches")
  func equivalentTexts() {
    let (composed, decomposed) = ("caf\u{E9}", "cafe\u{301}")
    #expect(composed == decomposed)
    let both = Verse.Poem.search("\(composed) \(decomposed)")
    func isFound(_ text: String) -> Bool {
      poem(text)._row.read { Program(both._node).evaluate($0) == .true }
    }
    #expect(isFound("\(composed) \(decomposed)") && isFound(composed) && isFound(decomposed))
    let (one, other) = (Verse.Poem.search(composed), Verse.Poem.search(decomposed))
    #expect(!one.condition.isSame(as: other.condition))
    #expect(one.condition.isSame(as: Verse.Poem.search(composed).condition))
  }
}
