// The keys of the sorted maps: values of key fields and indexes, in their order.
//
// Null comes first, as unknown values do in every order of results. Text is ordered by its UTF-8
// bytes, and unsigned numbers by their value, so the order of an index is the order of a query.

import Dflat
import FlatBuffersRuntime

/// A value of a key field or an index. All values of one field have the same case, or are null.
enum IndexValue: Sendable {
  case null
  case integer(Int64)
  case real(Double)
  /// `start` has the first eight bytes, so that most comparisons need not look at the text.
  case text(start: UInt64, String)
  /// Bytes of a text that are not UTF-8.
  case bytes([UInt8])

  private static func text(_ text: String) -> IndexValue {
    var text = text
    let start = text.withUTF8 { bytes in
      var start: UInt64 = 0
      withUnsafeMutableBytes(of: &start) { $0.copyBytes(from: bytes.prefix(8)) }
      return UInt64(bigEndian: start)
    }
    return .text(start: start, text)
  }

  private static func text(_ bytes: UnsafeRawBufferPointer) -> IndexValue {
    var text = String(decoding: bytes, as: UTF8.self)
    let isUTF8 = text.withUTF8 { Dflat.compareBytes(UnsafeRawBufferPointer($0), bytes) == 0 }
    return isUTF8 ? Self.text(text) : .bytes(Array(bytes))
  }

  /// The stored value of a field of this type.
  init(_ value: ColumnValue, _ type: ValueType) {
    switch value {
    case .null: self = .null
    case .integer(let value): self = type == .uint64 ? Self.unsigned(value) : .integer(value)
    case .real(let value): self = .real(value)
    case .text(let bytes): self = Self.text(bytes)
    }
  }

  /// A constant in a condition.
  init(_ constant: Value) {
    switch constant {
    case .bool(let value): self = .integer(value ? 1 : 0)
    case .integer(let value): self = .integer(value)
    case .unsigned(let value): self = Self.unsigned(Int64(bitPattern: value))
    case .real(let value): self = .real(value)
    case .string(let value): self = Self.text(value)
    }
  }

  /// An unsigned number, shifted so that the order of signed numbers is right for it.
  private static func unsigned(_ bits: Int64) -> IndexValue { .integer(bits ^ .min) }

  var isNull: Bool { if case .null = self { true } else { false } }
}

extension IndexValue: Comparable {
  static func < (left: IndexValue, right: IndexValue) -> Bool { compare(left, right) < 0 }

  static func == (left: IndexValue, right: IndexValue) -> Bool { compare(left, right) == 0 }

  /// Negative if the left one comes first, zero if they are equal.
  static func compare(_ left: IndexValue, _ right: IndexValue) -> Int {
    switch (left, right) {
    case (.integer(let left), .integer(let right)): left < right ? -1 : left == right ? 0 : 1
    case (.real(let left), .real(let right)): left < right ? -1 : left == right ? 0 : 1
    case (.text(let leftStart, let left), .text(let rightStart, let right)):
      leftStart == rightStart ? compareTexts(left, right) : leftStart < rightStart ? -1 : 1
    case (.text, .bytes), (.bytes, .text), (.bytes, .bytes):
      left.withTextBytes { left in right.withTextBytes { Dflat.compareBytes(left, $0) } }
    case (.null, .null): 0
    case (.null, _): -1
    case (_, .null): 1
    default: preconditionFailure("values of two types are in one index")
    }
  }

  private func withTextBytes<R>(_ body: (UnsafeRawBufferPointer) -> R) -> R {
    switch self {
    case .text(_, var text): text.withUTF8 { body(UnsafeRawBufferPointer($0)) }
    case .bytes(let bytes): bytes.withUnsafeBytes(body)
    default: preconditionFailure("a text and another value are in one index")
    }
  }

  private static func compareTexts(_ left: String, _ right: String) -> Int {
    var left = left
    var right = right
    return left.withUTF8 { left in
      right.withUTF8 { right in
        Dflat.compareBytes(UnsafeRawBufferPointer(left), UnsafeRawBufferPointer(right))
      }
    }
  }
}

/// The values of all fields of a primary key, or of all columns of an index.
struct KeyTuple: Comparable, Sendable {
  let first: IndexValue
  let rest: [IndexValue]

  init(_ key: KeyValues) {
    first = IndexValue(key.first)
    rest = key.rest.map(IndexValue.init)
  }

  init(_ readers: [ColumnReader], _ row: TableReader) {
    func value(_ reader: ColumnReader) -> IndexValue {
      IndexValue(reader.read(row), reader.field.type)
    }
    first = readers.isEmpty ? .null : value(readers[0])
    rest = readers.count < 2 ? [] : readers.dropFirst().map(value)
  }

  init(_ columns: [IndexColumn], _ row: TableReader) {
    func value(_ column: IndexColumn) -> IndexValue {
      column.withValue(of: row) { IndexValue($0, column.field.type) }
    }
    first = value(columns[0])
    rest = columns.count < 2 ? [] : columns.dropFirst().map(value)
  }

  /// The value of the n-th field.
  subscript(place: Int) -> IndexValue { place == 0 ? first : rest[place - 1] }

  var hasNull: Bool { first.isNull || rest.contains(where: \.isNull) }

  /// Whether the first `count` values are equal.
  func hasPrefix(of other: KeyTuple, _ count: Int) -> Bool {
    (0..<count).allSatisfy { self[$0] == other[$0] }
  }

  static func < (left: KeyTuple, right: KeyTuple) -> Bool {
    // Decides almost all comparisons of a search by text.
    if case .text(let left, _) = left.first, case .text(let right, _) = right.first, left != right {
      return left < right
    }
    return compare(left, right) < 0
  }

  static func == (left: KeyTuple, right: KeyTuple) -> Bool { compare(left, right) == 0 }

  /// Negative if the left one comes first, zero if they are equal.
  static func compare(_ left: KeyTuple, _ right: KeyTuple) -> Int {
    var order = IndexValue.compare(left.first, right.first)
    var place = 0
    while order == 0, place < left.rest.count {
      order = IndexValue.compare(left.rest[place], right.rest[place])
      place += 1
    }
    return order
  }
}

/// An index entry for a row.
struct IndexEntry: Comparable, Sendable {
  let key: KeyTuple
  let id: Int64

  static func < (left: IndexEntry, right: IndexEntry) -> Bool {
    let order = KeyTuple.compare(left.key, right.key)
    return order == 0 ? left.id < right.id : order < 0
  }
}
