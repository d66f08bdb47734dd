// ColumnValue: what an engine stores beside a row, in the columns of keys and indexes.

import Platform

/// A value for a key or index column.
@usableFromInline package enum ColumnValue {
  case null
  /// Booleans as 0 and 1, enums as their raw values, `ulong` as its bit pattern.
  case integer(Int64)
  case real(Double)
  /// Valid as long as the row's memory.
  case text(UnsafeRawBufferPointer)

  /// Whether both have the same stored form. Null equals null.
  package func isSame(as other: ColumnValue) -> Bool {
    switch (self, other) {
    case (.null, .null): true
    case (.integer(let left), .integer(let right)): left == right
    case (.real(let left), .real(let right)): left.bitPattern == right.bitPattern
    case (.text(let left), .text(let right)): equalBytes(left, right)
    default: false
    }
  }
}

extension ColumnValue {
  /// The value as a constant of a type; nil for null.
  package func constant(_ type: ValueType) -> Value? {
    switch self {
    case .null: nil
    case .integer(let value):
      switch type {
      case .bool: .bool(value != 0)
      case .uint64: .unsigned(UInt64(bitPattern: value))
      default: .integer(value)
      }
    case .real(let value): .real(value)
    case .text(let bytes): .string(String(decoding: bytes, as: UTF8.self))
    }
  }
}

extension ColumnValue: CustomStringConvertible {
  /// The value as in source code; `null` if there is none.
  @usableFromInline package var description: String {
    switch self {
    case .null: "null"
    case .integer(let value): "\(value)"
    case .real(let value): "\(value)"
    case .text(let bytes): "\(String(decoding: bytes, as: UTF8.self).debugDescription)"
    }
  }
}
