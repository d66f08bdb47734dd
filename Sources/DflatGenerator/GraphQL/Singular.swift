// The singular of English nouns, by the rules that Apollo's code generators use.
//
// Rules are tried in order, and the first that fits the end of the word decides. Case does not
// matter for the comparison, and what is kept of the word keeps its case.

enum Singular {
  /// The singular of a word; a word that is singular already usually stays.
  static func of(_ word: String) -> String {
    let lower = word.lowercased()
    for noun in unchanging where lower.hasSuffix(noun) { return word }
    for (plural, singular) in irregular where lower.hasSuffix(plural) {
      // The first letter stays: it may be a capital.
      return String(word.dropLast(plural.count - 1)) + singular.dropFirst()
    }
    for rule in rules where rule.matches(lower) {
      let singular = String(word.dropLast(rule.end.count)) + rule.replacement
      return singular.isEmpty ? word : singular
    }
    return word
  }

  private struct Rule {
    /// The end of the plural, which is replaced.
    let end: String
    let replacement: String
    /// What has to be in front of it: one of these; anything if there are none.
    var before: [String] = []
    /// What must not be in front of it.
    var notBefore: [String] = []
    /// Whether `before` is the whole rest of the word.
    var isWhole = false

    func matches(_ word: String) -> Bool {
      guard word.hasSuffix(end) else { return false }
      let stem = word.dropLast(end.count)
      if isWhole { return before.contains(String(stem)) }
      return (before.isEmpty || before.contains { stem.hasSuffix($0) })
        && !notBefore.contains { stem.hasSuffix($0) }
    }
  }

  private static let unchanging = [
    "equipment", "information", "rice", "money", "species", "series", "fish", "sheep", "jeans",
    "police", "ss",
  ]

  private static let irregular = [
    ("people", "person"), ("men", "man"), ("children", "child"), ("sexes", "sex"),
    ("moves", "move"), ("zombies", "zombie"),
  ]

  private static let rules: [Rule] = [
    Rule(end: "databases", replacement: "database"),
    Rule(end: "quizzes", replacement: "quiz"),
    Rule(end: "matrices", replacement: "matrix"),
    Rule(end: "ices", replacement: "ex", before: ["vert", "ind"]),
    Rule(end: "en", replacement: "", before: ["ox"], isWhole: true),
    Rule(end: "es", replacement: "", before: ["alias", "status"]),
    Rule(end: "", replacement: "", before: ["alias", "status", "octopus", "virus"]),
    Rule(end: "i", replacement: "us", before: ["octop", "vir"]),
    Rule(end: "es", replacement: "is", before: ["ax"], isWhole: true),
    Rule(end: "es", replacement: "is", before: ["cris", "test"]),
    Rule(end: "shoes", replacement: "shoe"),
    Rule(end: "es", replacement: "", before: ["o"]),
    Rule(end: "es", replacement: "", before: ["bus"]),
    Rule(end: "", replacement: "", before: ["bus"]),
    Rule(end: "ice", replacement: "ouse", before: ["m", "l"], isWhole: true),
    Rule(end: "es", replacement: "", before: ["x", "ch", "ss", "sh"]),
    Rule(end: "movies", replacement: "movie"),
    Rule(
      end: "ies", replacement: "y", notBefore: ["a", "e", "i", "o", "u", "y"]),
    Rule(end: "ves", replacement: "f", before: ["l", "r"]),
    Rule(end: "tives", replacement: "tive"),
    Rule(end: "hives", replacement: "hive"),
    Rule(end: "ves", replacement: "fe", notBefore: ["f"]),
    Rule(
      end: "ses", replacement: "sis",
      before: ["analy", "ba", "diagno", "parenthe", "progno", "synop", "the"]),
    Rule(end: "a", replacement: "um", before: ["t", "i"]),
    Rule(end: "news", replacement: "news"),
    Rule(end: "s", replacement: ""),
  ]
}
