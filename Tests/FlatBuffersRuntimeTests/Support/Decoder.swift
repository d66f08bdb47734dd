// Decodes any value of a layout with the readers.
//
// A strict decoder throws if a field of a table cannot be read. This must not happen after the
// verifier has accepted a buffer. A tolerant decoder treats such a field as absent; it only must
// not crash.

import FlatBuffersRuntime

struct Unreadable: Error, CustomStringConvertible {
  let description: String
}

struct Decoder {
  var isStrict = true
  /// The number of parts that may still be read. Damaged buffers may refer to the same parts many
  /// times.
  var budget = 100_000
  /// The maximum nesting depth of tables.
  var maxDepth = 64

  mutating func table(_ reader: TableReader, _ layout: TableLayout, depth: Int = 1) throws -> Value
  {
    guard depth <= maxDepth else { throw Unreadable(description: "nested too deeply") }
    var values: [Value?] = []
    for field in layout.fields {
      try spend(1)
      values.append(try self.field(reader, field, depth))
    }
    return .record(values)
  }

  private mutating func field(
    _ reader: TableReader, _ field: TableLayout.Field, _ depth: Int
  ) throws -> Value? {
    let fieldOffset = field.offset
    switch field.kind {
    case .scalar(let kind): return scalar(reader, kind, fieldOffset, field.default)
    case .string:
      return try present(reader.string(at: fieldOffset).map(Value.string), reader, fieldOffset)
    case .structure(let layout):
      return try present(reader.structure(at: fieldOffset, size: layout.size), reader, fieldOffset)
        .map { structure($0, layout) }
    case .table(let layout):
      guard let child = try present(reader.table(at: fieldOffset), reader, fieldOffset) else {
        return nil
      }
      return try table(child, layout, depth: depth + 1)
    case .vector(let element):
      guard
        let vector = try present(
          reader.vector(at: fieldOffset, stride: element.size), reader, fieldOffset)
      else { return nil }
      return try self.vector(vector, element, depth)
    case .union(let layout):
      let type = Int(reader.scalar(at: fieldOffset - 2, default: UInt8(0)))
      guard type > 0, type <= layout.members.count, reader.contains(fieldOffset) else { return nil }
      let content: Value?
      switch layout.members[type - 1].kind {
      case .string: content = reader.string(at: fieldOffset).map(Value.string)
      case .structure(let layout):
        content = reader.indirectStructure(at: fieldOffset, size: layout.size)
          .map { structure($0, layout) }
      case .table(let layout):
        guard let child = try present(reader.table(at: fieldOffset), reader, fieldOffset) else {
          return nil
        }
        content = try table(child, layout, depth: depth + 1)
      default: fatalError("no such member of a union")
      }
      return try present(content, reader, fieldOffset).map { .union(type: type, $0) }
    case .unionVector(let layout):
      guard
        let types = try present(
          reader.vector(at: fieldOffset - 2, stride: 1), reader, fieldOffset - 2),
        let values = try present(reader.vector(at: fieldOffset, stride: 4), reader, fieldOffset),
        types.count == values.count
      else { return nil }
      try spend(types.count)
      let tags: [UInt8] = types.scalars()
      var elements: [Value] = []
      for (index, tag) in tags.enumerated() {
        elements.append(try unionElement(values, index, Int(tag), layout, depth))
      }
      return .vector(elements)
    case .array: fatalError("arrays are in structs only")
    }
  }

  private mutating func unionElement(
    _ values: VectorReader, _ index: Int, _ type: Int, _ layout: UnionLayout, _ depth: Int
  ) throws -> Value {
    let empty = Value.union(type: 0, .record([]))
    guard type > 0, type <= layout.members.count else { return empty }
    var content: Value?
    switch layout.members[type - 1].kind {
    case .string: content = values.string(index).map(Value.string)
    case .structure(let layout):
      content = values.indirectStructure(index, size: layout.size).map { structure($0, layout) }
    case .table(let layout):
      if let child = values.table(index) { content = try table(child, layout, depth: depth + 1) }
    default: fatalError("no such member of a union")
    }
    guard let content else {
      if isStrict { throw Unreadable(description: "element \(index) of a vector of unions") }
      return empty
    }
    return .union(type: type, content)
  }

  private mutating func vector(_ reader: VectorReader, _ kind: Kind, _ depth: Int) throws -> Value {
    switch kind {
    case .scalar(let kind):
      // Scalars need no recursion and are copied as a whole.
      return .vector(Self.scalars(reader, kind))
    case .structure(let layout):
      try spend(reader.count)
      return .vector((0..<reader.count).map { structure(reader.structure($0), layout) })
    case .string:
      try spend(reader.count)
      if isStrict {
        for index in 0..<reader.count where reader.utf8(index) == nil {
          throw Unreadable(description: "string \(index) of a vector")
        }
      }
      return .vector(reader.strings().map(Value.string))
    case .table(let layout):
      try spend(reader.count)
      var elements: [Value] = []
      for index in 0..<reader.count {
        guard let child = reader.table(index) else {
          if isStrict { throw Unreadable(description: "table \(index) of a vector") }
          continue
        }
        elements.append(try table(child, layout, depth: depth + 1))
      }
      return .vector(elements)
    default: fatalError("no vectors of \(kind)")
    }
  }

