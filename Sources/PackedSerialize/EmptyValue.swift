// The value without bytes: what a record without fields stores.

/// A value that occupies no bytes. It is no key.
public struct EmptyValue: Sendable, Equatable, Hashable, Serializable, Deserializable {
  /// The only value there is.
  @inlinable public init() {}

  /// None.
  @inlinable public var serializedSize: Int { 0 }

  /// Writes nothing.
  ///
  /// - Parameter buffer: Stays as it is.
  @inlinable public func serialize(into buffer: inout UnsafeMutableRawBufferPointer) {}

  /// Reads nothing.
  ///
  /// - Parameter deserializer: Stays where it is.
  /// - Returns: The only value there is.
  @inlinable
  public static func unpack(
    with deserializer: inout Deserializer
  ) throws(DeserializeError) -> sending EmptyValue { EmptyValue() }
}
