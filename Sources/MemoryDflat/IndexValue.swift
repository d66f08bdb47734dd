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

  private static func text(_ text: String) -> IndexValue {
    var text = text
    let start = text.withUTF8 { bytes in
      var start: UInt64 = 0
      withUnsafeMutableBytes(of: &start) { $0.copyBytes(from: bytes.prefix(8)) }
      return UInt64(bigEndian: start)
    }
    return .text(start: start, text)
  }

  /// The value of a row.
  init(_ reader: ColumnReader, _ row: TableReader) {
    switch reader.read(row) {
    case .null: self = .null
    case .integer(let value):
      self = reader.field.type == .uint64 ? Self.unsigned(value) : .integer(value)
    case .real(let value): self = .real(value)
    case .text(let bytes): self = Self.text(String(decoding: bytes, as: UTF8.self))
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
    case (.null, .null): 0
    case (.null, _): -1
    case (_, .null): 1
    default: preconditionFailure("values of two types are in one index")
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

/// The values of all fields of a primary key.
struct PrimaryKeyValue: Comparable, Sendable {
  let first: IndexValue
  let rest: [IndexValue]

  init(_ key: KeyValues) {
    first = IndexValue(key.first)
    rest = key.rest.map(IndexValue.init)
  }

  init(_ readers: [ColumnReader], _ row: TableReader) {
    first = readers.isEmpty ? .null : IndexValue(readers[0], row)
    rest = readers.count < 2 ? [] : readers.dropFirst().map { IndexValue($0, row) }
  }

  /// The value of the n-th field.
  subscript(place: Int) -> IndexValue { place == 0 ? first : rest[place - 1] }

  static func < (left: PrimaryKeyValue, right: PrimaryKeyValue) -> Bool {
    // Decides almost all comparisons of a search by text.
    if case .text(let left, _) = left.first, case .text(let right, _) = right.first, left != right {
      return left < right
    }
    let order = IndexValue.compare(left.first, right.first)
    if order != 0 || left.rest.isEmpty { return order < 0 }
    return left.rest.lexicographicallyPrecedes(right.rest)
  }
}

/// An index entry for a row.
struct IndexEntry: Comparable, Sendable {
  let value: IndexValue
  let id: Int64

  static func < (left: IndexEntry, right: IndexEntry) -> Bool {
    let order = IndexValue.compare(left.value, right.value)
    return order == 0 ? left.id < right.id : order < 0
  }
}
