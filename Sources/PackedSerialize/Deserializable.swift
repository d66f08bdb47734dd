// Values that can be read from packed bytes. The bytes may be untrusted: they are read safely or
// rejected.

public import Foundation
internal import StandardConformances

/// An error of reading bytes that are not a value of the requested type.
public enum DeserializeError: Error, Hashable, Sendable {
  /// A count that is too large for any memory.
  case invalidLength
  /// Bytes that do not represent a value: invalid UTF-8, an unknown raw value, a flag that is
  /// neither 0 nor 1.
  case invalidValue
  /// The value extends beyond the end of the bytes: the end offset of the value, and the number of
  /// bytes.
  case endOfBufferReached(Int, Int)
}

extension DeserializeError: LocalizedError, CustomStringConvertible {
  /// What is wrong with the bytes, and what to do.
  public var description: String { sentence(problem, advice: recoverySuggestion) }

  /// What is wrong with the bytes.
  package var problem: String {
    switch self {
    case .invalidLength: "the bytes begin with a count that is too large for any memory"
    case .invalidValue: "the bytes do not represent a value of the requested type"
    case .endOfBufferReached(let end, let count):
      "the value ends at byte \(end), but there are only \(count) bytes"
    }
  }

  /// The same as ``description``.
  public var errorDescription: String? { description }

  /// What can be done about it.
  public var recoverySuggestion: String? {
    "read the bytes with the types, and in the order, in which they were written"
  }
}

/// A value that can be read from packed bytes.
///
/// A conforming type reads its members in the order in which they were written:
///
///     extension Point: Deserializable {
///       static func unpack(
///         with deserializer: inout Deserializer
///       ) throws(DeserializeError) -> sending Point {
///         let x = try Int.unpack(with: &deserializer)
///         let y = try Int.unpack(with: &deserializer)
///         return Point(x: x, y: y)
///       }
///     }
///
/// A type with a raw value only declares the conformance. A `Codable` type declares
/// ``JSONSerializable`` instead.
public protocol Deserializable: SendableMetatype {
  /// Reads a value in field form.
  ///
  /// - Parameter deserializer: Positioned at the first byte of the value; afterwards, after its
  ///   last byte.
  /// - Throws: The reason why the bytes cannot be read. The position of the deserializer is then
  ///   unspecified.
  /// - Returns: The value.
  static func unpack(with deserializer: inout Deserializer) throws(DeserializeError) -> sending Self

  /// Reads a value in key form, as `serializeKey(into:)` wrote it. The default reads the field
  /// form.
  ///
  /// - Parameter deserializer: Positioned at the first byte of the value; afterwards, after its
  ///   last byte.
  /// - Throws: The reason why the bytes cannot be read.
  /// - Returns: The value.
  static func unpackKey(
    with deserializer: inout Deserializer
  ) throws(DeserializeError) -> sending Self
}

extension Deserializable {
  /// Reads the field form.
  ///
  /// - Parameter deserializer: Positioned at the first byte of the value; afterwards, after its
  ///   last byte.
  /// - Throws: The reason why the bytes cannot be read.
  /// - Returns: The value.
  @inlinable
  public static func unpackKey(
    with deserializer: inout Deserializer
  ) throws(DeserializeError) -> sending Self {
    try unpack(with: &deserializer)
  }
}
