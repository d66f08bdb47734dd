// The statements of one entity type: its tables, and reading and writing single rows.
//
//   main table    T (rowid INTEGER PRIMARY KEY AUTOINCREMENT, __pk0 <type>, …, p BLOB,
//                    UNIQUE(__pk0, …))
//   side table    T__X (rowid INTEGER PRIMARY KEY, X <type>) for each index with the path X
//   its index     index__T__X on T__X (X), UNIQUE for a unique path
//
// The side table of a compound index has several columns; see `SideTable`. The table for the
// elements of a vector has a row for each of them; see `ElementTable`.
//
// Strings are TEXT, float and double are REAL, everything else is INTEGER. With AUTOINCREMENT a row
// id is never used again.

package import Dflat
import SQLiteAccess
import Platform

/// The statements of an entity type.
final class TableSQL: Sendable {
  let schema: EntitySchema
  let table: String
  /// The main table's name, quoted.
  let quoted: String
  let keyColumns: [String]
  /// Where the key columns were last found right; see KeyCollation.swift. nil if there is nothing
  /// to look at.
  let comparableKeys: SeenFile?
  /// Where the table was last found to be that of the type; see TableOwner.swift.
  let ownTable = SeenFile()
  let sides: [SideTable]
  /// The table of the words; nil if no field is searched for words.
  let fullText: FullTextTable?
  let elements: [ElementTable]
  let create: String
  let insert: String
  /// The same with an id that the caller chooses.
  let insertWithID: String
  /// Inserts nothing if there is a row with the key.
  let insertUnlessKnown: String
  let update: String
  let updateWithKey: String
  /// Replaces the row with an id if it has a key.
  let updateIfKeyed: String
  let delete: String
  let selectRow: String
  /// Reads the rows beyond an id.
  let selectFrom: String
  let selectLast: String
  /// Reads all rows with their keys.
  let selectObjects: String
  /// Triggers that notice changes by other programs to the main table.
  let guards: [IndexGuard]
  /// Reads the row with a primary key. Columns are compared with `IS`, so that NULL matches NULL.
  let selectKey: String
  /// Reads only the id of that row.
  let selectID: String

  init(_ schema: EntitySchema) {
    self.schema = schema
    table = schema.table
    let name = schema.table.quoted
    quoted = name
    let keys = schema.primaryKey.indices.map { "__pk\($0)" }
    keyColumns = keys
    comparableKeys = schema.primaryKey.contains { $0.type == .string } ? SeenFile() : nil
    let guards = IndexGuard.guards(main: schema.table, keys: keys)
    self.guards = guards
    sides = schema.indexes.map { SideTable($0, of: schema, guards) }
    fullText = schema.fullText.map { FullTextTable($0, of: schema, guards) }
    elements = schema.elementIndexes.map { ElementTable($0, of: schema, guards) }
    let list = keys.joined(separator: ", ")
    create = StoredTables.mainTableStatement(
      schema.table, keyTypes: schema.primaryKey.map(\.type.columnType))
    let marks = keys.map { _ in "?" }.joined(separator: ", ")
    insert = "INSERT INTO \(name) (p, \(list)) VALUES (?, \(marks))"
    insertWithID = "INSERT INTO \(name) (p, \(list), rowid) VALUES (?, \(marks), ?)"
    insertUnlessKnown = "\(insert) ON CONFLICT (\(list)) DO NOTHING"
    update = "UPDATE \(name) SET p = ?1 WHERE rowid = ?2"
    let sets = keys.enumerated().map { "\($1) = ?\($0 + 3)" }.joined(separator: ", ")
    updateWithKey = "UPDATE \(name) SET p = ?1, \(sets) WHERE rowid = ?2"
    delete = "DELETE FROM \(name) WHERE rowid = ?"
    selectRow = "SELECT p FROM \(name) WHERE rowid = ?"
    selectFrom = "SELECT rowid, p FROM \(name) WHERE rowid >= ? ORDER BY rowid"
    selectLast = "SELECT max(rowid) FROM \(name)"
    selectObjects = "SELECT rowid, p, \(list) FROM \(name) ORDER BY rowid"
    let conditions = keys.map { "\($0) IS ?" }.joined(separator: " AND ")
    // The sign keeps SQLite from looking for the key in its index.
    updateIfKeyed = update + keys.enumerated().map { " AND +\($1) IS ?\($0 + 3)" }.joined()
    selectKey = "SELECT rowid, p FROM \(name) WHERE \(conditions)"
    selectID = "SELECT rowid FROM \(name) WHERE \(conditions)"
  }
}

extension StoredTables {
  /// The statement that creates a main table unless it is there.
  /// - Parameter keyTypes: The types of the key's columns: `TEXT`, `INTEGER` or `REAL`.
  package static func mainTableStatement(_ table: String, keyTypes: [String]) -> String {
    let columns = keyTypes.enumerated().map { "__pk\($0) \($1)" }.joined(separator: ", ")
    let list = keyTypes.indices.map { "__pk\($0)" }.joined(separator: ", ")
    return "CREATE TABLE IF NOT EXISTS \(table.quoted) (rowid INTEGER PRIMARY KEY AUTOINCREMENT, "
      + "\(columns), p BLOB, UNIQUE(\(list)))"
  }
}

extension EntitySchema {
  /// The statement that creates the main table unless it is there.
  package var mainTableStatement: String { TableSQL(self).create }
}

extension ValueType {
  var columnType: String {
    switch self {
    case .string: "TEXT"
    case .float, .double: "REAL"
    default: "INTEGER"
    }
  }
}

extension String {
  /// The text as an SQL literal. It must not contain a NUL.
  var sqlText: String { quoted(by: "'") }

  /// The text as an SQL identifier.
  var quoted: String { quoted(by: "\"") }
}

extension PreparedStatement where Self: ~Copyable {
  /// Binds a column value. Text stays in the row's memory, which must outlive the statement's run.
  @inline(__always)
  func bind(_ index: Int, column value: ColumnValue) throws(SQLiteError) {
    switch value {
    case .null: try bindNull(index)
    case .integer(let value): try bind(index, value)
    case .real(let value): try bind(index, value)
    case .text(let bytes): try bindText(index, inPlace: bytes)
    }
  }
}
