// Single rows, and rows in the order of their ids.

import Dflat
import FlatBuffersRuntime

extension PostgresView {
  func row(
    of schema: EntitySchema, with key: KeyValues, mark: ReadMark, throwsDamage: Bool = false
  ) throws -> Row? {
    try reading(schema, byIDs: true, missing: nil) { table in
      let row = try engine.withRow(
        of: table, with: key, on: connection, throwsDamage: throwsDamage
      ) {
        Row(sound: $1, id: $0, mark: mark)
      }
      if let row { noteFound(row, schema) }
      return row
    }
  }

  func row(id: Int64, _ schema: EntitySchema, _ mark: ReadMark) throws -> Row? {
    try reading(schema, rowid: id, byIDs: true, missing: nil) { table in
      connection.parameters.begin(1)
      connection.parameters.set(0, id)
      return try soundRow(try connection.run(table.selectRow), schema, mark)
    }
  }

  func row(keyOf row: Row, _ schema: EntitySchema, _ mark: ReadMark) throws -> Row? {
    try reading(schema, byIDs: true, missing: nil) { table in
      try row.read { bytes in
        Result { () throws -> Row? in
          if let known = known(keyOf: bytes, schema) { return known }
          connection.parameters.begin(keyOf: bytes, table)
          return try soundRow(try connection.run(table.selectKey), schema, mark)
        }
      }.get()
    }
  }

  func rows(
    after id: Int64?, limit: Int, _ schema: EntitySchema, _ mark: ReadMark
  ) throws -> RowBuffer {
    try reading(schema, missing: RowBuffer()) { table in
      var buffer = RowBuffer()
      var last = id
      while buffer.count < limit, let first = ReadRequest.firstID(after: last) {
        let wanted = limit - buffer.count
        connection.parameters.begin(2)
        connection.parameters.set(0, first)
        connection.parameters.set(1, Int64(wanted))
        let rows = try connection.run(table.selectFrom)
        for row in 0..<rows.count {
          let id = rows.integer(row, 0)
          last = id
          do throws(StorageError) {
            buffer.append(try soundRow(rows.bytes(row, 1), id, schema, mark))
          } catch {
            engine.reportOnce(error)
          }
        }
        if rows.count < wanted { break }
      }
      return buffer
    }
  }

  /// The rows with some ids, in ascending order of ids. Damaged rows are reported and left out.
  func rows(ids: [Int64], _ schema: EntitySchema, _ mark: ReadMark) throws -> RowBuffer {
    try reading(schema, missing: RowBuffer()) { table in
      connection.parameters.begin(1)
      connection.parameters.set(0, ids)
      let rows = try connection.run(table.selectRows)
      var buffer = RowBuffer()
      for row in 0..<rows.count {
        do throws(StorageError) {
          buffer.append(try soundRow(rows.bytes(row, 1), rows.integer(row, 0), schema, mark))
        } catch {
          engine.reportOnce(error)
        }
      }
      return buffer
    }
  }

  func lastID(of schema: EntitySchema) throws -> Int64? {
    try reading(schema, missing: nil) { table in
      connection.parameters.begin(0)
      let rows = try connection.run(table.selectLast)
      return rows.count == 0 || rows.isNull(0, 0) ? nil : rows.integer(0, 0)
    }
  }

  private func soundRow(
    _ rows: consuming Rows, _ schema: EntitySchema, _ mark: ReadMark
  ) throws -> Row? {
    guard rows.count > 0 else { return nil }
    return try soundRow(rows.bytes(0, 1), rows.integer(0, 0), schema, mark)
  }

  /// The row, if its bytes are sound; throws if they are damaged.
  private func soundRow(
    _ bytes: UnsafeRawBufferPointer, _ id: Int64, _ schema: EntitySchema, _ mark: ReadMark
  ) throws(StorageError) -> Row {
    try schema.verify(bytes, id: id)
    return Row(sound: bytes, id: id, mark: mark)
  }
}

extension Int {
  /// Calls `body` with a row, and counts it.
  mutating func count(
    _ body: (borrowing Rows, Int) throws -> Bool, _ rows: borrowing Rows, _ row: Int
  ) rethrows -> Bool {
    self += 1
    return try body(rows, row)
  }
}
