// RowsByKey: rows in memory, found by their primary keys.
//
// The table has hashes of the keys. Whether a row has a key is seen in the row's bytes, which the
// caller of a look-up reads next. So no key is stored a second time, or copied for a look-up.
// Invariants:
//
//  - A row in `rows` is there under the hash of its key.
//  - `others` has the rows whose hash was taken by a row with another key. Which keys collide
//    depends on random numbers, so there are hardly ever any.

import FlatBuffersRuntime

struct RowsByKey {
  private let schema: EntitySchema
  private let hash: TextHash
  private var rows: [UInt64: Row]
  private var others: [Row] = []

  init(_ schema: EntitySchema, capacity: Int = 0, hash: TextHash = TextHash()) {
    self.schema = schema
    self.hash = hash
    rows = Dictionary(minimumCapacity: capacity)
  }

  /// The number of rows.
  var count: Int { rows.count + others.count }

  /// All rows, in no particular order.
  var all: [Row] { Array(rows.values) + others }

  /// The row with a key.
  func row(_ key: KeyValues) -> Row? {
    if let row = rows[hash(key)], schema.isKey(key, of: row) { return row }
    return others.isEmpty ? nil : others.first { schema.isKey(key, of: $0) }
  }

  /// Adds a row. It takes the place of one with the same key.
  /// - Returns: The one whose place it takes.
  @discardableResult
  mutating func insert(_ row: Row) -> Row? {
    let old = remove(row)
    let hash = hash(keyOf: row)
    if rows[hash] == nil { rows[hash] = row } else { others.append(row) }
    return old
  }

  /// Removes the row with the key of a row.
  /// - Returns: The row that was there.
  @discardableResult
  mutating func remove(_ row: Row) -> Row? {
    let hash = hash(keyOf: row)
    if let old = rows[hash], schema.hasSameKey(old, row) {
      rows[hash] = nil
      return old
    }
    guard let place = others.firstIndex(where: { schema.hasSameKey($0, row) }) else { return nil }
    return others.remove(at: place)
  }

  private func hash(_ key: KeyValues) -> UInt64 {
    key.rest.reduce(hash.adding(part(key.first), to: 0)) { hash.adding(part($1), to: $0) }
  }

  private func hash(keyOf row: Row) -> UInt64 {
    row.read { table in
      schema.keyReaders.reduce(0) { hash.adding(part($1.read(table)), to: $0) }
    }
  }

  private func part(_ value: Value) -> UInt64 {
    switch value {
    case .string(let text): text.withBytes { hash($0) }
    case .real(let number): (number + 0).bitPattern
    case .bool, .integer, .unsigned: value.bits
    }
  }

  /// The same for the column of an equal value.
  private func part(_ column: ColumnValue) -> UInt64 {
    switch column {
    case .null: 0
    case .integer(let number): UInt64(bitPattern: number)
    case .real(let number): (number + 0).bitPattern
    case .text(let bytes): hash(bytes)
    }
  }
}

extension EntitySchema {
  /// Whether a row has a key: texts with the same bytes, and equal numbers.
  fileprivate func isKey(_ key: KeyValues, of row: Row) -> Bool {
    row.read { table in
      keyReaders.indices.allSatisfy { keyReaders[$0].read(table).isSame(as: key[$0]) }
    }
  }
}

extension ColumnValue {
  /// Whether it is the column of a value of the same field.
  fileprivate func isSame(as value: Value) -> Bool {
    switch (self, value) {
    case (.text(let bytes), .string(let text)): text.withBytes { equalBytes(bytes, $0) }
    case (.real(let number), .real(let other)): number == other
    case (.integer(let number), .bool), (.integer(let number), .integer),
      (.integer(let number), .unsigned):
      UInt64(bitPattern: number) == value.bits
    default: false
    }
  }
}
