// HeldValue: the value of a field, or of a whole key, for hash tables of rows in memory.
//
// Two are equal exactly if the storage considers the values equal: strings by their bytes, and 0.0
// as -0.0. Both sides come from one schema, so the type is not part of the value.

import FlatBuffersRuntime

struct HeldValue: Hashable {
  /// A number's bits, or the length of a text in bytes.
  private let word: UInt64
  private let text: String
  /// The values of the other fields of a key.
  private let rest: [HeldValue]

  private init(_ word: UInt64, _ text: String = "", rest: [HeldValue] = []) {
    self.word = word
    self.text = text
    self.rest = rest
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

  /// A primary key.
  init(_ key: KeyValues) {
    let first = HeldValue(key.first)
    let rest = key.rest.isEmpty ? [] : key.rest.map { HeldValue($0) ?? .unknown }
    self.init(first?.word ?? .max, first?.text ?? "", rest: rest)
  }

  /// The primary key of a row.
  init(keyOf row: TableReader, _ schema: EntitySchema) {
    var values = schema.keyReaders.map { HeldValue($0.read(row)) ?? .unknown }
    let first = values.removeFirst()
    self.init(first.word, first.text, rest: values)
  }

  /// The value of a key field that is unknown, which no stored object has.
  private static let unknown = HeldValue(.max)

  static func == (lhs: HeldValue, rhs: HeldValue) -> Bool {
    lhs.word == rhs.word && lhs.rest == rhs.rest
      && lhs.text.withBytes { left in rhs.text.withBytes { equalBytes(left, $0) } }
  }

  func hash(into hasher: inout Hasher) {
    if text.isEmpty {
      hasher.combine(word)
    } else {
      text.withBytes { hasher.combine(bytes: $0) }
    }
    for value in rest { value.hash(into: &hasher) }
  }
}
