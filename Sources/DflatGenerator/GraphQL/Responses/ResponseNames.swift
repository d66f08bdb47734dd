// Swift names for what GraphQL names: words are put together again in Swift's way.

enum ResponseNames {
  /// The words of a name, between the underscores that it begins and ends with.
  ///
  /// A word ends between a lower-case letter or digit and an upper-case letter, and before the last
  /// of several upper-case letters that a lower-case letter follows.
  private static func parts(_ name: String) -> (head: String, words: [String], tail: String) {
    let bytes = Array(name.utf8)
    let head = bytes.prefix { $0 == UInt8(ascii: "_") }.count
    let tail = bytes.dropFirst(head).reversed().prefix { $0 == UInt8(ascii: "_") }.count
    let inner = Array(bytes[head..<(bytes.count - tail)])
    var words: [String] = []
    var word: [UInt8] = []
    for (index, byte) in inner.enumerated() {
      let isUpper = (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
      let isLower = (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
      let isDigit = (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
      if isUpper, let last = word.last {
        let followsLower = last >= UInt8(ascii: "a") || last <= UInt8(ascii: "9")
        let precedesLower =
          index + 1 < inner.count && inner[index + 1] >= UInt8(ascii: "a")
          && inner[index + 1] <= UInt8(ascii: "z")
        if followsLower || precedesLower { end() }
      }
      if isUpper || isLower || isDigit { word.append(byte) } else { end() }
    }
    end()
    func end() {
      if !word.isEmpty { words.append(String(decoding: word, as: UTF8.self)) }
      word = []
    }
    return (
      String(repeating: "_", count: head), words, String(repeating: "_", count: tail)
    )
  }

  private static func capitalized(_ word: String) -> String {
    word.prefix(1).uppercased() + word.dropFirst().lowercased()
  }

  /// A word after the first that begins with a digit has an underscore before it.
  private static func following(_ word: String) -> String {
    (word.first?.isNumber == true ? "_" : "") + capitalized(word)
  }

  /// `created_at` becomes `createdAt`, `HTMLText` becomes `htmlText`.
  static func camelCase(_ name: String) -> String {
    // Most names are one word.
    if name.utf8.allSatisfy({ $0 >= UInt8(ascii: "a") && $0 <= UInt8(ascii: "z") }) { return name }
    let (head, words, tail) = parts(name)
    guard let first = words.first else { return name }
    return head + first.lowercased() + words.dropFirst().map(following).joined() + tail
  }

  /// `hero_details` becomes `HeroDetails`.
  static func pascalCase(_ name: String) -> String {
    let (head, words, tail) = parts(name)
    guard let first = words.first else { return name }
    return head + capitalized(first) + words.dropFirst().map(following).joined() + tail
  }

  /// The English singular of a name's last word: `friends` becomes `friend`.
  static func singular(_ name: String) -> String {
    let text = name.lowercased()
    if text.hasSuffix("people") { return name.dropLast(4) + "rson" }
    if text.hasSuffix("children") { return String(name.dropLast(3)) }
    for ending in ["ss", "us", "is", "news", "series", "species"] where text.hasSuffix(ending) {
      return name
    }
    if text.hasSuffix("ies"), text.utf8.count > 4 { return name.dropLast(3) + "y" }
    for ending in ["sses", "shes", "ches", "xes", "tuses", "roes", "toes"]
    where text.hasSuffix(ending) {
      return String(name.dropLast(2))
    }
    return text.hasSuffix("s") && text.utf8.count > 1 ? String(name.dropLast()) : name
  }

  /// Names for members: each in camel case, or as it is where that gives two the same name. None is
  /// one of `taken`.
  static func members(_ names: [String], avoiding taken: Set<String> = []) -> [String] {
    var counts: [String: Int] = [:]
    for name in names { counts[camelCase(name), default: 0] += 1 }
    var used = taken.union(["self", "init", "hashValue", "none", "Type", "Protocol"])
    return names.map { name in
      let camel = camelCase(name)
      var member = counts[camel] == 1 ? camel : name
      while used.contains(member) { member += "_" }
      used.insert(member)
      return member
    }
  }
}
