// HashableFieldValue: the value of a field, for hash tables of rows in memory.
//
// Two are equal exactly if the storage considers the values equal: strings by their bytes, and 0.0
// as -0.0. Both sides come from one schema, so the type is not part of the value.

import FlatBuffersRuntime

struct HashableFieldValue: Hashable {
  /// A number's bits, or the length of a text in bytes.
  private let word: UInt64
  private let text: String

  private init(_ word: UInt64, _ text: String = "") {
    self.word = word
    self.text = text
  }

  /// A value; nil for NaN, which equals nothing.
  init?(_ value: Value) {
    switch value {
    case .string(let text): self.init(UInt64(text.utf8.count), text)
    case .real(let number):
      if number.isNaN { return nil }
      self.init((number + 0).bitPattern)
    case .bool, .integer, .unsigned: self.init(value.bits)
    }
  }

  /// The value of a column; nil if it is unknown.
  init?(_ column: ColumnValue) {
    switch column {
    case .null: return nil
    case .integer(let number): self.init(UInt64(bitPattern: number))
    case .real(let number): self.init(Value.real(number))
    case .text(let bytes):
      self.init(UInt64(bytes.count), String(decoding: bytes, as: UTF8.self))
    }
  }

  static func == (lhs: HashableFieldValue, rhs: HashableFieldValue) -> Bool {
    lhs.word == rhs.word
      && lhs.text.withBytes { left in rhs.text.withBytes { equalBytes(left, $0) } }
  }

  func hash(into hasher: inout Hasher) {
    if text.isEmpty {
      hasher.combine(word)
    } else {
      text.withBytes { hasher.combine(bytes: $0) }
    }
  }
}
