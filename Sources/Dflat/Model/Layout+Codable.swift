// Codable for generated values, by walking layouts. The names are those of the schema, as in
// FlatBuffers JSON.
//
//  - Absent values are left out; scalars and vectors are always present.
//  - A field with its own Swift type is encoded as its stored value: the string of a UUID, the
//    number of a date. Decoding checks that the stored value has a meaning in the Swift type.
//  - Enums are encoded by name, or by number if there is no name; both can be decoded. Bit flags
//    are names separated by spaces.
//  - A union field `u` has two entries: `u_type` with the member's name and `u` with its value. A
//    union that stands alone is an object with `type` and `value`.

import FlatBuffersRuntime

/// A coding key with an arbitrary name.
struct AnyKey: CodingKey {
  let stringValue: String
  var intValue: Int? { nil }

  init(_ name: String) { stringValue = name }
  init?(stringValue: String) { self.stringValue = stringValue }
  init?(intValue: Int) { nil }
}

extension TableLayout {
  func encode(_ table: TableReader, to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: AnyKey.self)
    for property in properties {
      try container.encode(table.value(of: property), property.name)
    }
  }
}

extension StructLayout {
  func encode(_ structure: StructReader, to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: AnyKey.self)
    for property in properties {
      try container.encode(structure.value(of: property), property.name)
    }
  }
}

extension KeyedEncodingContainer<AnyKey> {
  fileprivate mutating func encode(_ value: LayoutValue, _ name: String) throws {
    switch value {
    case .null: break
    case .union(let member, let union):
      try encode(member.name, forKey: AnyKey(name + "_type"))
      try union.value(member.kind).encode(to: superEncoder(forKey: AnyKey(name)))
    case .vector(let elements):
      if case .union = elements.kind {
        var names = nestedUnkeyedContainer(forKey: AnyKey(name + "_type"))
        for index in 0..<elements.count {
          if case .union(let member, _) = elements[index] { try names.encode(member.name) }
        }
        var values = nestedUnkeyedContainer(forKey: AnyKey(name))
        for index in 0..<elements.count {
          guard case .union(let member, let union) = elements[index] else { continue }
          try union.value(member.kind).encode(to: values.superEncoder())
        }
      } else {
        try value.encode(to: superEncoder(forKey: AnyKey(name)))
      }
    default: try value.encode(to: superEncoder(forKey: AnyKey(name)))
    }
  }
}

extension LayoutValue {
  func encode(to encoder: any Encoder) throws {
    switch self {
    case .null:
      var container = encoder.singleValueContainer()
      try container.encodeNil()
    case .scalar(let type, let value): try value.encode(type, to: encoder)
    case .enumeration(let layout, let raw): try layout.encode(raw, to: encoder)
    case .string(let bytes):
      var container = encoder.singleValueContainer()
      try container.encode(String(decoding: bytes, as: UTF8.self))
    case .defaultString(let text):
      var container = encoder.singleValueContainer()
      try container.encode(text)
    case .structure(let layout, let structure): try layout.encode(structure, to: encoder)
    case .table(let layout, let table): try layout.encode(table, to: encoder)
    case .union(let member, let union):
      var container = encoder.container(keyedBy: AnyKey.self)
      try container.encode(member.name, forKey: AnyKey("type"))
      try union.value(member.kind).encode(to: container.superEncoder(forKey: AnyKey("value")))
    case .vector(let elements):
      var container = encoder.unkeyedContainer()
      for index in 0..<elements.count { try elements[index].encode(to: container.superEncoder()) }
    }
  }
}

extension Value {
  fileprivate func encode(_ type: ValueType, to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .bool(let value): try container.encode(value)
    case .integer(let value): try container.encode(value)
    case .unsigned(let value): try container.encode(value)
    case .real(let value):
      if type == .float { try container.encode(Float(value)) } else { try container.encode(value) }
    case .string(let value): try container.encode(value)
    }
  }
}

extension EnumLayout {
  /// The name of a value, or the names of flags; nil if it has none.
  func name(of raw: Int64) -> String? {
    if let name = values.first(where: { $0.value == raw })?.name { return name }
    guard isBitFlags, raw != 0 else { return nil }
    let flags = values.filter { raw & $0.value == $0.value }
    guard flags.reduce(0, { $0 | $1.value }) == raw else { return nil }
    return flags.map(\.name).joined(separator: " ")
  }

  func encode(_ raw: Int64, to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    if let name = name(of: raw) { return try container.encode(name) }
    if type == .uint64 {
      try container.encode(UInt64(bitPattern: raw))
    } else {
      try container.encode(raw)
    }
  }
}
