// Declarations of values, and of their parts, in every combination of what a declaration can be.

import DflatTestSupport

/// What the declaration of a value or a part has of each kind.
struct ValueForm: CustomStringConvertible {
  static let access = ["", "public ", "private ", "fileprivate ", "package "]
  static let nesting = [
    "top", "enum", "publicStruct", "extension", "publicExtension", "deep", "privateEnum",
  ]
  static let isolation = ["", "nonisolated ", "@MainActor "]
  static let conformances = ["", "Equatable", "Hashable, Sendable", "Comparable", "Combining"]
  static let kinds = ["value", "version", "part", "rawEnum", "textEnum", "caseEnum", "payloadEnum"]
  static let properties = [
    "none", "shortDefault", "longDefault", "structDefault", "siblings", "dictionary", "indexed",
    "ignored", "relation", "raw", "keyword", "list", "inner", "url",
  ]
  static let comments = ["", "doc", "between", "available", "trailing"]
  static let members = ["", "computed", "observed", "others"]
  static let counts = [
    access.count, nesting.count, isolation.count, conformances.count, kinds.count,
    properties.count, comments.count, members.count,
  ]

  let number: Int
  let access: String
  let nesting: String
  let isolation: String
  let conformances: String
  let kind: String
  let property: String
  let comments: String
  let members: String

  init(_ number: Int, _ options: [Int]) {
    self.number = number
    nesting = Self.nesting[options[1]]
    // What is private in a type is not accessible to extensions at top level, which is an error.
    let chosen = Self.access[options[0]]
    access = chosen == "private " && nesting != "top" ? "fileprivate " : chosen
    isolation = Self.isolation[options[2]]
    // Conformances of a type that belongs to the main actor do so, too, and stored values do not.
    conformances = isolation == "@MainActor " ? "" : Self.conformances[options[3]]
    kind = Self.kinds[options[4]]
    property = Self.properties[options[5]]
    comments = Self.comments[options[6]]
    members = Self.members[options[7]]
  }

  var description: String {
    "\(number): \(access)\(nesting) \(isolation)\(conformances) \(kind) \(property) \(comments) \(members)"
  }

