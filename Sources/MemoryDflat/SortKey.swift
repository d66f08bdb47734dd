// SortKey: the key of every sorted map, as bytes whose order is the order of the values.
//
// A key consists of the codes of its values, one after another:
//
//  - null       zeros: one for an integer, two for a text, eight for a real number
//  - integer    0x10 plus the number of bytes it needs, then these bytes; for a negative number
//               0x0F minus the number of bytes that its complement needs, then its own bytes
//  - real       its eight bytes, with the sign inverted, or all bits of a negative number; -0 is 0,
//               and all NaNs are one
//  - text       its bytes, with 0x00 written as 0x00 0xFF, then 0x00 0x01
//
// The most significant byte comes first. Invariants, for the values of one type:
//
//  - The codes of values have their order, and null comes first.
//  - No code is the beginning of another one, so keys are ordered by their first value, then by
//    the second, and so on. The end of a code is found without a length.
//
// So the order of an index is the order of a query: text is ordered by its UTF-8 bytes, or whatever
// its bytes are, and unsigned numbers by their value.

import Dflat
import Platform

/// A key of a sorted map. All keys of one map have values of the same types.
struct SortKey: Sendable {
  /// The first eight bytes as a number, filled up with zeros. Decides most comparisons.
  private let start: UInt64
  /// All bytes if there are more than eight, otherwise none.
  private var bytes: [UInt8] = []

  init(_ view: KeyView) {
    start = view.start
    if !view.bytes.isEmpty { bytes = Array(view.bytes) }
  }

  @inline(__always)
  func withView<R>(_ body: (KeyView) throws -> R) rethrows -> R {
    try bytes.withUnsafeBytes { try body(KeyView(start: start, bytes: $0)) }
  }

  /// Calls `body` with all bytes, at least eight, which may be filled up with zeros.
  func withBytes<R>(_ body: (UnsafeRawBufferPointer) -> R) -> R {
    bytes.isEmpty ? withUnsafeBytes(of: start.bigEndian, body) : bytes.withUnsafeBytes(body)
  }

  /// Negative if this key comes before the other one, zero if they are equal.
  @inline(__always)
  func compare(_ other: KeyView) -> Int {
    if start != other.start { return start < other.start ? -1 : 1 }
    return bytes.withUnsafeBytes { compareBytes($0, other.bytes) }
  }
}

extension SortKey: Comparable {
  static func < (left: SortKey, right: SortKey) -> Bool { right.withView { left.compare($0) < 0 } }
}

/// A `SortKey` whose bytes are in memory of the caller.
struct KeyView {
  fileprivate let start: UInt64
  fileprivate let bytes: UnsafeRawBufferPointer
}

extension KeyView {
  /// The key of a row in the order of row ids.
  init(id: Int64) {
    start = UInt64(bitPattern: id) ^ (1 << 63)
    bytes = UnsafeRawBufferPointer(start: nil, count: 0)
  }

  /// A key with these codes, or the beginning of keys.
  @inline(__always)
  init(_ codes: UnsafeRawBufferPointer) {
    start =
      codes.count < 8
      ? codes.reduce(0) { $0 << 8 | UInt64($1) } << (64 - 8 * codes.count)
      : UInt64(bigEndian: codes.loadUnaligned(as: UInt64.self))
    bytes = UnsafeRawBufferPointer(rebasing: codes[..<(codes.count > 8 ? codes.count : 0)])
  }
}

/// The keys from `lower` up to, but not including, `upper`; a missing bound is nil.
struct KeyRange {
  var lower: SortKey?
  var upper: SortKey?
}

extension KeyRange {
  /// The keys from those that begin with `least` to those that begin with `greatest`.
  init(from least: [UInt8], through greatest: [UInt8]) {
    func key(_ codes: [UInt8]) -> SortKey { codes.withUnsafeBytes { SortKey(KeyView($0)) } }
    lower = key(least)
    // What follows all that begin with `greatest`.
    var end = greatest
    while end.last == 0xFF { end.removeLast() }
    if let last = end.popLast() { upper = key(end + [last + 1]) }
  }
}

