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
struct SearchBinder {
  let tokenizer: SearchTokenizer
  /// The names of the fields.
  let names: [String]
  private(set) var groups: [SearchGroup] = []
  private let search: String

  init(_ tokenizer: SearchTokenizer, names: [String], search: String) {
    self.tokenizer = tokenizer
    self.names = names
    self.search = search
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
      let bound = phrases.compactMap(bind)
      // As in FTS5, phrases without words do not count, and if there are no others nothing matches.
      guard !bound.isEmpty, columns != 0 else { return .never }
      groups.append(SearchGroup(phrases: bound, distance: distance, columns: columns))
      return .group(groups.count - 1)
    case .words(let parts):
      let bound = try bind(parts.filter(hasWords), in: columns)
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
      var mask: UInt64 = 0
      for field in fields {
        guard let place = names.firstIndex(of: field.name) else {
          throw SearchSyntaxError(
            message: "there is no field '\(field.name)' here; the fields are "
              + names.map { "'\($0)'" }.joined(separator: ", ")
              + "; names with a point stand in quotation marks", search: search,
            position: field.position)
        }
        mask |= 1 << UInt64(place)
      }
      return try bind(inner, in: columns & (isExcluding ? ~mask : mask))
    }
  }

  private mutating func bind(
    _ parts: [SearchSyntax], in columns: UInt64
  ) throws(SearchSyntaxError) -> [SearchExpression] {
    var bound: [SearchExpression] = []
    for part in parts { bound.append(try bind(part, in: columns)) }
    return bound
  }

  /// Whether there is a word in one of a list's searches.
  private func hasWords(_ syntax: SearchSyntax) -> Bool {
    switch syntax {
    case .phrases(let phrases, _): phrases.contains { bind($0) != nil }
    case .fields(_, _, let inner): hasWords(inner)
    case .and, .or, .not, .words: true
    }
  }

  /// nil if the phrase has no words.
  private func bind(_ phrase: SearchSyntax.Phrase) -> SearchPhrase? {
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
