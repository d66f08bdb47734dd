// Tokens: the words of a text, as a full-text index has them.
//
//  - `unicode61`: a run of letters and digits, folded; an accent that is a character of its own
//    belongs to the word before it.
//  - `porter`: the same, stemmed.
//  - `cjk`: a run of letters and digits, or one character of Chinese, Japanese or Korean, folded as
//    `CharacterFolding` does it.
//  - `portercjk`: the same, the runs stemmed.
//  - `trigram`: each character with the two behind it, folded as `CharacterFolding` does it; at the
//    end of the text with fewer. So a part of a text with one or two characters is the beginning
//    of a token wherever it is. A NUL ends the text. In a token each sign of ASCII stands as a
//    letter that is left over, so that tokens can be written with blanks between them
//    (`SearchFolding.letter`).
//
// The words of `unicode61` and `porter` are those that FTS5 finds in a text by itself.

import Platform

extension SearchTokenizer {
  /// The number of bytes at which a token is cut, perhaps inside of a character.
  static let longest = 32768

  /// Calls `body` with each token of a text until it returns false.
  ///
  /// - Parameters:
  ///   - text: Any bytes.
  ///   - body: Called with the token, which is valid during the call, its number, and the bytes of
  ///     the text that it comes from.
  @inline(__always)
  func forEachToken(
    in text: UnsafeRawBufferPointer,
    _ body: (_ token: UnsafeRawBufferPointer, _ number: Int, _ range: Range<Int>) -> Bool
  ) {
    switch self {
    case .unicode61, .porter: forEachWordOfFTS5(in: text, body)
    case .cjk, .porterCJK: forEachWordOrIdeograph(in: text, body)
    case .trigram: Self.forEachTrigram(in: text, body)
    }
  }

  @inline(__always)
  private func forEachWordOfFTS5(
    in text: UnsafeRawBufferPointer,
    _ body: (_ token: UnsafeRawBufferPointer, _ number: Int, _ range: Range<Int>) -> Bool
  ) {
    // A byte that is no UTF-8 counts as a character, which may have two bytes. Of other
    // characters no folded form has more than 3/2 of the bytes.
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 2 * text.count + 4) { memory in
      guard let token = memory.baseAddress else { return }
      let folding = SearchFolding.shared
      var (position, number) = (0, 0)
      while position < text.count {
        let start = position
        var code = SearchFolding.character(in: text, at: &position)
        if !SearchFolding.isInWord(code) { continue }
        var (size, end) = (0, position)
        repeat {
          let folded = folding.fold(code)
          if folded != 0 { size += SearchFolding.write(folded, to: token + size) }
          end = position
          guard position < text.count else { break }
          code = SearchFolding.character(in: text, at: &position)
        } while SearchFolding.isInWord(code) || SearchFolding.isMark(code)
        if self == .porter { size = PorterStemmer.stem(token, size) }
        let bytes = UnsafeRawBufferPointer(start: token, count: min(size, Self.longest))
        if !body(bytes, number, start..<end) { return }
        number += 1
      }
    }
  }

  @inline(__always)
  private func forEachWordOrIdeograph(
    in text: UnsafeRawBufferPointer,
    _ body: (_ token: UnsafeRawBufferPointer, _ number: Int, _ range: Range<Int>) -> Bool
  ) {
    // As above, no folded form is longer than twice the bytes.
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 2 * text.count + 4) { memory in
      guard let token = memory.baseAddress else { return }
      var (position, number) = (0, 0)
      while position < text.count {
        let start = position
        var code = CharacterFolding.character(in: text, at: &position)
        if !SearchFolding.isInWord(code) { continue }
        var size = SearchFolding.write(code, to: token)
        if !CharacterFolding.isIdeograph(code) {
          var next = position
          while next < text.count {
            code = CharacterFolding.character(in: text, at: &next)
            if !SearchFolding.isInWord(code) || CharacterFolding.isIdeograph(code) { break }
            size += SearchFolding.write(code, to: token + size)
            position = next
          }
          if self == .porterCJK { size = PorterStemmer.stem(token, size) }
        }
        let bytes = UnsafeRawBufferPointer(start: token, count: min(size, Self.longest))
        if !body(bytes, number, start..<position) { return }
        number += 1
      }
    }
  }

  @inline(__always)
  private static func forEachTrigram(
    in text: UnsafeRawBufferPointer,
    _ body: (_ token: UnsafeRawBufferPointer, _ number: Int, _ range: Range<Int>) -> Bool
  ) {
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 12) { memory in
      guard let token = memory.baseAddress else { return }
      // The last three characters, and where each begins.
      var codes: (UInt32, UInt32, UInt32) = (0, 0, 0)
      var starts = (0, 0, 0)
      var (position, count) = (0, 0)
      while position < text.count {
        if text[position] == 0 { break }
        let start = position
        let code = CharacterFolding.character(in: text, at: &position)
        if code == 0 { continue }
        codes = (codes.1, codes.2, SearchFolding.letter(for: code))
        starts = (starts.1, starts.2, start)
        count += 1
        if count < 3 { continue }
        var size = SearchFolding.write(codes.0, to: token)
        size += SearchFolding.write(codes.1, to: token + size)
        size += SearchFolding.write(codes.2, to: token + size)
        let bytes = UnsafeRawBufferPointer(start: token, count: size)
        if !body(bytes, count - 3, starts.0..<position) { return }
      }
      // The last two characters.
      if count > 1 {
        var size = SearchFolding.write(codes.1, to: token)
        size += SearchFolding.write(codes.2, to: token + size)
        let bytes = UnsafeRawBufferPointer(start: token, count: size)
        if !body(bytes, count - 2, starts.1..<position) { return }
      }
      if count > 0 {
        let bytes = UnsafeRawBufferPointer(
          start: token, count: SearchFolding.write(codes.2, to: token))
        _ = body(bytes, count - 1, starts.2..<position)
      }
    }
  }

  /// Calls `body` with each word of a text and its number, as the full-text index has them. For
  /// engines.
  ///
  /// - Parameters:
  ///   - text: Any bytes.
  ///   - body: Called with the word, which is valid during the call, and its number from 0.
  package func forEachWord(
    in text: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer, Int) -> Void
  ) {
    forEachToken(in: text) { token, number, _ in
      body(token, number)
      return true
    }
  }

  /// The tokens of a text.
  func tokens(of text: String) -> [[UInt8]] {
    var text = text
    var tokens: [[UInt8]] = []
    text.withUTF8 {
      forEachToken(in: UnsafeRawBufferPointer($0)) { token, _, _ in
        tokens.append(Array(token))
        return true
      }
    }
    return tokens
  }

  /// The tokens of a text that none behind it could make longer: with `trigram` those of three
  /// characters.
  func wholeTokens(of text: String) -> [[UInt8]] {
    self == .trigram ? tokens(of: text).dropLast(2) : tokens(of: text)
  }
}
