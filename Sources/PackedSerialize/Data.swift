// Bytes. As a field: a count, then the bytes. As a key: a self-delimiting form that sorts by the
// bytes.
//
// Key form: each byte unchanged, except that 00 is written as 00 FF; then the terminator 00
// 00. A shorter value ends with 00 00 where a longer one has 00 FF or a greater byte, so it sorts
// first, and no value is a prefix of another one.

public import Foundation
import Platform

extension Data: Serializable, Deserializable {
  /// The bytes, and 8 for their count.
  @inlinable public var serializedSize: Int { 8 + count }

  /// Writes the count as a `UInt`, then the bytes.
  ///
  /// - Parameter buffer: Has room for the bytes; advanced past them.
  @inlinable
  public func serialize(into buffer: inout UnsafeMutableRawBufferPointer) {
    UInt(count).serialize(into: &buffer)
    withUnsafeBytes { buffer.write($0) }
  }

  /// The bytes, one more for each that is zero, and two for the terminator.
  public var serializedKeySize: Int {
    withUnsafeBytes { bytes in
      bytes.reduce(bytes.count + 2) { $1 == 0 ? $0 + 1 : $0 }
    }
  }

  /// Writes the form that sorts by the bytes: 00 as 00 FF, and 00 00 at the end.
  ///
  /// - Parameter buffer: Has room for the bytes; advanced past them.
  public func serializeKey(into buffer: inout UnsafeMutableRawBufferPointer) {
    withUnsafeBytes { bytes in
      var rest = bytes
      while let zero = rest.firstIndex(of: 0) {
        buffer.write(UnsafeRawBufferPointer(rebasing: rest[...zero]))
        buffer.write(0xFF as UInt8)
        rest = UnsafeRawBufferPointer(rebasing: rest[(zero + 1)...])
      }
      buffer.write(rest)
    }
    buffer.write(0 as UInt16)
  }

  /// Accepts every value.
  ///
  /// - Parameter form: The form that the value is checked for.
  @inlinable
  public func validate(as form: SerializedForm) throws(SerializeError) {}

  /// True.
  @inlinable public static var keepsValuesDistinct: Bool { true }

  /// Reads a count, then that many bytes.
  ///
  /// - Parameter deserializer: Positioned at the first byte of the count.
  /// - Throws: `endOfBufferReached` if there are too few bytes, `invalidLength` for a count above
  ///   `Int.max`.
  /// - Returns: A copy of the bytes.
  @inlinable
  public static func unpack(
    with deserializer: inout Deserializer
  ) throws(DeserializeError) -> sending Data {
    guard let count = Int(exactly: try UInt64.unpack(with: &deserializer)) else {
      throw .invalidLength
    }
    try deserializer.require(count)
    let bytes = deserializer.bytes.extracting(
      unchecked: deserializer.offset..<deserializer.offset &+ count)
    let data = bytes.withUnsafeBytes { Data($0) }
    try deserializer.advance(by: count)
    return data
  }

  /// Reads the key form.
  ///
  /// - Parameter deserializer: Positioned at the first byte.
  /// - Throws: `endOfBufferReached` if there is no terminator, `invalidValue` for a 00 that is
  ///   followed by neither 00 nor FF.
  /// - Returns: The bytes.
  public static func unpackKey(
    with deserializer: inout Deserializer
  ) throws(DeserializeError) -> sending Data {
    var data = Data()
    while true {
      if deserializer.remaining == 0 {
        throw .endOfBufferReached(
          deserializer.bytes.byteCount + 2, deserializer.bytes.byteCount)
      }
      let length = try deserializer.lengthUpToNUL()
      let bytes = deserializer.bytes.extracting(
        unchecked: deserializer.offset..<deserializer.offset &+ length)
      bytes.withUnsafeBytes { data.append(contentsOf: $0) }
      try deserializer.advance(by: length + 1)
      switch try UInt8.unpack(with: &deserializer) {
      case 0: return data
      case 0xFF: data.append(0)
      default: throw .invalidValue
      }
    }
  }
}

extension Deserializer {
  /// The number of bytes before the next NUL.
  fileprivate func lengthUpToNUL() throws(DeserializeError) -> Int {
    let rest = rawSpan
    let length = rest.withUnsafeBytes { bytes -> Int? in
      guard let base = bytes.baseAddress, let nul = memchr(base, 0, bytes.count) else {
        return nil
      }
      return UnsafeRawPointer(nul) - base
    }
    guard let length else { throw .endOfBufferReached(bytes.byteCount &+ 1, bytes.byteCount) }
    return length
  }
}
