// Converts JSON as flatc reads and writes it to and from values of a layout.
//
// Foundation's JSON rounds large integers and does not support nan and inf, which flatc writes
// exactly. Numbers are therefore kept as text.

struct JSONError: Error, CustomStringConvertible {
  let description: String
}

indirect enum JSON {
  case object([String: JSON])
  case array([JSON])
  case string(String)
  /// A number, true, false, null, nan or inf, as its text.
  case word(String)
}

struct JSONParser {
  private let bytes: UnsafeBufferPointer<UInt8>
  private var cursor = 0

  static func parse(_ text: [UInt8]) throws -> JSON {
    try text.withUnsafeBufferPointer { bytes in
      var parser = JSONParser(bytes: bytes)
      return try parser.value()
    }
  }

  private init(bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

  private mutating func value() throws -> JSON {
    switch peek() {
    case UInt8(ascii: "{"): return try object()
    case UInt8(ascii: "["): return try array()
    case UInt8(ascii: "\""): return .string(try string())
    default: return .word(try word())
    }
  }

  private mutating func object() throws -> JSON {
    cursor += 1
    var members: [String: JSON] = [:]
    while peek() != UInt8(ascii: "}") {
      let name = try string()
      try expect(":")
      members[name] = try value()
      if peek() == UInt8(ascii: ",") { cursor += 1 }
    }
    cursor += 1
    return .object(members)
  }

  private mutating func array() throws -> JSON {
    cursor += 1
    var elements: [JSON] = []
    while peek() != UInt8(ascii: "]") {
      elements.append(try value())
      if peek() == UInt8(ascii: ",") { cursor += 1 }
    }
    cursor += 1
    return .array(elements)
  }

  private mutating func word() throws -> String {
    let start = cursor
    while cursor < bytes.count {
      let byte = bytes[cursor]
      if byte <= 32 || byte == 0x2C || byte == 0x5D || byte == 0x7D { break }  // , ] }
      cursor += 1
    }
    guard cursor > start else { throw JSONError(description: "no value at \(start)") }
    return String(decoding: bytes[start..<cursor], as: UTF8.self)
  }

  private mutating func string() throws -> String {
    try expect("\"")
    var text: [UInt8] = []
    while true {
      let start = cursor
      while cursor < bytes.count, bytes[cursor] != UInt8(ascii: "\""),
        bytes[cursor] != UInt8(ascii: "\\")
      {
        cursor += 1
      }
      text.append(contentsOf: bytes[start..<cursor])
      guard cursor + 1 < bytes.count else { throw JSONError(description: "unclosed string") }
      if bytes[cursor] == UInt8(ascii: "\"") { break }
      try escape(&text)
    }
    cursor += 1
    return String(decoding: text, as: UTF8.self)
  }

  private mutating func escape(_ text: inout [UInt8]) throws {
    let kind = bytes[cursor + 1]
    cursor += 2
    switch kind {
    case UInt8(ascii: "n"): text.append(10)
    case UInt8(ascii: "t"): text.append(9)
    case UInt8(ascii: "r"): text.append(13)
    case UInt8(ascii: "b"): text.append(8)
    case UInt8(ascii: "f"): text.append(12)
    case UInt8(ascii: "u"):
      var unit = try hexadecimal(4)
      if unit >= 0xD800, unit < 0xDC00 {
        cursor += 2
        unit = 0x10000 + (unit - 0xD800) << 10 + (try hexadecimal(4) - 0xDC00)
      }
      guard let scalar = Unicode.Scalar(unit) else {
        throw JSONError(description: "no scalar \(unit)")
      }
      text.append(contentsOf: String(Character(scalar)).utf8)
    case UInt8(ascii: "x"): text.append(UInt8(try hexadecimal(2)))
    default: text.append(kind)
    }
  }

  private mutating func hexadecimal(_ digits: Int) throws -> UInt32 {
    let text = String(decoding: bytes[cursor..<cursor + digits], as: UTF8.self)
    guard let value = UInt32(text, radix: 16) else {
      throw JSONError(description: "no hex \(text)")
    }
    cursor += digits
    return value
  }

  private mutating func peek() -> UInt8 {
    while cursor < bytes.count, bytes[cursor] <= 32 { cursor += 1 }
    return cursor < bytes.count ? bytes[cursor] : 0
  }

  private mutating func expect(_ character: Unicode.Scalar) throws {
    guard peek() == UInt8(ascii: character) else {
      throw JSONError(description: "no \(character) at \(cursor)")
    }
    cursor += 1
  }
}

extension Value {
  /// The value that flatc printed. Fields that flatc leaves out have their defaults.
  init(_ json: JSON, _ kind: Kind) throws {
    switch (kind, json) {
    case (.scalar(let kind), .word(let word)): self = try Value(word, kind)
    case (.string, .string(let text)): self = .string(text)
    case (.structure(let layout), .object(let members)):
      self = .record(
        try layout.members.map {
          try members[$0.name].map { [kind = $0.kind] in try Value($0, kind) }
        })
    case (.table(let layout), .object(let members)):
      self = .record(try layout.fields.map { try Value.field(members, $0) })
    case (.vector(let kind), .array(let elements)), (.array(let kind, _), .array(let elements)):
      self = .vector(try elements.map { try Value($0, kind) })
    default: throw JSONError(description: "\(json) is not of kind \(kind)")
    }
  }

