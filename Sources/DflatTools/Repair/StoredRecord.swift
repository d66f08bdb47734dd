// StoredRecord: a row as SQLite encodes it.
//
//   header   its own size, then a type for each column, as varints
//   body     the values, one after another
//
// A record exists only if its header and all values are inside its bytes.

import Dflat
import SQLiteAccess

/// A row in SQLite's record format, read in place.
struct StoredRecord {
  /// A value of a record. It is valid as long as the record's bytes.
  enum Value {
    case null
    case integer(Int64)
    case real(Double)
    case text(UnsafeRawBufferPointer)
    case blob(UnsafeRawBufferPointer)
  }

  private struct Column {
    let type: Int
    let start: Int
  }

  private let bytes: UnsafeRawBufferPointer
  private let columns: [Column]
  /// Whether the last value ends with the record, as it always does.
  let fillsItsBytes: Bool

  var count: Int { columns.count }

  /// nil if the bytes are no record.
  init?(_ bytes: UnsafeRawBufferPointer) {
    guard let (headerSize, length) = bytes.varint(0), headerSize >= Int64(length),
      headerSize <= Int64(min(bytes.count, 1 << 16))
    else { return nil }
    let header = Int(headerSize)
    var position = length
    var start = header
    var columns: [Column] = []
    while position < header {
      guard let (type, size) = bytes.varint(position), type >= 0, type < 1 << 32,
        let valueSize = Self.size(ofType: Int(type)), start <= bytes.count - valueSize
      else { return nil }
      columns.append(Column(type: Int(type), start: start))
      start += valueSize
      position += size
    }
    guard position == header, !columns.isEmpty else { return nil }
    self.bytes = bytes
    self.columns = columns
    fillsItsBytes = start == bytes.count
  }

  /// The size of a value; nil if there is no such type.
  static func size(ofType type: Int) -> Int? {
    switch type {
    case 0, 8, 9: 0
    case 1...4: type
    case 5: 6
    case 6, 7: 8
    case 12...: (type - 12) / 2
    default: nil
    }
  }

  subscript(_ index: Int) -> Value {
    guard columns.indices.contains(index) else { return .null }
    let column = columns[index]
    switch column.type {
    case 1...6:
      let size = Self.size(ofType: column.type) ?? 0
      let number = bytes.bigEndian(column.start, size: size) ?? 0
      let unused = 64 - 8 * size
      return .integer((Int64(number) << unused) >> unused)
    case 7:
      let pattern = bytes.bigEndian(column.start, size: 8) ?? 0
      return .real(Double(bitPattern: UInt64(bitPattern: Int64(pattern))))
    case 8: return .integer(0)
    case 9: return .integer(1)
    case 12...:
      guard let value = bytes.slice(column.start, (column.type - 12) / 2) else { return .null }
      return column.type.isMultiple(of: 2) ? .blob(value) : .text(value)
    default: return .null
    }
  }
}

extension StoredRecord.Value {
  var isNull: Bool { if case .null = self { true } else { false } }
  var integer: Int64? { if case .integer(let value) = self { value } else { nil } }
  var blob: UnsafeRawBufferPointer? { if case .blob(let value) = self { value } else { nil } }

  /// The text, if it is valid UTF-8.
  var text: String? {
    guard case .text(let bytes) = self else { return nil }
    return String(validating: bytes, as: UTF8.self)
  }

  /// Whether a column of an index or key has this value: whole numbers in REAL columns are stored
  /// as integers.
  func isSame(as value: ColumnValue) -> Bool {
    switch (self, value) {
    case (.null, .null): true
    case (.integer(let mine), .integer(let other)): mine == other
    case (.integer(let mine), .real(let other)): Double(mine) == other
    case (.real(let mine), .real(let other)): mine == other
    case (.text(let mine), .text): value.isSame(as: .text(mine))
    default: false
    }
  }

  /// The value as text for reports.
  var shown: String {
    switch self {
    case .null: "NULL"
    case .integer(let value): "\(value)"
    case .real(let value): "\(value)"
    case .text(let bytes): String(decoding: bytes, as: UTF8.self)
    case .blob(let bytes): "\(bytes.count) bytes"
    }
  }
}
