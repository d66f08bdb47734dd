// Decoding of generated values; Layout+Codable.swift has the form.

import FlatBuffersRuntime

extension TableLayout {
  /// Writes the table that a decoder describes. Missing fields have their defaults; null is like a
  /// missing field.
  /// - Parameter level: The number of tables around it.
  func decode(
    from decoder: any Decoder, to builder: FlatBufferBuilder, level: Int = 0
  ) throws -> FlatBufferBuilder.Offset {
    if level >= Verifier.deepestTable {
      throw DecodingError.corrupt(
        decoder,
        "tables are nested more than \(Verifier.deepestTable) deep, and such an object cannot be stored"
      )
    }
    let container = try decoder.container(keyedBy: AnyKey.self)
    return try write(to: builder) { property in
      let key = AnyKey(property.name)
      guard try container.hasValue(key) else {
        if case .union = property.kind { try container.refuseLoneType(property.name) }
        if property.isRequired {
          throw DecodingError.keyNotFound(
            key,
            DecodingError.Context(
              codingPath: container.codingPath,
              debugDescription: "\(self.name) requires \(property.name)"))
        }
        return .none
      }
      let value = try container.superDecoder(forKey: key)
      try property.checkForm(of: value)
      switch property.kind {
      case .union(let layout):
        let name = try container.decode(String.self, forKey: container.typeKey(of: property))
        return try layout().decodeMember(name, from: value, to: builder, level: level)
      case .vector(.union(let layout)):
        var names = try container.nestedUnkeyedContainer(forKey: container.typeKey(of: property))
        var values = try value.unkeyedContainer()
        var list = EncodedElements(.union(layout))
        while !values.isAtEnd {
          if names.isAtEnd {
            throw DecodingError.corrupt(value, "there are fewer names of members than values")
          }
          let name = try names.decode(String.self)
          let member = try layout().decodeMember(
            name, from: values.superDecoder(), to: builder, level: level)
          if case .union(let tag, let offset) = member { list.append(tag: tag, offset) }
        }
        if !names.isAtEnd {
          throw DecodingError.corrupt(value, "there are more names of members than values")
        }
        return list.finish(in: builder)
      default:
        let decoded = try property.kind.decode(from: value, to: builder, level: level)
        return builder.keepingEmpty(decoded, property)
      }
    }
  }
}

extension KeyedDecodingContainer<AnyKey> {
  /// Whether there is a value other than null.
  fileprivate func hasValue(_ key: AnyKey) throws -> Bool {
    try contains(key) && !decodeNil(forKey: key)
  }

  /// The key of what names the member of a union that has a value.
  fileprivate func typeKey(of property: Property) throws -> AnyKey {
    let key = AnyKey(property.name + "_type")
    guard contains(key) else {
      let what =
        if case .vector = property.kind { "the members of its values" } else { "its member" }
      throw DecodingError.keyNotFound(
        key,
        DecodingError.Context(
          codingPath: codingPath,
          debugDescription: "\(property.name) needs \(key.stringValue), which names \(what)"))
    }
    return key
  }

  /// Throws if a union without a value has the name of a member.
  fileprivate func refuseLoneType(_ name: String) throws {
    let key = AnyKey(name + "_type")
    guard try hasValue(key), try decode(String.self, forKey: key) != "NONE" else { return }
    throw DecodingError.dataCorruptedError(
      forKey: key, in: self, debugDescription: "\(name) names a member and has no value")
  }
}

extension DecodingError {
  fileprivate static func corrupt(_ decoder: any Decoder, _ problem: String) -> DecodingError {
    .dataCorrupted(Context(codingPath: decoder.codingPath, debugDescription: problem))
  }
}

extension FlatBufferBuilder {
  /// Throws if what was decoded is too large for a buffer.
  func requireFit(_ decoder: any Decoder) throws {
    if let refusal { throw DecodingError.corrupt(decoder, refusal) }
  }
}

extension Property {
  /// Throws if a stored value has no meaning in the field's Swift type.
  fileprivate func checkForm(of decoder: any Decoder) throws {
    guard let form else { return }
    if case .vector = kind {
      var elements = try decoder.unkeyedContainer()
      while !elements.isAtEnd { try form.check(elements.superDecoder()) }
    } else {
      try form.check(decoder)
    }
  }
}

extension StoredForm {
  fileprivate static func check(_ decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let stored = try container.decode(Stored.self)
    guard value(stored) == nil else { return }
    throw DecodingError.dataCorruptedError(
      in: container, debugDescription: "\(stored) is not a valid \(Value.self)")
  }
}

extension UnionLayout {
  func decodeMember(
    _ name: String, from decoder: any Decoder, to builder: FlatBufferBuilder, level: Int = 0
  ) throws -> EncodedValue {
    if name == "NONE" { return .none }
    guard let member = members.first(where: { $0.name == name }) else {
      throw DecodingError.dataCorrupted(
        DecodingError.Context(
          codingPath: decoder.codingPath,
          debugDescription: "union \(self.name) has no member \(name)"))
    }
    switch try member.kind.decode(from: decoder, to: builder, level: level) {
    case .offset(let offset): return .union(tag: member.tag, offset)
    case .structure(let layout, let bytes):
      return .union(tag: member.tag, builder.indirect(layout, bytes))
    default: return .none
    }
  }
}

