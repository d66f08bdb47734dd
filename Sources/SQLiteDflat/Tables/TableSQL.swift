// The statements of one entity type: its tables, and reading and writing single rows.
//
//   main table    T (rowid INTEGER PRIMARY KEY AUTOINCREMENT, __pk0 <type>, …, p BLOB,
//                    UNIQUE(__pk0, …))
//   side table    T__X (rowid INTEGER PRIMARY KEY, X <type>) for each index with the path X
//   its index     index__T__X on T__X (X), UNIQUE for a unique path
//
// Strings are TEXT, float and double are REAL, everything else is INTEGER. With AUTOINCREMENT a row
// id is never used again.

import Dflat
import SQLiteAccess

/// A side table and how its value is read from a row.
struct SideTable: Sendable {
  let table: String
  let column: String
  let isUnique: Bool
  let type: String
  /// The default for an absent field, as SQL; nil for the usual default.
  let absentText: String?
  /// nil for a field that this version of the schema does not have.
  let reader: ColumnReader?
  /// Whether it indexes which member a union holds.
  var isUnionTag: Bool { column.hasSuffix("__type") }
  /// The field of the root table that contains the value.
  let rootField: Int
  let insert: String
  /// Also fills a gap. A unique value of another row is still a conflict.
  let upsert: String
  let delete: String
  /// Reads the greatest row ids of the main table and of this one, and this one's mark. It fails if
  /// this table lacks the column, or if there are no marks.
  let extentAndMark: String
  /// The same without the mark.
  let extent: String
  /// Reads the value of a row.
  let select: String
  /// Triggers that notice changes by other programs to this table or the main table.
  let guards: IndexGuards
  let ownGuards: [IndexGuard]
  /// The schema that names it; nil if another version of the schema created it.
  private let schema: EntitySchema?
  /// The table of its objects.
  let main: String

  /// The field's name, as in the schema.
  var name: String {
    guard let schema, let reader else { return column }
    return schema.name(of: reader.field)
  }

  /// The field and a value of it, for messages.
  func describe(_ value: ColumnValue) -> String {
    guard let schema, let reader else { return "\(column): \(value)" }
    return schema.describe(value, of: reader.field)
  }

  var create: String {
    "CREATE TABLE IF NOT EXISTS \(table.quoted) "
      + "(rowid INTEGER PRIMARY KEY, \(column.quoted) \(type))"
  }

  func createIndex(named name: String) -> String {
    "CREATE \(isUnique ? "UNIQUE " : "")INDEX \(name.quoted) "
      + "ON \(table.quoted) (\(column.quoted))"
  }

  init(
    _ index: IndexDescriptor, _ reader: ColumnReader, of schema: EntitySchema,
    _ guards: [IndexGuard]
  ) {
    self.init(
      schema.table, index.table, index.field.path, isUnique: index.isUnique,
      type: index.field.type.columnType, reader, guards, schema)
  }

  /// A side table that this schema does not name, created by another version of it. It does not
  /// enforce uniqueness.
  init(foreign table: String, column: String, reader: ColumnReader?, of main: String) {
    self.init(main, table, column, isUnique: false, type: "", reader, [], nil)
  }

  private init(
    _ main: String, _ table: String, _ column: String, isUnique: Bool, type: String,
    _ reader: ColumnReader?, _ mainGuards: [IndexGuard], _ schema: EntitySchema?
  ) {
    self.schema = schema
    self.main = main
    self.table = table
    self.column = column
    self.isUnique = isUnique
    self.type = type
    self.reader = reader
    let absent = reader?.absentValue.sql
    absentText = absent
    // The path begins with the root field: `f10`, `f20__u1__f4`.
    rootField = Int(column.dropFirst().prefix { $0 != "_" }) ?? .max
    let quoted = column.quoted
    insert = "INSERT INTO \(table.quoted) (rowid, \(quoted)) VALUES (?, ?)"
    upsert = insert + " ON CONFLICT (rowid) DO UPDATE SET \(quoted) = excluded.\(quoted)"
    delete = "DELETE FROM \(table.quoted) WHERE rowid = ?"
    select = "SELECT \(quoted) FROM \(table.quoted) WHERE rowid = ?"
    let extents =
      "SELECT (SELECT max(rowid) FROM \(main.quoted)), (SELECT max(rowid) FROM \(table.quoted)), "
      + "(SELECT \(quoted) FROM \(table.quoted) LIMIT 0), "
    extent = extents + "NULL"
    extentAndMark =
      extents
      + "(SELECT verified FROM \(IndexMarks.table) WHERE side = \(table.sqlText) AND main = \(main.sqlText) "
      + "AND absent IS \(absent?.sqlText ?? "NULL"))"
    ownGuards = IndexGuard.guards(side: table, unique: isUnique ? column : nil)
    guards = IndexGuards(main: mainGuards, side: ownGuards)
  }
}

