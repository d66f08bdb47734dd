// Which rows were changed: as a writer tells it, and as it is remembered for those who keep an older state.

/// Which rows a writer's transaction has changed, for ``ReaderPool/committing(_:_:_:)``.
public struct ChangedRows: Sendable {
  /// If there are more than these, everything counts as changed.
  private static let most = 1024

  private(set) var places: [RowPlace] = []
  private(set) var isEverything = false

  /// Nothing was changed yet.
  public init() {}

  /// A row that was there was replaced or deleted. New ones need not be told.
  public mutating func insert(_ place: RowPlace) {
    if places.count < Self.most { places.append(place) } else { isEverything = true }
  }

  /// More was changed than is told row by row.
  public mutating func insertEverything() { isEverything = true }

  /// Begins anew.
  public mutating func removeAll() {
    places.removeAll(keepingCapacity: true)
    isEverything = false
  }
}

/// A row of a table.
public struct RowPlace: Sendable {
  /// A number of the table's. If two tables have the same, more is read anew than must be.
  public let table: Int
  /// The row's id.
  public let id: Int64

  /// A row of a table.
  @inlinable
  public init(table: Int, id: Int64) {
    self.table = table
    self.id = id
  }

  /// A number that is spread well over so many bits.
  fileprivate func hash(bits: Int) -> Int {
    let mixed = (UInt64(bitPattern: id) ^ UInt64(bitPattern: Int64(table))) &* 0x9E37_79B9_7F4A_7C15
    return Int(mixed >> UInt64(64 - bits))
  }
}

/// Rows, of which it is asked whether one is among them. It may say so of a few more, and takes the same memory for any number.
struct RowFilter: Sendable {
  private static let bits = 15
  private var words: [UInt64] = []
  private var count = 0

  mutating func insert(_ place: RowPlace) {
    if words.isEmpty { words = [UInt64](repeating: 0, count: 1 << (Self.bits - 6)) }
    let hash = place.hash(bits: Self.bits)
    words[hash >> 6] |= 1 << UInt64(hash & 63)
    count += 1
  }

  func mayContain(_ place: RowPlace) -> Bool {
    let hash = place.hash(bits: Self.bits)
    return count > 0 && words[hash >> 6] & (1 << UInt64(hash & 63)) != 0
  }

  mutating func removeAll() {
    if count == 0 { return }
    for index in words.indices { words[index] = 0 }
    count = 0
  }
}
