// Dates: milliseconds since 1970 as an `Int64`. Identifiers: their 16 bytes.
//
// A date that was read is written as the same bytes again, so that a key that was read finds its
// record. This needs care, because a `Date` counts seconds from 2001 as a binary fraction, and the
// product with 1000 is truncated.

public import Foundation

extension Date: Serializable, Deserializable {
  /// 8.
  @inlinable public var serializedSize: Int { 8 }

  /// Milliseconds since 1970, truncated toward zero. Clamped to the range of `Int64`; 0 for NaN.
  @usableFromInline var milliseconds: Int64 {
    let value = timeIntervalSince1970 * 1000
    if let milliseconds = Int64(exactly: value.rounded(.towardZero)) { return milliseconds }
    return value.isNaN ? 0 : value < 0 ? .min : .max
  }

  /// The date that is written as these milliseconds, if there is one.
  @usableFromInline init(milliseconds: Int64) {
    self.init(timeIntervalSince1970: Double(milliseconds) / 1000)
    if self.milliseconds == milliseconds { return }
    // Rounding has missed the millisecond. Small steps away from zero nearly always find it; where
    // the seconds since 1970 have fewer bits after the point than those since 2001, as before the
    // latter reach a power of two, they step over it.
    let interval = timeIntervalSinceReferenceDate
    let fine = milliseconds < 0 ? -interval.ulp : interval.ulp
    let coarse = max(interval.ulp, timeIntervalSince1970.ulp)
    for step in [fine, 3 * fine, 7 * fine, 15 * fine, coarse, -coarse, 2 * coarse, -2 * coarse] {
      let near = Date(timeIntervalSinceReferenceDate: interval + step)
      if near.milliseconds == milliseconds {
        self = near
        return
      }
    }
    // Beyond 2^43 seconds, more than one millisecond lies between two dates, and not every number
    // is that of a date. This one is near.
  }

  /// Writes the milliseconds since 1970, truncated toward zero. Differences of less than a
  /// millisecond are lost.
  ///
  /// - Parameter buffer: Has room for the bytes; advanced past them.
  @inlinable
  public func serialize(into buffer: inout UnsafeMutableRawBufferPointer) {
    milliseconds.serialize(into: &buffer)
  }

  /// Rejects dates whose milliseconds do not fit `Int64`.
  ///
  /// - Parameter form: The form that the value is checked for.
  /// - Throws: `dateOutOfRange`.
  public func validate(as form: SerializedForm) throws(SerializeError) {
    let value = (timeIntervalSince1970 * 1000).rounded(.towardZero)
    if Int64(exactly: value) == nil { throw .dateOutOfRange }
  }

  /// Reads milliseconds.
  ///
  /// - Parameter deserializer: Positioned at the first byte.
  /// - Throws: `endOfBufferReached` if there are too few bytes.
  /// - Returns: A date that is written as the same bytes.
  @inlinable
  public static func unpack(
    with deserializer: inout Deserializer
  ) throws(DeserializeError) -> sending Date {
    Date(milliseconds: try Int64.unpack(with: &deserializer))
  }
}

extension UUID: Serializable, Deserializable {
  /// 16.
  @inlinable public var serializedSize: Int { 16 }

  /// Writes the bytes.
  ///
  /// - Parameter buffer: Has room for the bytes; advanced past them.
  @inlinable
  public func serialize(into buffer: inout UnsafeMutableRawBufferPointer) {
    withUnsafeBytes(of: uuid) { buffer.write($0) }
  }

  /// Writes the bytes.
  ///
  /// - Parameter writer: The key.
  @inlinable
  public func serializeKey(to writer: inout KeyWriter) { writer.write(uuid) }

  /// Accepts every value.
  ///
  /// - Parameter form: The form that the value is checked for.
  @inlinable
  public func validate(as form: SerializedForm) throws(SerializeError) {}

  /// True.
  @inlinable public static var keepsValuesDistinct: Bool { true }

  /// Reads 16 bytes.
  ///
  /// - Parameter deserializer: Positioned at the first byte.
  /// - Throws: `endOfBufferReached` if there are too few bytes.
  /// - Returns: The identifier.
  @inlinable
  public static func unpack(
    with deserializer: inout Deserializer
  ) throws(DeserializeError) -> sending UUID {
    UUID(uuid: try deserializer.unsafeLoad(of: uuid_t.self, sized: 16))
  }
}
