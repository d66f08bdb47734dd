// Searches in the query language of FTS5.
//
// The texts are passed on as they were written, in quotation marks: FTS5 divides them into words
// itself, by the tokenizer of the table. For `trigram` they are the tokens, as the table was given
// them. An expression has no phrase without words, which FTS5 would treat in different ways.

import Dflat

extension SearchCondition {
  /// The search as the right side of `MATCH`.
  /// - Parameter names: The columns of the table.
  func fts5(_ names: [String]) -> String {
    text(isIndexed ? expression : .never, indexColumns.map { names[$0] }, of: names.count)
  }

  private func text(_ expression: SearchExpression, _ names: [String], of count: Int) -> String {
    func infix(_ parts: [SearchExpression], _ operation: String) -> String {
      "(" + parts.map { text($0, names, of: count) }.joined(separator: " \(operation) ") + ")"
    }
    return switch expression {
    case .never: "\"\""
    case .group(let number): text(groups[number], names, of: count)
    case .and(let parts): infix(parts, "AND")
    case .or(let parts): infix(parts, "OR")
    case .not(let wanted, let unwanted): infix([wanted, unwanted], "NOT")
    }
  }

  private func text(_ group: SearchGroup, _ names: [String], of count: Int) -> String {
    let wanted = names.enumerated().filter { group.columns >> UInt64($0.offset) & 1 == 1 }
    let filter =
      wanted.count == count ? "" : "{\(wanted.map(\.element.quoted).joined(separator: " "))} : "
    let phrases = group.phrases.map { phrase in
      (phrase.isInitial ? "^" : "") + texts(phrase).map(\.quoted).joined(separator: " + ")
        + (phrase.isPrefix ? " *" : "")
    }
    if phrases.count == 1 { return filter + phrases[0] }
    return "\(filter)NEAR(\(phrases.joined(separator: " ")), \(group.distance))"
  }

  private func texts(_ phrase: SearchPhrase) -> [String] {
    if !tokenizer.isGivenTokens { return phrase.texts }
    return [String(decoding: Array(phrase.tokens.joined(separator: [0x20])), as: UTF8.self)]
  }
}
