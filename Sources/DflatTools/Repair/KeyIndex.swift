// KeyIndex: which rows a table has by the index of its primary key.
//
// The index is a second witness: it has the row id and the key of each row, apart from the row. A
// row that both know alike is right beyond doubt. A row that only the index knows is lost, and what
// the key was stands there. In memory are hashes only, 16 bytes for each row.

import Dflat

/// The rows that the index of a primary key knows.
struct KeyIndex {
  private struct Entry {
    let row: Int64
    let hash: UInt64
  }

  private var byRow: [Entry] = []
  private var byHash: [Entry] = []
  /// Whether the whole index could be read.
  private(set) var isSound = false

  var count: Int { byRow.count }
  /// The row ids, in ascending order.
  var rows: some Sequence<Int64> { byRow.lazy.map(\.row) }

  /// No index is known.
  init() {}

  /// Reads an index with a number of key columns.
  init(_ source: PageSource, _ map: PageMap, root: Int, owner: UInt32, keyCount: Int) {
    let payloads = Payloads(source: source, map: map)
    var walk = TreeWalk(source, map, owner: owner)
    var isWhole = true
    var entries: [Entry] = []
    walk.index(root: root) { page, cell in
      let entry = payloads.with(cell, at: page, claims: true) { payload -> Entry? in
        guard payload.isComplete, payload.doubt == nil,
          let record = StoredRecord(payload.bytes), record.count == keyCount + 1,
          let row = record[keyCount].integer
        else { return nil }
        return Entry(row: row, hash: KeyHash(record, 0..<keyCount).value)
      }
      if let entry = entry ?? nil { entries.append(entry) } else { isWhole = false }
    }
    isSound = walk.isSound && isWhole
    byRow = entries.sorted { $0.row < $1.row }
    byHash = entries.sorted { $0.hash < $1.hash }
  }

  /// The hash of the key that a row has.
  func hash(ofRow row: Int64) -> UInt64? {
    let place = Self.first(byRow.count) { byRow[$0].row >= row }
    return place < byRow.count && byRow[place].row == row ? byRow[place].hash : nil
  }

  /// The row with a key.
  func row(with hash: UInt64) -> Int64? {
    let place = Self.first(byHash.count) { byHash[$0].hash >= hash }
    return place < byHash.count && byHash[place].hash == hash ? byHash[place].row : nil
  }

  /// The first number from which on a condition holds.
  private static func first(_ count: Int, _ holds: (Int) -> Bool) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if holds(middle) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}

/// The hash of the values of a key.
struct KeyHash {
  private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

  /// The columns of a record.
  init(_ record: StoredRecord, _ columns: Range<Int>) {
    for column in columns {
      switch record[column] {
      case .null: addByte(0)
      case .integer(let number): addWhole(number)
      case .real(let number): addReal(number)
      case .text(let bytes): addBytes(bytes, 3)
      case .blob(let bytes): addBytes(bytes, 4)
      }
    }
  }

  /// The key that an object has.
  init(_ values: [ColumnValue]) {
    for value in values {
      switch value {
      case .null: addByte(0)
      case .integer(let number): addWhole(number)
      case .real(let number): addReal(number)
      case .text(let bytes): addBytes(bytes, 3)
      }
    }
  }

  private mutating func addByte(_ byte: UInt8) {
    value = (value ^ UInt64(byte)) &* 0x100_0000_01B3
  }

  private mutating func addWhole(_ number: Int64) {
    addByte(1)
    for shift in stride(from: 0, to: 64, by: 8) {
      addByte(UInt8(truncatingIfNeeded: number >> Int64(shift)))
    }
  }

  /// SQLite stores whole numbers in REAL columns as integers.
  private mutating func addReal(_ number: Double) {
    if let whole = Int64(exactly: number) { return addWhole(whole) }
    addByte(2)
    addWhole(Int64(bitPattern: number.bitPattern))
  }

  private mutating func addBytes(_ bytes: UnsafeRawBufferPointer, _ kind: UInt8) {
    addByte(kind)
    addWhole(Int64(bytes.count))
    for byte in bytes { addByte(byte) }
  }
}
