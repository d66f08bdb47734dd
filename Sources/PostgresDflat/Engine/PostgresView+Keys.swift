// Many keys in one question.

import Dflat
import FlatBuffersRuntime

extension PostgresView {
  /// The greatest number of keys in one statement.
  static let keysAtOnce = 1000

  /// Passes on the ids of the rows with some keys.
  func scanIDs(
    of keys: KeyList, _ schema: EntitySchema, _ body: (ScannedRow) throws -> Bool
  ) throws {
    // In the order of the keys, which the server does not keep.
    var ids = [Int64?](repeating: nil, count: keys.count)
    try forEachFound(schema, keys, { $0.selectIDs }) { rows, row, place in
      ids[place] = rows.integer(row, 1)
    }
    for case (let place, let id?) in ids.enumerated() {
      hasGivenRows = true
      if try !body(ScannedRow(id: id, place: place)) { return }
    }
  }

  /// Passes on the rows with some keys.
  func scan(
    _ keys: KeyList, _ schema: EntitySchema, _ body: (ScannedRow) throws -> Bool
  ) throws {
    for case (let place, let row?) in try found(keys, schema, .none).enumerated() {
      hasGivenRows = true
      if try !row.withBytes({ try body(ScannedRow(id: row.id, place: place, $0)) }) { return }
    }
  }

  func rows(of schema: EntitySchema, with keys: KeyList, mark: ReadMark) throws -> RowBuffer {
    var rows = RowBuffer()
    for case let row? in try found(keys, schema, mark) { rows.append(row) }
    return rows
  }

  /// The row of each key; nil where there is none.
  private func found(
    _ keys: KeyList, _ schema: EntitySchema, _ mark: ReadMark
  ) throws -> [Row?] {
    if keys.count == 1, let key = keys[0] { return [try row(of: schema, with: key, mark: mark)] }
    var found = [Row?](repeating: nil, count: keys.count)
    try forEachFound(schema, keys, { $0.selectKeys }) { rows, row, place in
      let (id, bytes) = (rows.integer(row, 1), rows.bytes(row, 2))
      do throws(VerificationError) { try schema.layout.verify(bytes) } catch {
        return engine.report(
          StorageError(.corruptRow, table: schema.table, rowid: id, message: error.reason))
      }
      found[place] = Row(sound: bytes, id: id, mark: mark)
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
            column,
            ValueList(
              portion.compactMap { keys[$0]?.value(at: column) }, field.type,
              .stored(table.keyTexts)))
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
