// Searches in the query language of FTS5.
//
// The texts are passed on as they were written, in quotation marks: FTS5 divides them into words
// itself, by the tokenizer of the table. For a table that is given tokens they are the tokens. An
// expression has no phrase without words, which FTS5 would treat in different ways.

import Dflat

extension SearchCondition {
  /// The search as the right side of `MATCH`.
  func fts5(in table: FullTextTable) -> String {
    text(isIndexed ? expression : .never, indexColumns.map { table.columns[$0] }, table)
  }

  private func text(
    _ expression: SearchExpression, _ names: [String], _ table: FullTextTable
  ) -> String {
    func infix(_ parts: [SearchExpression], _ operation: String) -> String {
      "(" + parts.map { text($0, names, table) }.joined(separator: " \(operation) ") + ")"
    }
    return switch expression {
    case .never: "\"\""
    case .group(let number): text(groups[number], names, table)
    case .and(let parts): infix(parts, "AND")
    case .or(let parts): infix(parts, "OR")
    case .not(let wanted, let unwanted): infix([wanted, unwanted], "NOT")
    }
  }

  private func text(
    _ group: SearchGroup, _ names: [String], _ table: FullTextTable
  ) -> String {
    let wanted = names.enumerated().filter { group.columns >> UInt64($0.offset) & 1 == 1 }
    let filter =
      wanted.count == table.columns.count
      ? "" : "{\(wanted.map(\.element.quoted).joined(separator: " "))} : "
    let phrases = group.phrases.map { phrase in
      let texts = table.isGivenTokens ? [phrase.tokenText] : phrase.texts
      return (phrase.isInitial ? "^" : "") + texts.map(\.quoted).joined(separator: " + ")
        + (phrase.isPrefix ? " *" : "")
    }
    if phrases.count == 1 { return filter + phrases[0] }
    return "\(filter)NEAR(\(phrases.joined(separator: " ")), \(group.distance))"
  }
}

extension SearchPhrase {
  /// The tokens as a text.
  fileprivate var tokenText: String {
    String(decoding: Array(tokens.joined(separator: [0x20])), as: UTF8.self)
  }
}
