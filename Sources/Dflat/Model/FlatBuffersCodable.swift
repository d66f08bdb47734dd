// What generated values can do, and what generated code supplies for it.
//
// Generated types state their layout and how they read and write themselves. Everything else (finished buffers, JSON,
// descriptions) is done here and in the files beside this one, once for all types, by walking layouts.

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif
public import FlatBuffersRuntime

/// A value that can be written as a finished FlatBuffers buffer.
public protocol FlatBuffersEncodable {
  /// The schema's `v` attribute for this type; nil without one.
  static var flatBuffersSchemaVersion: String? { get }
  /// A finished buffer, without size prefix or file identifier. A value that does not fit its field is left out.
  func toData() -> Data
  /// Why `toData()` leaves a value out: it does not fit its field. nil if all do.
  var _refusal: String? { get }
}

extension FlatBuffersEncodable {
  /// Values of stored types always fit.
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
  /// The schema's `v` attribute for this type; nil without one.
  static var flatBuffersSchemaVersion: String? { get }
  /// Reads a finished buffer.
  /// - Throws: `VerificationError` if the bytes are not a sound buffer of this type.
  init(verifying data: Data) throws(VerificationError)
}

/// Both ways.
public typealias FlatBuffersCodable = FlatBuffersEncodable & FlatBuffersDecodable

/// A generated table that is a plain value. Conformances are generated.
public protocol FlatBuffersTable: FlatBuffersEncodable, FlatBuffersDecodable, Codable, Hashable,
  Sendable
{
  static var _layout: TableLayout { get }
  /// Reads the fields. What is absent or malformed reads as its default.
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
  /// Writes the fields to zeroed memory of the struct's size; what does not fit is not written.
  func _write(to memory: UnsafeMutableRawPointer)
  /// The first field whose value does not fit, in words; nil if all do.
  var _misfit: String? { get }
}

extension FlatBuffersStruct {
  /// Values of stored types always fit.
  @inlinable public var _misfit: String? { nil }
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
  /// The table whose fields are all at their defaults: what a required one reads as that is not there.
  public static var _empty: Self { TableReader.withEmpty { Self($0) } }
}

/// A generated union. Conformances are generated.
public protocol FlatBuffersUnion: FlatBuffersEncodable, FlatBuffersDecodable, Codable, Hashable,
  Sendable
{
  static var _layout: UnionLayout { get }
  /// Reads a member; nil for tag 0, an unknown tag, or a value that is not there.
  init?(_ member: UnionReader)
  /// The member's tag, from 1 up.
  var _tag: UInt8 { get }
  /// Writes the member's value into a builder.
  func _encode(to builder: FlatBufferBuilder) -> FlatBufferBuilder.Offset
}

/// A generated enum. Conformances are generated.
///
/// Encoded as its schema name in JSON and other coders, by number if it has none; decoded from either.
public protocol FlatBuffersEnum: DflatFriendlyValue, RawRepresentable, Codable
where RawValue: DflatFriendlyValue & FixedWidthInteger & FlatBufferScalar {
  static var _layout: EnumLayout { get }
}
