// How many columns of a terminal a text takes: ideographs and most emoji take two.

extension Character {
  /// The scalars of the blocks whose East Asian width is wide, as in Unicode's annex 11. Emoji are
  /// known by a property of their own.
  private static let wide: [ClosedRange<UInt32>] = [
    0x1100...0x115F, 0x2329...0x232A, 0x2E80...0x303E, 0x3041...0x4DBF, 0x4E00...0xA4CF,
    0xA960...0xA97C, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6F,
    0xFF01...0xFF60, 0xFFE0...0xFFE6, 0x16FE0...0x18D08, 0x1AFF0...0x1B2FB, 0x1F200...0x1F265,
    0x20000...0x3FFFD,
  ]

  fileprivate var columns: Int {
    let isWide = unicodeScalars.contains { scalar in
      scalar.properties.isEmojiPresentation || scalar == "\u{FE0F}"
        || Self.wide.contains { $0.contains(scalar.value) }
    }
    return isWide ? 2 : 1
  }
}

extension String {
  /// How many columns of a terminal the text takes.
  var columns: Int {
    if utf8.allSatisfy({ $0 < 0x80 }) { return utf8.count }
    return reduce(0) { $0 + $1.columns }
  }

  /// The beginning of the text that takes at most some columns.
  func prefix(columns limit: Int) -> Substring {
    var (end, columns) = (startIndex, 0)
    while end < endIndex {
      columns += self[end].columns
      if columns > limit { break }
      end = index(after: end)
    }
    return self[..<end]
  }
}
