// Random texts and searches.

/// Random texts of words that meet each other often, in several scripts, with all that separates
/// words.
public enum RandomWords {
  /// Words.
  static let words = [
    "swift", "Swift", "swifts", "storage", "store", "stored", "storing", "red", "Rede", "hello",
    "Wörld", "world", "WORLD", "naïve", "nai\u{308}ve", "Ⱥb", "İi", "straße", "Å", "\u{212B}", "a",
    "b", "ab", "abc", "bcd", "running", "runs", "ran", "relational", "generations", "sky", "x1",
    "42",
    "日本語", "日本", "本語", "中文字", "한국어", "ελληνικά", "Россия", "россия", "ﬁn", "e\u{301}te\u{301}",
    "\u{301}mark", "ⅷ", "²", "👍", "👨‍👩‍👧", "don't", "well-known", "C++", "\u{FFFD}", "\u{10400}x",
  ]
  /// What stands between words.
  static let gaps = [
    " ", " ", " ", " ", ", ", ". ", "-", "\n", "  ", "_", "\"", "'", "\u{3000}", "/",
  ]

  /// A random text; sometimes empty.
  public static func text(_ random: inout SeededGenerator, most: Int = 9) -> String {
    var text = ""
    for _ in 0..<Int.random(in: 0...most, using: &random) {
      text += random.pick(words) + (random.oneIn(12) ? "" : random.pick(gaps))
      if random.oneIn(60) { text += "\0" }
    }
    return text
  }

  /// What a user may type.
  public static func search(_ random: inout SeededGenerator) -> String {
    var parts: [String] = []
    for _ in 0..<random.pick([1, 1, 1, 2, 2, 3, 4]) {
      var word = random.pick(words)
      if random.oneIn(4) { word = String(word.prefix(Int.random(in: 1...3, using: &random))) + "*" }
      if random.oneIn(5) {
        word = "\"\(word) \(random.pick(words))\"" + (random.oneIn(3) ? "*" : "")
      }
      if random.oneIn(5) { word = "-" + word }
      if random.oneIn(20) {
        word = random.pick(["\"", "-", "*", "--x", "(", "AND", "\0", "a\"b", "“x"])
      }
      parts.append(word)
    }
    return parts.joined(separator: random.pick([" ", " ", "  ", "\t"]))
  }

  /// A search in the language of FTS5.
  /// - Parameter fields: The names of fields.
  public static func fts5(
    _ random: inout SeededGenerator, fields: [String], depth: Int = 0
  ) -> String {
    func string() -> String {
      "\"" + random.pick(words) + (random.oneIn(5) ? " \(random.pick(words))" : "") + "\""
    }
    func phrase() -> String {
      string() + (random.oneIn(6) ? " + \(string())" : "") + (random.oneIn(5) ? "*" : "")
    }
    func filtered(_ text: String) -> String {
      guard random.oneIn(4) else { return text }
      let names = fields.map { "\"\($0)\"" }
      let list =
        random.oneIn(2) ? random.pick(names) : "{\(random.pick(names)) \(random.pick(names))}"
      return "\(random.oneIn(4) ? "- " : "")\(list) : \(text)"
    }
    switch Int.random(in: 0..<(depth > 2 ? 5 : 9), using: &random) {
    case 0, 1: return filtered(phrase())
    case 2: return filtered("^ " + phrase())
    case 3:
      return filtered(
        "NEAR(\(phrase()) \(phrase())" + (random.oneIn(2) ? ", \(random.pick([0, 1, 2, 5]))" : "")
          + ")")
    case 4: return phrase() + " " + filtered(phrase())
    default:
      let left = fts5(&random, fields: fields, depth: depth + 1)
      let right = fts5(&random, fields: fields, depth: depth + 1)
      return filtered("((\(left)) \(random.pick(["AND", "OR", "NOT"])) (\(right)))")
    }
  }
}
