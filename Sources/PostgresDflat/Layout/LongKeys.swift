// Texts of keys for which the server's index has no room.
//
// An entry of an index may have a third of a page. A longer text of a key is shortened in its
// column: to its beginning, the byte 0xFF, which is in no UTF-8 text, and the SHA-256 of all of it.
// So different keys are different there, too, and an object is found by its key as any other.
//
// But shortened texts have neither the values nor the order of the whole ones. The first
// transaction that writes one takes away the mark of the table's key. From then on comparisons by
// the key's columns find candidates (`QueryCapabilities.textKeys`), which are looked at.

import Dflat
import FlatBuffersRuntime
import Platform

/// How the columns of a table's key have its texts.
struct KeyTexts: Sendable {
  /// The greatest number of bytes of a text that is not shortened.
  private let longest: Int
  /// The number of bytes behind the beginning of a shortened text.
  private static let digestSize = 33

  init(_ key: [FieldDescriptor]) {
    let texts = key.count { $0.type == .string }
    // An entry has at most 2704 bytes, some of them for lengths and alignment.
    longest = texts == 0 ? .max : max(2 * Self.digestSize, (2600 - 16 * key.count) / texts)
  }

  /// The number of bytes at the beginning of a text that a column always has.
  private var beginning: Int { longest - Self.digestSize }

  /// What a column has for a text; nil for the text itself.
  fileprivate func shortened(_ text: UnsafeRawBufferPointer) -> [UInt8]? {
    if text.count <= longest { return nil }
    return text.prefix(beginning) + [0xFF] + SHA256.digest(Array(text))
  }

  /// Whether a column has a text as it is stored.
  func holds(_ stored: UnsafeRawBufferPointer, _ text: UnsafeRawBufferPointer) -> Bool {
    if let short = shortened(text) { return short.elementsEqual(stored) }
    return text.elementsEqual(stored)
  }

  /// Calls `body` with what a column has for a text.
  func withStored(_ text: String, _ body: (UnsafeRawBufferPointer) -> Void) {
    var text = text
    text.withUTF8 { bytes in
      let bytes = UnsafeRawBufferPointer(bytes)
      if let short = shortened(bytes) { short.withUnsafeBytes(body) } else { body(bytes) }
    }
  }

  /// The least and the greatest of what a column may have for texts with the beginning of a text;
  /// nil if the text is so short that comparing the column with it is exact.
  func bounds(of text: String) -> (lower: [UInt8], upper: [UInt8])? {
    if text.utf8.count <= beginning { return nil }
    let lower = Array(text.utf8.prefix(beginning))
    return (lower, lower + [UInt8](repeating: 0xFF, count: Self.digestSize + 1))
  }

  /// Whether a text in the key of a row is shortened.
  func shortensKey(of row: TableReader, _ schema: EntitySchema) -> Bool {
    if longest == .max { return false }
    return schema.keyReaders.contains { reader in
      if case .text(let bytes) = reader.read(row) { bytes.count > longest } else { false }
    }
  }
}

extension Parameters {
  /// A value of a row's key. A text that is not shortened stays in place.
  private func set(_ place: Int, key value: ColumnValue, _ type: ValueType, _ texts: KeyTexts) {
    if case .text(let bytes) = value, let short = texts.shortened(bytes) {
      set(place, copying: short)
    } else {
      set(place, value, type)
    }
  }

  /// The key of a row.
  /// - Parameter first: The place of its first value.
  func set(keyOf row: TableReader, _ table: EntityTable, from first: Int) {
    for (place, reader) in table.schema.keyReaders.enumerated() {
      set(first + place, key: reader.read(row), reader.field.type, table.keyTexts)
    }
  }

  /// Begins a statement with a key.
  func begin(_ key: KeyValues, _ table: EntityTable) {
    begin(1 + key.rest.count)
    set(0, key: key.first, table.keyTexts)
    for (place, value) in key.rest.enumerated() { set(place + 1, key: value, table.keyTexts) }
  }

  /// Begins a statement with the key of a row.
  func begin(keyOf row: TableReader, _ table: EntityTable) {
    begin(table.schema.keyReaders.count)
    set(keyOf: row, table, from: 0)
  }

  /// A value of a key.
  private func set(_ place: Int, key value: Value, _ texts: KeyTexts) {
    if case .string(let text) = value {
      set(place, keyText: text, texts)
    } else {
      set(place, value)
    }
  }

  /// A text that is equal to a key's column.
  func set(_ place: Int, keyText text: String, _ texts: KeyTexts) {
    texts.withStored(text) { set(place, copying: $0) }
  }

  func set(_ place: Int, copying bytes: [UInt8]) {
    bytes.withUnsafeBytes { set(place, copying: $0) }
  }
}
