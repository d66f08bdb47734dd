// TextPart: a part of a text, without regard to case, as the tokens of `trigram` find it.
//
// The text is read character by character, and compared where the part's first character is.
// Nothing is copied. For parts of at most `longest` characters, so that a text which repeats itself
// does not take long.

import Platform

struct TextPart: Sendable {
  private static let longest = 64
  /// More parts are looked for by their tokens, all at once.
  private static let most = 8

  /// The characters, in lower case, in the form of `canonical`.
  private let codes: [UInt32]
  /// The first character, and its capitals.
  private let first: [UInt32]
  /// Bytes of ASCII that are one of these.
  private let isFirst: (low: UInt64, high: UInt64)

  /// - Parameter text: Ends before a NUL.
  /// - Returns: nil if it is empty or too long.
  private init?(_ text: String) {
    let folding = SearchFolding.shared
    codes = text.unicodeScalars.prefix { $0.value != 0 }
      .map { Self.canonical(folding.lowercase($0.value)) }
    guard let code = codes.first, codes.count <= Self.longest else { return nil }
    let plain = code & ~Self.long
    first = ([plain] + folding.capitals(of: plain)).map(Self.canonical)
    var ascii: (low: UInt64, high: UInt64) = (0, 0)
    for code in first where code < 0x80 {
      if code < 64 { ascii.low |= 1 << UInt64(code) } else { ascii.high |= 1 << UInt64(code - 64) }
    }
    isFirst = ascii
  }

  /// The part that each group of phrases is; nil if one is something else, or if there are many.
  static func parts(of groups: [SearchGroup], _ tokenizer: SearchTokenizer) -> [TextPart]? {
    guard tokenizer == .trigram, groups.count <= most else { return nil }
    var parts: [TextPart] = []
    for group in groups {
      guard group.phrases.count == 1, group.phrases[0].texts.count == 1,
        !group.phrases[0].isInitial, let part = TextPart(group.phrases[0].texts[0])
      else { return nil }
      parts.append(part)
    }
    return parts
  }

  // Malformed bytes can give codes beyond Unicode. Their upper bits are not in tokens.
  private static let long: UInt32 = 1 << 31

  @inline(__always)
  private static func canonical(_ code: UInt32) -> UInt32 {
    code < 0x10000 ? code : code & 0x1F_FFFF | long
  }

  /// Whether the part is in a text, before a NUL.
  func isFound(in text: UnsafeRawBufferPointer) -> Bool {
    var end = text.count
    if let base = text.baseAddress, let zero = memchr(base, 0, end) {
      end = UnsafeRawPointer(zero) - base
    }
    let text = UnsafeRawBufferPointer(rebasing: text[..<end])
    return codes.withUnsafeBufferPointer { codes in
      first.withUnsafeBufferPointer { first in
        var position = 0
        while position < end {
          let byte = text[position]
          if byte < 0x80 {
            position &+= 1
            let bits = byte < 64 ? isFirst.low : isFirst.high
            if bits >> UInt64(byte & 63) & 1 == 0 { continue }
          } else {
            let code = Self.canonical(SearchFolding.character(in: text, at: &position))
            if !first.contains(code) { continue }
          }
          if Self.follows(text, position, codes) { return true }
        }
        return false
      }
    }
  }

  /// Whether all characters but the first one follow at a position.
  @inline(__always)
  private static func follows(
    _ text: UnsafeRawBufferPointer, _ start: Int, _ codes: UnsafeBufferPointer<UInt32>
  ) -> Bool {
    let folding = SearchFolding.shared
    var position = start
    for code in codes.dropFirst() {
      guard position < text.count else { return false }
      let found = folding.lowercase(SearchFolding.character(in: text, at: &position))
      if canonical(found) != code { return false }
    }
    return true
  }
}