  private var isVisible: Bool {
    !["private ", "fileprivate "].contains(access) && nesting != "privateEnum"
  }
  private var isValue: Bool { ["value", "version"].contains(kind) }
  private var isStruct: Bool { isValue || kind == "part" }
  private var hasOperators: Bool { ["Comparable", "Combining"].contains(conformances) }

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
    case "top": type("Thing")
    case "deep": "Deep\(number).Outer.Thing"
    default: "Outer\(number).Thing"
    }
  }

  /// The declaration of the property, its entry in the shape, and a condition about it.
  private var content: (text: String, shape: String, condition: String?)? {
    let (kind, address) = (type("Kind"), type("Address"))
    switch property {
    case "shortDefault": return ("var kind: \(kind) = .a", "kind:\(kind)=.a", "kind == .b")
    case "longDefault":
      return ("var kind: \(kind) = \(kind).a", "kind:\(kind)=\(kind).a", "kind == .b")
    case "structDefault":
      return (
        "var address: \(address) = \(address)()", "address:\(address)", "address.street == \"\""
      )
    case "siblings": return ("var kinds: [\(kind)]", "kinds:[\(kind)]", "kinds.contains(.a)")
    case "dictionary":
      return ("var map: [String: \(address)]?", "map:[S:\(address)]?", nil)
    case "indexed":
      return (
        (isValue ? "@Indexed " : "") + "\(member)var title: String", "title:S", "title == \"\""
      )
    case "ignored": return ("@Ignored \(member)var memo: [Int] = []", "", nil)
    case "relation" where isValue:
      return (
        "@Retains \(member)var owner: RelatedItem<Newest>?", "owner:@Newest?", "owner == 5"
      )
    case "raw":
      return ("var `my \"title\"`: String", "my%20%22title%22:S", "`my \"title\"` == \"\"")
    case "keyword": return ("var `in`: Int", "in:I", "in == 5")
    case "list" where !hasOperators:
      return ("var left, right: Int", "left:I right:I", "left < 5")
    case "inner": return ("var inner: Self.Inner", "inner:Self.Inner", "inner == .one")
    case "url": return ("var link: URL? // where it is", "link:L?", "link == nil")
    default: return nil
    }
  }

  private var siblings: String {
    """
    @PersistableValue(shape: "a:S b:S")
    \(modifier)enum \(type("Kind")): String { case a, b }
    @PersistableValue(shape: "street:S=")
    \(modifier)struct \(type("Address")): Hashable { \(member)var street = ""; \(member)init() {} }
    """
  }

  private var operators: [String] {
    let name = type("Thing")
    let isolated = isolation == "@MainActor " ? "nonisolated " : ""
    let head = "\(isolated)\(member)static func"
    switch conformances {
    case "Comparable":
      return [
        "\(head) < (left: \(name), right: \(name)) -> Bool { false }",
        "\(head) == (left: \(name), right: \(name)) -> Bool { true }",
      ]
    case "Combining":
      return [
        "\(head) + (left: \(name), right: \(name)) -> \(name) { right }",
        "\(head) +++ (left: \(name), right: \(name)) -> Bool { true }",
        "\(isolated)\(member)static prefix func - (value: \(name)) -> \(name) { value }",
      ]
    default: return []
    }
  }

  private var more: [String] {
    switch members {
    case "computed": ["static let shared = 5", "var twice: Int { 2 * Self.shared }"]
    case "observed" where isStruct: ["@Ignored \(member)var watched: Int = 0 { didSet {} }"]
    case "others":
      ["func call() {}", "subscript(position: Int) -> Int { position }", "struct Other {}"]
    default: []
    }
  }

  private var declaration: String {
    let name = type("Thing")
    var lines: [String]
    var shape: String
    var inherited = conformances.isEmpty ? [] : [conformances]
    switch kind {
    case "rawEnum":
      lines = ["case a, `b c` = 7"]
      shape = "a:I=0 b%20c:I=7"
      inherited.insert("Int", at: 0)
    case "textEnum":
      lines = ["case a, `in`"]
      shape = "a:S in:S"
      inherited.insert("String", at: 0)
    case "caseEnum":
      lines = ["case a, `in`, `b c`"]
      shape = "a:() in:() b%20c:()"
    case "payloadEnum":
      lines = [
        "case none, some(\(type("Kind")), label: \(type("Address"))?)", "case `b c`(`d e`: Int)",
      ]
      shape = "none:() some:(\(type("Kind")),label:\(type("Address"))?) b%20c:(`d%20e`:I)"
    default:
      lines = isValue ? ["\(member)var id: Int"] : ["\(member)var number: Int"]
      shape = isValue ? "id:I" : "number:I"
      if let content {
        lines.append((content.text.hasPrefix("@") ? "" : member) + content.text)
        shape += content.shape.isEmpty ? "" : " \(content.shape)"
      }
      if property == "inner" {
        lines.append(
          "@PersistableValue(shape: \"one:S\") \(member)enum Inner: String { case one }")
      }
      if isValue, isolation != "@MainActor " { inherited.insert("Identifiable", at: 0) }
    }
    if comments == "trailing" { lines[0] += " // the first" }
    let attribute =
      switch kind {
      case "value": "@Persistable(version: 1, table: \"t\(number)\", shape: \"\(shape)\")"
      case "version": "@EntityVersion(\(number + 1), of: Newest.self, shape: \"\(shape)\")"
      default: "@PersistableValue(shape: \"\(shape)\")"
      }
    var text = comments == "doc" ? "/// A thing.\n///\n/// With an explanation.\n" : ""
    text += attribute + "\n"
    if comments == "between" { text += "/* between */ // and more\n" }
    if comments == "available" { text += "@available(macOS 15, *)\n" }
    let list = inherited.isEmpty ? "" : ": " + inherited.joined(separator: ", ")
    let body = (lines + operators + more).map { "  \($0)\n" }.joined()
    return
      "\(text)\(isolation)\(modifier)\(isStruct ? "struct" : "enum") \(name)\(list) {\n\(body)}\n"
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
    if kind != "value" { return "" }
    let condition =
      content?.condition.map { " && \(path).\($0)" }.map {
        $0.contains("nil") ? " && \(path).link.isNull" : $0
      } ?? ""
    return """
      // \(self)
      \(isVisible ? "" : "private ")func use\(number)(_ silos: Silos, _ value: \(path)) async throws {
        try await silos[\(path).self].save(value)
        _ = try await silos[\(path).self].values(where: \(path).id == 5\(condition))
      }

      """
  }
}
