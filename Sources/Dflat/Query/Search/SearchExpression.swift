// SearchExpression: a search whose words are known.
//
// It consists of groups of phrases. A group is found in a row if all its phrases are in one of its
// fields, near each other if there are several. What cannot be found at all is simplified away, so
// a group always has something to look for.

/// A search as engines evaluate it.
package indirect enum SearchExpression: Sendable {
  /// Nothing matches.
  case never
  /// A group, by its number.
  case group(Int)
  case and([SearchExpression])
  case or([SearchExpression])
  /// The first, and not the second.
  case not(SearchExpression, SearchExpression)
}

/// Phrases that are found together.
package struct SearchGroup: Sendable {
  /// The phrases, at least one.
  package let phrases: [SearchPhrase]
  /// The most words between the first and the last of several phrases.
  package let distance: Int
  /// The fields to look in: a bit for each.
  package let columns: UInt64
  /// How the texts of these fields are divided into words.
  package let tokenizer: SearchTokenizer

  /// Whether it is a single word, or its beginning, anywhere in a field.
  var isSimple: Bool {
    phrases.count == 1 && phrases[0].tokens.count == 1 && !phrases[0].isInitial
  }
}

/// Words that follow each other.
package struct SearchPhrase: Sendable {
  /// The texts whose words follow each other.
  package let texts: [String]
  /// Whether the last word may be the beginning of one. So a part of a text is found that is
  /// shorter than the tokens of `trigram`.
  package let isPrefix: Bool
  /// Whether the field begins with the phrase.
  package let isInitial: Bool
  /// The words, at least one.
  package let tokens: [[UInt8]]
}

/// Makes an expression from a search.
///
/// What is looked for in fields with different tokenizers becomes a group for each tokenizer, and
/// is found if one of these is.
struct SearchBinder {
  /// The names of the fields.
  let names: [String]
  private(set) var groups: [SearchGroup] = []
  /// The different tokenizers, and the fields of each.
  private var tokenizers: [(tokenizer: SearchTokenizer, columns: UInt64)] = []
  private let search: String

  /// - Parameter tokenizers: Those of the fields.
  init(_ tokenizers: [SearchTokenizer], names: [String], search: String) {
    self.names = names
    self.search = search
    for (place, tokenizer) in tokenizers.enumerated() {
      let known = self.tokenizers.firstIndex { $0.tokenizer == tokenizer }
      if known == nil { self.tokenizers.append((tokenizer, 0)) }
      self.tokenizers[known ?? self.tokenizers.count - 1].columns |= 1 << UInt64(place)
    }
  }

  /// The expression.
  /// - Throws: `SearchSyntaxError` if it names a field that is not searched.
  mutating func bind(_ syntax: SearchSyntax) throws(SearchSyntaxError) -> SearchExpression {
    try bind(syntax, in: names.count >= 64 ? .max : 1 << UInt64(names.count) - 1)
  }

  private mutating func bind(
    _ syntax: SearchSyntax, in columns: UInt64
  ) throws(SearchSyntaxError) -> SearchExpression {
    switch syntax {
    case .phrases(let phrases, let distance):
      var found: [SearchExpression] = []
      for (tokenizer, its) in tokenizers where its & columns != 0 {
        // As in FTS5, phrases without words do not count, and if there are no others nothing
        // matches.
        let bound = phrases.compactMap { bind($0, tokenizer) }
        if bound.isEmpty { continue }
        found.append(.group(groups.count))
        groups.append(
          SearchGroup(
            phrases: bound, distance: distance, columns: its & columns, tokenizer: tokenizer))
      }
      return found.count > 1 ? .or(found) : found.first ?? .never
    case .words(let parts):
      let bound = try bind(parts.filter { hasWords($0, in: columns) }, in: columns)
      if bound.contains(where: \.isNever) { return .never }
      return bound.count > 1 ? .and(bound) : bound.first ?? .never
    case .and(let parts):
      let bound = try bind(parts, in: columns)
      if bound.contains(where: \.isNever) { return .never }
      return .and(bound)
    case .or(let parts):
      let bound = try bind(parts, in: columns).filter { !$0.isNever }
      return bound.count > 1 ? .or(bound) : bound.first ?? .never
    case .not(let wanted, let unwanted):
      let left = try bind(wanted, in: columns)
      let right = try bind(unwanted, in: columns)
      return left.isNever ? .never : right.isNever ? left : .not(left, right)
    case .fields(let fields, let isExcluding, let inner):
      for field in fields where !names.contains(field.name) {
        throw SearchSyntaxError(
          message: "there is no field '\(field.name)' here; the fields are "
            + names.map { "'\($0)'" }.joined(separator: ", ")
            + "; names with a point stand in quotation marks", search: search,
          position: field.position)
      }
      return try bind(inner, in: narrowed(columns, to: fields, isExcluding))
    }
  }

  private func narrowed(
    _ columns: UInt64, to fields: [SearchSyntax.FieldName], _ isExcluding: Bool
  ) -> UInt64 {
    var mask: UInt64 = 0
    for field in fields {
      if let place = names.firstIndex(of: field.name) { mask |= 1 << UInt64(place) }
    }
    return columns & (isExcluding ? ~mask : mask)
  }

  private mutating func bind(
    _ parts: [SearchSyntax], in columns: UInt64
  ) throws(SearchSyntaxError) -> [SearchExpression] {
    var bound: [SearchExpression] = []
    for part in parts { bound.append(try bind(part, in: columns)) }
    return bound
  }

  /// Whether there is a word in one of a list's searches, for one of some fields. In no fields
  /// there is nothing to be found, and the words count.
  private func hasWords(_ syntax: SearchSyntax, in columns: UInt64) -> Bool {
    switch syntax {
    case .phrases(let phrases, _):
      tokenizers.contains { tokenizer, its in
        (columns == 0 || its & columns != 0) && phrases.contains { bind($0, tokenizer) != nil }
      }
    case .fields(let fields, let isExcluding, let inner):
      hasWords(inner, in: narrowed(columns, to: fields, isExcluding))
    case .and, .or, .not, .words: true
    }
  }

  /// nil if the phrase has no words.
  private func bind(
    _ phrase: SearchSyntax.Phrase, _ tokenizer: SearchTokenizer
  ) -> SearchPhrase? {
    var tokens = phrase.texts.flatMap { tokenizer.wholeTokens(of: $0) }
    var isPrefix = phrase.isPrefix && tokenizer != .trigram
    if tokens.isEmpty, tokenizer == .trigram, phrase.texts.count == 1 {
      // The text is too short for a whole token, and is the beginning of one wherever it is found.
      tokens = Array(tokenizer.tokens(of: phrase.texts[0]).prefix(1))
      isPrefix = true
    }
    if tokens.isEmpty { return nil }
    return SearchPhrase(
      texts: phrase.texts, isPrefix: isPrefix, isInitial: phrase.isInitial, tokens: tokens)
  }
}

extension SearchExpression {
  var isNever: Bool { if case .never = self { true } else { false } }
}
