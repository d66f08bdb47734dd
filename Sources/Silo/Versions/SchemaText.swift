// SchemaText: what a type stores, in the schema language of FlatBuffers.
//
// A row is a FlatBuffers table, so `flatc` shows it as JSON if it is told the fields, and
// `dflatc check` compares the fields of two versions. Programs do not need the text.

import Dflat

extension Persistable {
  /// What is stored, in the schema language of FlatBuffers, with the values inside it: for tools.
  ///
  /// With the text in `tasks.fbs` and the bytes of a row in `row.bin`,
  /// `flatc --json --raw-binary tasks.fbs -- row.bin` writes the row as JSON, and
  /// `dflatc check old.fbs tasks.fbs` compares two versions. Fields have the form in which they are
  /// stored: a `UUID` is a text, a relation the id, or the ids, to which it refers.
  ///
  /// A property or type whose name is none in that language has another one: the text is not meant
  /// to generate code.
  public static var flatBuffersSchema: String { SchemaText(of: _canonical).text }
}

private struct SchemaText {
  /// The tables, in the order in which they are met.
  private var layouts: [TableLayout] = []
  /// Their names in the text.
  private var names: [String] = []
  private(set) var text = "attribute \"primary\";\n\n"

  init(of schema: CanonicalSchema) {
    _ = name(of: schema.entity.layout)
    var done = 0
    while done < layouts.count {
      add(layouts[done], named: names[done], key: done == 0 ? schema.keyOffset : nil)
      done += 1
    }
    text += "root_type \(names[0]);\n"
  }

  private mutating func add(_ layout: TableLayout, named name: String, key: Int?) {
    text += "table \(name) {\n"
    var used: Set<String> = []
    for property in layout.properties {
      let field = Self.identifier(property.name, or: "f\(property.offset)", notIn: used)
      used.insert(field)
      let attribute = property.offset == key ? " (primary)" : ""
      text +=
        "  \(field):\(type(of: property.kind))\(Self.defaultText(property.kind))\(attribute);\n"
    }
    text += "}\n\n"
  }

  private mutating func type(of kind: Property.Kind) -> String {
    switch kind {
    case .scalar(let type, _): return Self.name(of: type)
    case .string: return "string"
    case .table(let layout): return name(of: layout())
    case .vector(let element): return "[\(type(of: element))]"
    case .enumeration, .structure, .union, .array:
      preconditionFailure("stored values have no fields of this kind")
    }
  }

  private mutating func name(of layout: TableLayout) -> String {
    if let known = layouts.firstIndex(where: { $0 === layout }) { return names[known] }
    let new = Self.identifier(layout.name, or: "Table\(layouts.count)", notIn: Set(names))
    layouts.append(layout)
    names.append(new)
    return new
  }

  /// A name if it is an identifier, or another one.
  private static func identifier(
    _ name: String, or other: String, notIn used: Set<String>
  ) -> String {
    let isLegal =
      name.first?.isNumber == false
      && name.utf8.allSatisfy {
        UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0 | 0x20
          || UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 || $0 == UInt8(ascii: "_")
      }
    let base = isLegal ? name : other
    let taken = Set(used.lazy.map(inSwift))
    var free = base
    var number = 2
    while taken.contains(inSwift(free)) {
      free = "\(base)\(number)"
      number += 1
    }
    return free
  }

  /// What two names have in common if `dflatc` may make one Swift name of them.
  private static func inSwift(_ name: String) -> String {
    name.filter { $0 != "_" }.lowercased()
  }

  private static func name(of type: ValueType) -> String {
    switch type {
    case .bool: "bool"
    case .int8: "int8"
    case .uint8: "uint8"
    case .int16: "int16"
    case .uint16: "uint16"
    case .int32: "int32"
    case .uint32: "uint32"
    case .int64: "int64"
    case .uint64: "uint64"
    case .float: "float"
    case .double: "double"
    case .string: "string"
    }
  }

  /// What an absent scalar is read as. The language has no such texts for strings.
  private static func defaultText(_ kind: Property.Kind) -> String {
    guard case .scalar(_, let constant) = kind else { return "" }
    return switch constant {
    case nil: " = null"
    case .bool(let value): " = \(value)"
    case .integer(let value): " = \(value)"
    case .unsigned(let value): " = \(value)"
    case .real(let value): " = \(value)"
    case .string: ""
    }
  }
}
