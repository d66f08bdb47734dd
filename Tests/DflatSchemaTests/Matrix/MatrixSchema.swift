// A schema that can be edited and printed, for the test matrix of changes.
//
// Types, fields, values and members have numbers that stay through all edits. They say what was
// meant to be what, so that neither names nor slots have to: the test does not know things by the
// rules that it tests.

struct MatrixSchema {
  indirect enum Kind: Equatable {
    case scalar(String)
    case string
    case type(Int)
    case vector(Kind)
    case array(Kind, Int)
  }

  enum Standard: Equatable {
    case null
    case integer(Int)
    case value(Int)
  }

  struct Field {
    var id: Int
    var name: String
    var kind: Kind
    var standard: Standard?
    var isDeprecated = false
    var isRequired = false
    var isPrimary = false
    var index: String?
  }

  struct Value {
    var id: Int
    var name: String
    var number: Int
  }

  struct Member {
    var id: Int
    var name: String
    var type: Int
    var tag: Int
  }

  enum Content {
    case enumeration(underlying: String, isFlags: Bool, [Value])
    case structure([Field])
    /// In the order of the slots.
    case table([Field])
    case union([Member])
  }

  struct Entry {
    var id: Int
    var name: String
    var content: Content
    /// The order in which a table's fields are declared, with explicit ids; nil for that of the
    /// slots, without.
    var declared: [Int]?
  }

  var entries: [Entry] = []
  var root = 0
  var version: String?
  private var lastID = 0

  mutating func fresh() -> Int {
    lastID += 1
    return lastID
  }

  // MARK: Looking

  func entry(_ id: Int) -> Entry { entries.first { $0.id == id }! }

  func place(_ id: Int) -> Int { entries.firstIndex { $0.id == id }! }

  /// Fields of a table or struct.
  func fields(_ id: Int) -> [Field] {
    switch entry(id).content {
    case .table(let fields), .structure(let fields): fields
    default: []
    }
  }

  func values(_ id: Int) -> [Value] {
    guard case .enumeration(_, _, let values) = entry(id).content else { return [] }
    return values
  }

  func members(_ id: Int) -> [Member] {
    guard case .union(let members) = entry(id).content else { return [] }
    return members
  }

  func isFlags(_ id: Int) -> Bool {
    guard case .enumeration(_, let isFlags, _) = entry(id).content else { return false }
    return isFlags
  }

  func ids(_ isWanted: (Content) -> Bool) -> [Int] {
    entries.filter { isWanted($0.content) }.map(\.id)
  }

  var enums: [Int] { ids { if case .enumeration = $0 { true } else { false } } }
  var structs: [Int] { ids { if case .structure = $0 { true } else { false } } }
  var tables: [Int] { ids { if case .table = $0 { true } else { false } } }
  var unions: [Int] { ids { if case .union = $0 { true } else { false } } }

  func isUnion(_ kind: Kind) -> Bool {
    guard case .type(let id) = kind else { return false }
    return unions.contains(id)
  }

  /// Whether a field of the kind always has a value.
  func isScalar(_ kind: Kind) -> Bool {
    switch kind {
    case .scalar: true
    case .type(let id): enums.contains(id)
    default: false
    }
  }

  /// Whether it has many values.
  static func isNumber(_ kind: Kind) -> Bool {
    guard case .scalar(let name) = kind else { return false }
    return name != "bool"
  }

  /// The fields of the key, as the columns of the database table have them.
  var keys: [Int] {
    let entry = entry(root)
    let primary = fields(root).filter(\.isPrimary).map(\.id)
    return entry.declared?.filter(primary.contains) ?? primary
  }

  // MARK: Editing

  mutating func edit(_ id: Int, _ body: (inout [Field]) -> Void) {
    let place = place(id)
    switch entries[place].content {
    case .table(var fields):
      body(&fields)
      entries[place].content = .table(fields)
      if let declared = entries[place].declared {
        let known = Set(fields.map(\.id))
        entries[place].declared =
          declared.filter(known.contains) + fields.map(\.id).filter { !declared.contains($0) }
      }
    case .structure(var fields):
      body(&fields)
      entries[place].content = .structure(fields)
    default: break
    }
  }

  mutating func edit(values id: Int, _ body: (inout [Value]) -> Void) {
    let place = place(id)
    guard case .enumeration(let underlying, let isFlags, var values) = entries[place].content else {
      return
    }
    body(&values)
    entries[place].content = .enumeration(underlying: underlying, isFlags: isFlags, values)
  }

  mutating func edit(members id: Int, _ body: (inout [Member]) -> Void) {
    let place = place(id)
    guard case .union(var members) = entries[place].content else { return }
    body(&members)
    entries[place].content = .union(members)
  }

  // MARK: Printing

  var text: String {
    var text = ["primary", "indexed", "unique", "v"].map { "attribute \"\($0)\";\n" }.joined()
    for id in enums + structs + unions + tables { text += declaration(entry(id)) }
    return text + "root_type \(entry(root).name);\n"
  }

  private func declaration(_ entry: Entry) -> String {
    switch entry.content {
    case .enumeration(let underlying, let isFlags, let values):
      let list = values.map { "\($0.name) = \($0.number)" }.joined(separator: ", ")
      return "enum \(entry.name): \(underlying)\(isFlags ? " (bit_flags)" : "") { \(list) }\n"
    case .structure(let fields):
      let list = fields.map { "  \($0.name): \(text($0.kind));\n" }.joined()
      return "struct \(entry.name) {\n\(list)}\n"
    case .union(let members):
      let list = members.map { "\($0.name): \(self.entry($0.type).name) = \($0.tag)" }
      return "union \(entry.name) { \(list.joined(separator: ", ")) }\n"
    case .table(let fields):
      var slots: [Int: Int] = [:]
      var slot = 0
      for field in fields {
        slot += isUnion(field.kind) ? 1 : 0
        slots[field.id] = slot
        slot += 1
      }
      let order = entry.declared ?? fields.map(\.id)
      let list = order.compactMap { id in fields.first { $0.id == id } }.map { field in
        line(field, slot: entry.declared == nil ? nil : slots[field.id])
      }
      let attributes = entry.id == root ? version.map { " (v: \"\($0)\")" } ?? "" : ""
      return "table \(entry.name)\(attributes) {\n\(list.joined())}\n"
    }
  }

  private func line(_ field: Field, slot: Int?) -> String {
    var attributes: [String] = []
    if let slot { attributes.append("id: \(slot)") }
    if field.isDeprecated { attributes.append("deprecated") }
    if field.isRequired { attributes.append("required") }
    if field.isPrimary { attributes.append("primary") }
    if let index = field.index { attributes.append(index) }
    let list = attributes.isEmpty ? "" : " (\(attributes.joined(separator: ", ")))"
    return "  \(field.name): \(text(field.kind))\(standard(field))\(list);\n"
  }

  private func standard(_ field: Field) -> String {
    switch field.standard {
    case nil: ""
    case .null: " = null"
    case .integer(let value): " = \(value)"
    case .value(let id):
      if case .type(let type) = field.kind,
        let value = values(type).first(where: { $0.id == id })
      {
        " = \(value.name)"
      } else {
        ""
      }
    }
  }

  private func text(_ kind: Kind) -> String {
    switch kind {
    case .scalar(let name): name
    case .string: "string"
    case .type(let id): entry(id).name
    case .vector(let element): "[\(text(element))]"
    case .array(let element, let count): "[\(text(element)):\(count)]"
    }
  }
}
