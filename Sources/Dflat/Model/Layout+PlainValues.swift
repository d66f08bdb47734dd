// Plain values: an object's fields for programs that know no schema, as SQL and JSON have values.
//
// Names and JSON are those of Layout+Codable.swift, written here without an encoder: a field that
// is absent is left out, an enum is its name, a union has the member's name in a field of its own.
// JSON has no infinity and no NaN; they are null. In contrast to an encoder nothing here fails, and
// integers have all their digits.

import FlatBuffersRuntime

/// The value of a field, of a kind that SQL has.
package enum PlainValue: Sendable {
  /// Absent, empty, or NaN.
  case null
  /// An integer; a Boolean is 0 or 1.
  case integer(Int64)
  /// A floating-point number.
  case real(Double)
  /// A string, the name of an enum's value, the digits of an integer above `Int64.max`, or JSON.
  case text(String)
}

/// What the JSON of hostile bytes could grow to is bounded: many offsets may refer to one long
/// string.
package struct PlainValueTooLong: Error, CustomStringConvertible {
  /// What went wrong.
  package var description: String {
    "the JSON of an object is longer than \(JSONText.limit) bytes"
  }
}

/// A name under which an object has a plain value.
package struct PlainField: Sendable {
  /// The field's name in the schema; with `_type` for the names of a union's members.
  package let name: String
  private let property: Property
  private let isUnionType: Bool

  /// Reads the value from a row.
  /// - Parameter bytes: The row's bytes, which were verified.
  /// - Throws: `PlainValueTooLong`.
  package func value(in bytes: UnsafeRawBufferPointer) throws -> PlainValue {
    guard let table = TableReader(root: bytes) else { return .null }
    let value = table.value(of: property)
    if isUnionType { return try value.memberNames() }
    switch value {
    case .null: return .null
    case .scalar(let type, let scalar): return scalar.plain(type)
    case .enumeration(let layout, let raw):
      if let name = layout.name(of: raw) { return .text(name) }
      return layout.type == .uint64
        ? Value.unsigned(UInt64(bitPattern: raw)).plain(.uint64) : .integer(raw)
    case .string(let bytes): return .text(String(decoding: bytes, as: UTF8.self))
    case .defaultString(let text): return .text(text)
    case .union(let member, let union):
      if case .string = member.kind {
        return .text(union.utf8().map { String(decoding: $0, as: UTF8.self) } ?? "")
      }
      fallthrough
    case .structure, .table, .vector:
      var json = JSONText()
      try json.append(value)
      return .text(json.text)
    }
  }

  /// The fields of a table, in the order of the schema.
  fileprivate static func all(of layout: TableLayout) -> [PlainField] {
    layout.properties.flatMap { property -> [PlainField] in
      let field = PlainField(name: property.name, property: property, isUnionType: false)
      switch property.kind {
      case .union, .vector(.union):
        let name = property.name + "_type"
        return [PlainField(name: name, property: property, isUnionType: true), field]
      default: return [field]
      }
    }
  }
}

extension TableLayout {
  /// The fields as plain values.
  package var plainFields: [PlainField] { PlainField.all(of: self) }

  /// A whole object as JSON.
  /// - Parameter bytes: The row's bytes, which were verified.
  /// - Throws: `PlainValueTooLong`.
  package func json(of bytes: UnsafeRawBufferPointer) throws -> String {
    guard let table = TableReader(root: bytes) else { return "null" }
    var json = JSONText()
    try json.append(.table(self, table))
    return json.text
  }
}

extension Value {
  fileprivate func plain(_ type: ValueType) -> PlainValue {
    switch self {
    case .bool(let value): .integer(value ? 1 : 0)
    case .integer(let value): .integer(value)
    case .unsigned(let value): Int64(exactly: value).map { .integer($0) } ?? .text("\(value)")
    case .real(let value): value.isNaN ? .null : .real(value)
    case .string(let value): .text(value)
    }
  }
}

