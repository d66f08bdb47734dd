// Tests of texts: prefixes, suffixes, parts, patterns; and texts without the difference of upper
// and lower case.
//
// Texts are compared by their UTF-8 bytes, as everywhere. A test of an unknown text is unknown.

/// What a text may begin with, end with, contain or look like.
@usableFromInline package enum TextTest: Sendable {
  case prefix(String)
  case suffix(String)
  case part(String)
  case like(LikePattern)

  /// The test for folded texts.
  fileprivate var folded: TextTest {
    switch self {
    case .prefix(let text): .prefix(CaseFolding.fold(text))
    case .suffix(let text): .suffix(CaseFolding.fold(text))
    case .part(let text): .part(CaseFolding.fold(text))
    case .like(let pattern): .like(pattern.folded)
    }
  }
}

extension Node {
  /// A test of the text. That of a folded text is folded, too.
  package func tested(_ test: TextTest) -> Node {
    if case .folded = self { .text(self, test.folded) } else { .text(self, test) }
  }
}

extension QueryExpression where Value == String {
  private func tested(_ test: TextTest) -> Condition<Element> { Computed(_node.tested(test)) }

  /// Whether the text begins with `prefix`, byte by byte. A key or an index answers it as a range.
  ///
  /// Every known text begins with the empty prefix.
  public func hasPrefix(_ prefix: some StringProtocol) -> Condition<Element> {
    tested(.prefix(String(prefix)))
  }

  /// Whether the text ends with `suffix`, byte by byte. Every known text ends with the empty
  /// suffix.
  public func hasSuffix(_ suffix: some StringProtocol) -> Condition<Element> {
    tested(.suffix(String(suffix)))
  }

  /// Whether `part` occurs in the text, byte by byte. The empty part occurs in every known text.
  public func contains(_ part: some StringProtocol) -> Condition<Element> {
    tested(.part(String(part)))
  }

  /// Whether the whole text looks like a pattern, as `LIKE` in SQL, but case-sensitive.
  ///
  /// `%` stands for any text, also an empty one; `_` stands for one Unicode scalar; everything else
  /// stands for itself. The text before the first of them is looked up in a key or an index.
  ///
  ///     dflat.fetch(for: Post.self).where(Post.title.like("100\\% _%", escape: "\\"))
  ///
  /// - Parameters:
  ///   - pattern: The pattern.
  ///   - escape: After it, `%`, `_` and itself stand for themselves, and so does everything else.
  ///     At the end of the pattern it stands for itself.
  public func like(_ pattern: String, escape: Unicode.Scalar? = nil) -> Condition<Element> {
    tested(.like(LikePattern(pattern, escape: escape)))
  }

  /// The text without the difference of upper and lower case, for comparison and order.
  ///
  ///     dflat.fetch(for: Post.self).where(
  ///       Post.title.caseInsensitive.hasPrefix("swift"),
  ///       orderBy: [Post.title.caseInsensitive.ascending])
  ///
  /// Each Unicode scalar is replaced by its lowercase mapping, on both sides. That is the same in
  /// every language, and nothing is normalised: "ß" differs from "ss", and "é" as one scalar from
  /// "é" as two. An index with `nocase` answers comparisons with it, and indexes without do not.
  public var caseInsensitive: Computed<String, Element> { Computed(_node.foldedOnce) }
}

// MARK: For planning

extension TextTest {
  /// What a matching text must begin with; nil if it can begin with anything.
  var literalPrefix: String? {
    switch self {
    case .prefix(let text): text
    case .like(let pattern): pattern.literalPrefix
    case .suffix, .part: nil
    }
  }

  /// Whether every text with the literal prefix matches.
  var isPrefix: Bool {
    switch self {
    case .prefix: true
    case .like(let pattern): pattern.isPrefix
    case .suffix, .part: false
    }
  }
}

/// The texts with a prefix, as a range of texts in the order of their bytes.
struct PrefixRange {
  /// The first text after the range; nil if there is none.
  let end: String?
  /// Whether the range contains nothing else. It may contain bytes that are not UTF-8 if the next
  /// scalar does not differ from the last one in its last byte only.
  let isExact: Bool

  init(_ prefix: String) {
    // The greatest scalar has no successor: then the one before it is the last that counts.
    var scalars = Array(prefix.unicodeScalars)
    while scalars.last == "\u{10FFFF}" { scalars.removeLast() }
    guard let last = scalars.popLast() else {
      (end, isExact) = (nil, false)
      return
    }
    // There are no surrogates in UTF-8.
    let next = last.value == 0xD7FF ? 0xE000 : last.value + 1
    var text = String.UnicodeScalarView(scalars)
    text.append(Unicode.Scalar(next) ?? last)
    end = String(text)
    let byte = prefix.utf8.last ?? 0
    isExact = byte != 0x7F && byte != 0xBF
  }
}
