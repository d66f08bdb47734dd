// The view of an entity type: the names and values of all fields, for plain SQL.
//
// Its columns are made from the schema. Fields of the key that are numbers are the table's columns,
// so the server can find rows by them; all others are read from the object's bytes by functions,
// see `ObjectFunctions`. A view with a WITH clause cannot be written to.

import Dflat

struct ObjectView {
  let table: EntityTable
  /// The PostgreSQL schema of all tables, quoted.
  let schema: String

  /// The name, quoted and with its schema.
  var name: String { "\(schema).\("\(table.name)_view".quotedName)" }

  /// The statement that creates it. It replaces a view to which fields were added.
  var create: String {
    let properties = table.schema.layout.properties
    var id = "rowid"
    while properties.contains(where: { $0.name == id }) { id = "_" + id }
    let columns = ["rowid AS \(id.quotedName)"] + properties.map(column(of:))
    return "CREATE OR REPLACE VIEW \(name) AS WITH stored AS NOT MATERIALIZED "
      + "(SELECT * FROM \(table.quoted)) SELECT \(columns.joined(separator: ", ")) FROM stored"
  }

  private func column(of property: Property) -> String {
    let (value, type) = (value(of: property), Self.sqlType(property.kind))
    return "\(value)::\(type) AS \(property.name.quotedName)"
  }

  private func value(of property: Property) -> String {
    if let place = table.schema.primaryKey.firstIndex(where: { $0.path == "f\(property.offset)" }),
      case .scalar(let type, _) = property.kind, type != .uint64
    {
      return "pk\(place)"
    }
    var description = SchemaDescription()
    let field = description.field(property)
    let value =
      "\(schema)._dflat_field(p, \(field.quotedText), \(description.types.quotedText))"
    return Self.sqlType(property.kind) == "jsonb" ? value : "(\(value) #>> '{}')"
  }

  private static func sqlType(_ kind: Property.Kind) -> String {
    switch kind {
    case .scalar(.bool, _): "boolean"
    case .scalar(.float, _), .scalar(.double, _): "double precision"
    case .scalar(.uint64, _): "numeric"
    case .scalar: "bigint"
    case .enumeration, .string: "text"
    case .structure, .table, .union, .vector, .array: "jsonb"
    }
  }
}

/// Fields and types as JSON, for the functions on the server.
private struct SchemaDescription {
  /// The fields of the types that were described, by a number.
  private var known: [String] = []
  private var numbers: [ObjectIdentifier: Int] = [:]

  var types: String {
    let fields = known.enumerated().map { "\"\($0)\": \($1)" }
    return "{\(fields.joined(separator: ", "))}"
  }

  mutating func field(_ property: Property) -> String {
    let kind = kind(property.kind)
    return "[\(json(property.name)), \(property.offset), \(kind), \(standard(property.kind))]"
  }

  /// What the functions know of a type that fields refer to. A type may refer to itself.
  private mutating func type(_ id: ObjectIdentifier, _ properties: [Property]) -> String {
    if let number = numbers[id] { return "\"\(number)\"" }
    let number = known.count
    numbers[id] = number
    known.append("")
    var fields: [String] = []
    for property in properties { fields.append(field(property)) }
    known[number] = "[\(fields.joined(separator: ", "))]"
    return "\"\(number)\""
  }

  private mutating func kind(_ kind: Property.Kind) -> String {
    switch kind {
    case .scalar(let type, _): return scalar(type)
    case .enumeration(let layout, _):
      let layout = layout()
      let names = layout.values.map { "\"\($0.value)\": \(json($0.name))" }
      return "[\"e\", \(scalar(layout.type)), {\(names.joined(separator: ", "))}, "
        + "\(layout.isBitFlags)]"
    case .string: return "[\"s\"]"
    case .structure(let layout):
      let layout = layout()
      return "[\"c\", \(type(ObjectIdentifier(layout), layout.properties))]"
    case .table(let layout):
      let layout = layout()
      return "[\"t\", \(type(ObjectIdentifier(layout), layout.properties))]"
    case .union(let layout): return "[\"n\", \(members(of: layout()))]"
    case .vector(.union(let layout)): return "[\"w\", \(members(of: layout()))]"
    case .vector(let element):
      return "[\"v\", \(self.kind(element)), \(stride(element))]"
    case .array(let element, let count):
      return "[\"a\", \(self.kind(element)), \(count), \(stride(element))]"
    }
  }

  private mutating func members(of layout: UnionLayout) -> String {
    var members: [String] = []
    for member in layout.members {
      var kind = kind(member.kind)
      // A struct in a union is elsewhere.
      if case .structure = member.kind {
        kind.replace("[\"c\"", with: "[\"p\"", maxReplacements: 1)
      }
      members.append("\"\(member.tag)\": [\(json(member.name)), \(kind)]")
    }
    return "{\(members.joined(separator: ", "))}"
  }

  private func scalar(_ type: ValueType) -> String {
    switch type {
    case .bool: "[\"b\"]"
    case .float, .double: "[\"r\", \(type.size)]"
    case .uint8, .uint16, .uint32, .uint64: "[\"u\", \(type.size)]"
    default: "[\"i\", \(type.size)]"
    }
  }

  private func stride(_ element: Property.Kind) -> Int {
    switch element {
    case .scalar(let type, _): type.size
    case .enumeration(let layout, _): layout().type.size
    case .structure(let layout): layout().size
    default: 4
    }
  }

  /// The value of a field that is absent.
  private func standard(_ kind: Property.Kind) -> String {
    switch kind {
    case .scalar(_, .bool(let value)?): "\(value)"
    case .scalar(_, .integer(let value)?): "\(value)"
    case .scalar(_, .unsigned(let value)?): "\(value)"
    case .scalar(_, .real(let value)?): value.isFinite ? "\(value)" : json(text(value))
    case .enumeration(let layout, let value?): json(name(of: value, layout()))
    case .string(let text?): json(text)
    default: "null"
    }
  }

  private func text(_ real: Double) -> String {
    real.isNaN ? "NaN" : real < 0 ? "-Infinity" : "Infinity"
  }

  private func name(of value: Int64, _ layout: EnumLayout) -> String {
    if let known = layout.values.first(where: { $0.value == value }) { return known.name }
    let parts = layout.isBitFlags ? layout.values.filter { $0.value & value != 0 } : []
    return parts.isEmpty ? "\(value)" : parts.map(\.name).joined(separator: " ")
  }

  private func json(_ text: String) -> String {
    var json = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"", "\\": json += "\\\(scalar)"
      case "\0": json += "\u{2400}"
      case ..<" ":
        let digits = String(scalar.value, radix: 16)
        json += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: json.unicodeScalars.append(scalar)
      }
    }
    return json + "\""
  }
}
