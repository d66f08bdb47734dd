// Checksum: a value on which both sides of a case must agree.
//
// A case that reads sums up what it read; after a case that writes, the file's rows are summed up.
// If the sums of the two sides differ, they did not do the same work, and the program stops.

/// An order-dependent sum of values. Adding costs one multiplication, which is little compared with
/// the work it checks.
struct Checksum: Equatable {
  private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

  @inline(__always)
  mutating func add(_ number: UInt64) {
    value = (value ^ number) &* 0x0000_0100_0000_01B3
  }

  @inline(__always)
  mutating func add<I: BinaryInteger>(_ number: I) {
    add(UInt64(truncatingIfNeeded: number))
  }

  @inline(__always)
  mutating func add(_ number: Float) {
    add(UInt64(number.bitPattern))
  }

  /// The length, the first and the last byte: enough to require the string's bytes.
  @inline(__always)
  mutating func add(_ bytes: UnsafeRawBufferPointer) {
    add(bytes.count)
    if bytes.isEmpty { return }
    add(bytes[0])
    add(bytes[bytes.count - 1])
  }

  @inline(__always)
  mutating func add(_ string: String) {
    var string = string
    string.withUTF8 { add(UnsafeRawBufferPointer($0)) }
  }

  @inline(__always)
  mutating func add(_ string: String?) {
    guard let string else { return add(UInt64(7)) }
    add(string)
  }
}