  private static func field(
    _ members: [String: JSON], _ field: TableLayout.Field
  ) throws -> Value? {
    guard let json = members[field.name] else { return field.default }
    switch field.kind {
    case .union(let layout):
      guard let type = members[field.name + "_type"] else { return nil }
      return try union(type, json, layout)
    case .unionVector(let layout):
      guard case .array(let types)? = members[field.name + "_type"], case .array(let values) = json,
        types.count == values.count
      else { throw JSONError(description: "a vector of unions without as many types") }
      return .vector(try zip(types, values).map { try union($0, $1, layout) })
    default: return try Value(json, field.kind)
    }
  }

  private static func union(_ type: JSON, _ value: JSON, _ layout: UnionLayout) throws -> Value {
    guard case .string(let name) = type,
      let member = layout.members.firstIndex(where: { $0.name == name })
    else { throw JSONError(description: "no member \(type)") }
    return .union(type: member + 1, try Value(value, layout.members[member].kind))
  }

  private init(_ word: String, _ kind: ScalarKind) throws {
    switch kind {
    case .bool:
      guard word == "true" || word == "false" else { throw JSONError(description: "Bool \(word)") }
      self = .bool(word == "true")
    case .int8, .int16, .int32, .int64:
      guard let value = Int64(word) else { throw JSONError(description: "integer \(word)") }
      self = .int(value)
    case .uint8, .uint16, .uint32, .uint64:
      guard let value = UInt64(word) else { throw JSONError(description: "integer \(word)") }
      self = .uint(value)
    case .float, .double:
      guard let value = Double(word) else { throw JSONError(description: "float \(word)") }
      self = .float(value)
    }
  }

  /// Appends the value as JSON that flatc reads.
  func write(_ kind: Kind, to text: inout String) {
    switch (kind, self) {
    case (.structure(let layout), .record(let values)):
      Value.write(zip(layout.members, values).map { ($0.name, $0.kind, $1) }, to: &text)
    case (.table(let layout), .record(let values)):
      Value.write(zip(layout.fields, values).map { ($0.name, $0.kind, $1) }, to: &text)
    case (.vector(let kind), .vector(let elements)), (.array(let kind, _), .vector(let elements)):
      Value.write(elements, to: &text) { $0.write(kind, to: &$1) }
    case (.unionVector(let layout), .vector(let elements)):
      Value.write(elements, to: &text) { $0.write(.union(layout), to: &$1) }
    case (.union(let layout), .union(let type, let content)):
      content.write(layout.members[type - 1].kind, to: &text)
    case (_, .string(let string)): Value.write(string, to: &text)
    case (_, .bool(let value)): text += value ? "true" : "false"
    case (_, .int(let value)): text += String(value)
    case (_, .uint(let value)): text += String(value)
    case (_, .floatBits(let bits)): text += "\(Double(bitPattern: bits))"
    default: fatalError("\(self) is not of kind \(kind)")
    }
  }

  private static func write(_ members: [(String, Kind, Value?)], to text: inout String) {
    text += "{"
    var separator = ""
    for (name, kind, value) in members {
      guard let value else { continue }
      text += separator
      separator = ","
      switch (kind, value) {
      case (.union(let layout), .union(let type, _)):
        text += "\"\(name)_type\":\"\(layout.members[type - 1].name)\","
      case (.unionVector(let layout), .vector(let elements)):
        text += "\"\(name)_type\":"
        write(elements, to: &text) { $1 += "\"\(layout.members[Int($0.unionType) - 1].name)\"" }
        text += ","
      default: break
      }
      text += "\"\(name)\":"
      value.write(kind, to: &text)
    }
    text += "}"
  }

  private static func write(
    _ elements: [Value], to text: inout String, _ write: (Value, inout String) -> Void
  ) {
    text += "["
    for (index, element) in elements.enumerated() {
      if index > 0 { text += "," }
      write(element, &text)
    }
    text += "]"
  }

  private static func write(_ string: String, to text: inout String) {
    text += "\""
    if string.utf8.allSatisfy({ $0 >= 32 && $0 != 0x22 && $0 != 0x5C }) {
      text += string
    } else {
      for scalar in string.unicodeScalars {
        switch scalar.value {
        case 0x22, 0x5C:
          text += "\\"
          text.unicodeScalars.append(scalar)
        case 10: text += "\\n"
        case 0..<32:
          text += "\\u00" + (scalar.value < 16 ? "0" : "") + String(scalar.value, radix: 16)
        default: text.unicodeScalars.append(scalar)
        }
      }
    }
    text += "\""
  }
}
