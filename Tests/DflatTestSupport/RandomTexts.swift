// Random tests of texts, and their meaning.

import Dflat

/// A text with each scalar in lower case.
func fold(_ text: String) -> String {
  text.unicodeScalars.map(\.properties.lowercaseMapping).joined()
}

/// A random test of a text, or of the text without the difference of upper and lower case.
func textTest<Element: Atom>(
  _ term: Term<String, Element>, _ random: inout SeededGenerator
) -> Term<Bool, Element> {
  let isFolded = random.oneIn(3)
  let parts = ["", "a", "A", "b", "ab", "\0", "é", "É", "\u{301}", "\u{10FFFF}", "z", "本"]
  let part = random.oneIn(3) ? random.pick(Pool.strings) : random.pick(parts)
  let pieces = ["%", "_", "a", "B", "é", "%%", "%_", "!%", "!!", "本", "\0", ""]
  let pattern = (0..<random.pick([1, 1, 2, 3, 4])).map { _ in random.pick(pieces) }.joined()
  let kind = Int.random(in: 0..<4, using: &random)
  func real(_ text: some QueryExpression<String, Element>) -> Condition<Element> {
    switch kind {
    case 0: text.hasPrefix(part)
    case 1: text.hasSuffix(part)
    case 2: text.contains(part)
    default: text.like(pattern, escape: "!")
    }
  }
  func folded(_ text: some QueryExpression<String, Element>) -> Condition<Element> {
    real(text.caseInsensitive)
  }
  func form(_ text: String) -> [Unicode.Scalar] {
    Array((isFolded ? fold(text) : text).unicodeScalars)
  }
  let wanted = form(part)
  let name = ["hasPrefix", "hasSuffix", "contains", "like"][kind]
  return Term(
    isFolded ? folded(term.expression) : real(term.expression),
    "\(term.text)\(isFolded ? ".caseInsensitive" : "").\(name)"
      + "(\(String(reflecting: kind == 3 ? pattern : part)))",
    { object in
      guard let text = term.meaning(object).map(form) else { return nil }
      return switch kind {
      case 0: text.starts(with: wanted)
      case 1: text.reversed().starts(with: wanted.reversed())
      case 2: text.indices.contains { text[$0...].starts(with: wanted) } || wanted.isEmpty
      default: isLike(text[...], form(pattern)[...])
      }
    })
}

/// Whether a text looks like a pattern with the escape `!`.
private func isLike(
  _ text: ArraySlice<Unicode.Scalar>, _ pattern: ArraySlice<Unicode.Scalar>
) -> Bool {
  guard let first = pattern.first else { return text.isEmpty }
  let rest = pattern.dropFirst()
  switch first {
  case "%":
    return isLike(text, rest) || (!text.isEmpty && isLike(text.dropFirst(), pattern))
  case "_": return !text.isEmpty && isLike(text.dropFirst(), rest)
  case "!":
    guard let literal = rest.first else { return Array(text) == ["!"] }
    return text.first == literal && isLike(text.dropFirst(), rest.dropFirst())
  default: return text.first == first && isLike(text.dropFirst(), rest)
  }
}

/// Comparisons of integers of different types.
func mixedComparisons<
  L: DflatFriendlyValue & FixedWidthInteger, R: DflatFriendlyValue & FixedWidthInteger,
  Element: Atom
>(
  _ left: Term<L, Element>, _ right: Term<R, Element>
) -> [Term<Bool, Element>] where L.TypeFamily == R.TypeFamily {
  ComparisonName.allCases.map { name in
    func real(
      _ l: some QueryExpression<L, Element>, _ r: some QueryExpression<R, Element>
    ) -> Condition<Element> {
      switch name {
      case .equal: l == r
      case .notEqual: l != r
      case .less: l < r
      case .lessOrEqual: l <= r
      case .greater: l > r
      case .greaterOrEqual: l >= r
      }
    }
    return Term(
      real(left.expression, right.expression), "(\(left.text) \(name.rawValue) \(right.text))",
      { object in
        guard let l = left.meaning(object), let r = right.meaning(object) else { return nil }
        let (wideL, wideR) = (Int128(l), Int128(r))
        return name.holds(wideL < wideR ? -1 : wideL > wideR ? 1 : 0)
      })
  }
}

extension Term<String, Kit.Item> {
  /// The text without the difference of upper and lower case.
  var folded: Term {
    func real(_ text: some QueryExpression<String, Kit.Item>) -> Computed<String, Kit.Item> {
      text.caseInsensitive
    }
    return Term(real(expression), text + ".caseInsensitive", meaning)
  }
}
