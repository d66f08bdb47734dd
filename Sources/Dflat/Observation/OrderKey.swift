// OrderKey: values of every type as 64-bit keys, in the order of the values.
//
// With these keys one structure finds ranges of all types. Keys of numbers are exact; strings with
// the same first eight bytes share a key. The order is that of conditions: unsigned integers over
// their whole range, strings by their bytes, −0 equal to 0. An unknown value has no key.

import Platform

enum OrderKey {
  /// The key of an integer as it is stored: `uint64` by its bit pattern.
  static func key(_ integer: Int64, _ type: ValueType) -> UInt64 {
    let bits = UInt64(bitPattern: integer)
    return type == .uint64 ? bits : bits ^ (1 << 63)
  }

  static func key(_ real: Double) -> UInt64 {
    let bits = (real + 0).bitPattern
    return bits >> 63 == 0 ? bits | (1 << 63) : ~bits
  }

  /// The key of a string: its first eight bytes.
  static func prefix(_ text: UnsafeRawBufferPointer) -> UInt64 {
    var key: UInt64 = 0
    if let start = text.baseAddress { memcpy(&key, start, min(8, text.count)) }
    return UInt64(bigEndian: key)
  }

  /// The key of a constant, as for its stored value; of a string, the key of its prefix.
  static func key(_ value: Value, _ type: ValueType) -> UInt64 {
    switch value {
    case .bool(let value): key(value ? 1 : 0, type)
    case .integer(let value): key(value, type)
    case .unsigned(let value): value
    case .real(let value): key(value)
    case .string(var text): text.withUTF8 { prefix(UnsafeRawBufferPointer($0)) }
    }
  }
}
