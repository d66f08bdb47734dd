// SearchTerms: the different words of a search, and which of them a word of a text is.
//
// A hash table, so that a search with thousands of words costs little more for each word of a text
// than a search with one. Beginnings of words are looked up by each of their lengths.

struct SearchTerms: Sendable {
  private var bytes: [UInt8] = []
  private var terms: [(start: Int, count: Int, isPrefix: Bool)] = []
  /// The number of the term plus 1, or 0. The size is a power of two.
  private var slots: [Int32] = []
  /// The lengths of beginnings, in ascending order.
  private var prefixLengths: [Int] = []

  /// The number of terms.
  var count: Int { terms.count }

  /// - Parameter all: The words, and whether each is the beginning of one; there may be equal ones.
  init(_ all: [(token: [UInt8], isPrefix: Bool)]) {
    var size = 16
    while size < 2 * all.count { size *= 2 }
    slots = [Int32](repeating: 0, count: size)
    for (token, isPrefix) in all {
      token.withUnsafeBytes { token in
        guard find(token, Self.hash(token), isPrefix) == nil else { return }
        var slot = Int(truncatingIfNeeded: Self.hash(token)) & (slots.count - 1)
        while slots[slot] != 0 { slot = (slot + 1) & (slots.count - 1) }
        terms.append((bytes.count, token.count, isPrefix))
        bytes += token
        slots[slot] = Int32(terms.count)
        if isPrefix, !prefixLengths.contains(token.count) { prefixLengths.append(token.count) }
      }
    }
    prefixLengths.sort()
  }

  /// The number of a term; nil if there is none.
  func number(of token: [UInt8], isPrefix: Bool) -> Int? {
    token.withUnsafeBytes { find($0, Self.hash($0), isPrefix) }
  }

  /// Calls `body` with the number of each term that a word of a text is, or begins with.
  @inline(__always)
  func forEachMatch(_ token: UnsafeRawBufferPointer, _ body: (Int) -> Void) {
    var hash = Self.start
    var position = 0
    for length in prefixLengths {
      if length > token.count { break }
      while position < length {
        hash = Self.hash(hash, token[position])
        position += 1
      }
      let beginning = UnsafeRawBufferPointer(rebasing: token[..<length])
      if let term = find(beginning, hash, true) { body(term) }
    }
    while position < token.count {
      hash = Self.hash(hash, token[position])
      position += 1
    }
    if let term = find(token, hash, false) { body(term) }
  }

  private func find(
    _ token: UnsafeRawBufferPointer, _ hash: UInt64, _ isPrefix: Bool
  ) -> Int? {
    var slot = Int(truncatingIfNeeded: hash) & (slots.count - 1)
    while slots[slot] != 0 {
      let index = Int(slots[slot]) - 1
      let term = terms[index]
      if term.isPrefix == isPrefix, term.count == token.count {
        let isSame = bytes.withUnsafeBytes {
          equalBytes(
            UnsafeRawBufferPointer(rebasing: $0[term.start..<term.start + term.count]), token)
        }
        if isSame { return index }
      }
      slot = (slot + 1) & (slots.count - 1)
    }
    return nil
  }

  // MARK: FNV-1a

  private static let start: UInt64 = 0xCBF2_9CE4_8422_2325

  @inline(__always)
  private static func hash(_ hash: UInt64, _ byte: UInt8) -> UInt64 {
    (hash ^ UInt64(byte)) &* 0x100_0000_01B3
  }

  private static func hash(_ token: UnsafeRawBufferPointer) -> UInt64 {
    token.reduce(start) { hash($0, $1) }
  }
}
