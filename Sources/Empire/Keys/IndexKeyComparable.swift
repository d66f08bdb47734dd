// Types whose order is that of their serialized bytes.

public import Foundation
@_exported public import PackedSerialize
@_exported public import StandardConformances

/// A value that can be part of a key.
///
/// A conforming type guarantees two properties of the bytes that `serializeKey(into:)` writes.
/// Comparing them as unsigned bytes gives the same order as comparing the values with `<`. And they
/// are self-delimiting: no value's bytes are a prefix of another value's bytes.
///
///     enum Grade: UInt32, Serializable, Deserializable, IndexKeyComparable {
///       case low, middle, high
///       static func < (lhs: Grade, rhs: Grade) -> Bool { lhs.rawValue < rhs.rawValue }
///     }
public protocol IndexKeyComparable: Comparable {
  /// The number of key components in a value: one, except for a `Tuple`.
  static var keyComponentCount: Int { get }
}

extension IndexKeyComparable {
  /// One.
  @inlinable public static var keyComponentCount: Int { 1 }
}

/// The requirements for a component of a query.
public typealias QueryComponent = IndexKeyComparable & Serializable & Deserializable

/// The order is that of the UTF-8 bytes. `<` of `String` compares normalized strings, so the two
/// orders differ for strings in different normalization forms.
extension String: IndexKeyComparable {}
extension Int: IndexKeyComparable {}
extension Int8: IndexKeyComparable {}
extension Int16: IndexKeyComparable {}
extension Int32: IndexKeyComparable {}
extension Int64: IndexKeyComparable {}
extension Int128: IndexKeyComparable {}
extension UInt: IndexKeyComparable {}
extension UInt8: IndexKeyComparable {}
extension UInt16: IndexKeyComparable {}
extension UInt32: IndexKeyComparable {}
extension UInt64: IndexKeyComparable {}
extension UInt128: IndexKeyComparable {}
extension Float: IndexKeyComparable {}
extension Double: IndexKeyComparable {}
extension Decimal: IndexKeyComparable {}
extension Bool: IndexKeyComparable {}
extension Date: IndexKeyComparable {}
extension UUID: IndexKeyComparable {}

/// Bytes are compared in order; a value sorts before every longer value that begins with it.
extension Data: @retroactive Comparable, IndexKeyComparable {
  /// Compares the bytes in order.
  public static func < (lhs: Data, rhs: Data) -> Bool { lhs.lexicographicallyPrecedes(rhs) }
}
