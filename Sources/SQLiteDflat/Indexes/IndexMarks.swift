// Index marks: which side tables are known to agree with the objects, kept in the file.
//
//   _dflat_index (side TEXT PRIMARY KEY, main TEXT, absent TEXT, verified INTEGER) WITHOUT ROWID
//
//  - Up to the row id `verified`, the side table has a row with the right value for each object,
//    and no other row. `everything` says so of all rows, and of all that are still to come: our
//    writers keep both tables in step.
//  - `absent` is what an absent field read as when the values were verified. A schema with another
//    default has other values.
//  - A mark counts only while its guards stand: triggers that lower `verified` when a connection
//    that is no writer of this library changes a row of either table; see `IndexGuard`.
//
// So a complete index is known to be right in O(1) when a file is opened, and after other
// workspaces have committed. What other programs change is verified again from the first row that
// they have touched.

import Dflat
import SQLiteAccess

enum IndexMarks {
  static let table = "_dflat_index"
  /// Nothing is verified.
  static let nothing = Int64.min
  /// All rows are, and those that our writers add.
  static let everything = Int64.max

  static func create(on connection: Connection) throws(SQLiteError) {
    try connection.execute(
      "CREATE TABLE IF NOT EXISTS \(table) (side TEXT PRIMARY KEY, main TEXT NOT NULL, absent TEXT, "
        + "verified INTEGER NOT NULL) WITHOUT ROWID")
  }

  /// Notes up to which row a side table is verified.
  static func set(
    _ verified: Int64, of side: SideTable, main: String, _ connection: Connection
  ) throws(SQLiteError) {
    try connection.execute(
      "INSERT INTO \(table) VALUES (?, ?, ?, ?) ON CONFLICT (side) DO UPDATE "
        + "SET main = excluded.main, absent = excluded.absent, verified = excluded.verified",
      [
        .text(side.table), .text(main), side.absentText.map { .text($0) } ?? .null,
        .integer(verified),
      ])
  }

  /// Nothing of a side table is verified any more.
  static func clear(_ side: SideTable, _ connection: Connection) throws(SQLiteError) {
    try connection.execute(
      "UPDATE \(table) SET verified = ? WHERE side = ?",
      [.integer(nothing), .text(side.table)])
  }

  /// From a row on, nothing is verified any more.
  static func lower(
    _ side: SideTable, below id: Int64, _ connection: Connection
  ) throws(SQLiteError) {
    try connection.execute(
      "UPDATE \(table) SET verified = ?1 - 1 WHERE side = ?2 AND verified >= ?1",
      [.integer(id), .text(side.table)])
  }
}

/// How far a side table reaches, and how far it is verified, in one state of the file.
struct IndexExtent {
  /// Greatest row ids; nil for an empty table.
  let main: Int64?
  let side: Int64?
  /// What its mark says; nil if it has none, or one of a schema with another default.
  let verified: Int64?

  /// Whether the side table reaches all objects.
  var isComplete: Bool { main == side }

  /// nil if a table does not exist.
  static func read(
    of side: SideTable, _ connection: Connection
  ) throws(SQLiteError) -> IndexExtent? {
    if let extent = try read(side.extentAndMark, connection) { return extent }
    // A file that no writer of this library has prepared has no marks.
    return try read(side.extent, connection)
  }

  private static func read(
    _ sql: String, _ connection: Connection
  ) throws(SQLiteError) -> IndexExtent? {
    do throws(SQLiteError) {
      let statement = try connection.uniqueStatement(sql)
      guard try statement.step() else { return nil }
      return IndexExtent(
        main: statement.isNull(0) ? nil : statement.int64(0),
        side: statement.isNull(1) ? nil : statement.int64(1),
        verified: statement.isNull(3) ? nil : statement.int64(3))
    } catch {
      // There is no code of its own for a missing table or column.
      if error.code == .error { return nil }
      throw error
    }
  }
}
