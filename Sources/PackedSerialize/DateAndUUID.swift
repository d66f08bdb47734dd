// Dates: milliseconds since 1970 as an `Int64`. Identifiers: their 16 bytes.
//
// A date that is read is written again as the same bytes, though a `Date` counts from 2001 in binary fractions and the product with 1000 is
// truncated: a key that was read finds its record.

public import Foundation

extension Date: Serializable, Deserializable {
  /// 8.
  @inlinable public var serializedSize: Int { 8 }

  /// Milliseconds since 1970, truncated toward zero; at the ends of `Int64` for dates beyond, and 0 for no number.
  @usableFromInline var milliseconds: Int64 {
    let value = timeIntervalSince1970 * 1000
    if let milliseconds = Int64(exactly: value.rounded(.towardZero)) { return milliseconds }
    return value.isNaN ? 0 : value < 0 ? .min : .max
  }

  /// The date that is written as these milliseconds.
  @usableFromInline init(milliseconds: Int64) {
    self.init(timeIntervalSince1970: Double(milliseconds) / 1000)
    if self.milliseconds == milliseconds { return }
    var step = timeIntervalSinceReferenceDate.ulp
    // One or two steps away from zero, if rounding fell short. Beyond 2^53 milliseconds there is nothing to mend.
    for _ in 0..<4 where self.milliseconds != milliseconds && abs(milliseconds) < 1 << 53 {
      let interval = timeIntervalSinceReferenceDate + (milliseconds < 0 ? -step : step)
      self.init(timeIntervalSinceReferenceDate: interval)
      step *= 2
    }
  }

  /// Writes the milliseconds since 1970, truncated toward zero. Differences below a millisecond vanish.
  ///
  /// - Parameter buffer: Has room for the bytes; replaced by what remains of it.
  @inlinable
  public func serialize(into buffer: inout UnsafeMutableRawBufferPointer) {
    milliseconds.serialize(into: &buffer)
  }

  /// Refuses dates that have no `Int64` of milliseconds.
  ///
  /// - Parameter form: What the bytes are for.
  /// - Throws: `dateOutOfRange`.
  public func validate(as form: SerializedForm) throws(SerializeError) {
    let value = (timeIntervalSince1970 * 1000).rounded(.towardZero)
    if Int64(exactly: value) == nil { throw .dateOutOfRange }
  }

  /// Reads milliseconds.
  ///
  /// - Parameter deserializer: Stands on the first byte.
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
  /// - Parameter buffer: Has room for the bytes; replaced by what remains of it.
  @inlinable
  public func serialize(into buffer: inout UnsafeMutableRawBufferPointer) {
    withUnsafeBytes(of: uuid) { buffer.write($0) }
  }

  /// Writes the bytes.
  ///
  /// - Parameter writer: The key.
  @inlinable
  public func serializeKey(to writer: inout KeyWriter) { writer.write(uuid) }

  /// Reads 16 bytes.
  ///
  /// - Parameter deserializer: Stands on the first byte.
  /// - Throws: `endOfBufferReached` if there are too few bytes.
  /// - Returns: The identifier.
  @inlinable
  public static func unpack(
    with deserializer: inout Deserializer
  ) throws(DeserializeError) -> sending UUID {
    UUID(uuid: try deserializer.unsafeLoad(of: uuid_t.self, sized: 16))
  }
}
