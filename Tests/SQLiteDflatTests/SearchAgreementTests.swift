// Searches on rows against FTS5: both must find the same words in the same texts.

import DflatTestSupport
import Foundation
import SQLiteAccess
import Testing

@testable import Dflat
@testable import SQLiteDflat

@Suite("Searches on rows and in FTS5")
struct SearchAgreementTests {
  /// An FTS5 table with some texts.
  private final class Table {
    let connection: Connection
    private let directory: String
    /// Whether it is given tokens.
    private let isGivenTokens: Bool
    private let tokenizer: SearchTokenizer

    deinit { try? FileManager.default.removeItem(atPath: directory) }

    /// - Parameter isOwn: Whether it is a table as the engine creates it.
    init(
      _ tokenizer: SearchTokenizer, _ columns: [String] = ["f6"], isOwn: Bool = false
    ) throws {
      self.tokenizer = tokenizer
      isGivenTokens = isOwn && tokenizer.isGivenTokens
      directory = try makeTemporaryDirectory()
      connection = try Connection(path: directory + "/words.db")
      let words = isOwn || tokenizer != .trigram ? tokenizer.fts5 : "trigram"
      try connection.execute(
        "CREATE VIRTUAL TABLE t USING fts5(\(columns.joined(separator: ", ")), content='', "
          + "tokenize='\(words)'); CREATE VIRTUAL TABLE v USING fts5vocab(t, 'instance')")
    }

    func add(_ id: Int, _ texts: [String?]) throws {
      let marks = texts.map { _ in ", ?" }.joined()
      let columns = (0..<texts.count).map {
        ", \(["f6", "f8", "f10__f4", "f14__u1__f4", "f16"][$0])"
      }
      try connection.execute(
        "INSERT INTO t (rowid\(columns.joined())) VALUES (?\(marks))",
        [.integer(Int64(id))] + texts.map { $0.map { .text(given($0)) } ?? .null })
    }

    /// What the table is given for a text.
    private func given(_ text: String) -> String {
      if !isGivenTokens { return text }
      var tokens: [UInt8] = []
      tokenizer.writeTokens(of: UnsafeRawBufferPointer(text.copiedBytes), to: &tokens)
      return String(decoding: tokens, as: UTF8.self)
    }

    /// The words of each text, in their order.
    func words() throws -> [Int64: [String]] {
      var words: [Int64: [String]] = [:]
      for row in try connection.rows("SELECT doc, term FROM v ORDER BY doc, offset") {
        words[row[0].integer ?? 0, default: []].append(row[1].text ?? "")
      }
      return words
    }
  }

  private func expectSameWords(
    _ tokenizer: SearchTokenizer, _ texts: [String],
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    // FTS5's own tokens, and those that the engine's table has.
    for isOwn in tokenizer.isGivenTokens ? [false, true] : [true] {
      let table = try Table(tokenizer, isOwn: isOwn)
      try table.connection.execute("BEGIN")
      for (number, text) in texts.enumerated() { try table.add(number + 1, [text]) }
      let words = try table.words()
      for (number, text) in texts.enumerated() {
        let tokens = isOwn ? tokenizer.tokens(of: text) : tokenizer.tokens(of: text).asFTS5
        let own = tokens.map { String(decoding: $0, as: UTF8.self) }
        let theirs = words[Int64(number + 1)] ?? []
        if own.map({ Array($0.utf8) }) != theirs.map({ Array($0.utf8) }) {
          Issue.record(
            "\(tokenizer), \(String(reflecting: text)): \(own), FTS5 has \(theirs)",
            sourceLocation: sourceLocation)
          return
        }
      }
    }
  }

  @Test(
    "Every character is the same word to both", arguments: [SearchTokenizer.unicode61, .trigram])
  func everyCharacter(tokenizer: SearchTokenizer) throws {
    // The planes that Unicode uses, and some of the rest. Of all but the first plane there are some
    // characters, others each time.
    let step: UInt32 = isLongRun ? 1 : 8
    let codes =
      Array(1...0xFFFF as ClosedRange<UInt32>)
      + stride(from: 0x10000 + .random(in: 0..<step), through: 0x323FF, by: Int(step))
      + [0xE0001, 0xE0020, 0xE01F0, 0x10FFFF]
    let scalars = codes.compactMap { Unicode.Scalar($0) }
    // Each alone, and inside of a word; together in texts, since so many would take long.
    try expectSameWords(
      tokenizer,
      stride(from: 0, to: scalars.count, by: 100).map { start in
        scalars[start..<min(start + 100, scalars.count)]
          .map { "\($0) x\($0)y \($0)\($0)z" }.joined(separator: " ")
      })
  }

