// The side table of one index: its columns, its statements, and how its rows follow from objects.
//
//   of a field    T__X (rowid INTEGER PRIMARY KEY, X <type>)
//   compound      T__x__X__x__Y (rowid INTEGER PRIMARY KEY, X <type>, Y <type>)
//   its index     index__… on all columns in this order, UNIQUE for unique values
//
// A column of folded text is called X__nocase. The name of a compound side table lists its columns
// (`EntitySchema.columnNames(ofIndex:)`), so every version of a schema recognises it, and no
// program takes it for the side table of a field.

import Dflat
import FlatBuffersRuntime
import SQLiteAccess

/// A side table and how its values are read from a row.
struct SideTable: MarkedTable {
  let table: String
  /// The names of the columns, without the row id.
  let columns: [String]
  let isUnique: Bool
  /// What values depend on beside the objects: the defaults for absent fields, as SQL, and of
  /// folded text the version of Unicode; nil for the usual defaults.
  let absentText: String?
  /// The columns with their readers; nil if this version of the schema lacks a field.
  let readers: [IndexColumn]?
  /// The fields of the root table that contain the values.
  let rootFields: FieldSet
  let insert: String
  /// Also fills a gap. Unique values of another row are still a conflict.
  let upsert: String
  let delete: String
  let extentAndMark: String
  let extent: String
  /// Reads the values of a row.
  let select: String
  /// Finds the object that has certain values: selects the objects with these values.
  let selectOwner: String
  /// Replaces certain values by NULL.
  let vacate: String
  /// Triggers that notice changes by other programs to this table or the main table.
  let guards: IndexGuards
  let ownGuards: [IndexGuard]
  let create: String
  /// The schema that names it; nil if another version of the schema created it.
  private let schema: EntitySchema?
  /// The table of its objects.
  let main: String

  /// The names of the fields, as in the schema.
  var name: String {
    guard let schema, let index = schema.indexes.first(where: { $0.table == table }) else {
      return columns.joined(separator: ", ")
    }
    return schema.name(of: index)
  }

  /// The fields and their values in a row, for messages.
  func describe(_ row: RowView) -> String {
    readers.flatMap { readers in schema?.describe(readers, of: row) } ?? name
  }

  func createIndex(named name: String) -> String {
    "CREATE \(isUnique ? "UNIQUE " : "")INDEX \(name.quoted) ON \(table.quoted) (\(columns.list))"
  }

  init(_ index: IndexDescriptor, of schema: EntitySchema, _ guards: [IndexGuard]) {
    self.init(
      schema.table, index.table, index.columns.map(\.name), isUnique: index.isUnique,
      index.columns, guards, schema)
  }

  /// A side table that this schema does not name, created by another version of it. It does not
  /// enforce uniqueness.
  init(foreign table: String, columns: [String], of schema: EntitySchema) {
    let readers = columns.compactMap { schema.column(named: $0) }
    self.init(
      schema.table, table, columns, isUnique: false,
      readers.count == columns.count ? readers : nil, [], nil)
  }

  private init(
    _ main: String, _ table: String, _ columns: [String], isUnique: Bool,
    _ readers: [IndexColumn]?, _ mainGuards: [IndexGuard], _ schema: EntitySchema?
  ) {
    self.schema = schema
    self.main = main
    self.table = table
    self.columns = columns
    self.isUnique = isUnique
    self.readers = readers
    let absent = Self.absentText(readers ?? [])
    absentText = absent
    var fields = FieldSet.none
    for column in columns {
      // The path begins with the root field: `f10`, `f20__u1__f4`.
      fields.insert(Int(column.dropFirst().prefix { $0 != "_" }) ?? .max)
    }
    rootFields = fields
    let (quoted, list) = (table.quoted, columns.list)
    let types = readers?.map(\.field.type.columnType) ?? []
    create =
      "CREATE TABLE IF NOT EXISTS \(quoted) (rowid INTEGER PRIMARY KEY"
      + zip(columns, types).map { ", \($0.quoted) \($1)" }.joined() + ")"
    let values = columns.map { _ in ", ?" }.joined()
    insert = "INSERT INTO \(quoted) (rowid, \(list)) VALUES (?\(values))"
    upsert =
      insert + " ON CONFLICT (rowid) DO UPDATE SET "
      + columns.map { "\($0.quoted) = excluded.\($0.quoted)" }.joined(separator: ", ")
    delete = "DELETE FROM \(quoted) WHERE rowid = ?"
    select = "SELECT \(list) FROM \(quoted) WHERE rowid = ?"
    let same = columns.map { "\($0.quoted) = ?" }.joined(separator: " AND ")
    selectOwner =
      "SELECT m.rowid, m.p FROM \(quoted) AS s JOIN \(main.quoted) AS m ON m.rowid = s.rowid WHERE "
      + columns.map { "s.\($0.quoted) = ?" }.joined(separator: " AND ")
    vacate =
      "UPDATE \(quoted) SET \(columns.map { "\($0.quoted) = NULL" }.joined(separator: ", ")) "
      + "WHERE \(same)"
    let extents =
      "SELECT (SELECT max(rowid) FROM \(main.quoted)), (SELECT max(rowid) FROM \(quoted)), "
    let shape = columns.map { ", (SELECT \($0.quoted) FROM \(quoted) LIMIT 0)" }.joined()
    extent = extents + "NULL" + shape
    extentAndMark = extents + Self.mark(of: table, main, absent) + shape
    ownGuards = IndexGuard.guards(side: table, columns: columns, areUnique: isUnique)
    guards = IndexGuards(main: mainGuards, side: ownGuards)
  }
}

