// Highlights and snippets: where in a text the words of a search are.
//
// They are found in the text itself, so they are the same on every engine.

/// A text, and the parts of it that a search has found.
public struct SearchHighlights: Sendable, Equatable {
  /// The text.
  public let text: String
  /// The parts of the text that were searched for, in ascending order, without overlaps.
  public let ranges: [Range<String.Index>]

  /// The text with marks around the parts that were searched for.
  ///
  /// The text itself is not changed: what it contains of a markup language is not escaped.
  public func marked(_ start: String, _ end: String) -> String {
    var result = ""
    var position = text.startIndex
    for range in ranges {
      result += text[position..<range.lowerBound]
      result += start + text[range] + end
      position = range.upperBound
    }
    return result + text[position...]
  }
}

extension TextSearch {
  /// A field's text, with the words that are searched for.
  ///
  /// - Parameters:
  ///   - field: One of the fields that are searched, which the object itself has. For the text of
  ///     a related object search its type: `Writer.name.search("ada")` in place of
  ///     `Story.writer.name.search("ada")`.
  ///   - object: The object, perhaps one that does not match.
  /// - Returns: nil if the object does not have the field.
  public func highlights(
    in field: some FieldExpression<String, Element>, of object: Element
  ) -> SearchHighlights? {
    guard let (text, column) = text(of: field._field, of: object) else { return nil }
    return SearchHighlights(text: text, ranges: ranges(in: text, column))
  }

  /// A short part of a field's text: the one with the most different words that are searched for,
  /// as whole words, with "…" where it was cut.
  ///
  /// - Parameters:
  ///   - object: The object, perhaps one that does not match.
  ///   - field: One of the fields that are searched, which the object itself has; see
  ///     ``highlights(in:of:)``.
  ///   - words: The largest number of words.
  /// - Returns: nil if the object does not have the field.
  public func snippet(
    of object: Element, in field: some FieldExpression<String, Element>, words: Int = 16
  ) -> SearchHighlights? {
    guard let (text, column) = text(of: field._field, of: object) else { return nil }
    let found = ranges(in: text, column)
    let all = text.wordRanges
    guard all.count > words, words > 0 else { return SearchHighlights(text: text, ranges: found) }
    // The number of each range's first word.
    var starts: [Int] = []
    var word = 0
    for range in found {
      while word + 1 < all.count, all[word + 1].lowerBound <= range.lowerBound { word += 1 }
      starts.append(word)
    }
    let first = Self.window(starts, found.map { text[$0].lowercased() }, words, all.count)
    let last = min(first + words, all.count) - 1
    // The beginning and the end of the text come with their punctuation.
    let start = first == 0 ? text.startIndex : all[first].lowerBound
    let end = last == all.count - 1 ? text.endIndex : all[last].upperBound
    var part = first == 0 ? "" : "…"
    var moved: [Range<String.Index>] = []
    var position = start
    var offsets: [Range<Int>] = []
    for range in found where range.lowerBound >= start && range.upperBound <= end {
      part += text[position..<range.lowerBound]
      let offset = part.utf8.count
      part += text[range]
      offsets.append(offset..<part.utf8.count)
      position = range.upperBound
    }
    part += text[position..<end] + (end == text.endIndex ? "" : "…")
    for range in offsets {
      moved.append(
        part.utf8.index(
          part.startIndex, offsetBy: range.lowerBound)..<part.utf8.index(
            part.startIndex, offsetBy: range.upperBound))
    }
    return SearchHighlights(text: part, ranges: moved)
  }

  /// The first word of the window with the most different matches, and of those with the most
  /// matches, with some words before the first match.
  private static func window(
    _ starts: [Int], _ texts: [String], _ size: Int, _ count: Int
  ) -> Int {
    var best = (first: 0, different: 0, all: 0)
    // How often each text is in the window that begins with a match; its end only moves on.
    var inside: [String: Int] = [:]
    var end = 0
    for (index, first) in starts.enumerated() {
      while end < starts.count, starts[end] < first + size {
        inside[texts[end], default: 0] += 1
        end += 1
      }
      if (inside.count, end - index) > (best.different, best.all) {
        best = (index, inside.count, end - index)
      }
      let left = inside[texts[index], default: 1] - 1
      inside[texts[index]] = left > 0 ? left : nil
    }
    guard best.all > 0 else { return 0 }
    let first = starts[best.first]
    let spare = size - (starts[best.first + best.all - 1] - first + 1)
    return max(0, min(first - spare / 2, count - size))
  }

  private func ranges(in text: String, _ column: Int) -> [Range<String.Index>] {
    var text = text
    let found = text.withUTF8 { condition.ranges(in: UnsafeRawBufferPointer($0), column: column) }
    var position = (offset: 0, index: text.startIndex)
    func index(_ offset: Int) -> String.Index {
      let next = text.utf8.index(position.index, offsetBy: offset - position.offset)
      position = (offset, next)
      return next
    }
    return found.map { range in
      let start = index(range.lowerBound)
      return start..<index(range.upperBound)
    }
  }

  /// The text of a field, and its place among those that are searched.
  private func text(
    of field: Field<String, Element>, of object: Element
  ) -> (text: String, column: Int)? {
    for descriptor in field.searchedFields {
      require(
        descriptor.related == nil,
        "\(Element._schema.name(of: descriptor)) is a text of another object, in which "
          + "\(condition.text) cannot find words: search the type of that object")
      guard let column = condition.columns.firstIndex(of: descriptor) else {
        misuse(
          "\(Element._schema.name(of: descriptor)) is not searched by \(condition.text): ask for a "
            + "field that is")
      }
      let text = object._row.read { table -> String? in
        guard case .text(let bytes) = ColumnReader(descriptor).read(table) else { return nil }
        return String(decoding: bytes, as: UTF8.self)
      }
      if let text { return (text, column) }
    }
    return nil
  }
}

extension String {
  /// The words, for snippets: runs of characters without blanks between them. In texts without
  /// blanks each character that is no letter of an alphabet counts as a word.
  fileprivate var wordRanges: [Range<Index>] {
    var ranges: [Range<Index>] = []
    var start: Index?
    var position = startIndex
    while position < endIndex {
      let next = index(after: position)
      let character = self[position]
      let isIdeograph = (character.unicodeScalars.first?.value ?? 0) >= 0x2E80
      if character.isWhitespace || isIdeograph, let first = start {
        ranges.append(first..<position)
        start = nil
      }
      if isIdeograph {
        ranges.append(position..<next)
      } else if !character.isWhitespace, start == nil {
        start = position
      }
      position = next
    }
    if let start { ranges.append(start..<endIndex) }
    return ranges
  }
}
