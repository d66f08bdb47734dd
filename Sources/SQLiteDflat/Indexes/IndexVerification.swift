// Index verification: compares a side table with the objects by reading both.
//
// It is needed where there is no mark (`IndexMarks`): in files that other programs have created,
// and from the first row that one of them has changed.

import Dflat
import FlatBuffersRuntime
import SQLiteAccess

extension SideTable {
  /// Whether the side table has a row with the right value for each object beyond a row id, and no
  /// other row there.
  ///
  /// Damaged objects have no values to compare. They match whatever row they have, so that a single
  /// one does not make an index useless.
  func agrees(
    with main: TableSQL, beyond id: Int64, _ connection: Connection
  ) throws(SQLiteError) -> Bool {
    guard let reader else { return false }
    let rows = try connection.statement(
      "SELECT m.p, s.rowid, s.\(column.quoted) FROM \(main.quoted) AS m "
        + "LEFT JOIN \(table.quoted) AS s ON s.rowid = m.rowid WHERE m.rowid > ? ORDER BY m.rowid")
    try rows.bind(1, id)
    var count: Int64 = 0
    while try rows.step() {
      guard !rows.isNull(1),
        rows.holds(reader.value(in: rows.blob(0)), self, at: 2)
          || main.schema.isDamaged(rows.blob(0))
      else { return false }
      count += 1
    }
    let counted = try connection.statement(
      "SELECT count(*) FROM \(table.quoted) WHERE rowid > ?")
    try counted.bind(1, id)
    return try counted.step() && counted.int64(0) == count
  }
}

extension EntitySchema {
  /// Whether the bytes of a row violate the layout.
  func isDamaged(_ bytes: UnsafeRawBufferPointer) -> Bool {
    do { try layout.verify(bytes) } catch { return true }
    return false
  }
}

extension ColumnReader {
  /// The value in the bytes of a row; a damaged row may have none.
  func value(in bytes: UnsafeRawBufferPointer) -> ColumnValue {
    RowView(root: bytes).map(read) ?? .null
  }
}

extension PreparedStatement where Self: ~Copyable {
  /// Whether a column of the current row is what a side table stores for a value.
  func holds(_ value: ColumnValue, _ side: SideTable, at column: Int) -> Bool {
    switch (value, type(column)) {
    case (.null, .null): true
    // Other programs store 0 for an empty union.
    case (.null, .integer): side.isUnionTag && int64(column) == 0
    case (.integer(let value), .integer): int64(column) == value
    // SQLite may store a whole number in a REAL column as an integer, and does not keep -0.0.
    case (.real(let value), .real), (.real(let value), .integer): double(column) == value
    case (.text, .text):
      utf8(column).map { value.isSame(as: .text(UnsafeRawBufferPointer($0))) } ?? false
    default: false
    }
  }
}
