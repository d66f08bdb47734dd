// CopiedContents: how many rows a table has, and a digest of them.
//
//  - The digest is the sum of the rows' hashes, so it is kept up when rows come and go, in any
//    order, and says the same as one that is computed anew.
//  - A row's hash covers its id and its bytes. The ids are the order of the objects.
//  - It is stored while a copy is unfinished, so it is the same in every process.
//
// It finds damage and mistakes. It is no protection against contents that were made to collide.

/// How many objects a copy has, and a digest of them and of their order.
public struct CopiedContents: Sendable, Equatable, CustomStringConvertible {
  /// The number of objects.
  public internal(set) var count = 0
  private var high: UInt64 = 0
  private var low: UInt64 = 0

  init() {}

  /// 32 hexadecimal digits, which are equal for equal objects in equal order.
  public var digest: String { Self.digits(high) + Self.digits(low) }

  /// `3 objects, digest 0f3c…`.
  public var description: String {
    "\(count) \(count == 1 ? "object" : "objects"), digest \(digest)"
  }

  mutating func add(_ row: Row) { add(row, id: row.id) }

  /// - Parameter id: The id that counts.
  mutating func add(_ row: Row, id: Int64) {
    let hash = Self.hash(row, id)
    count += 1
    let (sum, carry) = low.addingReportingOverflow(hash.low)
    low = sum
    high = high &+ hash.high &+ (carry ? 1 : 0)
  }

  mutating func remove(_ row: Row) { remove(row, id: row.id) }

  mutating func remove(_ row: Row, id: Int64) {
    let hash = Self.hash(row, id)
    count -= 1
    let (difference, borrow) = low.subtractingReportingOverflow(hash.low)
    low = difference
    high = high &- hash.high &- (borrow ? 1 : 0)
  }

  private static func hash(_ row: Row, _ id: Int64) -> (high: UInt64, low: UInt64) {
    row.withBytes { bytes in
      var high = UInt64(bitPattern: id) ^ 0x9E37_79B9_7F4A_7C15
      var low = UInt64(bytes.count) ^ 0x2545_F491_4F6C_DD1D
      func add(_ bits: UInt64) {
        high = folded(high ^ bits, 0xD6E8_FEB8_6659_FD93) &+ low
        low = folded(low ^ bits, 0xA076_1D64_78BD_642F) ^ bits
      }
      add(UInt64(bitPattern: id))
      var place = 0
      while place + 8 <= bytes.count {
        add(UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self)))
        place += 8
      }
      var rest: UInt64 = 0
      for byte in bytes[place...] { rest = rest << 8 | UInt64(byte) }
      add(rest)
      add(high)
      return (high, low)
    }
  }

  /// Both halves of a product.
  private static func folded(_ bits: UInt64, _ multiplier: UInt64) -> UInt64 {
    let (high, low) = (bits &+ 0x8BB8_4B93_962E_ACC9).multipliedFullWidth(by: multiplier)
    return high ^ low
  }

  private static func digits(_ number: UInt64) -> String {
    let text = String(number, radix: 16)
    return String(repeating: "0", count: 16 - text.count) + text
  }
}

extension CopiedContents {
  /// The text in which it is stored.
  var text: String { "\(count) \(digest)" }

  /// What a text says; nil if it is none of these.
  init?(text: String) {
    let parts = text.split(separator: " ")
    guard parts.count == 2, let count = Int(parts[0]), parts[1].utf8.count == 32,
      let high = UInt64(parts[1].prefix(16), radix: 16),
      let low = UInt64(parts[1].suffix(16), radix: 16)
    else { return nil }
    self.count = count
    self.high = high
    self.low = low
  }
}
