// Full-text indexes: which strings of an entity type are searched for words, and how its storage
// name tells it.
//
// The name lists the columns, each behind an `x`, as that of a compound index, and how their texts
// are divided into words: `fulltext__porter__x__f6__x__f14__f4` if one tokenizer of FTS5 does it,
// and otherwise `fulltext__tokens__x__f6__porter__x__f14__f4__trigram`. So every version of a
// schema recognises it. Names like `fulltext__trigram__x__f6`, which earlier versions of this
// library have given, mean other tokens.

/// How a text is divided into the words that a search can find.
public enum SearchTokenizer: String, Sendable {
  /// Words are runs of letters and digits, without regard to case and accents.
  case unicode61
  /// As `unicode61`, and English words are reduced to their stem.
  case porter
  /// Any successive characters, without regard to case, accents and width.
  case trigram
  /// Words are runs of letters and digits, without regard to case, accents and width, and each
  /// character of Chinese, Japanese and Korean is a word.
  case cjk
  /// As `cjk`, and English words are reduced to their stem.
  case porterCJK = "portercjk"
}

/// The strings of an entity type that are searched for words.
package struct FullTextIndex: Sendable {
  /// The strings, in declaration order.
  package let columns: [IndexColumn]
  /// How each of them is divided into words.
  package let tokenizers: [SearchTokenizer]
  /// The name of the index in the storage.
  package let table: String

  init(_ columns: [IndexColumn], _ tokenizers: [SearchTokenizer], of table: String) {
    self.columns = columns
    self.tokenizers = tokenizers
    self.table = "\(table)__\(Self.name(columns.map(\.name), tokenizers))"
  }

  /// The tokenizer of FTS5 that divides the texts of all columns; nil if there is none, so that an
  /// index is given their tokens.
  package static func commonTokenizer(_ tokenizers: [SearchTokenizer]) -> SearchTokenizer? {
    guard let first = tokenizers.first, first == .unicode61 || first == .porter else { return nil }
    return tokenizers.allSatisfy { $0 == first } ? first : nil
  }

  /// The name of an index, without that of the type's table.
  /// - Parameter columns: The names of the columns.
  package static func name(_ columns: [String], _ tokenizers: [SearchTokenizer]) -> String {
    let common = commonTokenizer(tokenizers)
    return EntitySchema.fullTextMark + (common?.rawValue ?? "tokens")
      + zip(columns, tokenizers).map { column, tokenizer in
        "__x__\(column)" + (common == nil ? "__\(tokenizer.rawValue)" : "")
      }.joined()
  }

  /// How a field is divided into words: as the schema says, or as all fields are that it names.
  func tokenizer(of field: FieldDescriptor) -> SearchTokenizer {
    if let place = columns.firstIndex(where: { $0.field == field }) { return tokenizers[place] }
    return tokenizers.allSatisfy { $0 == tokenizers[0] } ? tokenizers[0] : .unicode61
  }

  /// The positions of fields among the columns; nil if one of them is no column.
  func positions(of fields: [FieldDescriptor]) -> [Int]? {
    let positions = fields.compactMap { field in columns.firstIndex { $0.field == field } }
    return positions.count == fields.count ? positions : nil
  }
}

extension EntitySchema {
  static let fullTextMark = "fulltext__"

  /// The columns of a full-text index with a storage name, without the name of the type's table,
  /// and their tokenizers; nil if no index has such a name.
  package static func fullTextIndex(
    named name: String
  ) -> (tokenizers: [SearchTokenizer], columns: [String])? {
    guard name.hasPrefix(fullTextMark) else { return nil }
    var parts = parts(of: String(name.dropFirst(fullTextMark.count)))[...]
    guard let word = parts.popFirst(), parts.first == "x" else { return nil }
    var tokenizers: [SearchTokenizer] = []
    var columns: [String] = []
    for var column in parts.split(separator: "x", omittingEmptySubsequences: false).dropFirst() {
      let suffix = word == "tokens" ? column.popLast() : nil
      let path = column.joined(separator: "__")
      guard let tokenizer = SearchTokenizer(rawValue: String(suffix ?? word)), isStorageName(path)
      else { return nil }
      tokenizers.append(tokenizer)
      columns.append(path)
    }
    return FullTextIndex.name(columns, tokenizers) == name ? (tokenizers, columns) : nil
  }

  /// The position that stands for the full-text index where the planner names indexes by theirs.
  package var fullTextPosition: Int { indexes.count }
}
