// Floating-point numbers: their bits, big-endian, with the sign bit of positive numbers set and all
// bits of negative ones flipped, so that the bytes sort like the numbers.
//
// In a key, 0.0 and -0.0 are written alike, because they are equal, and NaN is rejected. As a
// field, every value is read back bit for bit.

/// A floating-point number with the bit pattern of an integer.
///
/// An implementation detail of the conformances below.
public protocol _BitsInOrder: BinaryFloatingPoint, Sendable, Serializable, Deserializable {
  /// The integer.
  associatedtype _Bits: FixedWidthInteger & BitwiseCopyable & Sendable & UnsignedInteger
  /// The bits of the number.
  var bitPattern: _Bits { get }
  /// The number with these bits.
  init(bitPattern: _Bits)
}

extension _BitsInOrder {
  /// The number of bytes of this type.
  @inlinable public var serializedSize: Int { _Bits.bitWidth / 8 }

  /// Writes the bits in order, the most significant byte first.
  ///
  /// - Parameter buffer: Has room for the bytes; advanced past them.
  @inlinable
  public func serialize(into buffer: inout UnsafeMutableRawBufferPointer) {
    let bits = bitPattern
    let sign: _Bits = 1 << (_Bits.bitWidth - 1)
    buffer.write((bits & sign == 0 ? bits | sign : ~bits).bigEndian)
  }

  /// Writes the same as `serialize(into:)`, but 0 for -0.
  ///
  /// - Parameter buffer: Has room for the bytes; advanced past them.
  @inlinable
  public func serializeKey(into buffer: inout UnsafeMutableRawBufferPointer) {
    (isZero ? 0 : self).serialize(into: &buffer)
  }

  /// Writes the same as `serializeKey(into:)`, but fails for NaN.
  ///
  /// - Parameter writer: The key.
  @inlinable
  public func serializeKey(to writer: inout KeyWriter) {
    if isNaN { return writer.refuse(.notANumber) }
    writer.write(size: _Bits.bitWidth / 8) { serializeKey(into: &$0) }
  }

  /// Rejects NaN in a key.
  ///
  /// - Parameter form: The form that the value is checked for.
  /// - Throws: `notANumber`.
  @inlinable
  public func validate(as form: SerializedForm) throws(SerializeError) {
    if form == .key && isNaN { throw .notANumber }
  }

  /// True.
  @inlinable public static var keepsValuesDistinct: Bool { true }

  /// Reads a number.
  ///
  /// - Parameter deserializer: Positioned at the first byte.
  /// - Throws: `endOfBufferReached` if there are too few bytes.
  /// - Returns: The number.
  @inlinable
  public static func unpack(
    with deserializer: inout Deserializer
  ) throws(DeserializeError) -> sending Self {
    let bits = try _Bits.unpack(with: &deserializer)
    let sign: _Bits = 1 << (_Bits.bitWidth - 1)
    return Self(bitPattern: bits & sign == 0 ? ~bits : bits ^ sign)
  }
}

extension Float: _BitsInOrder {}
extension Double: _BitsInOrder {}
