// Floating-point numbers: their bits, with the sign bit of positive numbers set and all bits of negative ones flipped, so that the
// bytes are in order. Big-endian.
//
// As a key, zero is written one way, because 0.0 and -0.0 are equal; and what is not a number has no place. As a field every
// value comes back bit for bit.

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
  /// - Parameter buffer: Has room for the bytes; replaced by what remains of it.
  @inlinable
  public func serialize(into buffer: inout UnsafeMutableRawBufferPointer) {
    let bits = bitPattern
    let sign: _Bits = 1 << (_Bits.bitWidth - 1)
    buffer.write((bits & sign == 0 ? bits | sign : ~bits).bigEndian)
  }

  /// Writes the same as `serialize(into:)`, but 0 for -0.
  ///
  /// - Parameter buffer: Has room for the bytes; replaced by what remains of it.
  @inlinable
  public func serializeKey(into buffer: inout UnsafeMutableRawBufferPointer) {
    (isZero ? 0 : self).serialize(into: &buffer)
  }

  /// Writes the same as `serializeKey(into:)`, and refuses what is not a number.
  ///
  /// - Parameter writer: The key.
  @inlinable
  public func serializeKey(to writer: inout KeyWriter) {
    if isNaN { return writer.refuse(.notANumber) }
    writer.write(size: _Bits.bitWidth / 8) { serializeKey(into: &$0) }
  }

  /// Refuses a key that is not a number.
  ///
  /// - Parameter form: What the bytes are for.
  /// - Throws: `notANumber`.
  @inlinable
  public func validate(as form: SerializedForm) throws(SerializeError) {
    if form == .key && isNaN { throw .notANumber }
  }

  /// Reads a number.
  ///
  /// - Parameter deserializer: Stands on the first byte.
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
