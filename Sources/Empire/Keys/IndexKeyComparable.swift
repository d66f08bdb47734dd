// Types whose order is the order of their bytes.

public import Foundation
@_exported public import PackedSerialize
@_exported public import StandardConformances

/// A value that can be part of a key.
///
/// Conforming is a promise: comparing two values' key bytes, as `serializeKey(into:)` writes them, as unsigned bytes equals
/// comparing the values with `<`. And the bytes end by themselves: no value's bytes are the beginning of another one's.
///
///     enum Grade: UInt32, Serializable, Deserializable, IndexKeyComparable {
///       case low, middle, high
///       static func < (lhs: Grade, rhs: Grade) -> Bool { lhs.rawValue < rhs.rawValue }
///     }
public protocol IndexKeyComparable: Comparable {
  /// How many components of a key a value stands for. One, except for a `Tuple`.
  static var keyComponentCount: Int { get }
}

extension IndexKeyComparable {
  /// One.
  @inlinable public static var keyComponentCount: Int { 1 }
}

/// What a component of a query has to be.
public typealias QueryComponent = IndexKeyComparable & Serializable & Deserializable

/// The order is that of the UTF-8 bytes. `<` of `String` compares normal forms; they differ for strings in different ones.
extension String: IndexKeyComparable {}
extension Int: IndexKeyComparable {}
extension Int8: IndexKeyComparable {}
extension Int16: IndexKeyComparable {}
extension Int32: IndexKeyComparable {}
extension Int64: IndexKeyComparable {}
extension UInt: IndexKeyComparable {}
extension UInt16: IndexKeyComparable {}
extension UInt32: IndexKeyComparable {}
extension UInt64: IndexKeyComparable {}
extension Float: IndexKeyComparable {}
extension Double: IndexKeyComparable {}
extension Bool: IndexKeyComparable {}
extension Date: IndexKeyComparable {}
extension UUID: IndexKeyComparable {}

/// Bytes compare from the first to the last; a shorter value comes before a longer one that begins with it.
extension Data: @retroactive Comparable, IndexKeyComparable {
  /// Compares the bytes in order.
  public static func < (lhs: Data, rhs: Data) -> Bool { lhs.lexicographicallyPrecedes(rhs) }
}
