// A value without bytes, which a record without fields stores.

/// A value that occupies no bytes. It cannot be a key.
public struct EmptyValue: Sendable, Equatable, Hashable, Serializable, Deserializable {
  /// Creates the only value.
  @inlinable public init() {}

  /// 0.
  @inlinable public var serializedSize: Int { 0 }

  /// Writes nothing.
  ///
  /// - Parameter buffer: Not changed.
  @inlinable public func serialize(into buffer: inout UnsafeMutableRawBufferPointer) {}

  /// True.
  @inlinable public static var keepsValuesDistinct: Bool { true }

  /// Reads nothing.
  ///
  /// - Parameter deserializer: Not advanced.
  /// - Returns: The only value.
  @inlinable
  public static func unpack(
    with deserializer: inout Deserializer
  ) throws(DeserializeError) -> sending EmptyValue { EmptyValue() }
}
