// Names of GraphQL in Swift's case, by the rules of Apollo's code generators.

enum NameCase {
  /// The words of a name, as places in its bytes: divided where a capital begins one, and at all
  /// characters but letters and digits, which are dropped.
  private static func words(_ name: [UInt8]) -> [Range<Int>] {
    var words: [Range<Int>] = []
    var start: Int?
    var index = 0
    while index < name.count {
      defer { index += 1 }
      let byte = name[index]
      guard isLower(byte) || isUpper(byte) || isDigit(byte) else {
        if let start { words.append(start..<index) }
        start = nil
        continue
      }
      guard let first = start else {
        start = index
        continue
      }
      guard isUpper(byte) else { continue }
      let begins = index + 1 < name.count && isLower(name[index + 1])
      if !isUpper(name[index - 1]) || begins {
        words.append(first..<index)
        start = index
      }
    }
    if let start { words.append(start..<name.count) }
    return words
  }

  private static func isLower(_ byte: UInt8) -> Bool { 0x61 <= byte && byte <= 0x7A }
  private static func isUpper(_ byte: UInt8) -> Bool { 0x41 <= byte && byte <= 0x5A }
  private static func isDigit(_ byte: UInt8) -> Bool { 0x30 <= byte && byte <= 0x39 }

  /// Lower case for the first word, a capital for each further one; underscores around the name
  /// stay.
  static func camel(_ name: String) -> String { cased(name, capitalisesFirst: false) }

  /// A capital for each word; underscores around the name stay.
  static func pascal(_ name: String) -> String { cased(name, capitalisesFirst: true) }

  private static func cased(_ name: String, capitalisesFirst: Bool) -> String {
    let bytes = Array(name.utf8)
    let words = words(bytes)
    guard let first = words.first, let last = words.last else { return name }
    let underscore = UInt8(ascii: "_")
    var result: [UInt8] = []
    result.reserveCapacity(bytes.count + words.count)
    var index = 0
    while index < first.lowerBound, bytes[index] == underscore {
      result.append(underscore)
      index += 1
    }
    for word in words {
      let isFirst = word.lowerBound == first.lowerBound
      let isCapitalised = !isFirst || capitalisesFirst
      if !isFirst, isDigit(bytes[word.lowerBound]) { result.append(underscore) }
      index = word.lowerBound
      while index < word.upperBound {
        var byte = bytes[index]
        if isCapitalised, index == word.lowerBound {
          if isLower(byte) { byte -= 0x20 }
        } else if isUpper(byte) {
          byte += 0x20
        }
        result.append(byte)
        index += 1
      }
    }
    index = bytes.count
    while index > last.upperBound, bytes[index - 1] == underscore {
      result.append(underscore)
      index -= 1
    }
    return String(decoding: result, as: UTF8.self)
  }
}
