// Which keys of a page are not in a stored list, which may be long.
//
// The list is looked through once. Most of its keys are in no page, which the length and the last
// bytes of a text say at less cost than its hash.

extension Array where Element: Hashable {
  /// The elements that a list does not have, each once, in their order.
  @_specialize(where Element == Int64)
  @_specialize(where Element == String)
  func missing(in list: [Element]) -> [Element] {
    var missing = Set(self)
    if Element.self == String.self {
      // A cast would convert each element.
      let marks = TextMarks(unsafeBitCast(self, to: [String].self))
      let texts = unsafeBitCast(list, to: [String].self)
      for place in texts.indices where marks.mayContain(texts[place]) {
        missing.remove(list[place])
      }
    } else {
      for element in list { missing.remove(element) }
    }
    return filter { missing.remove($0) != nil }
  }
}

/// A set of texts, which says of a text that it is not in the set, or nothing.
///
/// Equal texts have equal bytes if both are ASCII. Others may be equal to any: the sign of Kelvin
/// is the letter K.
private struct TextMarks {
  private var bits = [UInt64](repeating: 0, count: 64)
  private var isASCII = true

  init(_ texts: [String]) {
    for text in texts {
      guard let place = Self.place(text) else {
        isASCII = false
        continue
      }
      bits[place / 64] |= 1 << UInt64(place % 64)
    }
  }

  /// A number below 4096, which is the same for equal texts; nil for a text that is not ASCII.
  private static func place(_ text: String) -> Int? {
    var text = text
    return text.withUTF8 { bytes in
      if bytes.contains(where: { $0 >= 0x80 }) { return nil }
      var number = UInt32(truncatingIfNeeded: bytes.count)
      for byte in bytes.suffix(4) { number = number &* 0x101 ^ UInt32(byte) }
      return Int((number &* 0x9E37_79B1) >> 20)
    }
  }

  func mayContain(_ text: String) -> Bool {
    guard isASCII, let place = Self.place(text) else { return true }
    return bits[place / 64] & (1 << UInt64(place % 64)) != 0
  }
}
