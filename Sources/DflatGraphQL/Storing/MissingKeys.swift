// Which keys of a page are not in a stored list, which may be long.
//
// The list is looked through once. Most of its keys are in no page, which the length and the last
// bytes of a text say at less cost than its hash.

extension Array where Element: Hashable {
  /// The elements that a list does not have, each once, in their order. Texts are compared as
  /// bytes.
  @_specialize(where Element == Int64)
  func missing(in list: [Element]) -> [Element] {
    guard Element.self == String.self else {
      var missing = Set(self)
      for element in list { missing.remove(element) }
      return filter { missing.remove($0) != nil }
    }
    // A cast would convert each element.
    let texts = unsafeBitCast(self, to: [String].self)
    return unsafeBitCast(
      texts.missingTexts(in: unsafeBitCast(list, to: [String].self)), to: Self.self)
  }
}

extension [String] {
  fileprivate func missingTexts(in list: [String]) -> [String] {
    var missing = Set(map(ByteText.init))
    let marks = TextMarks(self)
    for text in list where marks.mayContain(text) { missing.remove(ByteText(text)) }
    return filter { missing.remove(ByteText($0)) != nil }
  }
}

/// A text that is equal to those with the same bytes. Swift calls texts equal that differ in bytes.
struct ByteText: Hashable {
  let text: String

  init(_ text: String) { self.text = text }

  static func == (left: Self, right: Self) -> Bool {
    left.text.utf8.elementsEqual(right.text.utf8)
  }

  func hash(into hasher: inout Hasher) {
    var text = text
    text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
  }
}

/// A set of texts, which says of a text that it is not in the set, or nothing.
private struct TextMarks {
  private var bits = [UInt64](repeating: 0, count: 64)

  init(_ texts: [String]) {
    for text in texts {
      let place = Self.place(text)
      bits[place / 64] |= 1 << UInt64(place % 64)
    }
  }

  /// A number below 4096, which is the same for equal texts.
  private static func place(_ text: String) -> Int {
    var text = text
    return text.withUTF8 { bytes in
      var number = UInt32(truncatingIfNeeded: bytes.count)
      for byte in bytes.suffix(4) { number = number &* 0x101 ^ UInt32(byte) }
      return Int((number &* 0x9E37_79B1) >> 20)
    }
  }

  func mayContain(_ text: String) -> Bool {
    let place = Self.place(text)
    return bits[place / 64] & (1 << UInt64(place % 64)) != 0
  }
}
