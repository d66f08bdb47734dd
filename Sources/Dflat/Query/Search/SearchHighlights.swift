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
  /// The snippet contains a match with all its words. If each has more words than the snippet may
  /// have, the snippet is the beginning of the first.
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
    let first = Self.window(
      Self.spans(of: found, in: all), found.map { text[$0].lowercased() }, words, all.count)
    let last = min(first + words, all.count) - 1
    // The beginning and the end of the text come with their punctuation.
    let start = first == 0 ? text.startIndex : all[first].lowerBound
    let end = last == all.count - 1 ? text.endIndex : all[last].upperBound
    var part = first == 0 ? "" : "…"
    var moved: [Range<String.Index>] = []
    var position = start
    var offsets: [Range<Int>] = []
    var shown = found.filter { $0.lowerBound >= start && $0.upperBound <= end }
    // Everything is longer than the snippet: a mark is around the part of it.
    if shown.isEmpty {
      shown = found.map { $0.clamped(to: start..<end) }.filter { !$0.isEmpty }
    }
    for range in shown {
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

  /// The numbers of each range's first and last word.
  private static func spans(
    of ranges: [Range<String.Index>], in words: [Range<String.Index>]
  ) -> [ClosedRange<Int>] {
    var (first, last) = (0, 0)
    return ranges.map { range in
      while first + 1 < words.count, words[first + 1].lowerBound <= range.lowerBound { first += 1 }
      while last + 1 < words.count, words[last].upperBound < range.upperBound { last += 1 }
      return first...max(first, last)
    }
  }

  /// The first word of the window with the most different matches, and of those with the most
  /// matches, with some words before the first match. A match counts if all its words are inside.
  /// - Parameters:
  ///   - spans: The first and last word of each match, in ascending order.
  ///   - texts: Their texts.
  ///   - size: The number of words of the window.
  ///   - count: The number of all words.
  private static func window(
    _ spans: [ClosedRange<Int>], _ texts: [String], _ size: Int, _ count: Int
  ) -> Int {
    var best = (first: 0, different: 0, all: 0)
    // How often each text is in the window that begins with a match; its end only moves on.
    var inside: [String: Int] = [:]
    var end = 0
    for (index, span) in spans.enumerated() {
      while end < spans.count, spans[end].upperBound < span.lowerBound + size {
        inside[texts[end], default: 0] += 1
        end += 1
      }
      if end == index {
        // The match is longer than the window.
        end += 1
        continue
      }
      if (inside.count, end - index) > (best.different, best.all) {
        best = (index, inside.count, end - index)
      }
      let left = inside[texts[index], default: 1] - 1
      inside[texts[index]] = left > 0 ? left : nil
    }
    guard best.all > 0 else { return spans.first?.lowerBound ?? 0 }
    let first = spans[best.first].lowerBound
    let spare = size - (spans[best.first + best.all - 1].upperBound - first + 1)
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
