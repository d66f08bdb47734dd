// Integers: big-endian bytes. The sign bit of signed integers is flipped, so that negative numbers
// sort first.
//
// `Int` and `UInt` take 8 bytes on every machine.

extension FixedWidthInteger {
  /// The number of bytes of this type.
  @inlinable public var serializedSize: Int { Self.bitWidth / 8 }

  /// Writes the bytes of the number, most significant byte first.
  ///
  /// - Parameter buffer: Has room for the bytes; advanced past them.
  @inlinable
  public func serialize(into buffer: inout UnsafeMutableRawBufferPointer) {
    let size = Self.bitWidth / 8
    require(buffer.count >= size, "a value was serialized into a buffer that is too small")
    var rest = self
    for index in stride(from: size - 1, through: 0, by: -1) {
      buffer[index] = UInt8(truncatingIfNeeded: rest)
      rest >>= 8
    }
    buffer.dropWritten(size)
  }
}

extension FixedWidthInteger where Self: BitwiseCopyable {
  /// Writes the bytes of the number, most significant byte first.
  ///
  /// - Parameter buffer: Has room for the bytes; advanced past them.
  @inlinable
  public func serialize(into buffer: inout UnsafeMutableRawBufferPointer) {
    buffer.write(bigEndian)
  }
}

extension FixedWidthInteger where Self: Serializable {
  /// Accepts every number.
  ///
  /// - Parameter form: The form that the number is checked for.
  @inlinable
  public func validate(as form: SerializedForm) throws(SerializeError) {}

  /// True.
  @inlinable public static var keepsValuesDistinct: Bool { true }
}

extension FixedWidthInteger where Self: BitwiseCopyable & Serializable & UnsignedInteger {
  /// Writes the bytes of the number, most significant byte first.
  ///
  /// - Parameter writer: The key.
  @inlinable
  public func serializeKey(to writer: inout KeyWriter) { writer.write(bigEndian) }
}

extension FixedWidthInteger where Self: BitwiseCopyable & Sendable & UnsignedInteger {
  /// Reads a number, most significant byte first.
  ///
  /// - Parameter deserializer: Positioned at the first byte.
  /// - Throws: `endOfBufferReached` if there are too few bytes.
  /// - Returns: The number.
  @inlinable
  public static func unpack(
    with deserializer: inout Deserializer
  ) throws(DeserializeError) -> sending Self {
    Self(bigEndian: try deserializer.unsafeLoad(of: Self.self, sized: Self.bitWidth / 8))
  }
}

extension UInt8: Serializable, Deserializable {}
extension UInt16: Serializable, Deserializable {}
extension UInt32: Serializable, Deserializable {}
extension UInt64: Serializable, Deserializable {}
extension UInt128: Serializable, Deserializable {}

extension UInt: Serializable, Deserializable {
  /// 8, on every machine.
  @inlinable public var serializedSize: Int { 8 }

  /// Writes 8 bytes, most significant byte first.
  ///
  /// - Parameter buffer: Has room for the bytes; advanced past them.
  @inlinable
  public func serialize(into buffer: inout UnsafeMutableRawBufferPointer) {
    buffer.write(UInt64(self).bigEndian)
  }

  /// Writes 8 bytes, most significant byte first.
  ///
  /// - Parameter writer: The key.
  @inlinable
  public func serializeKey(to writer: inout KeyWriter) { writer.write(UInt64(self).bigEndian) }

  /// Reads 8 bytes.
  ///
  /// - Parameter deserializer: Positioned at the first byte.
  /// - Throws: `endOfBufferReached` if there are too few bytes, `invalidValue` for a number that
  ///   does not fit this machine's type.
  /// - Returns: The number.
  @inlinable
  public static func unpack(
    with deserializer: inout Deserializer
  ) throws(DeserializeError) -> sending UInt {
    guard let value = UInt(exactly: try UInt64.unpack(with: &deserializer)) else {
      throw .invalidValue
    }
    return value
  }
}

/// A signed integer whose bytes are those of an unsigned one of the same width, with the sign bit
/// flipped.
///
/// An implementation detail of the conformances below.
public protocol _SignedInOrder: FixedWidthInteger & SignedInteger & BitwiseCopyable & Sendable
where Magnitude: BitwiseCopyable & Sendable & UnsignedInteger {}