extension LayoutValue {
  /// The name of a union's member, or JSON of the names in a vector of unions.
  fileprivate func memberNames() throws -> PlainValue {
    switch self {
    case .union(let member, _): return .text(member.name)
    case .vector(let elements):
      var json = JSONText()
      try json.appendNames(elements)
      return .text(json.text)
    default: return .null
    }
  }
}

/// JSON while it is written.
private struct JSONText {
  static let limit = 100_000_000
  private(set) var text = ""

  mutating func append(_ value: LayoutValue) throws {
    switch value {
    case .null: text += "null"
    case .scalar(let type, let scalar): append(scalar, type)
    case .enumeration(let layout, let raw):
      if let name = layout.name(of: raw) {
        append(quoting: name)
      } else {
        text += layout.type == .uint64 ? "\(UInt64(bitPattern: raw))" : "\(raw)"
      }
    case .string(let bytes): append(quoting: String(decoding: bytes, as: UTF8.self))
    case .defaultString(let string): append(quoting: string)
    case .structure(let layout, let structure):
      try appendObject(layout.properties) { structure.value(of: $0) }
    case .table(let layout, let table):
      try appendObject(layout.properties) { table.value(of: $0) }
    case .union(let member, let union): try append(union.value(member.kind))
    case .vector(let elements): try appendElements(elements)
    }
    if text.utf8.count > Self.limit { throw PlainValueTooLong() }
  }

  private mutating func append(_ value: Value, _ type: ValueType) {
    switch value {
    case .bool(let value): text += value ? "true" : "false"
    case .integer(let value): text += "\(value)"
    case .unsigned(let value): text += "\(value)"
    case .real(let value) where !value.isFinite: text += "null"
    case .real(let value): text += type == .float ? "\(Float(value))" : "\(value)"
    case .string(let value): append(quoting: value)
    }
  }

  private mutating func appendObject(
    _ properties: [Property], _ value: (Property) -> LayoutValue
  ) throws {
    var separator = "{"
    for property in properties {
      let value = value(property)
      if case .null = value { continue }
      switch value {
      case .union(let member, _):
        text += separator
        append(quoting: property.name + "_type")
        text += ":"
        append(quoting: member.name)
        separator = ","
      case .vector(let elements):
        guard case .union = elements.kind else { break }
        text += separator
        append(quoting: property.name + "_type")
        text += ":"
        try appendNames(elements)
        separator = ","
      default: break
      }
      text += separator
      append(quoting: property.name)
      text += ":"
      try append(value)
      separator = ","
    }
    text += separator == "{" ? "{}" : "}"
  }

  private mutating func appendElements(_ elements: LayoutElements) throws {
    text += "["
    var isFirst = true
    for index in 0..<elements.count {
      let element = elements[index]
      // A member that is empty or not known is left out, as it is in the property.
      if case .union = elements.kind {
        guard case .union = element else { continue }
      }
      if !isFirst { text += "," }
      isFirst = false
      try append(element)
    }
    text += "]"
  }

  mutating func appendNames(_ elements: LayoutElements) throws {
    text += "["
    var isFirst = true
    for index in 0..<elements.count {
      guard case .union(let member, _) = elements[index] else { continue }
      if !isFirst { text += "," }
      isFirst = false
      append(quoting: member.name)
      if text.utf8.count > Self.limit { throw PlainValueTooLong() }
    }
    text += "]"
  }

  private mutating func append(quoting string: String) {
    text += "\""
    for scalar in string.unicodeScalars {
      switch scalar {
      case "\"": text += "\\\""
      case "\\": text += "\\\\"
      case "\n": text += "\\n"
      case "\r": text += "\\r"
      case "\t": text += "\\t"
      case _ where scalar.value < 0x20:
        text += scalar.value < 0x10 ? "\\u000" : "\\u00"
        text += String(scalar.value, radix: 16)
      default: text.unicodeScalars.append(scalar)
      }
    }
    text += "\""
  }
}
