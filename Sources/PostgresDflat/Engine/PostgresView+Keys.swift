// Many keys in one question.

import Dflat
import FlatBuffersRuntime

extension PostgresView {
  /// The greatest number of keys in one statement.
  static let keysAtOnce = 1000

  func ids(of schema: EntitySchema, with keys: KeyList) throws -> [Int64?] {
    var ids = [Int64?](repeating: nil, count: keys.count)
    try forEachFound(schema, keys, { $0.selectIDs }) { rows, row, place in
      ids[place] = rows.integer(row, 1)
    }
    return ids
  }

  func rows(of schema: EntitySchema, with keys: [KeyValues]) throws -> [Row?] {
    if keys.count == 1 { return [try row(of: schema, with: keys[0])] }
    var found = [Row?](repeating: nil, count: keys.count)
    try forEachFound(schema, .values(keys), { $0.selectKeys }) { rows, row, place in
      let (id, bytes) = (rows.integer(row, 1), rows.bytes(row, 2))
      do throws(VerificationError) { try schema.layout.verify(bytes) } catch {
        return engine.report(
          StorageError(.corruptRow, table: schema.table, rowid: id, message: error.reason))
      }
      found[place] = Row(sound: bytes, id: id)
    }
    return found
  }

  /// Calls `body` with the row of each key that is stored, and the key's place.
  private func forEachFound(
    _ schema: EntitySchema, _ keys: KeyList, _ statement: (EntityTable) -> StatementText,
    _ body: (borrowing Rows, Int, Int) -> Void
  ) throws {
    let places = keys.indices.filter { keys[$0] != nil }
    try reading(schema, byIDs: true, missing: ()) { table in
      for start in stride(from: 0, to: places.count, by: Self.keysAtOnce) {
        let portion = places[start..<min(places.count, start + Self.keysAtOnce)]
        connection.parameters.begin(schema.primaryKey.count)
        for (column, field) in schema.primaryKey.enumerated() {
          connection.parameters.set(
            column, keys: portion.compactMap { keys[$0]?.value(at: column) }, field.type,
            table.keyTexts)
        }
        let rows = try connection.run(statement(table))
        for row in 0..<rows.count {
          body(rows, row, portion[portion.startIndex + Int(rows.integer(row, 0)) - 1])
        }
      }
    }
  }
}

extension KeyValues {
  fileprivate func value(at place: Int) -> Value { place == 0 ? first : rest[place - 1] }
}
