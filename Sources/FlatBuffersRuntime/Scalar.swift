// Scalars: the fixed-size numbers and Bool that fields, structs and vectors hold inline.
//
// Reading turns any bytes into a valid value. Only Bool needs special treatment: a Swift Bool must
// be 0 or 1 in memory, so every nonzero byte reads as true.

/// A value that FlatBuffers stores inline in its machine representation: a Bool, an integer or a
/// floating-point number.
///
/// The conforming types are those of the format; enums are stored as their raw value.
public protocol FlatBufferScalar: BitwiseCopyable, Sendable {
  /// Reads a value from memory that may be unaligned. As many bytes as the size of `Self` must be
  /// readable.
  static func read(from memory: UnsafeRawPointer) -> Self

  /// Whether both values have the same bits. Distinguishes -0.0 from 0.0; a NaN equals itself.
  func hasSameBits(as other: Self) -> Bool

  /// Whether any bytes are a valid value, so that vectors can be copied as a whole.
  static var acceptsAnyBytes: Bool { get }
}

extension FlatBufferScalar {
  /// Reads the bytes unchanged.
  @inlinable @inline(__always)
  public static func read(from memory: UnsafeRawPointer) -> Self {
    memory.loadUnaligned(as: Self.self)
  }

  /// True: numbers have no invalid representation.
  @inlinable @inline(__always)
  public static var acceptsAnyBytes: Bool { true }
}

extension FlatBufferScalar where Self: FixedWidthInteger {
  /// Integers have the same bits when they are equal.
  @inlinable @inline(__always)
  public func hasSameBits(as other: Self) -> Bool { self == other }
}

extension Int8: FlatBufferScalar {}
extension Int16: FlatBufferScalar {}
extension Int32: FlatBufferScalar {}
extension Int64: FlatBufferScalar {}
extension UInt8: FlatBufferScalar {}
extension UInt16: FlatBufferScalar {}
extension UInt32: FlatBufferScalar {}
extension UInt64: FlatBufferScalar {}

extension Float: FlatBufferScalar {
  /// Compares the bit patterns.
  @inlinable @inline(__always)
  public func hasSameBits(as other: Float) -> Bool { bitPattern == other.bitPattern }
}

extension Double: FlatBufferScalar {
  /// Compares the bit patterns.
  @inlinable @inline(__always)
  public func hasSameBits(as other: Double) -> Bool { bitPattern == other.bitPattern }
}

extension Bool: FlatBufferScalar {
  /// Reads any nonzero byte as true.
  @inlinable @inline(__always)
  public static func read(from memory: UnsafeRawPointer) -> Bool {
    memory.load(as: UInt8.self) != 0
  }

  /// Compares the values.
  @inlinable @inline(__always)
  public func hasSameBits(as other: Bool) -> Bool { self == other }

  /// False: only 0 and 1 are valid in memory.
  @inlinable @inline(__always)
  public static var acceptsAnyBytes: Bool { false }
}
