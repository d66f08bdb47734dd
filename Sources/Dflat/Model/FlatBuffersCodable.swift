// The protocols of generated values, and what generated code provides for them.
//
// Generated types provide their layout, and how to read and write them. Everything else (finished
// buffers, JSON, descriptions) is implemented here and in the neighbouring files, once for all
// types, by walking layouts.

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif
public import FlatBuffersRuntime

/// A value that can be written as a finished FlatBuffers buffer.
public protocol FlatBuffersEncodable {
  /// The schema's `v` attribute for this type; nil if there is none.
  static var flatBuffersSchemaVersion: String? { get }
  /// A finished buffer, without size prefix or file identifier. Values that do not fit their field
  /// are left out.
  func toData() -> Data
  /// Why `toData()` leaves a value out because it does not fit its field; nil if all values fit.
  var _refusal: String? { get }
}

extension FlatBuffersEncodable {
  /// Always nil: values of stored types fit their fields.
  public var _refusal: String? { nil }

  /// Throws if a value does not fit its field.
  func requireFit(_ path: [any CodingKey] = []) throws {
    guard let refusal = _refusal else { return }
    throw EncodingError.invalidValue(
      self, EncodingError.Context(codingPath: path, debugDescription: refusal))
  }
}

/// A value that can be read from a finished FlatBuffers buffer.
public protocol FlatBuffersDecodable {
  /// The schema's `v` attribute for this type; nil if there is none.
  static var flatBuffersSchemaVersion: String? { get }
  /// Reads a finished buffer.
  /// - Throws: `VerificationError` if the bytes are not a sound buffer of this type.
  init(verifying data: Data) throws(VerificationError)
}

/// A value that can be written to and read from a finished FlatBuffers buffer.
public typealias FlatBuffersCodable = FlatBuffersEncodable & FlatBuffersDecodable

/// A generated table that is a plain value. Conformances are generated.
public protocol FlatBuffersTable: FlatBuffersEncodable, FlatBuffersDecodable, Codable, Hashable,
  Sendable
{
  static var _layout: TableLayout { get }
  /// Reads the fields. Absent and malformed values read as their defaults.
  init(_ table: TableReader)
  /// Writes the table into a builder.
  func _encode(to builder: FlatBufferBuilder) -> FlatBufferBuilder.Offset
}

/// A generated fixed struct. Conformances are generated.
public protocol FlatBuffersStruct: FlatBuffersEncodable, FlatBuffersDecodable, Codable, Hashable,
  Sendable
{
  static var _layout: StructLayout { get }
  init(_ structure: StructReader)
  /// Writes the fields to zeroed memory of the struct's size. Values that do not fit are not
  /// written.
  func _write(to memory: UnsafeMutableRawPointer)
  /// A description of the first field whose value does not fit; nil if all fit.
  var _conversionFailure: String? { get }
}

extension FlatBuffersStruct {
  /// Always nil: values of stored types fit their fields.
  @inlinable public var _conversionFailure: String? { nil }
  /// The struct whose fields are all zero.
  public static var _empty: Self {
    withUnsafeTemporaryAllocation(
      byteCount: _layout.size, alignment: _layout.alignment
    ) { memory in
      memory.initializeMemory(as: UInt8.self, repeating: 0)
      return Self(StructReader(whole: UnsafeRawBufferPointer(memory)))
    }
  }
}

extension FlatBuffersTable {
  /// The table with all fields at their defaults, for a required table that is missing.
  public static var _empty: Self { TableReader.withEmpty { Self($0) } }
}

/// A generated union. Conformances are generated.
public protocol FlatBuffersUnion: FlatBuffersEncodable, FlatBuffersDecodable, Codable, Hashable,
  Sendable
{
  static var _layout: UnionLayout { get }
  /// Reads a member; nil for tag 0, an unknown tag, or a missing value.
  init?(_ member: UnionReader)
  /// The member's tag, from 1 up.
  var _tag: UInt8 { get }
  /// Writes the member's value into a builder.
  func _encode(to builder: FlatBufferBuilder) -> FlatBufferBuilder.Offset
}

/// A generated enum. Conformances are generated.
///
/// JSON and other coders encode it as its name in the schema, or as its number if it has none, and
/// decode both.
public protocol FlatBuffersEnum: DflatFriendlyValue, RawRepresentable, Codable
where RawValue: DflatFriendlyValue & FixedWidthInteger & FlatBufferScalar {
  static var _layout: EnumLayout { get }
}
