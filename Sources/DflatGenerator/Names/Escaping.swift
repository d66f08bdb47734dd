// Identifiers: when a schema's name needs back-ticks, and names for things that the schema does not
// name.

enum Identifier {
  /// Words that cannot be an identifier, or mean something else, without back-ticks.
  private static let reserved: Set<String> = [
    "associatedtype", "class", "deinit", "enum", "extension", "fileprivate", "func", "import",
    "init", "inout", "internal", "let", "open", "operator", "precedencegroup", "private",
    "protocol", "public", "rethrows", "static", "struct", "subscript", "typealias", "var",
    "break", "case", "catch", "continue", "default", "defer", "do", "else", "fallthrough", "for",
    "guard", "if", "in", "repeat", "return", "switch", "throw", "where", "while",
    "Any", "Self", "Type", "Protocol", "as", "await", "false", "is", "nil", "self", "super",
    "throws", "true", "try", "any", "some", "_",
  ]

  /// Words that are not read as the name of a type, or not everywhere, without back-ticks.
  private static let reservedForTypes: Set<String> = [
    "_const", "_modify", "_read", "actor", "async", "borrow", "borrowing", "consume", "consuming",
    "copy", "didSet", "discard", "distributed", "each", "get", "isolated", "lazy", "macro",
    "modify", "mutate", "nonisolated", "package", "read", "sending", "set", "then", "unsafe",
    "unowned", "weak", "willSet", "yield", "yielding",
  ]

  /// The name of a type or namespace as Swift source.
  static func escapedType(_ name: String) -> String {
    reservedForTypes.contains(name) ? "`\(name)`" : escaped(name)
  }

  /// The name as Swift source: in back-ticks if it is a reserved word or not an identifier.
  static func escaped(_ name: String) -> String {
    needsBackticks(name) ? "`\(name)`" : name
  }

  /// The name as the label of an argument, where almost every word may stand.
  static func label(_ name: String) -> String {
    ["inout", "_"].contains(name) || !reserved.contains(name) ? escaped(name) : name
  }

  static func needsBackticks(_ name: String) -> Bool {
    reserved.contains(name) || name.first.map { $0.isASCII && $0.isNumber } ?? true
  }

  /// Whether a text is the name of a module or type, perhaps of one in others: `Outer.Inner`.
  static func isPath(_ text: String) -> Bool {
    text.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { name in
      name.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" } && !needsBackticks(String(name))
    }
  }

  /// `name`, with underscores in front until it is not one of `taken`.
  static func fresh(_ name: String, avoiding taken: Set<String>) -> String {
    var name = name
    while taken.contains(name) { name = "_" + name }
    return name
  }

  /// `name`, with underscores behind it until it is not one of `taken`.
  static func fresh(after name: String, avoiding taken: Set<String>) -> String {
    var name = name
    while taken.contains(name) { name += "_" }
    return name
  }
}
