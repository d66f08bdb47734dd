// The text of a table's `references`: `"author: site, number -> Author ondelete cascade"`.
//
//   list       reference { ";" reference }
//   reference  name ":" field { "," field } "->" entity { option }
//   option     "ondelete" rule | "inverse" name
//
// Every word has its range in the source, so that messages point at the word and not at the string.

/// A reference by several fields.
struct CompoundReferenceSyntax {
  var name: IndexWord
  var fields: [IndexWord]
  var target: IndexWord
  /// The words behind the entity.
  var options: [IndexWord]

  /// What is wrong with a text, and where.
  struct Problem: Error {
    var message: String
    var range: SourceRange
  }

  /// The references of an attribute's value, or what is wrong with the first that is malformed.
  static func list(_ value: ValueSyntax) -> Result<[CompoundReferenceSyntax], Problem> {
    Result { () throws(Problem) in
      var list: [CompoundReferenceSyntax] = []
      for part in value.text.split(separator: ";" as Character) {
        let words = words(of: part).map { IndexWord(text: $0, range: value.range(of: $0)) }
        if let first = words.first { list.append(try CompoundReferenceSyntax(words, first)) }
      }
      return list
    }
  }

  private init(_ words: [IndexWord], _ first: IndexWord) throws(Problem) {
    var rest = words[...]
    var last = first
    func next(_ wanted: String) throws(Problem) -> IndexWord {
      guard let word = rest.first else {
        throw Problem(message: "\(wanted) is missing behind '\(last.text)'", range: last.range)
      }
      rest.removeFirst()
      last = word
      return word
    }
    func name(_ wanted: String) throws(Problem) -> IndexWord {
      let word = try next(wanted)
      guard !Self.isMark(word.text) else {
        throw Problem(message: "\(wanted) is missing before '\(word.text)'", range: word.range)
      }
      return word
    }
    func mark(_ text: String) throws(Problem) {
      let word = try next("'\(text)'")
      if word.text == text { return }
      throw Problem(message: "'\(text)' is missing before '\(word.text)'", range: word.range)
    }
    self.name = try name("the name of the reference")
    try mark(":")
    fields = [try name("a field")]
    while rest.first?.text == "," {
      rest.removeFirst()
      fields.append(try name("a field"))
    }
    try mark("->")
    target = try name("the entity")
    options = Array(rest)
  }

  private static func isMark(_ text: Substring) -> Bool { [":", ",", "->"].contains(text) }

  /// The words and marks of a text.
  private static func words(of text: Substring) -> [Substring] {
    var words: [Substring] = []
    var rest = text
    while let first = rest.first {
      var end = rest.index(after: rest.startIndex)
      if " \t\r\n".contains(first) {
        rest = rest[end...]
        continue
      }
      if rest.hasPrefix("->") {
        end = rest.index(after: end)
      } else if first != ":", first != "," {
        while end < rest.endIndex, !" \t\r\n:,".contains(rest[end]), !rest[end...].hasPrefix("->") {
          end = rest.index(after: end)
        }
      }
      words.append(rest[..<end])
      rest = rest[end...]
    }
    return words
  }
}
