// SchemaText: a binary schema in the schema language, which dflatc compiles to the same layout.
//
//  - Fields are in the order of their slots, and deprecated ones keep theirs, so no ids are needed.
//  - Types are written with full names, in the order of their names, the root last.

import Dflat

/// Writes a binary schema as the text of an `.fbs` file.
struct SchemaText {
  private let schema: BinarySchema
  /// Whether references to other entities are written: these must be included then.
  private let writesReferences: Bool
  private var text = ""

  private init(_ schema: BinarySchema, writesReferences: Bool) {
    self.schema = schema
    self.writesReferences = writesReferences
  }

  /// The text of a schema.
  /// - Parameter includes: The files with the entities that it refers to; nil to leave out the
  ///   references.
  static func text(of schema: BinarySchema, including includes: [String]?) -> String {
    var writer = SchemaText(schema, writesReferences: includes != nil)
    for file in includes ?? [] { writer.text += "include \"\(file)\";\n" }
    writer.write()
    return writer.text
  }

  private mutating func write() {
    var namespace: [Substring] = []
    func enter(_ name: String) -> (String, String) {
      let parts = name.split(separator: ".")
      let own = String(parts.last ?? "")
      guard Array(parts.dropLast()) != namespace else { return ("", own) }
      namespace = Array(parts.dropLast())
      return ("\nnamespace \(namespace.joined(separator: "."));\n", own)
    }
    for definition in schema.enums {
      let (line, name) = enter(definition.name)
      text += line + "\n"
      if definition.isUnion { union(definition, name) } else { enumeration(definition, name) }
    }
    let tables = schema.objects.filter { !$0.isStruct }
    let ordered =
      structs + tables.filter { $0.name != schema.root } + tables.filter { $0.name == schema.root }
    for object in ordered {
      let (line, name) = enter(object.name)
      text += line + "\n"
      self.object(object, name)
    }
    text += "\nroot_type \(schema.root);\n"
    while text.hasPrefix("\n") { text.removeFirst() }
  }

  /// The structs, each behind those that it contains, as the schema language wants it.
  private var structs: [BinarySchema.Object] {
    var rest = schema.objects.filter(\.isStruct)
    var ordered: [BinarySchema.Object] = []
    while !rest.isEmpty {
      let waiting = Set(rest.map(\.name))
      let ready = rest.filter { object in
        object.fields.allSatisfy { !waiting.contains($0.type.name ?? "") }
      }
      // Bytes that are no schema may have structs in a circle.
      if ready.isEmpty { return ordered + rest }
      ordered += ready
      let done = Set(ready.map(\.name))
      rest.removeAll { done.contains($0.name) }
    }
    return ordered
  }

  // MARK: Types

  private mutating func enumeration(_ definition: BinarySchema.Enumeration, _ name: String) {
    let isFlags = definition.attributes["bit_flags"] != nil
    text += "enum \(name): \(definition.underlying.name)\(isFlags ? " (bit_flags)" : "") {\n"
    let isUnsigned = definition.underlying == .ulong
    let sorted = definition.values.sorted {
      isUnsigned
        ? UInt64(bitPattern: $0.value) < UInt64(bitPattern: $1.value) : $0.value < $1.value
    }
    for value in sorted {
      // Flags are written as the positions of their bits.
      let number = isFlags ? Int64(value.value.trailingZeroBitCount) : value.value
      text += "  \(value.name) = " + (isUnsigned ? "\(UInt64(bitPattern: number))" : "\(number)")
      text += ",\n"
    }
    text += "}\n"
  }

  private mutating func union(_ definition: BinarySchema.Enumeration, _ name: String) {
    text += "union \(name) {\n"
    var next: Int64 = 1
    for value in definition.values.sorted(by: { $0.value < $1.value }) where value.value != 0 {
      let type = value.type.map { self.type($0) } ?? ""
      let isPlain = type.split(separator: ".").last.map(String.init) == value.name
      text += "  " + (isPlain ? type : "\(value.name): \(type)")
      text += (value.value == next ? "" : " = \(value.value)") + ",\n"
      next = value.value + 1
    }
    text += "}\n"
  }

