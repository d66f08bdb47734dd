// Random objects as JSON, and JSON as values that can be compared across edits.

import Foundation
import SeededRandom

/// A value under its meaning: fields, members and enum values by their numbers in `MatrixSchema`.
indirect enum MatrixValue: Equatable {
  case nothing
  case number(String)
  case text(String)
  case list([MatrixValue])
  case object([Int: MatrixValue])
  case member(Int, MatrixValue)
  case value(Int)
  /// Names of bits; others are left out.
  case flags(Set<Int>)
  /// A number that the enum has no value for.
  case unknown
}

/// What cannot be read.
struct MatrixUnreadable: Error {
  var reason: String
}

/// Writes objects of a schema, each of which shows something: all of them together show whatever
/// can be shown.
struct MatrixWriter {
  enum Form: CaseIterable {
    /// Everything is there and nothing at its default; signed integers are negative, unions hold
    /// their first member.
    case full
    /// The same with positive integers and the second member.
    case other
    /// Random parts of it.
    case random
    /// What must be there, and elements of every type with what must be in them.
    case bare
    /// What must be there.
    case empty
  }

  let schema: MatrixSchema
  /// Members that may be used.
  let members: Set<Int>
  let form: Form
  var random: SeededGenerator

  mutating func object() -> String { table(schema.root, depth: 0) }

  private mutating func table(_ id: Int, depth: Int) -> String {
    var parts: [String] = []
    for field in schema.fields(id) where isWanted(field, depth) {
      if case .type(let type) = field.kind, schema.unions.contains(type) {
        let usable = schema.members(type).filter { members.contains($0.id) }
        guard !usable.isEmpty else { continue }
        let member = form == .other ? usable[1 % usable.count] : usable[0]
        parts.append("\"\(field.name)_type\": \"\(member.name)\"")
        parts.append("\"\(field.name)\": \(record(member.type, depth: depth + 1))")
      } else {
        parts.append("\"\(field.name)\": \(value(field.kind, depth: depth))")
      }
    }
    return "{\(parts.joined(separator: ", "))}"
  }

  private mutating func isWanted(_ field: MatrixSchema.Field, _ depth: Int) -> Bool {
    if field.isPrimary || (field.isRequired && !field.isDeprecated) { return true }
    var holdsTables = false
    var isVector = false
    switch field.kind {
    case .type(let type): holdsTables = schema.tables.contains(type) || schema.unions.contains(type)
    case .vector(.type(let type)):
      isVector = true
      holdsTables = schema.tables.contains(type)
    default: break
    }
    switch form {
    case .bare: return depth == 0 && isVector
    case .empty: return false
    case .random where Bool.random(using: &random): return false
    default: return !holdsTables || depth < 3
    }
  }

  private mutating func record(_ id: Int, depth: Int) -> String {
    if schema.tables.contains(id) { return table(id, depth: depth) }
    var parts: [String] = []
    for field in schema.fields(id) {
      parts.append("\"\(field.name)\": \(value(field.kind, depth: depth))")
    }
    return "{\(parts.joined(separator: ", "))}"
  }

  private mutating func value(_ kind: MatrixSchema.Kind, depth: Int) -> String {
    switch kind {
    case .scalar(let name): return scalar(name)
    case .string: return "\"s\(Int.random(in: 10...99_999, using: &random))\""
    case .type(let id):
      guard schema.enums.contains(id) else { return record(id, depth: depth + 1) }
      let values = schema.values(id)
      if !schema.isFlags(id) { return "\"\(values.randomElement(using: &random)!.name)\"" }
      let some = values.filter { _ in Bool.random(using: &random) }
      return "\"\((some.isEmpty ? [values[0]] : some).map(\.name).joined(separator: " "))\""
    case .vector(.type(let id)) where schema.enums.contains(id):
      // Every value once, and all bits together.
      var words = schema.values(id).map(\.name)
      if schema.isFlags(id) { words.append(words.joined(separator: " ")) }
      return list(words.map { "\"\($0)\"" })
    case .vector(let element):
      return list((0..<2).map { _ in value(element, depth: depth + 1) })
    case .array(let element, let count):
      return list((0..<count).map { _ in value(element, depth: depth) })
    }
  }

  private func list(_ parts: [String]) -> String { "[\(parts.joined(separator: ", "))]" }

