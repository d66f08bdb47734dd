// Searches as users type them. Every text is one, so there are no errors.
//
//   word        objects with this word
//   word*       objects with a word that begins so
//   "a phrase"  objects with these words in succession; the last quotation mark may be missing
//   -word       objects without this word, or phrase
//
// Everything that is no letter or digit separates words, as in the texts that are searched, so that
// "well-known" is a phrase of two words.

extension SearchSyntax {
  /// The search that a text asks for.
  init(words text: String) {
    var wanted: [SearchSyntax] = []
    var unwanted: [SearchSyntax] = []
    var seen: Set<[UInt8]> = []
    let scalars = Array(text.unicodeScalars)
    var position = 0
    while position < scalars.count {
      if scalars[position].isBlank {
        position += 1
        continue
      }
      let isUnwanted = scalars[position] == "-"
      if isUnwanted { position += 1 }
      guard position < scalars.count else { break }
      let phrase = Self.phrase(scalars, &position)
      // Equal strings may be different words: an accent may be a character of its own.
      let key = [phrase.isPrefix ? 1 : 0] + phrase.texts.flatMap(\.utf8)
      if isUnwanted {
        unwanted.append(.phrase(phrase))
      } else if seen.insert(key).inserted {
        wanted.append(.phrase(phrase))
      }
    }
    let words = SearchSyntax.words(wanted)
    self = unwanted.isEmpty ? words : .not(words, .or(unwanted))
  }

  /// The word or phrase that begins at a position, which moves behind it.
  private static func phrase(_ scalars: [Unicode.Scalar], _ position: inout Int) -> Phrase {
    var text = String.UnicodeScalarView()
    var isPrefix = false
    if scalars[position].isQuote {
      position += 1
      while position < scalars.count, !scalars[position].isQuote {
        text.append(scalars[position].value == 0 ? " " : scalars[position])
        position += 1
      }
      position += 1
      if position < scalars.count, scalars[position] == "*" {
        isPrefix = true
        position += 1
      }
    } else {
      while position < scalars.count, !scalars[position].isBlank, !scalars[position].isQuote {
        text.append(scalars[position])
        position += 1
      }
      while text.last == "*" {
        isPrefix = true
        text.removeLast()
      }
    }
    return Phrase(texts: [String(text)], isPrefix: isPrefix)
  }
}

extension Unicode.Scalar {
  /// Whether it separates what a user has typed. A NUL does: in an index it would end a text.
  fileprivate var isBlank: Bool { value <= 0x20 || properties.isWhitespace }

  fileprivate var isQuote: Bool {
    switch self {
    // Keyboards of phones replace the plain ones.
    case "\"", "\u{201C}", "\u{201D}", "\u{201E}", "\u{AB}", "\u{BB}": true
    default: false
    }
  }
}