extension Property.Kind {
  /// - Parameter level: The number of tables around it.
  func decode(
    from decoder: any Decoder, to builder: FlatBufferBuilder, level: Int
  ) throws -> EncodedValue {
    switch self {
    case .scalar(let type, _): return .scalar(type, try Value(type, from: decoder))
    case .enumeration(let layout, _):
      let layout = layout()
      let raw = try layout.decode(from: decoder)
      return .scalar(layout.type, layout.constant(raw))
    case .string(let value):
      let text = try decoder.singleValueContainer().decode(String.self)
      if let value, value.utf8.elementsEqual(text.utf8) { return .none }
      return .offset(builder.string(text))
    case .structure(let layout):
      return .structure(layout(), try layout().decode(from: decoder))
    case .table(let layout):
      return .offset(try layout().decode(from: decoder, to: builder, level: level + 1))
    case .vector(let kind):
      var container = try decoder.unkeyedContainer()
      var list = EncodedElements(kind)
      while !container.isAtEnd {
        list.append(
          try kind.decode(from: container.superDecoder(), to: builder, level: level), to: builder)
      }
      return list.finish(in: builder)
    case .union, .array:
      throw DecodingError.dataCorrupted(
        DecodingError.Context(
          codingPath: decoder.codingPath, debugDescription: "a union belongs in a field or vector"))
    }
  }
}

extension StructLayout {
  /// The bytes of the struct that a decoder describes. Missing fields are zero, and so is null.
  func decode(from decoder: any Decoder) throws -> [UInt8] {
    let container = try decoder.container(keyedBy: AnyKey.self)
    var bytes = [UInt8](repeating: 0, count: size)
    for property in properties where try container.hasValue(AnyKey(property.name)) {
      let value = try container.superDecoder(forKey: AnyKey(property.name))
      try property.checkForm(of: value)
      try bytes.store(property.kind, from: value, at: property.offset)
    }
    return bytes
  }
}

extension [UInt8] {
  fileprivate mutating func store(
    _ kind: Property.Kind, from decoder: any Decoder, at offset: Int
  ) throws {
    switch kind {
    case .scalar(let type, _): store(try Value(type, from: decoder), type, at: offset)
    case .enumeration(let layout, _):
      let layout = layout()
      store(layout.constant(try layout.decode(from: decoder)), layout.type, at: offset)
    case .structure(let layout):
      let structure = try layout().decode(from: decoder)
      replaceSubrange(offset..<offset + structure.count, with: structure)
    case .array(let kind, let count):
      var container = try decoder.unkeyedContainer()
      for index in 0..<count where !container.isAtEnd {
        try store(kind, from: container.superDecoder(), at: offset + index * kind.inlineSize)
      }
      if !container.isAtEnd {
        throw DecodingError.corrupt(decoder, "the array has room for \(count) elements only")
      }
    case .string, .table, .union, .vector: break
    }
  }
}

extension Value {
  fileprivate init(_ type: ValueType, from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    self =
      switch type {
      case .bool: .bool(try container.decode(Bool.self))
      case .int8: .integer(Int64(try container.decode(Int8.self)))
      case .uint8: .integer(Int64(try container.decode(UInt8.self)))
      case .int16: .integer(Int64(try container.decode(Int16.self)))
      case .uint16: .integer(Int64(try container.decode(UInt16.self)))
      case .int32: .integer(Int64(try container.decode(Int32.self)))
      case .uint32: .integer(Int64(try container.decode(UInt32.self)))
      case .int64: .integer(try container.decode(Int64.self))
      case .uint64: .unsigned(try container.decode(UInt64.self))
      case .float: .real(try container.decodeFloat())
      case .double: .real(try container.decode(Double.self))
      case .string: .string(try container.decode(String.self))
      }
  }
}

extension SingleValueDecodingContainer {
  /// A number that fits a `Float`, rounded.
  fileprivate func decodeFloat() throws -> Double {
    let number = Double(try decode(Float.self))
    if number.isInfinite, let exact = try? decode(Double.self), exact.isFinite {
      throw DecodingError.dataCorruptedError(
        in: self, debugDescription: "\(exact) does not fit a Float")
    }
    return number
  }
}

extension EnumLayout {
  /// Decodes a name, names of flags, or a number.
  func decode(from decoder: any Decoder) throws -> Int64 {
    let container = try decoder.singleValueContainer()
    if let text = try? container.decode(String.self) {
      let names = isBitFlags ? text.split(separator: " ").map(String.init) : [text]
      return try names.reduce(0) { raw, name in
        guard let value = values.first(where: { $0.name == name })?.value else {
          throw DecodingError.dataCorruptedError(
            in: container, debugDescription: "\(self.name) has no value \(name)")
        }
        return raw | value
      }
    }
    if type == .uint64 { return Int64(bitPattern: try container.decode(UInt64.self)) }
    let raw = try container.decode(Int64.self)
    guard type.fitting(raw) != nil else {
      throw DecodingError.dataCorruptedError(
        in: container, debugDescription: "\(raw) does not fit \(name)")
    }
    return raw
  }
}
