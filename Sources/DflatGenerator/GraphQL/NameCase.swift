// Names of GraphQL in Swift's case, by the rules of Apollo's code generators.

enum NameCase {
  /// The words of a name: divided where a capital begins one, and at all characters but letters and
  /// digits, which are dropped.
  private static func words(_ name: String) -> [String] {
    var words: [String] = []
    var word = ""
    let characters = Array(name.unicodeScalars)
    func isLower(_ scalar: Unicode.Scalar) -> Bool { ("a"..."z").contains(scalar) }
    func isUpper(_ scalar: Unicode.Scalar) -> Bool { ("A"..."Z").contains(scalar) }
    func isDigit(_ scalar: Unicode.Scalar) -> Bool { ("0"..."9").contains(scalar) }
    for (index, character) in characters.enumerated() {
      guard isLower(character) || isUpper(character) || isDigit(character) else {
        if !word.isEmpty { words.append(word) }
        word = ""
        continue
      }
      if index > 0, isUpper(character), !word.isEmpty {
        let previous = characters[index - 1]
        let begins = index + 1 < characters.count && isLower(characters[index + 1])
        if isLower(previous) || isDigit(previous) || isUpper(previous) && begins {
          words.append(word)
          word = ""
        }
      }
      word.unicodeScalars.append(character)
    }
    if !word.isEmpty { words.append(word) }
    return words
  }

  /// Lower case for the first word, a capital for each further one; underscores around the name
  /// stay.
  static func camel(_ name: String) -> String { cased(name, capitalisesFirst: false) }

  /// A capital for each word; underscores around the name stay.
  static func pascal(_ name: String) -> String { cased(name, capitalisesFirst: true) }

  private static func cased(_ name: String, capitalisesFirst: Bool) -> String {
    let parts = words(name).enumerated().map { index, word in
      let lower = word.lowercased()
      if index == 0, !capitalisesFirst { return lower }
      if index > 0, lower.first?.isNumber == true { return "_" + lower }
      return lower.prefix(1).uppercased() + lower.dropFirst()
    }
    guard !parts.isEmpty else { return name }
    return String(name.prefix { $0 == "_" }) + parts.joined()
      + String(name.reversed().prefix { $0 == "_" })
  }
}
