// FoundItems: the items of dictionaries that a write transaction has found by their keys.
//
// A transaction that changes the value of a key has mostly read it before. The server need not be
// asked for the item again: all that the transaction reads is of one state, which only its own
// changes replace.

import Dflat
import FlatBuffersRuntime

struct FoundItems {
  /// A transaction that reads many items needs no more memory than for these.
  private static let most = 256

  private var rows: [KeyValues: Row] = [:]

  /// Notes a row that was found, or stored, if it is an item.
  mutating func note(_ row: Row, _ schema: EntitySchema) {
    guard schema === DictionaryItem.schema, let key = row.read({ Self.key(of: $0) }) else { return }
    if rows.count < Self.most || rows[key] != nil { rows[key] = row }
  }

  /// The item with a row's key, if it was found.
  func find(keyOf row: TableReader, _ schema: EntitySchema) -> Row? {
    if rows.isEmpty || schema !== DictionaryItem.schema { return nil }
    return Self.key(of: row).flatMap { rows[$0] }
  }

  /// Whether a row was found, and has the same key still.
  func has(_ row: Row, _ schema: EntitySchema) -> Bool {
    row.read { find(keyOf: $0, schema) }?.id == row.id
  }

  /// Forgets items that are removed.
  mutating func remove(_ ids: [Int64], _ schema: EntitySchema) {
    if rows.isEmpty || schema !== DictionaryItem.schema { return }
    let ids = Set(ids)
    rows = rows.filter { !ids.contains($0.value.id) }
  }

  mutating func removeAll() { rows = [:] }

  private static func key(of item: TableReader) -> KeyValues? {
    var values: [Value] = []
    for reader in DictionaryItem.schema.keyReaders {
      guard case .text(let bytes) = reader.read(item) else { return nil }
      values.append(.string(String(decoding: bytes, as: UTF8.self)))
    }
    return KeyValues(first: values[0], rest: Array(values.dropFirst()))
  }
}
