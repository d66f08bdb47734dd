// Full-text indexes: which strings of an entity type are searched for words, and how its storage
// name tells it.
//
// The name lists the tokenizer and the columns, each behind an `x`, as that of a compound index:
// `fulltext__porter__x__f6__x__f14__f4`. So every version of a schema recognises it.

/// How a text is divided into the words that a search can find.
public enum SearchTokenizer: String, Sendable {
  /// Words are runs of letters and digits, without regard to case and accents.
  case unicode61
  /// As `unicode61`, and English words are reduced to their stem.
  case porter
  /// Any successive characters, without regard to case.
  case trigram
}

/// The strings of an entity type that are searched for words.
public struct FullTextIndex: Sendable {
  /// The strings, in declaration order.
  package let columns: [IndexColumn]
  /// How all of them are divided into words.
  public let tokenizer: SearchTokenizer
  /// The name of the index in the storage.
  public let table: String

  /// The positions of fields among the columns; nil if one of them is no column.
  func positions(of fields: [FieldDescriptor]) -> [Int]? {
    let positions = fields.compactMap { field in columns.firstIndex { $0.field == field } }
    return positions.count == fields.count ? positions : nil
  }
}

extension EntitySchema {
  static let fullTextMark = "fulltext__"

  /// The tokenizer and the columns of a full-text index with a storage name, without the name of
  /// the type's table; nil if no index has such a name.
  public static func fullTextIndex(
    named name: String
  ) -> (tokenizer: SearchTokenizer, columns: [String])? {
    guard name.hasPrefix(fullTextMark) else { return nil }
    let rest = name.dropFirst(fullTextMark.count)
    let word = rest.prefix { $0 != "_" }
    guard let tokenizer = SearchTokenizer(rawValue: String(word)),
      rest.dropFirst(word.count).hasPrefix("__x__")
    else { return nil }
    let columns = columnNames(ofIndex: String(rest.dropFirst(word.count + 2)))
    return columns.isEmpty ? nil : (tokenizer, columns)
  }

  /// The position that stands for the full-text index where the planner names indexes by theirs.
  public var fullTextPosition: Int { indexes.count }
}
