// Index marks: which side tables are known to agree with the objects, kept in the file.
//
//   _dflat_index (side TEXT PRIMARY KEY, main TEXT, absent TEXT, verified INTEGER) WITHOUT ROWID
//
//  - Up to the row id `verified`, the side table has a row with the right value for each object,
//    and no other row. `everything` covers all rows, including future ones: our writers keep both
//    tables consistent.
//  - `absent` is the default for absent fields when the values were verified, of compound indexes
//    those of all columns, and for folded text the version of Unicode. A schema with another
//    default has other values. Of a table of elements it names the vector; see `ElementTable`.
//  - A mark is valid only while its guards are in place: triggers that lower `verified` when a
//    connection other than our writers changes a row of either table; see `IndexGuard`.
//
// So a complete index is known to be right in O(1) when a file is opened, and after other
// workspaces have committed. Changes by other programs are verified again, from the first row that
// they touched.

import Dflat
import SQLiteAccess

/// A table that follows from the objects, with a mark of how far it agrees with them.
protocol MarkedTable: Sendable {
  var table: String { get }
  /// What its rows depend on beside the objects; see `IndexMarks`.
  var absentText: String? { get }
  /// Reads the greatest row ids of the main table and of this one, and this one's mark. It fails if
  /// this table lacks a column, or if there are no marks.
  var extentAndMark: String { get }
  /// The same without the mark.
  var extent: String { get }
}

extension MarkedTable {
  /// The mark of a table, as an expression.
  static func mark(of table: String, _ main: String, _ absent: String?) -> String {
    "(SELECT verified FROM \(IndexMarks.table) WHERE side = \(table.sqlText) AND main = \(main.sqlText) "
      + "AND absent IS \(absent?.sqlText ?? "NULL"))"
  }
}

enum IndexMarks {
  static let table = "_dflat_index"
  /// Nothing is verified.
  static let nothing = Int64.min
  /// All rows are verified, including those that our writers will add.
  static let everything = Int64.max

  static func create(on connection: Connection) throws(SQLiteError) {
    try connection.execute(
      "CREATE TABLE IF NOT EXISTS \(table) (side TEXT PRIMARY KEY, main TEXT NOT NULL, absent TEXT, "
        + "verified INTEGER NOT NULL) WITHOUT ROWID")
  }

  /// Whether the mark of a table is one of a schema with another default.
  static func isOfOtherDefault(
    _ side: some MarkedTable, _ connection: Connection
  ) throws(SQLiteError) -> Bool {
    try connection.value(
      "SELECT 1 FROM \(table) WHERE side = ? AND absent IS NOT ?",
      [.text(side.table), side.absentText.map { .text($0) } ?? .null]) != nil
  }

  /// The first row that is not verified.
  static func first(behind verified: Int64) -> Int64 {
    verified == nothing || verified == everything ? verified : verified + 1
  }

  /// What is verified if nothing is from a row on.
  static func verified(below id: Int64) -> Int64 { id == nothing ? nothing : id - 1 }

  /// Records up to which row a side table is verified.
  static func set(
    _ verified: Int64, of side: some MarkedTable, main: String, _ connection: Connection
  ) throws(SQLiteError) {
    try connection.execute(
      "INSERT INTO \(table) VALUES (?, ?, ?, ?) ON CONFLICT (side) DO UPDATE "
        + "SET main = excluded.main, absent = excluded.absent, verified = excluded.verified",
      [
        .text(side.table), .text(main), side.absentText.map { .text($0) } ?? .null,
        .integer(verified),
      ])
  }

  /// Marks nothing of a side table as verified.
  static func clear(_ side: String, _ connection: Connection) throws(SQLiteError) {
    try connection.execute(
      "UPDATE \(table) SET verified = ? WHERE side = ?", [.integer(nothing), .text(side)])
  }

  /// Marks nothing of the tables that follow from a main table as verified.
  static func clear(main: String, _ connection: Connection) throws(SQLiteError) {
    try connection.execute(
      "UPDATE \(table) SET verified = ? WHERE main = ?", [.integer(nothing), .text(main)])
  }

  /// Marks nothing as verified behind a row.
  static func lower(
    _ side: SideTable, to last: Int64, _ connection: Connection
  ) throws(SQLiteError) {
    try connection.execute(
      "UPDATE \(table) SET verified = ?1 WHERE side = ?2 AND verified > ?1",
      [.integer(last), .text(side.table)])
  }
}

/// How far a side table reaches, and how far it is verified, in one state of the file.
struct IndexExtent {
  /// Greatest row ids; nil for an empty table.
  let main: Int64?
  let side: Int64?
  /// The row id of its mark; nil if it has none, or one of a schema with another default.
  let verified: Int64?

  /// Whether the side table covers all objects.
  var isComplete: Bool { main == side }

  /// nil if a table does not exist.
  static func read(
    of side: some MarkedTable, _ connection: Connection
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
        verified: statement.isNull(2) ? nil : statement.int64(2))
    } catch {
      // SQLite has no specific code for a missing table or column.
      if error.code == .error, !error.isMissingModule { return nil }
      throw error
    }
  }
}
