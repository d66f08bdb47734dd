// Default implementations for generated values: finished buffers, equality, hashing and Codable,
// all based on layouts.
//
// A value is compared, hashed and encoded through the bytes that it writes. So it follows the same
// rules as rows (strings compare by their bytes, two encodings of the same content are equal), and
// these are implemented once.

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif
public import FlatBuffersRuntime

// MARK: Tables

extension FlatBuffersTable {
  /// The `v` attribute of the table in the schema.
  public static var flatBuffersSchemaVersion: String? { _layout.version }

  /// A finished FlatBuffers buffer with this value. It is empty, which is no buffer, if the value
  /// needs more than 2 GiB - 1 bytes.
  public func toData() -> Data {
    BuilderPool.withBuilder { builder in
      builder.finish(_encode(to: builder))
      return builder.isTooLarge ? Data() : Data(builder.bytes)
    }
  }

  /// Why a value does not fit its field; nil if all fit.
  public var _refusal: String? {
    BuilderPool.withBuilder { builder in
      _ = _encode(to: builder)
      return builder.refusal
    }
  }

  /// Reads a finished FlatBuffers buffer.
  /// - Throws: `VerificationError` if the bytes are not a sound buffer of this type.
  public init(verifying data: Data) throws(VerificationError) {
    self = try Self._layout.readingVerified(data) { table, _ in Self(table) }
  }

  /// Compares all fields by value: two encodings of the same content are equal. Values that are
  /// nested deeper than 72 tables, which no object can have, are compared down to there.
  public static func == (lhs: Self, rhs: Self) -> Bool {
    lhs.withEncodedBytes { left in
      rhs.withEncodedBytes { right in
        if equalBytes(left, right) { return true }
        guard let left = TableReader(root: left), let right = TableReader(root: right) else {
          return false
        }
        return _layout.equal(left, right)
      }
    }
  }

  /// Hashes the fields that `==` compares.
  public func hash(into hasher: inout Hasher) {
    withTable { Self._layout.hash($0, into: &hasher) }
  }

  /// Encodes the fields under the schema's names.
  public func encode(to encoder: any Encoder) throws {
    try requireFit(encoder.codingPath)
    try withTable { try Self._layout.encode($0, to: encoder) }
  }

  /// Decodes fields by the schema's names. Missing fields have their defaults.
  public init(from decoder: any Decoder) throws {
    self = try BuilderPool.withBuilder { builder in
      builder.finish(try Self._layout.decode(from: decoder, to: builder))
      try builder.requireFit(decoder)
      guard let table = TableReader(root: builder.bytes) else {
        preconditionFailure("a table was built that cannot be read")
      }
      return Self(table)
    }
  }

  func withEncodedBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
    try BuilderPool.withBuilder { builder in
      builder.finish(_encode(to: builder))
      return try body(builder.bytes)
    }
  }

  private func withTable<R>(_ body: (TableReader) throws -> R) rethrows -> R {
    try withEncodedBytes { bytes in
      guard let table = TableReader(root: bytes) else {
        preconditionFailure("a table was built that cannot be read")
      }
      return try body(table)
    }
  }
}

// MARK: Structs

extension FlatBuffersStruct {
  /// Why a value does not fit its field; nil if all fit.
  public var _refusal: String? { _conversionFailure }

  /// The `v` attribute of the struct in the schema.
  public static var flatBuffersSchemaVersion: String? { _layout.version }

  /// A finished FlatBuffers buffer with this value.
  public func toData() -> Data {
    BuilderPool.withBuilder { builder in
      builder.finish(builder.indirectStructure(self))
      return Data(builder.bytes)
    }
  }

  /// Reads a finished FlatBuffers buffer.
  /// - Throws: `VerificationError` if the bytes are not a sound buffer of this type.
  public init(verifying data: Data) throws(VerificationError) {
    let bytes = ContiguousArray(data)
    let value = bytes.withUnsafeBytes {
      StructReader(root: $0, size: Self._layout.size).map { Self($0) }
    }
    guard let value else {
      throw VerificationError(
        offset: 0, reason: "the buffer does not hold a struct of \(Self._layout.size) bytes")
    }
    self = value
  }

  /// Compares all fields by value: two encodings of the same content are equal. Values that are
  /// nested deeper than 72 tables, which no object can have, are compared down to there.
  public static func == (lhs: Self, rhs: Self) -> Bool {
    lhs.withStructure { left in rhs.withStructure { right in _layout.equal(left, right) } }
  }

  /// Hashes the fields that `==` compares.
  public func hash(into hasher: inout Hasher) {
    withStructure { structure in
      for property in Self._layout.properties {
        structure.value(of: property).hash(into: &hasher)
      }
    }
  }

  /// Encodes the fields under the schema's names.
  public func encode(to encoder: any Encoder) throws {
    try requireFit(encoder.codingPath)
    try withStructure { try Self._layout.encode($0, to: encoder) }
  }

  /// Decodes fields by the schema's names. Missing fields have their defaults.
  public init(from decoder: any Decoder) throws {
    let bytes = try Self._layout.decode(from: decoder)
    self = bytes.withUnsafeBytes { Self(StructReader(whole: $0)) }
  }

  private func withStructure<R>(_ body: (StructReader) throws -> R) rethrows -> R {
    let layout = Self._layout
    return try withUnsafeTemporaryAllocation(
      byteCount: layout.size, alignment: layout.alignment
    ) { memory in
      memory.initializeMemory(as: UInt8.self, repeating: 0)
      if let start = memory.baseAddress { _write(to: start) }
      return try body(StructReader(whole: UnsafeRawBufferPointer(memory)))
    }
  }
}