  @Test("English words have the same stem to both")
  func stems() throws {
    let stems = [
      "caress", "pon", "ti", "cat", "agre", "feed", "plaster", "bled", "motor", "sing", "conflat",
      "troubl", "siz", "hop", "tann", "fall", "hiss", "fizz", "fail", "fil", "happ", "sk", "relat",
      "condition", "rational", "valen", "hesitan", "digit", "conform", "radical", "different",
      "vil",
      "analog", "vietnam", "predicat", "operat", "feudal", "decis", "hope", "callous", "formal",
      "sensitiv", "sensibil", "triplic", "form", "electr", "good", "reviv", "allow", "infer",
      "airlin",
      "gyroscop", "adjust", "defens", "irrit", "replac", "depend", "adopt", "commun", "activ",
      "angular",
      "homolog", "effect", "bowdler", "prob", "rat", "ceas", "control", "roll", "y", "yy", "ay",
      "é",
    ]
    let endings = [
      "", "s", "es", "ies", "sses", "ss", "ed", "eed", "ing", "ating", "bling", "izing", "y",
      "ational",
      "tional", "enci", "anci", "izer", "logi", "bli", "alli", "entli", "eli", "ousli", "ization",
      "ation",
      "ator", "alism", "iveness", "fulness", "ousness", "aliti", "iviti", "biliti", "icate",
      "ative",
      "alize", "iciti", "ical", "ful", "ness", "al", "ance", "ence", "er", "ic", "able", "ible",
      "ant",
      "ement", "ment", "ent", "sion", "tion", "ion", "ou", "ism", "ate", "iti", "ous", "ive", "ize",
      "e",
      "l", "ll", "lle", "zz", "ying",
    ]
    try expectSameWords(.porter, stems.flatMap { stem in endings.map { stem + $0 } })
    try withSeed { random in
      let letters = Array("aeiouybcdlstnrgzw")
      try expectSameWords(
        .porter,
        (0..<5000).map { _ in
          String((0..<Int.random(in: 1...7, using: &random)).map { _ in random.pick(letters) })
            + random.pick(endings)
        })
    }
    try expectSameWords(
      .porter,
      [String(repeating: "a", count: 58) + "tional", String(repeating: "b", count: 90) + "ing"])
  }

  @Test(
    "Random texts have the same words to both",
    arguments: [SearchTokenizer.unicode61, .porter, .trigram])
  func texts(tokenizer: SearchTokenizer) throws {
    try withSeed { random in
      try expectSameWords(tokenizer, (0..<1000).map { _ in RandomWords.text(&random, most: 20) })
      try expectSameWords(
        tokenizer, [String(repeating: "a", count: 40_000), String(repeating: "Ⱥ", count: 40_000)])
    }
  }

  @Test(
    "Bytes that are not UTF-8 are the same words to both",
    arguments: [SearchTokenizer.unicode61, .porter, .trigram])
  func malformed(tokenizer: SearchTokenizer) throws {
    try withSeed { random in
      let table = try Table(tokenizer)
      try table.connection.execute("BEGIN")
      var texts: [[UInt8]] = []
      for number in 1...2000 {
        let pool: [UInt8] = [
          0x61, 0x42, 0x20, 0x80, 0xBF, 0xC0, 0xC3, 0xA9, 0xE2, 0x82, 0xF0, 0x9F, 0xFF,
        ]
        let bytes = (0..<Int.random(in: 0...12, using: &random)).map { _ in
          random.oneIn(4) ? UInt8.random(in: 1...255, using: &random) : random.pick(pool)
        }
        texts.append(bytes)
        try table.connection.execute(
          "INSERT INTO t (rowid, f6) VALUES (?, CAST(? AS TEXT))",
          [.integer(Int64(number)), .blob(bytes)])
      }
      var words: [Int64: [[UInt8]]] = [:]
      for row in try table.connection.rows(
        "SELECT doc, CAST(term AS BLOB) FROM v ORDER BY doc, offset")
      {
        words[row[0].integer ?? 0, default: []].append(row[1].blob ?? [])
      }
      for (number, text) in texts.enumerated() {
        var own: [[UInt8]] = []
        text.withUnsafeBytes {
          tokenizer.forEachToken(in: $0) { token, _, _ in
            own.append(Array(token))
            return true
          }
        }
        if tokenizer == .trigram { own = own.asFTS5 }
        guard own == words[Int64(number + 1)] ?? [] else {
          Issue.record(
            "DFLAT_SEED=\(random.seed): \(text): \(own), \(words[Int64(number + 1)] ?? [])")
          return
        }
      }
    }
  }

