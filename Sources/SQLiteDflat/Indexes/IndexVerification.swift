// Index verification: compares a side table with the objects by reading both.
//
// It is needed where there is no mark (`IndexMarks`): in files that other programs have created,
// and from the first row that one of them has changed.

import Dflat
import FlatBuffersRuntime
import SQLiteAccess

extension SideTable {
  /// Whether the side table has a row with the right values for each object from a row id on, and
  /// no other row there.
  ///
  /// Damaged objects have no values to compare. They match whatever row they have, so that a single
  /// one does not make an index useless.
  func agrees(
    with main: TableSQL, from id: Int64, _ connection: Connection
  ) throws(SQLiteError) -> Bool {
    guard let readers, try hasShape(on: connection) else { return false }
    let values = columns.map { ", s.\($0.quoted)" }.joined()
    let rows = try connection.statement(
      "SELECT m.p, s.rowid\(values) FROM \(main.quoted) AS m "
        + "LEFT JOIN \(table.quoted) AS s ON s.rowid = m.rowid WHERE m.rowid >= ? ORDER BY m.rowid")
    try rows.bind(1, id)
    var count: Int64 = 0
    while try rows.step() {
      guard !rows.isNull(1),
        rows.holds(SideValues(readers, in: rows.object(0, of: main.schema)), from: 2)
          || main.schema.isDamaged(rows.object(0, of: main.schema))
      else { return false }
      count += 1
    }
    let counted = try connection.statement(
      "SELECT count(*) FROM \(table.quoted) WHERE rowid >= ?")
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
