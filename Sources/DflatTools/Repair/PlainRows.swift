// PlainRows: the rows of a table that plain SQL has created.
//
// The new file's own table says which columns are stored and where: the record of a row has the
// stored columns in the order of the table; without row ids, those of the key come first. A record
// with fewer columns is from before a column was added, and has its default.

import SQLiteAccess

/// The rows of a table of plain SQL.
final class PlainRows {
  private struct Column {
    let name: String
    let affinity: Affinity
    let isRequired: Bool
    /// Whether a statement can give it a value.
    let isSettable: Bool
  }

  private enum Affinity { case integer, text, blob, real, numeric }

  let table: String
  /// Whether the rows of the damaged file have row ids.
  let hasRowIDs: Bool
  /// The columns in the order of the records.
  private var columns: [Column] = []
  /// The column that is the row id.
  private var alias: Int?
  /// What the row id is called if no column is.
  private var rowIDName: String?

  /// A table of the new file.
  /// - Parameter comeWithoutRowIDs: Whether the rows have none in the damaged file, though the
  ///   table gives some.
  init(table: String, comeWithoutRowIDs: Bool = false, _ connection: Connection) throws {
    self.table = table
    let kind = try connection.rows(
      "SELECT wr FROM pragma_table_list(?) WHERE schema = 'main'", [.text(table)])
    hasRowIDs = kind.first?[0].integer != 1 && !comeWithoutRowIDs
    let rows = try connection.rows(
      "SELECT name, type, \"notnull\", pk, hidden FROM pragma_table_xinfo(?) ORDER BY cid",
      [.text(table)])
    let keys = rows.filter { ($0[3].integer ?? 0) > 0 }
    // A column `INTEGER PRIMARY KEY DESC` is not the row id: its key has an index.
    let hasKeyIndex =
      try connection.value("SELECT 1 FROM pragma_index_list(?) WHERE origin = 'pk'", [.text(table)])
      != nil
    var all: [Column?] = []
    for (index, row) in rows.enumerated() {
      let type = (row[1].text ?? "").uppercased()
      let isKey = (row[3].integer ?? 0) > 0
      if hasRowIDs, !hasKeyIndex, isKey, keys.count == 1, type == "INTEGER" { alias = index }
      let hidden = row[4].integer ?? 0
      // 2 is generated when it is read, 3 is generated and stored.
      all.append(
        hidden == 2
          ? nil
          : Column(
            name: row[0].text ?? "", affinity: Self.affinity(type),
            isRequired: row[2].integer == 1, isSettable: hidden == 0))
    }
    if comeWithoutRowIDs {
      columns = all.compactMap { $0 }
    } else if hasRowIDs {
      let before = alias.map { all[..<$0].count { $0 == nil } } ?? 0
      alias = alias.map { $0 - before }
      columns = all.compactMap { $0 }
      let names = Set(rows.compactMap { $0[0].text?.lowercased() })
      if alias == nil { rowIDName = ["_rowid_", "rowid", "oid"].first { !names.contains($0) } }
    } else {
      let order = try connection.rows(
        "SELECT x.cid FROM pragma_index_list(?) AS l, pragma_index_xinfo(l.name) AS x "
          + "WHERE l.origin = 'pk' ORDER BY x.seqno", [.text(table)])
      columns = order.compactMap { row in
        row[0].integer.flatMap { all.indices.contains(Int($0)) ? all[Int($0)] : nil }
      }
    }
  }

  private static func affinity(_ type: String) -> Affinity {
    if type.contains("INT") { return .integer }
    if type.contains("CHAR") || type.contains("CLOB") || type.contains("TEXT") { return .text }
    if type.contains("BLOB") || type.isEmpty { return .blob }
    if type.contains("REAL") || type.contains("FLOA") || type.contains("DOUB") { return .real }
    return .numeric
  }

  /// A name of the row id that no other column has.
  var idName: String { rowIDName ?? alias.map { columns[$0].name.quotedForSQL } ?? "rowid" }

  /// Whether a record can be a row of the table.
  func hasForm(_ record: StoredRecord) -> Bool {
    guard record.count <= columns.count, record.fillsItsBytes else { return false }
    for index in 0..<record.count {
      let column = columns[index]
      switch (column.affinity, record[index]) {
      case (_, .null):
        if column.isRequired, index != alias { return false }
      // What looks like a number is stored as one.
      case (.text, .integer), (.text, .real): return false
      default: if index == alias { return false }
      }
    }
    return true
  }

  /// Whether a record surely is a row of the table, and not of another one with a similar form.
  func hasWholeForm(_ record: StoredRecord) -> Bool {
    record.count == columns.count && hasForm(record)
  }

  /// Whether sectors of zeros can be a part of a row.
  func canHaveZeros(_ record: StoredRecord) -> Bool {
    var hasBytes = false
    for index in 0..<record.count {
      switch record[index] {
      case .text(let text) where text.contains(0): return false
      case .blob: hasBytes = true
      default: break
      }
    }
    return hasBytes
  }

  /// Adds a row to the new file.
  /// - Returns: Whether it was added: another one may have its row id or its key, or the table may
  ///   refuse it.
  func insert(_ record: StoredRecord, row: Int64, into connection: Connection) throws -> Bool {
    let settable = (0..<record.count).filter { columns[$0].isSettable }
    var names = settable.map { columns[$0].name.quotedForSQL }
    if let rowIDName { names.append(rowIDName) }
    if names.isEmpty { return false }
    let statement = try connection.statement(
      "INSERT OR IGNORE INTO \(table.quotedForSQL) (\(names.joined(separator: ", "))) VALUES ("
        + names.map { _ in "?" }.joined(separator: ", ") + ")")
    for (place, index) in settable.enumerated() {
      if index == alias {
        try statement.bind(place + 1, row)
      } else {
        try statement.bind(place + 1, record[index])
      }
    }
    if rowIDName != nil { try statement.bind(names.count, row) }
    do throws(SQLiteError) { try statement.run() } catch {
      guard error.isConstraint || error.code == .mismatch else { throw error }
      return false
    }
    return connection.changes == 1
  }
}
