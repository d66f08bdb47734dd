// RepairRun+Forms: tables of which sqlite_master does not say how they are created.
//
//  - A row says of itself whether it is an object, and how many columns it has. So a table whose
//    statement is damaged is created by the form of its rows: one of objects as the library creates
//    it, any other with the columns `c0`, `c1`.
//  - The index of the key has the name of its table, and the types of the key. A table of objects
//    that sqlite_master has under another name, or not at all, is found by that.

import Dflat
import FlatBuffersRuntime
import SQLiteAccess
import SQLiteDflat

/// What a row looks like.
struct RowForm: Hashable {
  let count: Int
  /// The types of the key's columns, if the row looks like an object.
  var keys: [String]?

  init(_ record: StoredRecord) {
    count = record.count
    let last = count - 1
    guard last >= 2, record[0].isNull, let bytes = record[last].blob,
      TableReader(root: bytes) != nil
    else { return }
    keys = (1..<last).map { Self.type(of: record[$0]) }
  }

  fileprivate static func type(of value: StoredRecord.Value) -> String {
    switch value {
    case .text: "TEXT"
    case .real: "REAL"
    default: "INTEGER"
    }
  }

  /// The statement that creates a table for rows that are no objects.
  func plainStatement(_ table: String) -> String {
    let columns = (0..<count).map { "c\($0)" }.joined(separator: ", ")
    return "CREATE TABLE \(table.quotedForSQL) (\(columns))"
  }
}

extension RepairRun {
  /// Gives tables of objects that have lost their names those that the indexes of their keys say.
  func putNamesRight() {
    let names = Set(schema.all.filter { $0.type == "table" }.map(\.name))
    for index in schema.all where isKeyIndex(index) && !names.contains(index.table) {
      let nameless = schema.all.first { entry in
        entry.type == "table" && !Self.isInternal(entry.name)
          && schema.root(ofIndex: SchemaEntry.constraintIndex(of: entry.name)) == nil
          && hasRows(entry.root, ofIndex: index.root)
      }
      guard let nameless else { continue }
      note("sqlite_master: the table \(index.table) has the name \(nameless.name)")
      schema.rename(nameless, to: index.table)
    }
  }

  /// Whether most rows of a table of objects have the row ids and keys of an index.
  private func hasRows(_ root: Int, ofIndex index: Int) -> Bool {
    guard let keys = form(ofTable: root)?.keys else { return false }
    let owner = takeOwner()
    let known = KeyIndex(source, map, root: index, owner: owner, keyCount: keys.count)
    map.releaseAll(of: owner)
    var (same, others) = (0, 0)
    walk(root) { row, record in
      let isSame =
        record.count == keys.count + 2
        && known.hash(ofRow: row) == KeyHash(record, 1..<(keys.count + 1)).value
      if isSame { same += 1 } else { others += 1 }
    }
    return same > others
  }

  /// The tables of objects that sqlite_master does not have, though it has indexes of them: tables
  /// `T__f10`, or `T__x__f10__x__f12`, of which there is an index `index__T__f10`.
  var missingMains: [String] {
    let names = Set(schema.all.filter { $0.type == "table" }.map(\.name))
    let mains = schema.all.compactMap { index -> String? in
      guard index.type == "index", index.name == "index__" + index.table,
        let side = schema.all.first(where: { $0.type == "table" && $0.name == index.table }),
        side.sql?.contains("(rowid INTEGER PRIMARY KEY") != false,
        let mark = index.table.firstRange(of: /(__x)?__f\d/)
      else { return nil }
      return String(index.table[..<mark.lowerBound])
    }
    return Set(mains).subtracting(names).sorted()
  }

  /// The tables of objects in the new file that are as the library creates them. A statement can
  /// be damaged so that it creates another table: without a comma, or with another type.
  func wholeMains() throws -> Set<String> {
    let mains = try StoredTables(file.connection).mains.filter { main in
      let unique = try file.connection.rows(
        "SELECT name FROM pragma_index_info(?) ORDER BY seqno",
        [.text(SchemaEntry.constraintIndex(of: main.table))]
      ).compactMap { $0[0].text }
      return try unique == main.keys
        && keyTypes(of: main.table).allSatisfy(["TEXT", "INTEGER", "REAL"].contains)
    }
    return Set(mains.map(\.table))
  }

  /// Creates the tables of objects whose type is not known, and whose statement is damaged, by
  /// their rows. As tables of plain SQL, damaged objects would be among their good rows.
  func createMainsByRows(_ entries: [SchemaEntry]) throws {
    let known = try wholeMains()
    for entry in entries where !known.contains(entry.name) && !Self.isInternal(entry.name) {
      guard try mayBeObjects(entry) else { continue }
      let form = form(ofTable: entry.root)
      guard let keys = try form == nil ? columnTypes(of: entry.name) : form?.keys else { continue }
      try file.connection.execute("DROP TABLE IF EXISTS \(entry.name.quotedForSQL)")
      try file.connection.execute(StoredTables.mainTableStatement(entry.name, keyTypes: keys))
    }
    for index in schema.all where isKeyIndex(index) {
      guard try !file.exists("table", index.table),
        !entries.contains(where: { $0.name == index.table }),
        entries.contains(where: { $0.name.hasPrefix(index.table + "__") })
          || index.table.contains("_v"),
        let keys = keyTypes(ofIndex: index.root)
      else { continue }
      try file.connection.execute(StoredTables.mainTableStatement(index.table, keyTypes: keys))
    }
  }

