// Identifiers: when a name of the schema needs back-ticks, and names for what the schema does not name.

enum Identifier {
  /// Words that cannot stand as an identifier, or mean something else, without back-ticks.
  private static let reserved: Set<String> = [
    "associatedtype", "class", "deinit", "enum", "extension", "fileprivate", "func", "import",
    "init", "inout", "internal", "let", "open", "operator", "precedencegroup", "private",
    "protocol", "public", "rethrows", "static", "struct", "subscript", "typealias", "var",
    "break", "case", "catch", "continue", "default", "defer", "do", "else", "fallthrough", "for",
    "guard", "if", "in", "repeat", "return", "switch", "throw", "where", "while",
    "Any", "Self", "Type", "Protocol", "as", "await", "false", "is", "nil", "self", "super",
    "throws", "true", "try", "any", "some", "_",
  ]

  /// The name as Swift source: with back-ticks if it is a reserved word or no identifier.
  static func escaped(_ name: String) -> String {
    needsBackticks(name) ? "`\(name)`" : name
  }

  static func needsBackticks(_ name: String) -> Bool {
    reserved.contains(name) || name.first.map { $0.isASCII && $0.isNumber } ?? true
  }

  /// `name`, with as many underscores in front as it takes not to be one of `taken`.
  static func fresh(_ name: String, avoiding taken: Set<String>) -> String {
    var name = name
    while taken.contains(name) { name = "_" + name }
    return name
  }
}
