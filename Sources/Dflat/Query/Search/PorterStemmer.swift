// The Porter stemmer: reduces an English word to its stem, so that "running" finds "runs".
//
// This is M. F. Porter's algorithm of 1980 ("An algorithm for suffix stripping") with the changes
// that its author has published since then. It works on bytes, in place; words shorter than three
// bytes or longer than 64 are left alone, as in SQLite.

enum PorterStemmer {
  private typealias Word = UnsafeMutablePointer<UInt8>

  /// Stems a word in lower case.
  /// - Parameter count: Its size in bytes.
  /// - Returns: The size of the stem, which is not greater.
  static func stem(_ word: UnsafeMutablePointer<UInt8>, _ count: Int) -> Int {
    guard 3...64 ~= count else { return count }
    var count = plural(word, count)
    count = participle(word, count)
    if word[count - 1] == UInt8(ascii: "y"), hasVowel(word, count - 1) {
      word[count - 1] = UInt8(ascii: "i")
    }
    count = replace(word, count, second) { measure(word, $0) > 0 }
    count = replace(word, count, third) { measure(word, $0) > 0 }
    count = replace(word, count, fourth) { rest in
      guard measure(word, rest) > 1 else { return false }
      // Only "-sion" and "-tion" lose their end.
      guard count == rest + 3, ends(word, count, "ion") else { return true }
      return rest > 0
        && (word[rest - 1] == UInt8(ascii: "s") || word[rest - 1] == UInt8(ascii: "t"))
    }
    return ending(word, count)
  }

  /// "caresses" → "caress", "ponies" → "poni", "cats" → "cat".
  private static func plural(_ word: Word, _ count: Int) -> Int {
    guard word[count - 1] == UInt8(ascii: "s") else { return count }
    if ends(word, count, "sses") || ends(word, count, "ies") { return count - 2 }
    return word[count - 2] == UInt8(ascii: "s") ? count : count - 1
  }

  /// "agreed" → "agree", "plastered" → "plaster", "hopping" → "hop", "filing" → "file".
  private static func participle(_ word: Word, _ count: Int) -> Int {
    if ends(word, count, "eed") { return measure(word, count - 3) > 0 ? count - 1 : count }
    var rest = count
    if ends(word, count, "ed"), hasVowel(word, count - 2) {
      rest = count - 2
    } else if ends(word, count, "ing"), hasVowel(word, count - 3) {
      rest = count - 3
    } else {
      return count
    }
    let last = word[rest - 1]
    if ends(word, rest, "at") || ends(word, rest, "bl") || ends(word, rest, "iz") {
      word[rest] = UInt8(ascii: "e")
      return rest + 1
    }
    let mayBeDouble = !isVowel(last, false) && !"lsz".utf8.contains(last)
    if mayBeDouble, rest > 1, word[rest - 2] == last { return rest - 1 }
    if measure(word, rest) == 1, isShort(word, rest) {
      word[rest] = UInt8(ascii: "e")
      return rest + 1
    }
    return rest
  }

  /// "probate" → "probat", "controll" → "control".
  private static func ending(_ word: Word, _ count: Int) -> Int {
    var count = count
    if word[count - 1] == UInt8(ascii: "e") {
      let size = measure(word, count - 1)
      if size > 1 || (size == 1 && !isShort(word, count - 1)) { count -= 1 }
    }
    let isDouble =
      count > 1 && word[count - 1] == UInt8(ascii: "l") && word[count - 2] == word[count - 1]
    return isDouble && measure(word, count - 1) > 1 ? count - 1 : count
  }

  // MARK: Rules

  private typealias Rule = (suffix: StaticString, replacement: StaticString)

  // Of suffixes that are ends of each other the longest is first.
  private static let second: [Rule] = [
    ("ational", "ate"), ("tional", "tion"), ("enci", "ence"), ("anci", "ance"), ("izer", "ize"),
    ("logi", "log"), ("bli", "ble"), ("alli", "al"), ("entli", "ent"), ("eli", "e"),
    ("ousli", "ous"), ("ization", "ize"), ("ation", "ate"), ("ator", "ate"), ("alism", "al"),
    ("iveness", "ive"), ("fulness", "ful"), ("ousness", "ous"), ("aliti", "al"), ("iviti", "ive"),
    ("biliti", "ble"),
  ]
  private static let third: [Rule] = [
    ("icate", "ic"), ("ative", ""), ("alize", "al"), ("iciti", "ic"), ("ical", "ic"), ("ful", ""),
    ("ness", ""),
  ]
  private static let fourth: [Rule] = [
    ("al", ""), ("ance", ""), ("ence", ""), ("er", ""), ("ic", ""), ("able", ""), ("ible", ""),
    ("ant", ""), ("ement", ""), ("ment", ""), ("ent", ""), ("ion", ""), ("ou", ""), ("ism", ""),
    ("ate", ""), ("iti", ""), ("ous", ""), ("ive", ""), ("ize", ""),
  ]

  /// Replaces the first suffix of the rules that the word has, if a condition on the rest holds.
  private static func replace(
    _ word: Word, _ count: Int, _ rules: [Rule], _ condition: (Int) -> Bool
  ) -> Int {
    for rule in rules where ends(word, count, rule.suffix) {
      let rest = count - rule.suffix.utf8CodeUnitCount
      guard condition(rest) else { return count }
      let size = rule.replacement.utf8CodeUnitCount
      (word + rest).update(from: rule.replacement.utf8Start, count: size)
      return rest + size
    }
    return count
  }

  /// Whether a word is longer than a suffix, and ends with it.
  private static func ends(_ word: Word, _ count: Int, _ suffix: StaticString) -> Bool {
    let size = suffix.utf8CodeUnitCount
    guard count > size else { return false }
    for index in 0..<size where word[count - size + index] != suffix.utf8Start[index] {
      return false
    }
    return true
  }

  // MARK: Vowels and consonants

  /// - Parameter isYVowel: Whether "y" is a vowel here: after a consonant.
  private static func isVowel(_ letter: UInt8, _ isYVowel: Bool) -> Bool {
    switch letter {
    case UInt8(ascii: "a"), UInt8(ascii: "e"), UInt8(ascii: "i"), UInt8(ascii: "o"),
      UInt8(ascii: "u"):
      true
    case UInt8(ascii: "y"): isYVowel
    default: false
    }
  }

  private static func hasVowel(_ word: Word, _ count: Int) -> Bool {
    (0..<count).contains { isVowel(word[$0], $0 > 0) }
  }

  /// How often a consonant follows a vowel: 0 for "tree", 1 for "trees", 2 for "private".
  private static func measure(_ word: Word, _ count: Int) -> Int {
    var result = 0
    var isConsonant = false
    for index in 0..<count {
      let wasVowel = index > 0 && !isConsonant
      isConsonant = !isVowel(word[index], isConsonant)
      if isConsonant, wasVowel { result += 1 }
    }
    return result
  }

  /// Whether a word ends with a consonant, a vowel and a consonant other than "w", "x" and "y".
  private static func isShort(_ word: Word, _ count: Int) -> Bool {
    guard count > 2, !"wxy".utf8.contains(word[count - 1]) else { return false }
    var pattern = 0
    var isConsonant = false
    for index in 0..<count {
      isConsonant = !isVowel(word[index], isConsonant)
      pattern = pattern << 1 | (isConsonant ? 1 : 0)
    }
    return pattern & 7 == 5
  }
}
