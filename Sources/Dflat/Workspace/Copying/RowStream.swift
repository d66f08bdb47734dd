// RowStream: the rows of a table one by one, read in portions of about the same size.

/// Reads rows in ascending order of ids.
struct RowStream {
  /// How many bytes a portion should have.
  private static let portion = 1 << 20

  private let read: (_ after: Int64?, _ limit: Int) throws -> [Row]
  private let end: Int64
  private var rows: [Row] = []
  private var place = 0
  private var last: Int64?
  private var limit = 32
  private var isAtEnd: Bool

  /// - Parameters:
  ///   - end: The last id that is of interest; nil if none is.
  ///   - read: Reads rows beyond an id, or the first ones, at most so many.
  init(upTo end: Int64?, _ read: @escaping (_ after: Int64?, _ limit: Int) throws -> [Row]) {
    self.end = end ?? .min
    isAtEnd = end == nil
    self.read = read
  }

  /// The next row, which stays the next one.
  mutating func peek() throws -> Row? {
    if place == rows.count { try fill() }
    return place < rows.count ? rows[place] : nil
  }

  /// The next row.
  mutating func next() throws -> Row? {
    let row = try peek()
    if row != nil { place += 1 }
    return row
  }

  private mutating func fill() throws {
    // Released before the next ones are read.
    rows = []
    place = 0
    if isAtEnd { return }
    if let last, last >= end { return }
    rows = try read(last, limit)
    isAtEnd = rows.count < limit
    guard let last = rows.last?.id else { return }
    self.last = last
    let size = rows.reduce(0) { $0 + $1.count }
    if size < Self.portion / 2 {
      limit = min(limit * 2, 512)
    } else if size > Self.portion {
      limit = max(limit / 2, 1)
    }
  }
}
