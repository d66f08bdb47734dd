// The text of an `index` attribute: `"archived, sort_date; author.handle, title nocase unique"`.
//
//   list    index { ";" index }
//   index   column { "," column } [ "unique" ]
//   column  field { "." field } [ "nocase" ]
//
// Every word has its range in the source, so that messages point at the word and not at the string.

/// A word of the list.
struct IndexWord {
  var text: Substring
  var range: SourceRange
}

/// One column of an index: a field and the words behind it.
struct IndexColumnSyntax {
  var words: [IndexWord]
  /// The range of the words; where they should be if there are none.
  var range: SourceRange
}

/// The indexes of an attribute's value.
struct IndexListSyntax {
  var indexes: [[IndexColumnSyntax]]

  init(_ value: ValueSyntax) {
    let isPlain = value.isPlain
    func range(_ part: Substring) -> SourceRange { value.range(of: part) }
    indexes = value.text.split(separator: ";" as Character, omittingEmptySubsequences: false).map {
      $0.split(separator: "," as Character, omittingEmptySubsequences: false).map { part in
        let words = part.split { $0 == " " || $0 == "\t" }.map {
          IndexWord(text: $0, range: range($0))
        }
        guard let first = words.first, let last = words.last else {
          let place = range(part[part.startIndex..<part.startIndex])
          let end = isPlain ? place.start + 1 : place.end
          return IndexColumnSyntax(
            words: [], range: SourceRange(file: place.file, start: place.start, end: end))
        }
        return IndexColumnSyntax(words: words, range: first.range.through(last.range))
      }
    }
  }
}

extension ValueSyntax {
  private var quote: Int { if case .string = kind { 1 } else { 0 } }

  /// Whether places in the text are those in the source: there are no escapes in it.
  var isPlain: Bool { range.end - range.start == text.utf8.count + 2 * quote }

  /// The range of a part of the text; that of the whole value if it has escapes.
  func range(of part: Substring) -> SourceRange {
    guard isPlain else { return range }
    let start = range.start + quote
    let offset = text.utf8.distance(from: text.startIndex, to: part.startIndex)
    return SourceRange(
      file: range.file, start: start + offset, end: start + offset + part.utf8.count)
  }
}
