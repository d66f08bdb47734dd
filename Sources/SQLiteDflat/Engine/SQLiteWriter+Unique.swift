// Unique values: whether another object has those that an object is about to get.

import Dflat
import SQLiteAccess

extension SQLiteWriter {
  /// SQLite's index refuses values that another object has, if it covers all objects. Otherwise
  /// all objects are examined.
  func checkUnique(
    _ side: WriterSide, _ row: RowView, _ id: Int64, _ schema: EntitySchema
  ) throws {
    guard side.table.isUnique, !side.isTrusted, let readers = side.readers else { return }
    try refuseDuplicate(side, row, id, schema)
    // No object has the values, but a wrong row of the side table may be in the way.
    try side.vacate(SideValues(readers, row), connection)
  }

  /// The same for unique side tables that do not cover the row.
  func checkUncoveredSides(
    _ table: WriterTable, _ row: RowView, _ id: Int64, _ schema: EntitySchema
  ) throws {
    guard table.hasUniqueSides else { return }
    for side in table.sides where side.table.isUnique && !side.covers(id) && !side.isComplete {
      try refuseDuplicate(side, row, id, schema)
    }
  }

  /// Calls `body`, which writes what follows an object's row, in tables whose values the schema
  /// does not make unique. If a unique index of another program refuses something there, the row is
  /// stored already, and there may be no savepoint: the whole transaction fails.
  @inline(__always)
  func withoutRefusals(of table: String, _ body: () throws -> Void) throws {
    do { try body() } catch let error as SQLiteError {
      guard error.isUniqueConstraint || error.isPrimaryKeyConstraint else { throw error }
      throw StorageError(
        .other, table: table,
        message: "a unique index that the schema does not have refuses a value of an object",
        details: error.message, underlying: error, path: error.path,
        advice: "drop the index, which another program has made")
    }
  }

  func refuseDuplicate(
    _ side: WriterSide, _ row: RowView, _ id: Int64, _ schema: EntitySchema
  ) throws {
    guard let condition = side.readers?.sameValues(as: row) else { return }
    let several = Query(schema: schema, condition: condition, limit: 2)
    let found = try rows(.query(several), mark: .none)
    if (0..<found.count).contains(where: { found[$0].id != id }) {
      throw StorageError(
        .alreadyExists, table: side.table.main, key: side.table.describe(row),
        message: "another object has it already")
    }
  }
}