  @Test(
    "Random searches find the same texts",
    arguments: [SearchTokenizer.unicode61, .porter, .trigram])
  func searches(tokenizer: SearchTokenizer) throws {
    // The columns of `Tale.Story`, whose texts are given to both directly.
    let fields = Tale.Story._schema.fullText?.columns.map(\.field) ?? []
    let schema = EntitySchema(
      table: "t", layout: Tale.Story._schema.layout, primaryKey: [4],
      fullText: fields.map(\.path), tokenizer: tokenizer)
    let columns = schema.fullText?.columns.map(\.field) ?? []
    let names = columns.map { schema.name(of: $0) }
    try withSeed { random in
      let table = try Table(tokenizer, fields.map(\.path), isOwn: true)
      #expect(fields.map(\.path) == ["f6", "f8", "f10__f4", "f14__u1__f4", "f16"])
      let texts = (0..<(isLongRun ? 1000 : 60)).map { _ in
        columns.map { _ in random.oneIn(4) ? nil : RandomWords.text(&random) }
      }
      try table.connection.execute("BEGIN")
      for (number, texts) in texts.enumerated() { try table.add(number, texts) }
      for number in 0..<(isLongRun ? 20_000 : 160) {
        let isRaw = number % 2 == 0
        let text =
          isRaw ? RandomWords.fts5(&random, fields: names) : RandomWords.search(&random)
        let search = try SearchCondition(
          isRaw ? SearchSyntax(fts5: text) : SearchSyntax(words: text), in: columns, of: schema,
          text: text, search: text)
        let found = texts.indices.filter { row in
          search.matches { column in
            texts[row][column].map { text in
              UnsafeRawBufferPointer(text.copiedBytes)
            }
          }
        }
        guard search.isIndexed else { continue }
        let query = search.fts5(columns.map(\.path))
        let theirs =
          search.expression.isNever
          ? []
          : try table.connection.rows("SELECT rowid FROM t WHERE t MATCH ?", [.text(query)])
            .compactMap { $0[0].integer.map(Int.init) }
        guard found == theirs else {
          Issue.record(
            "DFLAT_SEED=\(random.seed), \(tokenizer), \(text): \(query): \(found), FTS5 \(theirs)")
          return
        }
        // FTS5 also understands the search itself, with its own names of the columns.
        guard isRaw, !tokenizer.isGivenTokens, !search.expression.isNever, number % 10 == 0 else {
          continue
        }
        var raw = text
        for (name, column) in zip(names, columns) {
          raw = raw.replacing("\"\(name)\"", with: column.path)
        }
        let direct = try table.connection.rows("SELECT rowid FROM t WHERE t MATCH ?", [.text(raw)])
        #expect(
          direct.compactMap { $0[0].integer.map(Int.init) } == theirs,
          "DFLAT_SEED=\(random.seed), \(tokenizer), \(raw)")
      }
    }
  }
}

extension [[UInt8]] {
  /// Tokens of `trigram` as FTS5's tokenizer of this name has them: of three characters only, with
  /// the signs that stand as letters in them.
  fileprivate var asFTS5: [[UInt8]] {
    dropLast(2).map { token in
      var (bytes, position) = ([UInt8](), 0)
      while position < token.count {
        if position + 1 < token.count, let sign = signs[[UInt8](token[position...position + 1])] {
          bytes.append(sign)
          position += 2
        } else {
          bytes.append(token[position])
          position += 1
        }
      }
      return bytes
    }
  }
}

/// The signs of ASCII by the letters that stand for them.
private let signs: [[UInt8]: UInt8] = {
  var signs: [[UInt8]: UInt8] = [:]
  for code in 1..<0x80 as Range<UInt8> {
    let letter = SearchTokenizer.trigram.tokens(of: String(Unicode.Scalar(code)))[0]
    if letter.count > 1 { signs[letter] = code }
  }
  return signs
}()

extension String {
  /// The bytes in memory that is never freed, for a test.
  fileprivate var copiedBytes: UnsafeRawBufferPointer { .copying(utf8: self) }
}