extension SideTable {
  /// Its name in the results of verification: what is right under one version of the schema may be
  /// wrong under another.
  var trustKey: String { absentText.map { "\(table) DEFAULT \($0)" } ?? table }

  /// What values depend on beside the objects; see `absentText`.
  static func absentText(_ readers: [IndexColumn]) -> String? {
    let texts = readers.map { column in
      let text = column.reader.absentValue.sql
      return column.isFolded ? (text ?? "") + unicodeVersion : text
    }
    if texts.allSatisfy({ $0 == nil }) { return nil }
    return texts.map { $0 ?? "" }.joined(separator: ",")
  }
}

/// The version of Unicode by which this program folds text: letters that a later version has added
/// fold differently there. Told by a capital letter of each version with new ones.
private let unicodeVersion: String = {
  let letters: [(version: Int, capital: Unicode.Scalar)] = [
    (13, "\u{A7C7}"), (14, "\u{A7C0}"), (16, "\u{A7CB}"), (17, "\u{A7CE}"),
  ]
  let known = letters.last { $0.capital.properties.lowercaseMapping != String($0.capital) }
  return " Unicode \(known?.version ?? 12)"
}()

/// The values that a side table should have for an object; all unknown if its bytes cannot be read.
struct SideValues {
  let readers: [IndexColumn]
  /// nil if the bytes cannot be read.
  let row: RowView?

  init(_ readers: [IndexColumn], _ row: RowView?) {
    self.readers = readers
    self.row = row
  }

  init(_ readers: [IndexColumn], in bytes: UnsafeRawBufferPointer) {
    self.init(readers, RowView(root: bytes))
  }

  /// Whether a row has the same values.
  func areSame(in other: RowView) -> Bool {
    guard let row else { return false }
    return readers.allSatisfy { $0.hasSameValue(row, other) }
  }
}

extension PreparedStatement where Self: ~Copyable {
  /// Binds the values of a side table's columns. Text stays in the object's memory, which must
  /// outlive the statement's run, unless it is folded.
  @inline(__always)
  func bind(from first: Int, _ values: SideValues) throws {
    for (offset, column) in values.readers.enumerated() {
      guard let row = values.row else {
        try bindNull(first + offset)
        continue
      }
      try column.withValue(of: row) { value in
        if column.isFolded, case .text(let bytes) = value {
          try bindText(first + offset, copying: bytes)
        } else {
          try bind(first + offset, column: value)
        }
      }
    }
  }

  /// Whether the columns of the current row, from `first` on, are what a side table stores for an
  /// object.
  func holds(_ values: SideValues, from first: Int) -> Bool {
    values.readers.indices.allSatisfy { offset in
      let column = values.readers[offset]
      guard let row = values.row else { return isNull(first + offset) }
      return column.withValue(of: row) { holds($0, column, at: first + offset) }
    }
  }

  private func holds(_ value: ColumnValue, _ column: IndexColumn, at index: Int) -> Bool {
    // Other programs store 0 for an empty union.
    if case .null = value, type(index) == .integer {
      return column.name.hasSuffix("__type") && int64(index) == 0
    }
    return isSame(value, at: index)
  }

  /// Whether a column has a value, in the form in which this library stores it.
  func isSame(_ value: ColumnValue, at index: Int) -> Bool {
    switch (value, type(index)) {
    case (.null, .null): true
    case (.integer(let value), .integer): int64(index) == value
    // SQLite may store a whole number in a REAL column as an integer, and does not keep -0.0.
    case (.real(let value), .real), (.real(let value), .integer): double(index) == value
    case (.text, .text):
      utf8(index).map { value.isSame(as: .text(UnsafeRawBufferPointer($0))) } ?? false
    default: false
    }
  }
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

extension [String] {
  /// The names of columns as SQL.
  fileprivate var list: String { map(\.quoted).joined(separator: ", ") }
}