extension StructReader {
  /// A struct that occupies exactly these bytes.
  init(whole bytes: UnsafeRawBufferPointer) {
    guard let reader = StructReader(bytes, at: 0, size: bytes.count) else {
      preconditionFailure("a struct always fits its own size")
    }
    self = reader
  }
}

// MARK: Unions

extension FlatBuffersUnion {
  /// A union that stands alone is stored in a table with no other fields.
  private static var wrapper: TableLayout {
    TableLayout(Self._layout.name, slots: 2, [Property("value", 6, .union { Self._layout })])
  }

  /// Why a value does not fit its field; nil if all fit.
  public var _refusal: String? {
    BuilderPool.withBuilder { builder in
      _ = _encode(to: builder)
      return builder.refusal
    }
  }

  /// Always nil: a union has no version.
  public static var flatBuffersSchemaVersion: String? { nil }

  /// A finished FlatBuffers buffer with this value. It is empty, which is no buffer, if the value
  /// needs more than 2 GiB - 1 bytes.
  public func toData() -> Data {
    BuilderPool.withBuilder { builder in
      writeWrapper(to: builder)
      return builder.isTooLarge ? Data() : Data(builder.bytes)
    }
  }

  /// Reads a finished FlatBuffers buffer.
  /// - Throws: `VerificationError` if the bytes are not a sound buffer of this type.
  public init(verifying data: Data) throws(VerificationError) {
    let value = try Self.wrapper.readingVerified(data) { table, _ -> Self? in table.union(at: 6) }
    guard let value else { throw VerificationError(offset: 0, reason: "the union is empty") }
    self = value
  }

  /// Compares all fields by value: two encodings of the same content are equal. Values that are
  /// nested deeper than 72 tables, which no object can have, are compared down to there.
  public static func == (lhs: Self, rhs: Self) -> Bool {
    lhs._tag == rhs._tag
      && lhs.withValue { left in rhs.withValue { right in left.equals(right) } }
  }

  /// Hashes the fields that `==` compares.
  public func hash(into hasher: inout Hasher) {
    withValue { $0.hash(into: &hasher) }
  }

  /// Encodes the fields under the schema's names.
  public func encode(to encoder: any Encoder) throws {
    try requireFit(encoder.codingPath)
    try withValue { try $0.encode(to: encoder) }
  }

  /// Decodes fields by the schema's names. Missing fields have their defaults.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: AnyKey.self)
    let name = try container.decode(String.self, forKey: AnyKey("type"))
    let value = try container.superDecoder(forKey: AnyKey("value"))
    let union: Self? = try BuilderPool.withBuilder { builder in
      let layout = Self.wrapper
      builder.finish(
        try layout.write(to: builder) { _ in
          try Self._layout.decodeMember(name, from: value, to: builder)
        })
      try builder.requireFit(decoder)
      return TableReader(root: builder.bytes).flatMap { $0.union(at: 6) }
    }
    guard let union else {
      throw DecodingError.dataCorruptedError(
        forKey: AnyKey("type"), in: container,
        debugDescription: "\(name) is not a member with a value")
    }
    self = union
  }

  private func withWrapper<R>(
    _ body: (UnsafeRawBufferPointer, TableReader) throws -> R
  ) rethrows -> R {
    try BuilderPool.withBuilder { builder in
      writeWrapper(to: builder)
      guard let table = TableReader(root: builder.bytes) else {
        preconditionFailure("a table was built that cannot be read")
      }
      return try body(builder.bytes, table)
    }
  }

  private func writeWrapper(to builder: FlatBufferBuilder) {
    let value = _encode(to: builder)
    builder.startTable(slotCount: 2)
    builder.add(value, at: 6)
    builder.add(_tag, at: 4, default: 0)
    builder.finish(builder.endTable())
  }

  private func withValue<R>(_ body: (LayoutValue) throws -> R) rethrows -> R {
    try withWrapper { _, table in
      try body(table.value(of: Property("value", 6, .union { Self._layout })))
    }
  }
}

// MARK: Enums

extension FlatBuffersEnum {
  /// How values of this type are stored and compared.
  @inlinable
  public static var _valueType: ValueType { RawValue._valueType }
  /// The untyped form of this value.
  @inlinable
  public var _value: Value { rawValue._value }

  /// The enum value with a raw value; nil if there is none.
  public static func _reading(_ value: Value) -> Self? {
    RawValue._reading(value).flatMap { Self(rawValue: $0) }
  }

  /// Compares raw values.
  public static func < (lhs: Self, rhs: Self) -> Bool { lhs.rawValue < rhs.rawValue }

  /// Encodes the value as its name in the schema.
  public func encode(to encoder: any Encoder) throws {
    try Self._layout.encode(Int64(truncatingIfNeeded: rawValue), to: encoder)
  }

  /// Decodes the value from its name in the schema or its number.
  public init(from decoder: any Decoder) throws {
    let raw = try Self._layout.decode(from: decoder)
    guard let exact = Self.raw(raw), let value = Self(rawValue: exact) else {
      throw DecodingError.dataCorrupted(
        DecodingError.Context(
          codingPath: decoder.codingPath,
          debugDescription: "\(Self._layout.name) has no value \(raw)"))
    }
    self = value
  }

  private static func raw(_ value: Int64) -> RawValue? {
    _layout.type == .uint64
      ? RawValue(truncatingIfNeeded: value) : RawValue(exactly: value)
  }
}
