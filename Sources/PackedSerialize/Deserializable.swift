// What can be read back from packed bytes. Any bytes may come: they are read safely or refused.

public import Foundation
internal import StandardConformances

/// Bytes that are no value of the type that was asked for.
public enum DeserializeError: Error, Hashable, Sendable {
  /// A count that no memory could hold.
  case invalidLength
  /// Bytes that stand for no value: invalid UTF-8, an unknown raw value, a flag that is neither 0 nor 1.
  case invalidValue
  /// The value goes on behind the end of the bytes: the end offset that was needed, and the number of bytes there are.
  case endOfBufferReached(Int, Int)
}

extension DeserializeError: LocalizedError, CustomStringConvertible {
  /// What is wrong with the bytes, and what to do.
  public var description: String { sentence(problem, advice: recoverySuggestion) }

  /// What is wrong with the bytes.
  package var problem: String {
    switch self {
    case .invalidLength: "the bytes begin with a count that no memory could hold"
    case .invalidValue: "the bytes stand for no value of the type that was asked for"
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
public protocol Deserializable {
  /// Reads a value in field form.
  ///
  /// - Parameter deserializer: Stands on the first byte of the value, and behind the last one after it.
  /// - Throws: What is wrong with the bytes. The deserializer may then stand anywhere.
  /// - Returns: The value.
  static func unpack(with deserializer: inout Deserializer) throws(DeserializeError) -> sending Self

  /// Reads a value in key form, as `serializeKey(into:)` wrote it. The default reads the field form.
  ///
  /// - Parameter deserializer: Stands on the first byte of the value, and behind the last one after it.
  /// - Throws: What is wrong with the bytes.
  /// - Returns: The value.
  static func unpackKey(
    with deserializer: inout Deserializer
  ) throws(DeserializeError) -> sending Self
}

extension Deserializable {
  /// Reads the field form.
  ///
  /// - Parameter deserializer: Stands on the first byte of the value, and behind the last one after it.
  /// - Throws: What is wrong with the bytes.
  /// - Returns: The value.
  @inlinable
  public static func unpackKey(
    with deserializer: inout Deserializer
  ) throws(DeserializeError) -> sending Self {
    try unpack(with: &deserializer)
  }
}