  private func structure(_ reader: StructReader, _ layout: StructLayout) -> Value {
    .record(layout.members.map { member(reader, member: $0.kind, at: $0.offset) })
  }

  private func member(_ reader: StructReader, member kind: Kind, at offset: Int) -> Value {
    switch kind {
    case .scalar(let kind): return Self.scalar(reader, kind, offset)
    case .structure(let layout):
      return structure(reader.structure(at: offset, size: layout.size), layout)
    case .array(let kind, let count):
      return .vector(
        (0..<count).map { member(reader, member: kind, at: offset + $0 * kind.size) })
    default: fatalError("no such member of a struct")
    }
  }

  private mutating func spend(_ parts: Int) throws {
    budget -= parts
    if budget < 0 { throw Unreadable(description: "too many parts") }
  }

  private func present<T>(_ value: T?, _ reader: TableReader, _ fieldOffset: Int) throws -> T? {
    if value == nil, isStrict, reader.contains(fieldOffset) {
      throw Unreadable(description: "field \(fieldOffset) of the table at \(reader.position)")
    }
    return value
  }
}

extension Decoder {
  private func scalar(
    _ reader: TableReader, _ kind: ScalarKind, _ fieldOffset: Int, _ default: Value?
  ) -> Value? {
    // Optional scalars and scalars with a default are read by different functions.
    func read<T: FlatBufferScalar>(_ wrap: (T) -> Value, _ unwrap: (Value) -> T) -> Value? {
      if let `default` { return wrap(reader.scalar(at: fieldOffset, default: unwrap(`default`))) }
      return (reader.scalar(at: fieldOffset) as T?).map(wrap)
    }
    switch kind {
    case .bool: return read(Value.bool, \.asBool)
    case .int8: return read({ (v: Int8) in .int(Int64(v)) }, { Int8($0.asInt) })
    case .int16: return read({ (v: Int16) in .int(Int64(v)) }, { Int16($0.asInt) })
    case .int32: return read({ (v: Int32) in .int(Int64(v)) }, { Int32($0.asInt) })
    case .int64: return read(Value.int, \.asInt)
    case .uint8: return read({ (v: UInt8) in .uint(UInt64(v)) }, { UInt8($0.asUInt) })
    case .uint16: return read({ (v: UInt16) in .uint(UInt64(v)) }, { UInt16($0.asUInt) })
    case .uint32: return read({ (v: UInt32) in .uint(UInt64(v)) }, { UInt32($0.asUInt) })
    case .uint64: return read(Value.uint, \.asUInt)
    case .float: return read({ (v: Float) in .float(Double(v)) }, { Float($0.asDouble) })
    case .double: return read(Value.float, \.asDouble)
    }
  }

  private static func scalar(_ reader: StructReader, _ kind: ScalarKind, _ offset: Int) -> Value {
    switch kind {
    case .bool: .bool(reader.scalar(at: offset))
    case .int8: .int(Int64(reader.scalar(at: offset) as Int8))
    case .int16: .int(Int64(reader.scalar(at: offset) as Int16))
    case .int32: .int(Int64(reader.scalar(at: offset) as Int32))
    case .int64: .int(reader.scalar(at: offset))
    case .uint8: .uint(UInt64(reader.scalar(at: offset) as UInt8))
    case .uint16: .uint(UInt64(reader.scalar(at: offset) as UInt16))
    case .uint32: .uint(UInt64(reader.scalar(at: offset) as UInt32))
    case .uint64: .uint(reader.scalar(at: offset))
    case .float: .float(Double(reader.scalar(at: offset) as Float))
    case .double: .float(reader.scalar(at: offset))
    }
  }

  private static func scalars(_ reader: VectorReader, _ kind: ScalarKind) -> [Value] {
    switch kind {
    case .bool: reader.scalars().map(Value.bool)
    case .int8: (reader.scalars() as [Int8]).map { .int(Int64($0)) }
    case .int16: (reader.scalars() as [Int16]).map { .int(Int64($0)) }
    case .int32: (reader.scalars() as [Int32]).map { .int(Int64($0)) }
    case .int64: reader.scalars().map(Value.int)
    case .uint8: (reader.scalars() as [UInt8]).map { .uint(UInt64($0)) }
    case .uint16: (reader.scalars() as [UInt16]).map { .uint(UInt64($0)) }
    case .uint32: (reader.scalars() as [UInt32]).map { .uint(UInt64($0)) }
    case .uint64: reader.scalars().map(Value.uint)
    case .float: (reader.scalars() as [Float]).map { .float(Double($0)) }
    case .double: reader.scalars().map(Value.float)
    }
  }
}