  /// Whether the statement of a table does not exclude that it has objects: it says so, or it is
  /// damaged.
  func mayBeObjects(_ entry: SchemaEntry) throws -> Bool {
    try entry.saysObjects || !file.canRead(entry.sql)
  }

  /// Whether the rows of a table of plain SQL have more columns than the table in the new file.
  func lacksColumns(_ entry: SchemaEntry) throws -> Bool {
    guard let form = form(ofTable: entry.root) else { return false }
    let stored = try file.connection.value(
      "SELECT count(*) FROM pragma_table_xinfo(?) WHERE hidden <> 2", [.text(entry.name)])
    guard let count = stored?.integer, count > 0 else { return false }
    return form.count > count
  }

  /// Creates a table of plain SQL whose statement cannot be run, for its rows.
  /// - Returns: Whether its rows have a form.
  func createPlainByRows(_ entry: SchemaEntry) throws -> Bool {
    guard let form = form(ofTable: entry.root) else { return false }
    try file.connection.execute(form.plainStatement(entry.name))
    if hasNoRowIDs(entry.root) { tablesByRows.insert(Array(entry.name.utf8)) }
    return true
  }

  /// The types of the key, if a table of the new file looks like one of objects but for names.
  private func columnTypes(of table: String) throws -> [String]? {
    let types = try file.connection.rows(
      "SELECT upper(type) FROM pragma_table_info(?) ORDER BY cid", [.text(table)]
    ).compactMap { $0[0].text }
    let keys = types.dropFirst().dropLast()
    guard types.first == "INTEGER", types.last == "BLOB", !keys.isEmpty,
      keys.allSatisfy(["TEXT", "INTEGER", "REAL"].contains)
    else { return nil }
    return Array(keys)
  }

  private func isKeyIndex(_ entry: SchemaEntry) -> Bool {
    entry.type == "index" && entry.name == SchemaEntry.constraintIndex(of: entry.table)
      && !Self.isInternal(entry.table)
  }

  private static func isInternal(_ table: String) -> Bool {
    table.hasPrefix("sqlite_") || StoredTables.ofLibrary.contains(table) || table == schemaTable
  }

  /// The form of most rows that a tree has but for objects of known types, which may stand there by
  /// mistake; nil if it has none.
  private func form(ofTable root: Int) -> RowForm? {
    var forms: [RowForm: Int] = [:]
    var types: [Int: ColumnTypes] = [:]
    walk(root) { _, record in
      if isObject(record) { return }
      var form = RowForm(record)
      if let keys = form.keys {
        types[form.count, default: ColumnTypes(keys.count)].add(keys)
        form.keys = []
      }
      forms[form, default: 0] += 1
    }
    guard var most = forms.max(by: { ($0.value, $1.key.count) < ($1.value, $0.key.count) })?.key
    else { return nil }
    if most.keys != nil { most.keys = types[most.count]?.most }
    return most
  }

  /// Whether the tree of a table has no row ids.
  func hasNoRowIDs(_ root: Int) -> Bool {
    guard let buffer = source.page(root),
      let page = TreePage(buffer, usableSize: source.usableSize, isFirst: root == 1)
    else { return false }
    return !page.kind.isTable
  }

  /// Calls `body` with the whole rows of a table's tree, and claims no page.
  private func walk(_ root: Int, _ body: (Int64, StoredRecord) -> Void) {
    let owner = takeOwner()
    var walk = TreeWalk(source, map, owner: owner)
    func take(_ cell: TreePage.Cell, _ page: Int) {
      payloads.with(cell, at: page) { payload in
        guard payload.isComplete, let record = StoredRecord(payload.bytes) else { return }
        body(cell.rowID, record)
      }
    }
    if hasNoRowIDs(root) {
      walk.index(root: root) { take($1, $0) }
    } else {
      walk.table(root: root) { take($0.cell, $0.page) }
    }
    map.releaseAll(of: owner)
  }

  /// The types of the columns of an index, without that of the row id; nil if it has no entries.
  private func keyTypes(ofIndex root: Int) -> [String]? {
    var types: [Int: ColumnTypes] = [:]
    let owner = takeOwner()
    var walk = TreeWalk(source, map, owner: owner)
    walk.index(root: root) { page, cell in
      payloads.with(cell, at: page) { payload in
        guard payload.isComplete, let record = StoredRecord(payload.bytes), record.count > 1 else {
          return
        }
        let count = record.count - 1
        types[count, default: ColumnTypes(count)].add(
          (0..<count).map { RowForm.type(of: record[$0]) })
      }
    }
    map.releaseAll(of: owner)
    return types.values.max { ($0.rows, $1.count) < ($1.rows, $0.count) }?.most
  }
}

/// How often columns have values of each type.
private struct ColumnTypes {
  private var counts: [[String: Int]]
  private(set) var rows = 0
  var count: Int { counts.count }

  init(_ count: Int) { counts = Array(repeating: [:], count: count) }

  mutating func add(_ types: [String]) {
    rows += 1
    for (column, type) in types.enumerated() { counts[column][type, default: 0] += 1 }
  }

  /// The type of most values of each column. Whole numbers in a REAL column are stored as integers.
  var most: [String] {
    counts.map { counts in
      if 2 * counts["TEXT", default: 0] > rows { return "TEXT" }
      return counts["REAL"] == nil ? "INTEGER" : "REAL"
    }
  }
}