extension _SignedInOrder {
  /// Writes the bytes of the number with the sign bit flipped, most significant byte first.
  ///
  /// - Parameter buffer: Has room for the bytes; advanced past them.
  @inlinable
  public func serialize(into buffer: inout UnsafeMutableRawBufferPointer) {
    buffer.write((self ^ .min).bigEndian)
  }

  /// Reads a number with a flipped sign bit, most significant byte first.
  ///
  /// - Parameter deserializer: Positioned at the first byte.
  /// - Throws: `endOfBufferReached` if there are too few bytes.
  /// - Returns: The number.
  @inlinable
  public static func unpack(
    with deserializer: inout Deserializer
  ) throws(DeserializeError) -> sending Self {
    Self(bigEndian: try deserializer.unsafeLoad(of: Self.self, sized: Self.bitWidth / 8)) ^ .min
  }
}

extension _SignedInOrder where Self: Serializable {
  /// Writes the bytes of the number with the sign bit flipped, most significant byte first.
  ///
  /// - Parameter writer: The key.
  @inlinable
  public func serializeKey(to writer: inout KeyWriter) { writer.write((self ^ .min).bigEndian) }
}

extension Int8: _SignedInOrder, Serializable, Deserializable {}
extension Int16: _SignedInOrder, Serializable, Deserializable {}
extension Int32: _SignedInOrder, Serializable, Deserializable {}
extension Int64: _SignedInOrder, Serializable, Deserializable {}
extension Int128: _SignedInOrder, Serializable, Deserializable {}

extension Int: Serializable, Deserializable {
  /// 8, on every machine.
  @inlinable public var serializedSize: Int { 8 }

  /// Writes the number as an `Int64`.
  ///
  /// - Parameter buffer: Has room for the bytes; advanced past them.
  @inlinable
  public func serialize(into buffer: inout UnsafeMutableRawBufferPointer) {
    Int64(self).serialize(into: &buffer)
  }

  /// Writes the number as an `Int64`.
  ///
  /// - Parameter writer: The key.
  @inlinable
  public func serializeKey(to writer: inout KeyWriter) { Int64(self).serializeKey(to: &writer) }

  /// Reads an `Int64`.
  ///
  /// - Parameter deserializer: Positioned at the first byte.
  /// - Throws: `endOfBufferReached` if there are too few bytes, `invalidValue` for a number that
  ///   does not fit this machine's type.
  /// - Returns: The number.
  @inlinable
  public static func unpack(
    with deserializer: inout Deserializer
  ) throws(DeserializeError) -> sending Int {
    guard let value = Int(exactly: try Int64.unpack(with: &deserializer)) else {
      throw .invalidValue
    }
    return value
  }
}

extension Bool: Serializable, Deserializable {
  /// One.
  @inlinable public var serializedSize: Int { 1 }

  /// Writes 0 or 1.
  ///
  /// - Parameter buffer: Has room for the byte; advanced past it.
  @inlinable
  public func serialize(into buffer: inout UnsafeMutableRawBufferPointer) {
    buffer.write(UInt8(self ? 1 : 0))
  }

  /// Writes 0 or 1.
  ///
  /// - Parameter writer: The key.
  @inlinable
  public func serializeKey(to writer: inout KeyWriter) { writer.write(UInt8(self ? 1 : 0)) }

  /// Accepts every value.
  ///
  /// - Parameter form: The form that the value is checked for.
  @inlinable
  public func validate(as form: SerializedForm) throws(SerializeError) {}

  /// Reads a byte.
  ///
  /// - Parameter deserializer: Positioned at the byte.
  /// - Throws: `endOfBufferReached` if there is none, `invalidValue` unless it is 0 or 1.
  /// - Returns: True for 1.
  @inlinable
  public static func unpack(
    with deserializer: inout Deserializer
  ) throws(DeserializeError) -> sending Bool {
    switch try UInt8.unpack(with: &deserializer) {
    case 0: return false
    case 1: return true
    default: throw .invalidValue
    }
  }
}
