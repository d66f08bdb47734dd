// The folding of characters for searches: case, and accents as `unicode61` folds them.
//
// Texts are read as SQLite's tokenizers read them, also where their bytes are not UTF-8: a byte
// that continues nothing stands for itself, and overlong forms and surrogates for U+FFFD.

/// Reads and folds the characters of texts.
struct SearchFolding: Sendable {
  private let capitals: [(first: UInt32, last: UInt32, step: UInt32, distance: Int32)]
  private let plain: [(accented: UInt32, plain: UInt32)]

  static let shared = SearchFolding()

  private init() {
    let runs = WordCharacters.capitals
    capitals = stride(from: 0, to: runs.count, by: 4).map {
      let (first, step) = (UInt32(runs[$0]), UInt32(runs[$0 + 2]))
      return (first, first + UInt32(runs[$0 + 1] - 1) * step, step, runs[$0 + 3])
    }
    plain = WordCharacters.accented.flatMap { group in
      group.letters.unicodeScalars.map { (accented: $0.value, plain: group.plain.value) }
    }.sorted { $0.accented < $1.accented }
  }

  /// The character at a position, which moves behind it.
  @inline(__always)
  static func character(in text: UnsafeRawBufferPointer, at position: inout Int) -> UInt32 {
    var code = UInt32(text[position])
    position &+= 1
    guard code >= 0xC0 else { return code }
    code =
      code < 0xE0
      ? code & 0x1F
      : code < 0xF0 ? code & 0xF : code < 0xF8 ? code & 7 : code < 0xFC ? code & 3 : code & 1
    if text[position &- 1] >= 0xFE { code = 0 }
    while position < text.count, text[position] & 0xC0 == 0x80 {
      code = code << 6 &+ UInt32(text[position] & 0x3F)
      position &+= 1
    }
    let isInvalid = code < 0x80 || code & 0xFFFF_F800 == 0xD800 || code & 0xFFFF_FFFE == 0xFFFE
    return isInvalid ? 0xFFFD : code
  }

  /// Writes a character as UTF-8.
  /// - Returns: The number of bytes, at most 4.
  @inline(__always)
  static func write(_ code: UInt32, to target: UnsafeMutablePointer<UInt8>) -> Int {
    func rest(_ shift: UInt32) -> UInt8 { 0x80 | UInt8(code >> shift & 0x3F) }
    if code < 0x80 {
      target[0] = UInt8(code)
      return 1
    }
    if code < 0x800 {
      target[0] = 0xC0 | UInt8(code >> 6 & 0x1F)
      target[1] = rest(0)
      return 2
    }
    if code < 0x10000 {
      target[0] = 0xE0 | UInt8(code >> 12 & 0xF)
      target[1] = rest(6)
      target[2] = rest(0)
      return 3
    }
    target[0] = 0xF0 | UInt8(code >> 18 & 7)
    target[1] = rest(12)
    target[2] = rest(6)
    target[3] = rest(0)
    return 4
  }

  /// Whether words consist of such characters.
  @inline(__always)
  static func isInWord(_ code: UInt32) -> Bool {
    if code < 0x80 {
      return code &- 0x61 < 26 || code &- 0x30 < 10 || code &- 0x41 < 26
    }
    return isLetter(code)
  }

  @inline(never)
  private static func isLetter(_ code: UInt32) -> Bool {
    // Malformed bytes can give greater codes.
    if code > 0x10FFFF { return true }
    let ranges = WordCharacters.ranges
    var (low, high) = (0, ranges.count / 2)
    while low < high {
      let middle = (low + high) / 2
      if ranges[2 * middle + 1] < code { low = middle + 1 } else { high = middle }
    }
    return low < ranges.count / 2 && ranges[2 * low] <= code
  }

  /// Whether a character is an accent that belongs to the word before it.
  static func isMark(_ code: UInt32) -> Bool {
    code &- 0x300 < 0x32 && WordCharacters.marks.contains(code)
  }

  /// A character in lower case as tokens of `trigram` have it: a sign or blank of ASCII is the
  /// capital of a Cyrillic or Armenian letter, and everything else itself. No text in lower case
  /// has such capitals.
  @inline(__always)
  static func letter(for code: UInt32) -> UInt32 {
    if code >= 0x80 || code &- 0x61 < 26 || code &- 0x30 < 10 { return code }
    // 48 signs before the digits, 7 behind them, 6 behind the place of the capitals, 5 at the end.
    if code < 0x30 { return 0x400 + code }
    return 0x531 + (code < 0x41 ? code - 0x3A : code < 0x61 ? code - 0x54 : code - 0x6E)
  }

  /// The lower-case form of a character.
  @inline(__always)
  func lowercase(_ code: UInt32) -> UInt32 {
    if code < 0x80 { return code &- 0x41 < 26 ? code | 0x20 : code }
    return lowercaseLetter(code)
  }

  @inline(never)
  private func lowercaseLetter(_ code: UInt32) -> UInt32 {
    var (low, high) = (0, capitals.count)
    while low < high {
      let middle = (low + high) / 2
      if capitals[middle].last < code { low = middle + 1 } else { high = middle }
    }
    if low < capitals.count, capitals[low].first <= code,
      (code - capitals[low].first) % capitals[low].step == 0
    {
      return UInt32(Int32(code) + capitals[low].distance)
    }
    return code
  }

  /// The lower-case form of a character without its accent; 0 for an accent.
  @inline(__always)
  func fold(_ code: UInt32) -> UInt32 {
    code < 0x80 ? lowercase(code) : foldLetter(code)
  }

  @inline(never)
  private func foldLetter(_ code: UInt32) -> UInt32 {
    if Self.isMark(code) { return 0 }
    let letter = lowercaseLetter(code)
    var (low, high) = (0, plain.count)
    while low < high {
      let middle = (low + high) / 2
      if plain[middle].accented < letter { low = middle + 1 } else { high = middle }
    }
    return low < plain.count && plain[low].accented == letter ? plain[low].plain : letter
  }
}
