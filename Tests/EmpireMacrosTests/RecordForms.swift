// Declarations of records in every combination of what a declaration can be.

import DflatTestSupport

/// What a record's declaration has of each kind.
struct RecordForm: CustomStringConvertible {
  static let access = ["", "public ", "private ", "fileprivate ", "package "]
  static let nesting = [
    "top", "enum", "publicStruct", "extension", "publicExtension", "deep", "privateEnum",
  ]
  static let isolation = ["", "nonisolated ", "@MainActor "]
  static let conformances = [
    "", "Equatable", "Hashable, Sendable", "Comparable", "Combining", "Identifiable",
  ]
  static let keys = ["string", "byte", "sibling", "two", "tuple", "raw", "list"]
  static let fields = [
    "none", "url", "codable", "siblings", "inner", "keyword", "raw", "wide", "decimal",
    "normalForms",
  ]
  static let comments = ["", "doc", "between", "available", "index", "trailing"]
  static let members = ["", "computed", "observed", "others"]
  static let counts = [
    access.count, nesting.count, isolation.count, conformances.count, keys.count, fields.count,
    comments.count, members.count,
  ]

  let number: Int
  let access: String
  let nesting: String
  let isolation: String
  let conformances: String
  let keys: String
  let fields: String
  let comments: String
  let members: String

  init(_ number: Int, _ options: [Int]) {
    self.number = number
    nesting = Self.nesting[options[1]]
    // What is private in a type is not accessible to extensions at top level, which is an error.
    let chosen = Self.access[options[0]]
    access = chosen == "private " && nesting != "top" ? "fileprivate " : chosen
    isolation = Self.isolation[options[2]]
    conformances = Self.conformances[options[3]]
    keys = Self.keys[options[4]]
    fields = Self.fields[options[5]]
    comments = Self.comments[options[6]]
    members = Self.members[options[7]]
  }

  var description: String {
    "\(number): \(access)\(nesting) \(isolation)\(conformances) \(keys) \(fields) \(comments) \(members)"
  }

  /// Whether other files can use the record.
  private var isVisible: Bool {
    !["private ", "fileprivate "].contains(access) && nesting != "privateEnum"
  }
  /// The name of a type: at top level they are all in one scope.
  private func type(_ name: String) -> String { nesting == "top" ? "\(name)\(number)" : name }
  /// The access of types and properties where it need not be written.
  private var modifier: String {
    nesting == "publicExtension" && access == "public " ? "" : access
  }
  /// The access of members.
  private var member: String {
    if nesting == "publicExtension" && access.isEmpty { return "public " }
    return access == "public " || access == "package " ? access : ""
  }
  private var path: String {
    switch nesting {
    case "top": type("Record")
    case "deep": "Deep\(number).Outer.Record"
    default: "Outer\(number).Record"
    }
  }

  /// The labels and types of the key's properties.
  private var key: [(label: String, type: String)] {
    switch keys {
    case "byte": [("key", "UInt8")]
    case "sibling": [("key", type("Grade"))]
    case "two": [("key", "Decimal"), ("second", type("Grade"))]
    case "tuple": [("key", "Tuple<Int, \(type("Grade"))>")]
    case "raw": [("`my key`", "Data")]
    case "list": [("key", "Int"), ("second", "Int")]
    default: [("key", "String")]
    }
  }

  private var field: String? {
    switch fields {
    case "url": "var field: URL?"
    case "codable": "var field: \(type("Address"))"
    case "siblings": "var field: [\(type("Grade"))]? = nil"
    case "inner": "var field: Self.Inner = .one"
    case "keyword": "var `in`: Set<String> = []"
    case "raw": "var `my \"field\"`: [String: Decimal]"
    case "wide": "var field: Int128 = 5 // 128 bits"
    case "decimal": "let field: Decimal"
    // Two names for the compiler, though equal as strings.
    case "normalForms": "var \u{e9}: Int = 1\n  var e\u{301}: String"
    default: nil
    }
  }

  private var siblings: String {
    """
    \(modifier)enum \(type("Grade")): UInt8, Serializable, Deserializable, IndexKeyComparable, Sendable {
      case low, high
      \(member)static func < (left: \(type("Grade")), right: \(type("Grade"))) -> Bool {
        left.rawValue < right.rawValue
      }
    }
    \(modifier)struct \(type("Address")): JSONSerializable, Hashable, Sendable {
      \(member)var street = ""
    }
    """
  }