/// Writes the codes of values.
struct KeyWriter {
  private let memory: UnsafeMutableRawBufferPointer
  /// The number of bytes written. What finds no room is counted only.
  private var count = 0
  /// Whether a value was null.
  private(set) var hasNull = false

  private init(_ memory: UnsafeMutableRawBufferPointer) { self.memory = memory }

  /// Calls `body` with what `write` has written; `write` is called again if it needs more memory.
  @inline(__always)
  static func with<R>(_ write: (inout KeyWriter) -> Void, _ body: (KeyWriter) -> R) -> R {
    withUnsafeTemporaryAllocation(byteCount: 128, alignment: 8) { memory in
      var writer = KeyWriter(memory)
      write(&writer)
      if writer.count <= memory.count - 8 { return body(writer) }
      return withUnsafeTemporaryAllocation(byteCount: writer.count + 8, alignment: 8) { memory in
        writer = KeyWriter(memory)
        write(&writer)
        return body(writer)
      }
    }
  }

  /// What `write` writes, as a key.
  @inline(__always)
  static func key(_ write: (inout KeyWriter) -> Void) -> SortKey {
    with(write) { SortKey($0.view) }
  }

  /// What was written.
  var codes: [UInt8] { Array(memory[..<count]) }

  /// What was written, as a key.
  @inline(__always)
  var view: KeyView { KeyView(UnsafeRawBufferPointer(rebasing: memory[..<count])) }

  /// Writes the stored value of a field.
  @inline(__always)
  mutating func append(_ value: ColumnValue, _ type: ValueType) {
    switch value {
    case .text(let text):
      if let start = text.baseAddress, memchr(start, 0, text.count) != nil {
        for byte in text { append(byte == 0 ? 0x00FF : UInt64(byte), byte == 0 ? 2 : 1) }
      } else {
        if count + text.count <= memory.count {
          UnsafeMutableRawBufferPointer(rebasing: memory[count...]).copyMemory(from: text)
        }
        count += text.count
      }
      append(0x0001, 2)
    case .integer(let value):
      let isNegative = value < 0 && type != .uint64
      let size = 8 - (isNegative ? ~value : value).leadingZeroBitCount / 8
      append(UInt64(isNegative ? 0x0F - size : 0x10 + size), 1)
      append(UInt64(bitPattern: value), size)
    case .real(let value):
      let bits = (value.isNaN ? .nan : value + 0).bitPattern
      append(bits >> 63 == 0 ? bits | 1 << 63 : ~bits, 8)
    case .null:
      hasNull = true
      append(0, type == .string ? 2 : type == .float || type == .double ? 8 : 1)
    }
  }

  /// Writes a constant in a condition.
  mutating func append(_ constant: Value) {
    switch constant {
    case .string(var text): text.withUTF8 { append(.text(UnsafeRawBufferPointer($0)), .string) }
    case .bool(let value): append(.integer(value ? 1 : 0), .bool)
    case .integer(let value): append(.integer(value), .int64)
    case .unsigned(let value): append(.integer(Int64(bitPattern: value)), .uint64)
    case .real(let value): append(.real(value), .double)
    }
  }

  /// Writes the low bytes of a number.
  @inline(__always)
  private mutating func append(_ value: UInt64, _ size: Int) {
    if count + 8 <= memory.count {
      let bytes = (value << (64 - 8 * size)).bigEndian
      memory.storeBytes(of: bytes, toByteOffset: count, as: UInt64.self)
    }
    count += size
  }
}

extension ValueType {
  /// The end of a value's code in a key.
  func end(ofCodeAt start: Int, in key: UnsafeRawBufferPointer) -> Int {
    switch self {
    case .string:
      var end = start
      while key[end] != 0 || key[end + 1] == 0xFF { end += key[end] == 0 ? 2 : 1 }
      return end + 2
    case .float, .double: return start + 8
    default:
      let tag = Int(key[start])
      return start + 1 + (tag == 0 ? 0 : tag < 0x10 ? 0x0F - tag : tag - 0x10)
    }
  }
}
