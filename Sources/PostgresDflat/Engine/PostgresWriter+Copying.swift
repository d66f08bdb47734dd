// Many new rows at once, by COPY.
//
// COPY cannot leave a row out, and its error does not say whether the transaction can see the
// object that has the key. So after a refusal the rows are inserted one by one: then the same
// things happen as with single insertions.

import Dflat
import FlatBuffersRuntime

extension PostgresWriter: BulkInsertingStorageWriter {
  /// Fewer rows than this are inserted one by one.
  private static let fewest = 16
  /// The greatest number of rows in one COPY.
  private static let most = 10_000

  func insert(_ schema: EntitySchema, _ rows: [Row]) throws -> [Int64] {
    // Unique values are looked up for each row.
    let canCopy = rows.count >= Self.fewest && !schema.indexes.contains { $0.isUnique }
    var ids: [Int64] = []
    ids.reserveCapacity(rows.count)
    for start in stride(from: 0, to: rows.count, by: Self.most) {
      let portion = rows[start..<min(rows.count, start + Self.most)]
      if canCopy, let copied = try copy(schema, portion) {
        ids += copied
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
      for id in ids { changes.add(id, to: schema.table) }
      if let first = ids.first { try noteUncovered(table, first) }
      for row in rows {
        try row.withBytes { try noteShortenedKey(of: Self.reading($0), table) }
      }
      return ids
    }
  }
}
