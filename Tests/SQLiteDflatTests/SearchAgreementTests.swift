// Searches on rows against FTS5: both must find the same words in the same texts.

import DflatTestSupport
import Foundation
import SQLiteAccess
import Testing

@testable import Dflat
@testable import SQLiteDflat

@Suite("Searches on rows and in FTS5")
struct SearchAgreementTests {
  /// A full-text table as the engine creates it, with some texts.
  private final class Table {
    let connection: Connection
    let table: FullTextTable
    private let directory: String

    deinit { try? FileManager.default.removeItem(atPath: directory) }

    init(_ schema: EntitySchema) throws {
      directory = try makeTemporaryDirectory()
      connection = try Connection(path: directory + "/words.db")
      table = FullTextTable(try #require(schema.fullText), of: schema, [])
      try connection.execute(table.create)
      try connection.execute(
        "CREATE VIRTUAL TABLE v USING fts5vocab(\(table.table.quoted), 'instance')")
    }

    convenience init(_ tokenizer: SearchTokenizer) throws {
      try self.init(SearchAgreementTests.schema(["f6"], [tokenizer]))
    }

    func add(_ id: Int, _ texts: [[UInt8]?]) throws {
      let columns = table.columns.map { ", \($0.quoted)" }.joined()
      let marks = texts.map { _ in ", CAST(? AS TEXT)" }.joined()
      let values = zip(texts, table.tokenizers).map { text, tokenizer in
        text.map { SQLValue.blob(given($0, tokenizer)) } ?? .null
      }
      try connection.execute(
        "INSERT INTO \(table.table.quoted) (rowid\(columns)) VALUES (?\(marks))",
        [.integer(Int64(id))] + values)
    }

    /// What the table is given for a text.
    private func given(_ text: [UInt8], _ tokenizer: SearchTokenizer) -> [UInt8] {
      if !table.isGivenTokens { return text }
      var tokens: [UInt8] = []
      text.withUnsafeBytes { tokenizer.writeTokens(of: $0, to: &tokens) }
      return tokens
    }

    /// The words of each text, in their order.
    func words() throws -> [Int64: [[UInt8]]] {
      var words: [Int64: [[UInt8]]] = [:]
      for row in try connection.rows(
        "SELECT doc, CAST(term AS BLOB) FROM v ORDER BY doc, offset")
      {
        words[row[0].integer ?? 0, default: []].append(row[1].blob ?? [])
      }
      return words
    }
  }

  /// A schema with some of the strings of `Tale.Story`.
  private static func schema(_ paths: [String], _ tokenizers: [SearchTokenizer]) -> EntitySchema {
    EntitySchema(
      table: "t", layout: Tale.Story._schema.layout, primaryKey: [4], fullText: paths,
      tokenizers: tokenizers)
  }

  static let tokenizers: [SearchTokenizer] = [.unicode61, .porter, .trigram, .cjk, .porterCJK]

  private func expectSameWords(
    _ tokenizer: SearchTokenizer, _ texts: [String],
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let table = try Table(tokenizer)
    try table.connection.execute("BEGIN")
    for (number, text) in texts.enumerated() { try table.add(number + 1, [Array(text.utf8)]) }
    let words = try table.words()
    for (number, text) in texts.enumerated() {
      let own = tokenizer.tokens(of: text)
      let theirs = words[Int64(number + 1)] ?? []
      if own != theirs {
        Issue.record(
          "\(tokenizer), \(String(reflecting: text)): \(own), FTS5 has \(theirs)",
          sourceLocation: sourceLocation)
        return
      }
    }
  }

  @Test(
    "Every character is the same word to both",
    arguments: [SearchTokenizer.unicode61, .trigram, .cjk])
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
    "Random texts have the same words to both", arguments: tokenizers)
  func texts(tokenizer: SearchTokenizer) throws {
    try withSeed { random in
      try expectSameWords(tokenizer, (0..<1000).map { _ in RandomWords.text(&random, most: 20) })
      try expectSameWords(
        tokenizer, [String(repeating: "a", count: 40_000), String(repeating: "Ⱥ", count: 40_000)])
    }
  }

  @Test(
    "Bytes that are not UTF-8 are the same words to both", arguments: tokenizers)
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
        try table.add(number, [bytes])
      }
      let words = try table.words()
      for (number, text) in texts.enumerated() {
        var own: [[UInt8]] = []
        text.withUnsafeBytes {
          tokenizer.forEachToken(in: $0) { token, _, _ in
            own.append(Array(token))
            return true
          }
        }
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
    arguments: tokenizers.map { tokenizer in Array(repeating: tokenizer, count: 5) }
      + [tokenizers, [.porter, .trigram, .porter, .unicode61, .trigram]])
  func searches(tokenizers: [SearchTokenizer]) throws {
    // The columns of `Tale.Story`, whose texts are given to both directly.
    let paths = Tale.Story._schema.fullText?.columns.map(\.field.path) ?? []
    let schema = Self.schema(paths, tokenizers)
    let columns = schema.fullText?.columns.map(\.field) ?? []
    let names = columns.map { schema.name(of: $0) }
    try withSeed { random in
      let table = try Table(schema)
      #expect(paths == ["f6", "f8", "f10__f4", "f14__u1__f4", "f16"])
      let texts = (0..<(isLongRun ? 1000 : 60)).map { _ in
        columns.map { _ in random.oneIn(4) ? nil : RandomWords.text(&random) }
      }
      try table.connection.execute("BEGIN")
      for (number, texts) in texts.enumerated() {
        try table.add(number, texts.map { $0.map { Array($0.utf8) } })
      }
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
        let query = search.fts5(in: table.table)
        let name = table.table.table.quoted
        let theirs =
          search.expression.isNever
          ? []
          : try table.connection.rows(
            "SELECT rowid FROM \(name) WHERE \(name) MATCH ?", [.text(query)]
          ).compactMap { $0[0].integer.map(Int.init) }
        guard found == theirs else {
          Issue.record(
            "DFLAT_SEED=\(random.seed), \(tokenizers), \(text): \(query): \(found), FTS5 \(theirs)")
          return
        }
        // FTS5 also understands the search itself, with its own names of the columns.
        guard isRaw, !table.table.isGivenTokens, !search.expression.isNever, number % 10 == 0 else {
          continue
        }
        var raw = text
        for (name, column) in zip(names, columns) {
          raw = raw.replacing("\"\(name)\"", with: column.path)
        }
        let direct = try table.connection.rows(
          "SELECT rowid FROM \(name) WHERE \(name) MATCH ?", [.text(raw)])
        #expect(
          direct.compactMap { $0[0].integer.map(Int.init) } == theirs,
          "DFLAT_SEED=\(random.seed), \(tokenizers), \(raw)")
      }
    }
  }
}

extension String {
  /// The bytes in memory that is never freed, for a test.
  fileprivate var copiedBytes: UnsafeRawBufferPointer { .copying(utf8: self) }
}
