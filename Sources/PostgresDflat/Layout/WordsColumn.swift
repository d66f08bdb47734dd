// The column of a type's full-text index: a tsvector with the words of each object.
//
// A search finds by it the objects that have its words, in whatever places and fields, and these
// are then looked at: so matches and relevance are those of every engine. The words are divided and
// folded here, not by the server, whose dictionaries have other rules.
//
// A lexeme is a word in ASCII: letters and digits stand for themselves, any other byte is an
// underscore and two hexadecimal digits. So beginnings of words are beginnings of lexemes, and
// neither the encoding nor the collation of the database matters. A long word is cut. Of a text
// with too many words the column has the lexeme `_` only, which every search finds.
//
// Fields with different tokenizers have their words in the same column: a word that another
// tokenizer has found, too, only gives more objects to look at.

import Dflat
import FlatBuffersRuntime
import Platform

struct WordsColumn: Sendable {
  let index: FullTextIndex
  /// The name of the column: that of the index, and how each of its fields is read by objects that
  /// lack it, since versions of a schema may differ in that.
  let name: String

  /// More bytes of a word are left out.
  private static let longestWord = 600
  /// A tsvector has room for 1 MB.
  private static let mostBytes = 800_000
  /// Stands for all words.
  private static let everything = "_"

  init(_ index: FullTextIndex) {
    self.index = index
    name = FullTextIndex.name(index.columns.map(\.columnName), index.tokenizers)
  }

  /// Whether a name is that of such a column, in some version of a schema.
  static func isName(_ name: String) -> Bool { name.hasPrefix("fulltext__") }

  // MARK: Objects

  /// The words of an object, each once.
  func lexemes(of row: TableReader) -> Set<[UInt8]> {
    var lexemes: Set<[UInt8]> = []
    var size = 0
    for (column, tokenizer) in zip(index.columns, index.tokenizers) {
      column.withValue(of: row) { value in
        guard case .text(let bytes) = value else { return }
        tokenizer.forEachWord(in: bytes) { word, _ in
          if size > Self.mostBytes { return }
          let lexeme = Self.lexeme(word)
          if lexemes.insert(lexeme).inserted { size += lexeme.count + 1 }
        }
      }
    }
    return size > Self.mostBytes ? [Array(Self.everything.utf8)] : lexemes
  }

  /// Whether a column has the words of an object.
  /// - Parameter stored: The column as the server writes it.
  func isRight(_ stored: String, for row: TableReader) -> Bool {
    let quote = UInt8(ascii: "'")
    let found = stored.utf8.split(separator: UInt8(ascii: " ")).map { $0.filter { $0 != quote } }
    return Set(found) == lexemes(of: row)
  }

  private static func lexeme(_ word: some Collection<UInt8>) -> [UInt8] {
    var lexeme: [UInt8] = []
    for byte in word.prefix(longestWord) {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"):
        lexeme.append(byte)
      default:
        lexeme.append(UInt8(ascii: "_"))
        let digits = Array("0123456789abcdef".utf8)
        lexeme.append(digits[Int(byte >> 4)])
        lexeme.append(digits[Int(byte & 15)])
      }
    }
    return lexeme
  }

  // MARK: Searches

  /// A query that finds at least the objects that a search matches, as the server reads a tsquery.
  func query(_ search: SearchCondition) -> String {
    guard search.isIndexed, let words = Self.query(search.expression, search.groups) else {
      preconditionFailure("a plan is about a search without words")
    }
    return "\(words) | \(Self.everything)"
  }

  /// nil if every object may match.
  private static func query(_ expression: SearchExpression, _ groups: [SearchGroup]) -> String? {
    switch expression {
    case .never: return nil
    case .group(let number):
      return "(" + groups[number].phrases.flatMap(lexemes).joined(separator: " & ") + ")"
    case .and(let parts):
      let known = parts.compactMap { query($0, groups) }
      return known.isEmpty ? nil : "(" + known.joined(separator: " & ") + ")"
    case .or(let parts):
      let known = parts.compactMap { query($0, groups) }
      return known.count < parts.count ? nil : "(" + known.joined(separator: " | ") + ")"
    case .not(let wanted, _): return query(wanted, groups)
    }
  }

  private static func lexemes(_ phrase: SearchPhrase) -> [String] {
    phrase.tokens.enumerated().map { place, token in
      let isPrefix = phrase.isPrefix && place == phrase.tokens.count - 1
      return String(decoding: lexeme(token), as: UTF8.self) + (isPrefix ? ":*" : "")
    }
  }
}
