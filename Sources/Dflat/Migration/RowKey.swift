// RowKey: the primary key of a row that is perhaps not stored, as engines compare it.

import FlatBuffersRuntime

/// The primary key of a row.
struct RowKey: Hashable {
  /// The stored form of each field; texts by their bytes, which are compared.
  private enum Part: Hashable {
    case integer(Int64)
    case real(UInt64)
    case text([UInt8])
  }

  private let parts: [Part]

  /// nil if a part of the key is unknown.
  init?(_ values: [ColumnValue]) {
    var parts: [Part] = []
    for value in values {
      switch value {
      case .null: return nil
      case .integer(let value): parts.append(.integer(value))
      case .real(let value): parts.append(.real(value.bitPattern))
      case .text(let bytes): parts.append(.text(Array(bytes)))
      }
    }
    self.parts = parts
  }
}

extension EntitySchema {
  /// The key of a row; nil if it is unknown.
  func key(of row: Row) -> RowKey? {
    row.read { table in RowKey(keyReaders.map { $0.read(table) }) }
  }

  /// The keys of some rows that stored objects have.
  func storedKeys(among rows: [Row], _ reader: any StorageReader) throws -> Set<RowKey> {
    Set(try stored(withKeysOf: rows, reader).compactMap { key(of: $0) })
  }

  /// The stored rows that have the keys of some rows, in no particular order.
  package func stored(
    withKeysOf rows: [Row], _ reader: any StorageReader
  ) throws -> [Row] {
    guard keyReaders.count == 1, let field = keyReaders.first?.field else {
      return try rows.compactMap { try reader.row(of: self, keyOf: $0) }
    }
    var values = rows.compactMap { row in
      row.read { keyReaders[0].read($0).constant(field.type) }
    }[...]
    var stored: [Row] = []
    while !values.isEmpty {
      // As many as engines find by their keys.
      let some = Array(values.prefix(400))
      values = values.dropFirst(400)
      let condition = Node.membership(.field(field), some, field.type, negated: false)
      stored += try reader.rows(Query(schema: self, condition: condition), mark: .none).map { $0 }
    }
    return stored
  }
}
