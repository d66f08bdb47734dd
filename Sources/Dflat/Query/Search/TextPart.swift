// TextPart: a part of a text, without regard to case, accents and width, as the tokens of `trigram`
// find it.
//
// The text is read character by character, and compared where the part's first character is.
// Nothing is copied. For parts of at most `longest` characters, so that a text which repeats itself
// does not take long.

import Platform

struct TextPart: Sendable {
  private static let longest = 64
  /// More parts are looked for by their tokens, all at once.
  private static let most = 8

  /// The characters, folded, in the form of `canonical`.
  private let codes: [UInt32]
  /// Bytes of ASCII that are the first one.
  private let isFirst: (low: UInt64, high: UInt64)

  /// - Parameter text: Ends before a NUL.
  /// - Returns: nil if it is empty or too long.
  private init?(_ text: String) {
    var text = text
    codes = text.withUTF8 { bytes in
      let bytes = UnsafeRawBufferPointer(bytes)
      var codes: [UInt32] = []
      var position = 0
      while position < bytes.count, bytes[position] != 0 {
        let code = CharacterFolding.character(in: bytes, at: &position)
        if code != 0 { codes.append(Self.canonical(code)) }
      }
      return codes
    }
    guard let first = codes.first, codes.count <= Self.longest else { return nil }
    var ascii: (low: UInt64, high: UInt64) = (0, 0)
    for code in 0..<0x80 as Range<UInt32> where SearchFolding.shared.lowercase(code) == first {
      if code < 64 { ascii.low |= 1 << UInt64(code) } else { ascii.high |= 1 << UInt64(code - 64) }
    }
    isFirst = ascii
  }

  /// The parts that groups of phrases are, nil for groups that are something else. If there are
  /// many, all groups are looked for by their tokens.
  static func parts(of groups: [SearchGroup]) -> [TextPart?] {
    let parts = groups.map { group -> TextPart? in
      guard group.tokenizer == .trigram, group.phrases.count == 1,
        group.phrases[0].texts.count == 1, !group.phrases[0].isInitial
      else { return nil }
      return TextPart(group.phrases[0].texts[0])
    }
    return parts.count(where: { $0 != nil }) > most ? parts.map { _ in nil } : parts
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
      var position = 0
      while position < end {
        let byte = text[position]
        if byte < 0x80 {
          position &+= 1
          let bits = byte < 64 ? isFirst.low : isFirst.high
          if bits >> UInt64(byte & 63) & 1 == 0 { continue }
          CharacterFolding.skipAccents(in: text, from: &position)
        } else {
          let code = CharacterFolding.character(in: text, at: &position)
          if Self.canonical(code) != codes[0] { continue }
        }
        if Self.follows(text, position, codes) { return true }
      }
      return false
    }
  }

  /// Whether all characters but the first one follow at a position.
  @inline(__always)
  private static func follows(
    _ text: UnsafeRawBufferPointer, _ start: Int, _ codes: UnsafeBufferPointer<UInt32>
  ) -> Bool {
    var position = start
    for code in codes.dropFirst() {
      guard position < text.count else { return false }
      let found = CharacterFolding.character(in: text, at: &position)
      if canonical(found) != code { return false }
    }
    return true
  }
}