  /// A number that is another one in every other type.
  private mutating func scalar(_ name: String) -> String {
    func any<T: FixedWidthInteger>(_: T.Type) -> String {
      let isNegative = T.isSigned && form != .other
      // Unsigned ones are beyond the signed ones of their size.
      let range = isNegative ? T.min...(T.min / 2) : T.max / 2 + 1...T.max
      return "\(T.random(in: range, using: &random))"
    }
    switch name {
    case "bool": return "true"
    case "byte": return any(Int8.self)
    case "ubyte": return any(UInt8.self)
    case "short": return any(Int16.self)
    case "ushort": return any(UInt16.self)
    case "int": return any(Int32.self)
    case "uint": return any(UInt32.self)
    case "long": return any(Int64.self)
    case "ulong": return any(UInt64.self)
    // Exact in both types and in decimal.
    default: return "\(Double(Int.random(in: 5...9_999, using: &random)) / 4)"
    }
  }
}

/// Reads what flatc prints for objects of a schema, as Dflat would: an unknown enum value is the
/// field's default, and a buffer without a required field is damaged.
struct MatrixReader {
  let schema: MatrixSchema

  func object(_ json: Data) throws -> MatrixValue {
    let content: Any
    do {
      content = try JSONSerialization.jsonObject(with: json)
    } catch {
      throw MatrixUnreadable(reason: "no JSON: \(error)")
    }
    return try record(schema.root, content)
  }

  private func record(_ id: Int, _ json: Any) throws -> MatrixValue {
    guard let object = json as? [String: Any] else { throw MatrixUnreadable(reason: "no object") }
    let isTable = schema.tables.contains(id)
    var result: [Int: MatrixValue] = [:]
    for field in schema.fields(id) {
      var value = MatrixValue.nothing
      if case .type(let type) = field.kind, schema.unions.contains(type) {
        value = try union(schema.members(type), object, field.name)
      } else if let content = object[field.name], !(content is NSNull) {
        value = try self.value(field.kind, content)
      }
      if value == .nothing, field.isRequired, !field.isDeprecated {
        throw MatrixUnreadable(reason: "'\(field.name)' is required")
      }
      if isTable, value == .unknown || value == .nothing { value = standard(field) }
      result[field.id] = value
    }
    return .object(result)
  }

  private func union(
    _ members: [MatrixSchema.Member], _ object: [String: Any], _ name: String
  ) throws -> MatrixValue {
    guard let tag = object[name + "_type"] as? String, tag != "NONE" else { return .nothing }
    guard let member = members.first(where: { $0.name == tag }), let content = object[name] else {
      throw MatrixUnreadable(reason: "no member '\(tag)'")
    }
    return .member(member.id, try record(member.type, content))
  }

  private func value(_ kind: MatrixSchema.Kind, _ json: Any) throws -> MatrixValue {
    switch kind {
    case .scalar(let name):
      guard let number = json as? NSNumber else { throw MatrixUnreadable(reason: "no number") }
      switch name {
      case "bool": return .number(number.boolValue ? "1" : "0")
      case "float", "double": return .number("\(number.doubleValue)")
      case "ulong": return .number("\(number.uint64Value)")
      default: return .number("\(number.int64Value)")
      }
    case .string:
      guard let text = json as? String else { throw MatrixUnreadable(reason: "no string") }
      return .text(text)
    case .type(let id):
      return schema.enums.contains(id) ? enumeration(id, json) : try record(id, json)
    case .vector(let element), .array(let element, _):
      guard let list = json as? [Any] else { throw MatrixUnreadable(reason: "no list") }
      return .list(try list.map { try value(element, $0) })
    }
  }

  private func enumeration(_ id: Int, _ json: Any) -> MatrixValue {
    let values = schema.values(id)
    if !schema.isFlags(id) {
      guard let value = values.first(where: { $0.name == json as? String }) else { return .unknown }
      return .value(value.id)
    }
    if let number = json as? NSNumber, !(json is String) {
      return .flags(
        Set(values.filter { number.int64Value & (1 << Int64($0.number)) != 0 }.map(\.id)))
    }
    let words = (json as? String ?? "").split(separator: " ").map(String.init)
    return .flags(Set(values.filter { words.contains($0.name) }.map(\.id)))
  }

  /// What a field of a table reads where nothing is stored.
  func standard(_ field: MatrixSchema.Field) -> MatrixValue {
    switch field.standard {
    case .null: return .nothing
    case .value(let id): return .value(id)
    case .integer(let value): return .number("\(value)")
    case nil: break
    }
    switch field.kind {
    case .scalar("float"), .scalar("double"): return .number("0.0")
    case .scalar: return .number("0")
    case .vector: return .list([])
    case .type(let id) where schema.isFlags(id): return .flags([])
    case .type(let id) where schema.enums.contains(id):
      return schema.values(id).first { $0.number == 0 }.map { .value($0.id) } ?? .unknown
    default: return .nothing
    }
  }
}