/// The statements of an entity type.
final class TableSQL: Sendable {
  let schema: EntitySchema
  let table: String
  /// The main table's name, quoted.
  let quoted: String
  let keyColumns: [String]
  let sides: [SideTable]
  let create: String
  let insert: String
  let update: String
  let updateWithKey: String
  let delete: String
  let selectRow: String
  /// Reads the rows beyond an id.
  let selectAfter: String
  let selectLast: String
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
    let guards = IndexGuard.guards(main: schema.table, keys: keys)
    self.guards = guards
    sides = zip(schema.indexes, schema.indexReaders).map {
      SideTable($0, $1, of: schema, guards)
    }
    let columns = zip(keys, schema.primaryKey).map { "\($0) \($1.type.columnType)" }
    let list = keys.joined(separator: ", ")
    create =
      "CREATE TABLE IF NOT EXISTS \(name) (rowid INTEGER PRIMARY KEY AUTOINCREMENT, "
      + "\(columns.joined(separator: ", ")), p BLOB, UNIQUE(\(list)))"
    let marks = keys.map { _ in "?" }.joined(separator: ", ")
    insert = "INSERT INTO \(name) (p, \(list)) VALUES (?, \(marks))"
    update = "UPDATE \(name) SET p = ?1 WHERE rowid = ?2"
    let sets = keys.enumerated().map { "\($1) = ?\($0 + 3)" }.joined(separator: ", ")
    updateWithKey = "UPDATE \(name) SET p = ?1, \(sets) WHERE rowid = ?2"
    delete = "DELETE FROM \(name) WHERE rowid = ?"
    selectRow = "SELECT p FROM \(name) WHERE rowid = ?"
    selectAfter = "SELECT rowid, p FROM \(name) WHERE rowid > ? ORDER BY rowid"
    selectLast = "SELECT max(rowid) FROM \(name)"
    let conditions = keys.map { "\($0) IS ?" }.joined(separator: " AND ")
    selectKey = "SELECT rowid, p FROM \(name) WHERE \(conditions)"
    selectID = "SELECT rowid FROM \(name) WHERE \(conditions)"
  }
}

extension SideTable {
  /// Its name in the results of verification: what is right under one version of the schema may be
  /// wrong under another.
  var trustKey: String { absentText.map { "\(table) DEFAULT \($0)" } ?? table }
}

extension AbsentValue {
  /// The value as an SQL literal; nil for the usual default.
  fileprivate var sql: String? {
    switch self {
    case .ordinary: nil
    case .unknown: "NULL"
    case .value(.bool(let value)): value ? "1" : "0"
    case .value(.integer(let value)): "\(value)"
    case .value(.unsigned(let value)): "\(Int64(bitPattern: value))"
    case .value(.real(let value)):
      value.isFinite ? "\(value)" : value < 0 ? "-9e999" : "9e999"
    case .value(.string(let text)):
      // A statement cannot contain a NUL.
      if text.utf8.contains(0) {
        "x'" + text.utf8.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() + "'"
      } else {
        text.sqlText
      }
    }
  }
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
  var sqlText: String { enclosed(in: UInt8(ascii: "'")) }

  /// The text as an SQL identifier.
  var quoted: String { enclosed(in: UInt8(ascii: "\"")) }

  private func enclosed(in mark: UInt8) -> String {
    var text = [mark]
    for byte in utf8 {
      if byte == mark { text.append(mark) }
      text.append(byte)
    }
    text.append(mark)
    return String(decoding: text, as: UTF8.self)
  }
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
