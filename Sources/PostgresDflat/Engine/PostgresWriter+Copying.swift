// Many new rows at once, by COPY; a few by statements that are sent together.
//
// COPY cannot leave a row out, and its error does not say whether the transaction can see the
// object that has the key. So after a refusal the rows are inserted one by one: then the same
// things happen as with single insertions.

import Dflat
import FlatBuffersRuntime

extension PostgresWriter: BulkInsertingStorageWriter {
  /// Fewer rows than this are not copied.
  private static let fewest = 16
  /// The greatest number of rows in one COPY.
  private static let most = 10_000

  func insert(_ schema: EntitySchema, _ rows: [Row]) throws -> [Int64] {
    // Unique values are looked up for each row.
    let isTogether = rows.count > 1 && !schema.indexes.contains { $0.isUnique }
    var ids: [Int64] = []
    ids.reserveCapacity(rows.count)
    for start in stride(from: 0, to: rows.count, by: Self.most) {
      let portion = rows[start..<min(rows.count, start + Self.most)]
      if isTogether,
        let stored = try rows.count < Self.fewest
          ? insertTogether(schema, portion) : copy(schema, portion)
      {
        ids += stored
      } else {
        for row in portion { ids.append(try row.withBytes { try insert(schema, $0) }) }
      }
    }
    return ids
  }

  /// - Returns: The ids; nil if a row was refused, and then nothing was stored.
  private func copy(_ schema: EntitySchema, _ rows: ArraySlice<Row>) throws -> [Int64]? {
    try withStorageErrors(table: schema.table, isWriting: true) {
      let table = try prepare(schema)
      try beginChange()
      connection.parameters.begin(1)
      connection.parameters.set(0, Int64(rows.count))
      let ids = try connection.run(table.table.takeIDs).integers(0, 0)
      if ids.count < rows.count {
        throw StorageError(
          .other, table: schema.table, message: "the table gives no row ids",
          advice: "give its column rowid an identity again, as Dflat has created it")
      }
      hasWritten = true
      changes.hasSavepoints = true
      let columns = 2 + table.valueCount
      do throws(PostgresError) {
        try connection.copy(table.copy, rows: rows.count) { place, parameters in
          // The rows stay in memory, and so do their bytes.
          rows[rows.startIndex + place].withBytes { bytes in
            parameters.begin(columns)
            parameters.set(0, inPlace: bytes)
            setColumns(table, Self.reading(bytes), from: 1)
            parameters.set(columns - 1, ids[place])
          }
        }
      } catch {
        guard error.state == "23505" else { throw error }
        try connection.execute(WriteTable.uncopy)
        return nil
      }
      try noteInserted(rows, ids, table)
      return ids
    }
  }

  /// Inserts rows by one statement for each, whose answers are awaited together.
  /// - Returns: The ids; nil if a row was refused, and then nothing is stored.
  private func insertTogether(_ schema: EntitySchema, _ rows: ArraySlice<Row>) throws -> [Int64]? {
    try withStorageErrors(table: schema.table, isWriting: true) {
      let table = try prepare(schema)
      try beginChange()
      hasWritten = true
      let inserted = InsertedIDs()
      for row in rows {
        try row.withBytes { bytes in
          connection.parameters.begin(1 + table.valueCount)
          connection.parameters.set(0, inPlace: bytes)
          setColumns(table, Self.reading(bytes), from: 1)
          try connection.send(
            Connection.Sent(
              statement: table.insert, table: schema.table, row: row, receive: inserted.add))
        }
      }
      try connection.finishPipeline()
      if inserted.ids.count < rows.count {
        connection.parameters.begin(1)
        connection.parameters.set(0, inserted.ids)
        try connection.run(table.table.deleteAll)
        return nil
      }
      try noteInserted(rows, inserted.ids, table)
      return inserted.ids
    }
  }

  /// The ids that insertions have returned.
  private final class InsertedIDs {
    private(set) var ids: [Int64] = []

    /// Adds the id that a statement has returned; none if the row was refused.
    func add(_ answer: borrowing Rows) {
      if answer.count > 0 { ids.append(answer.integer(0, 0)) }
    }
  }

  private func noteInserted(
    _ rows: ArraySlice<Row>, _ ids: [Int64], _ table: WriteTable
  ) throws {
    for id in ids { changes.add(id, to: table.table.name) }
    if let first = ids.min() { try noteUncovered(table, first) }
    for row in rows {
      try row.withBytes { try noteShortenedKey(of: Self.reading($0), table) }
    }
  }
}