  private mutating func object(_ object: BinarySchema.Object, _ name: String) {
    text += "\(object.isStruct ? "struct" : "table") \(name)"
    text += list(object.attributes) + " {\n"
    for field in object.fields where !field.isTag {
      text += "  \(field.name): \(type(field.type))"
      if !object.isStruct, let value = defaultText(field) { text += " = \(value)" }
      var attributes = field.attributes.filter { $0.name != "default" }
      if field.isRequired { attributes.append(.init("required")) }
      if field.isDeprecated { attributes.append(.init("deprecated")) }
      text += list(attributes) + ";\n"
    }
    text += "}\n"
  }

  private func list(_ attributes: [BinarySchema.Attribute]) -> String {
    let shown = attributes.filter {
      writesReferences || !["references", "ondelete", "inverse"].contains($0.name)
    }
    if shown.isEmpty { return "" }
    return " ("
      + shown.map { $0.value.isEmpty ? $0.name : "\($0.name): \(quoted($0.value))" }
      .joined(separator: ", ") + ")"
  }

  // MARK: Fields

  private func type(_ type: BinarySchema.FieldType) -> String {
    func inner(_ base: BinarySchema.BaseType) -> String { type.name ?? base.name }
    return switch type.base {
    case .vector: "[\(inner(type.element))]"
    case .array: "[\(inner(type.element)):\(type.count)]"
    default: inner(type.base)
    }
  }

  /// The default of a field; nil if it is the one that a field has anyway.
  private func defaultText(_ field: BinarySchema.ObjectField) -> String? {
    switch field.type.base {
    case .string: return field.attributes["default"].map(quoted)
    case .bool, .byte, .ubyte, .short, .ushort, .int, .uint, .long, .ulong, .float, .double: break
    default: return nil
    }
    if field.isDeprecated { return nil }
    if field.isOptional { return "null" }
    if let name = field.type.name { return valueText(field.integer, in: name) }
    switch field.type.base {
    case .float, .double: return field.real == 0 ? nil : "\(field.real)"
    case .bool: return field.integer == 0 ? nil : "true"
    case .ulong: return field.integer == 0 ? nil : "\(UInt64(bitPattern: field.integer))"
    default: return field.integer == 0 ? nil : "\(field.integer)"
    }
  }

  /// The name of a value, or the names of its flags.
  private func valueText(_ value: Int64, in name: String) -> String? {
    guard let definition = schema.enums.first(where: { $0.name == name }) else { return nil }
    if let known = definition.values.first(where: { $0.value == value }) { return known.name }
    if definition.attributes["bit_flags"] == nil || value == 0 { return nil }
    let flags = definition.values.filter { $0.value & value == $0.value }
    return quoted(flags.map { "\(name).\($0.name)" }.joined(separator: " "))
  }
}

/// A text in quotes, with what the schema language escapes.
private func quoted(_ text: String) -> String {
  var result = "\""
  for scalar in text.unicodeScalars {
    switch scalar {
    case "\"": result += "\\\""
    case "\\": result += "\\\\"
    case "\n": result += "\\n"
    case "\r": result += "\\r"
    case "\t": result += "\\t"
    case _ where scalar.value < 0x20:
      let digits = String(scalar.value, radix: 16)
      result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
    default: result.unicodeScalars.append(scalar)
    }
  }
  return result + "\""
}

extension BinarySchema.ObjectField {
  /// Whether it is the tag of a union, which the schema language implies.
  var isTag: Bool { type.base == .unionTag || type.element == .unionTag }
}

extension BinarySchema.BaseType {
  /// The name of a scalar or string in the schema language.
  fileprivate var name: String {
    switch self {
    case .none, .vector, .object, .union, .array: ""
    case .unionTag: "ubyte"
    case .bool: "bool"
    case .byte: "byte"
    case .ubyte: "ubyte"
    case .short: "short"
    case .ushort: "ushort"
    case .int: "int"
    case .uint: "uint"
    case .long: "long"
    case .ulong: "ulong"
    case .float: "float"
    case .double: "double"
    case .string: "string"
    }
  }
}