  private var body: String {
    var lines =
      keys == "list"
      ? ["\(member)let key, second: Int"]
      : key.map { "\(member)let \($0.label): \($0.type)" }
    if comments == "trailing" { lines[0] += " // the key" }
    if let field { lines.append(member + field) }
    if fields == "inner" {
      lines.append("\(member)enum Inner: String, Serializable, Deserializable { case one }")
    }
    if comments == "index" { lines.append("\(member)var rank: Double /* orders */") }
    switch members {
    case "computed":
      lines += ["static let shared = 5", "var twice: Int { 2 * Self.shared }"]
    case "observed": lines.append("\(member)var watched: Int = 0 { didSet {} }")
    case "others":
      lines += [
        "func call() {}", "subscript(position: Int) -> Int { position }", "struct Other {}",
      ]
    default: break
    }
    let name = type("Record")
    let isolated = isolation == "@MainActor " ? "nonisolated " : ""
    let head = "\(isolated)\(member)static func"
    if conformances == "Comparable" {
      let isolated = isolation == "nonisolated " ? "" : isolated
      lines.append(
        "\(isolated)\(member)static func < (left: \(name), right: \(name)) -> Bool { left.indexKey < right.indexKey }"
      )
      lines.append(
        "\(isolated)\(member)static func == (left: \(name), right: \(name)) -> Bool { left.indexKey == right.indexKey }"
      )
    }
    if conformances == "Combining" {
      lines += [
        "\(head) + (left: \(name), right: \(name)) -> \(name) { right }",
        "\(head) +++ (left: \(name), right: \(name)) -> Bool { true }",
        "\(isolated)\(member)static prefix func - (value: \(name)) -> \(name) { value }",
      ]
    }
    return lines.map { "  \($0)\n" }.joined()
  }

  private var declaration: String {
    let names = key.map { "\"\($0.label.filter { $0 != "`" })\"" }.joined(separator: ", ")
    var text = comments == "doc" ? "/// A record.\n///\n/// With an explanation.\n" : ""
    text += "@IndexKeyRecord(\(names))\n"
    if comments == "between" { text += "/* between */ // and more\n" }
    if comments == "available" { text += "@available(macOS 15, *)\n" }
    if comments == "index" { text += "@Index(\"rank\")\n" }
    let inherited = conformances.isEmpty ? "" : ": \(conformances)"
    return text + "\(isolation)\(modifier)struct \(type("Record"))\(inherited) {\n\(body)}\n"
  }

  /// The declaration in its surroundings.
  var source: String {
    let inner = siblings + "\n" + declaration
    let text =
      switch nesting {
      case "enum": "enum Outer\(number) {\n\(inner)}\n"
      case "publicStruct": "public struct Outer\(number) {\n\(inner)}\n"
      case "extension": "struct Outer\(number) {}\nextension Outer\(number) {\n\(inner)}\n"
      case "publicExtension":
        "public enum Outer\(number) {}\npublic extension Outer\(number) {\n\(inner)}\n"
      case "deep": "enum Deep\(number) {\nstruct Outer {\n\(inner)}\n}\n"
      case "privateEnum": "private enum Outer\(number) {\n\(inner)}\n"
      default: inner
      }
    return "// \(self)\n\(text)\n" + (isVisible ? "" : use)
  }

  /// A function in another file that uses what the macro makes; nothing if other files cannot.
  var useElsewhere: String { isVisible ? use : "" }

  private var use: String {
    let last = key[key.count - 1].label
    let arguments = key.map { "\($0.label): record.\($0.label)" }.joined(separator: ", ")
    let index =
      comments == "index" ? "_ = try \(path).select(in: store, rank: .lessThan(1))\n  " : ""
    return """
      // \(self)
      \(isVisible ? "" : "private ")func use\(number)(_ store: Store, _ record: \(path)) throws {
        try store.insert(record)
        _ = try \(path).select(in: store, limit: 1, \(arguments))
        \(index)_ = try store.count(\(path).query(\(key[0].label): .equals(record.\(key[0].label))))
        try store.withTransaction { try \(path).delete(in: $0, \(arguments)) }
        _ = (record.indexKey, record.fields, \(path).keyPrefix, record.\(last))
      }

      """
  }
}
