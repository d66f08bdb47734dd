// Values on their way to the server and back.

import Dflat
import FlatBuffersRuntime

extension ValueType {
  /// The server's type of a column with values of this type.
  var postgresType: UInt32 {
    switch self {
    case .string: PostgresType.bytes
    case .bool: PostgresType.bool
    case .float, .double: PostgresType.real
    default: PostgresType.integer
    }
  }
}

/// Constants of a condition, or values of one field of several keys: one parameter, however many
/// they are.
struct ValueList {
  /// What columns have of texts.
  enum Texts {
    case whole
    /// What columns of a key have.
    case stored(KeyTexts)
    /// The first bytes.
    case beginnings(Int)

    func with(_ text: String, _ body: (UnsafeRawBufferPointer) -> Void) {
      if case .stored(let texts) = self { return texts.withStored(text, body) }
      var text = text
      text.withUTF8 { bytes in
        let bytes = UnsafeRawBufferPointer(bytes)
        if case .beginnings(let count) = self {
          body(UnsafeRawBufferPointer(rebasing: bytes.prefix(count)))
        } else {
          body(bytes)
        }
      }
    }
  }

  let values: [Value]
  let type: ValueType
  let texts: Texts

  init(_ values: [Value], _ type: ValueType, _ texts: Texts) {
    self.values = values
    self.type = type
    self.texts = texts
  }
}

extension Parameters {
  /// A constant of a condition, for a column with values of a type. Text is copied.
  func set(_ place: Int, _ constant: Value) {
    switch constant {
    case .bool(let value): set(place, value)
    case .integer(let value): set(place, value)
    case .unsigned(let value): set(place, Int64(bitPattern: value))
    case .real(let value): set(place, value)
    case .string(let value): set(place, text: value)
    }
  }

  /// Values, as an array.
  func set(_ place: Int, _ list: ValueList) {
    let element = list.type.postgresType
    setArray(place, list.values.count, of: element, PostgresType.array(of: element)) {
      array, index in
      switch list.values[index] {
      case .bool(let value): array.append(element: value ? 1 : 0 as UInt8)
      case .integer(let value) where element == PostgresType.real:
        array.append(element: Double(value).bitPattern.bigEndian)
      case .integer(let value): array.append(element: value.bigEndian)
      case .unsigned(let value): array.append(element: value.bigEndian)
      case .real(let value): array.append(element: value.bitPattern.bigEndian)
      case .string(let value): list.texts.with(value) { array.append(element: $0) }
      }
    }
  }

  /// The value of a column. Text stays in place.
  @inline(__always)
  func set(_ place: Int, _ value: ColumnValue, _ type: ValueType) {
    switch value {
    case .null: setNull(place, type.postgresType)
    case .integer(let value):
      if type == .bool { set(place, value != 0) } else { set(place, value) }
    case .real(let value): set(place, value)
    case .text(let bytes): set(place, inPlace: bytes)
    }
  }

  /// The value of an index column for a row. Folded text is copied.
  func set(_ place: Int, _ column: IndexColumn, of row: TableReader) {
    column.withValue(of: row) { value in
      if column.isFolded, case .text(let bytes) = value {
        set(place, copying: bytes)
      } else {
        set(place, value, column.field.type)
      }
    }
  }
}

extension Parameters {
  /// The words of a row: their number, then each word with a NUL and the number of its places.
  func set(_ place: Int, _ words: WordsColumn, of row: TableReader) {
    let lexemes = words.lexemes(of: row)
    var bytes: [UInt8] = []
    withUnsafeBytes(of: UInt32(lexemes.count).bigEndian) { bytes += $0 }
    for lexeme in lexemes { bytes += lexeme + [0, 0, 0] }
    bytes.withUnsafeBytes { set(place, copying: $0, PostgresType.words) }
  }
}

extension Rows {
  /// The value of a column with values of a type. Text is in the result's memory. There is one
  /// zero, as for values that are read from rows.
  func columnValue(_ row: Int, _ column: Int, _ type: ValueType) -> ColumnValue {
    if isNull(row, column) { return .null }
    return switch type {
    case .string: .text(bytes(row, column))
    case .bool: .integer(bool(row, column) ? 1 : 0)
    case .float, .double: .real(real(row, column) + 0)
    default: .integer(integer(row, column))
    }
  }
}
