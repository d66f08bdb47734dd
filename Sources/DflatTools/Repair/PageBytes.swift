// PageBytes: reading numbers from pages that may have any content.
//
//  - Every access is checked against the bytes that there are: what lies outside reads as nil.
//  - SQLite's numbers are big-endian; a varint has seven bits in each byte, eight in the ninth.

extension UnsafeRawBufferPointer {
  /// The byte at a position; nil outside of the buffer.
  func byte(_ position: Int) -> Int? {
    guard position >= 0, position < count else { return nil }
    return Int(self[position])
  }

  /// A big-endian number of `size` bytes, at most 8, without sign; nil outside of the buffer.
  func bigEndian(_ position: Int, size: Int) -> Int? {
    guard position >= 0, size <= count, position <= count - size else { return nil }
    var value: UInt64 = 0
    for index in position..<(position + size) { value = value << 8 | UInt64(self[index]) }
    return Int(truncatingIfNeeded: value)
  }

  /// A varint and its size; nil if it ends outside of the buffer.
  func varint(_ position: Int) -> (value: Int64, size: Int)? {
    guard position >= 0, position < count else { return nil }
    let first = self[position]
    if first < 0x80 { return (Int64(first), 1) }
    var value: UInt64 = 0
    let limit = Swift.min(9, count - position)
    for index in 0..<limit {
      let byte = self[position + index]
      if index == 8 { return (Int64(bitPattern: value << 8 | UInt64(byte)), 9) }
      value = value << 7 | UInt64(byte & 0x7F)
      if byte < 0x80 { return (Int64(bitPattern: value), index + 1) }
    }
    return nil
  }

  /// The bytes of a range that is inside the buffer; nil if it is not.
  func slice(_ position: Int, _ size: Int) -> UnsafeRawBufferPointer? {
    guard position >= 0, size >= 0, size <= count, position <= count - size else { return nil }
    return UnsafeRawBufferPointer(rebasing: self[position..<(position + size)])
  }

  /// Whether all bytes of a range are zero. What is outside of the buffer does not count.
  func isZero(_ range: Range<Int>) -> Bool {
    for index in range.clamped(to: 0..<count) where self[index] != 0 { return false }
    return true
  }
}

/// A page that was read. Its memory lives as long as it does.
final class PageBuffer {
  private let memory: UnsafeMutableRawBufferPointer
  /// The bytes. They are used only while something holds the page.
  var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(memory) }
  /// The parts that the file does not have or the disk cannot read.
  let lostParts: [Range<Int>]
  /// Sectors of 512 bytes that are zero where one beside them is not, as a disk that has lost them
  /// leaves them. A value can look like that, too.
  private(set) lazy var zeroSectors: [Range<Int>] = Self.zeroSectors(bytes)
  /// Those beside which neither value has a zero: hardly any value looks like that.
  private(set) lazy var holes: [Range<Int>] = zeroSectors.filter { sectors in
    let (start, end) = (sectors.lowerBound, sectors.upperBound)
    return start > 0 && end < bytes.count && bytes[start - 1] != 0 && bytes[end] != 0
  }

  /// - Parameter fill: Fills the memory, which is zero, and returns the parts that it could not.
  init(size: Int, _ fill: (UnsafeMutableRawBufferPointer) throws -> [Range<Int>]) rethrows {
    memory = .allocate(byteCount: size, alignment: 16)
    _ = memory.initializeMemory(as: UInt8.self, repeating: 0)
    lostParts = try fill(memory)
  }

  deinit { memory.deallocate() }

  func byte(_ position: Int) -> Int? { bytes.byte(position) }
  func bigEndian(_ position: Int, size: Int) -> Int? { bytes.bigEndian(position, size: size) }
  func isZero(_ range: Range<Int>) -> Bool { bytes.isZero(range) }
  var isZero: Bool { bytes.isZero(0..<memory.count) }

  private static func zeroSectors(_ bytes: UnsafeRawBufferPointer) -> [Range<Int>] {
    var found: [Range<Int>] = []
    var start: Int?
    for sector in stride(from: 0, to: bytes.count, by: 512) {
      let isZero = bytes.isZero(sector..<(sector + 512))
      if isZero, start == nil { start = sector }
      guard let first = start else { continue }
      let isLast = sector + 512 >= bytes.count
      if isZero, !isLast { continue }
      let end = isZero ? bytes.count : sector
      start = nil
      // Zeros that belong to a value rarely begin or end just there.
      let isCutBefore = first > 0 && !bytes.isZero((first - 8)..<first)
      let isCutAfter = end < bytes.count && !bytes.isZero(end..<(end + 8))
      if isCutBefore || isCutAfter || end - first == bytes.count { found.append(first..<end) }
    }
    return found
  }
}
