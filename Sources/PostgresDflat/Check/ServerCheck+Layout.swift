// ServerCheck+Layout: tables, columns, keys, indexes and triggers, as the server's catalog has
// them.
//
// A table is read, and so locked against changes of its layout, before its catalog is looked at.
// What is not marked, since a program is about to add it, is no finding.

import Dflat

/// A column that the server has.
struct ServerColumn {
  let type: String
  let isRequired: Bool
  let isIdentity: Bool
}

extension ServerCheck {
  // MARK: The tables that belong to no type

  /// - Returns: Whether there is anything to check, and the marks can be read.
  mutating func checkSystemTables() throws -> Bool {
    if try ask("SELECT to_regclass(\(system.columns.quotedText)) IS NOT NULL")[0][0] != "t" {
      let rest = try ask(
        "SELECT to_regclass(\(system.precedence.table.quotedText)) IS NOT NULL")
      if rest[0][0] == "t" { addMissing(system.columns, "the marks of its tables are lost") }
      return false
    }
    var canGoOn = true
    for (table, expected) in system.expectedTables {
      guard let columns = try columns(of: table.quotedText) else {
        addMissing(table, "programs that write fail")
        canGoOn = canGoOn && table == system.precedence.table
        continue
      }
      for (name, type) in expected where columns[name]?.type != type {
        add(
          .wrongColumn, .damage, table: table,
          columns[name].map { "the column \(name) is \($0.type), and not \(type)" }
            ?? "the column \(name) is missing",
          advice: "restore the table from a dump; programs that write fail until then")
        canGoOn = false
      }
    }
    return canGoOn
  }

  private mutating func addMissing(_ table: String, _ effect: String) {
    add(
      .missingTable, .damage, table: table, "the table is missing: \(effect)",
      advice: "restore it from a dump; an empty one is made by 'dflat prepare'")
  }

  /// The tables with one row.
  mutating func checkState() throws {
    for table in [system.state, system.log.cutTable] {
      let count = try ask("SELECT count(*) FROM \(table)")[0][0]
      if count == "1" { continue }
      let isState = table == system.state
      add(
        isState ? .damagedMark : .damagedLog, .damage, table: table,
        "it has \(count ?? "no") rows, and not one",
        advice: isState
          ? "stop all programs, and run: INSERT INTO \(table) VALUES (true, 1) "
            + "ON CONFLICT DO NOTHING"
          : "stop all programs, and run: INSERT INTO \(table) VALUES (true, 0, '0') "
            + "ON CONFLICT DO NOTHING")
    }
  }

  /// The schemas that are kept for tools, and the tables that they are about.
  mutating func checkKeptSchemas() throws {
    let kept = system.kept.table
    guard let columns = try columns(of: kept.quotedText) else { return }
    // Something else may have the name.
    guard columns["table"]?.type == "text", columns["schema"]?.type == "bytea",
      columns["digest"]?.type == "text"
    else { return }
    let rows = try ask(
      "SELECT \"table\", digest, encode(sha256(schema), 'hex') = digest FROM \(kept) "
        + "ORDER BY 1, 2")
    var missing: [String] = []
    for row in rows {
      let (table, digest) = (row[0] ?? "", row[1] ?? "")
      if row[2] != "t" {
        add(
          .damagedSchema, .note, table: kept,
          "the schema of \(table) with the digest \(digest) is damaged",
          advice: "DELETE FROM \(kept) WHERE \"table\" = \(table.quotedText) AND digest = "
            + "\(digest.quotedText): a program that writes adds it again")
      }
      if marks.tables[table] == nil, !missing.contains(table) { missing.append(table) }
    }
    for table in missing {
      let checked = CheckedTable(named: table, system)
      if try self.columns(of: checked.literal) != nil {
        add(
          .damagedMark, .damage, table: table,
          "the table is there, and has no marks: programs try to create it, and fail",
          advice: "restore its rows of \(system.columns) from a dump")
      } else {
        add(
          .missingTable, .damage, table: table, "objects were stored in it, and it is not there",
          advice: "restore it from a dump; or if it was dropped on purpose: DELETE FROM \(kept) "
            + "WHERE \"table\" = \(table.quotedText)")
      }
    }
  }

  // MARK: The table of a type

  /// - Returns: The columns that can be read as what they are; nil if there is no row to read.
  mutating func checkLayout(of table: CheckedTable) throws -> [String: ServerColumn]? {
    let advice = "restore it from a dump"
    guard try columns(of: table.literal) != nil else {
      add(
        .missingTable, .damage, table: table.name, "the table is marked, and is not there",
        advice: "\(advice); or if it was dropped on purpose: DELETE FROM \(system.columns) WHERE "
          + "tbl = \(table.name.quotedText); \(raiseVersion)")
      return nil
    }
    // This locks its layout.
    try connection.execute("SELECT 1 FROM \(table.quoted) LIMIT 0")
    var columns = try columns(of: table.literal) ?? [:]
    var expected = [("rowid", "bigint"), ("p", "bytea")]
    if let entity = table.entity {
      expected += entity.schema.primaryKey.enumerated().map { ("pk\($0)", $1.type.columnType) }
    }
    var isReadable = true
    for (name, type) in expected {
      if let column = columns[name], column.type == type {
        if column.isRequired && (name != "rowid" || column.isIdentity) { continue }
        add(
          .wrongColumn, .damage, table: table.name,
          "the column \(name) "
            + (column.isRequired ? "gives no numbers to new rows" : "may be NULL"),
          advice: column.isRequired
            ? "ALTER TABLE \(table.quoted) ALTER rowid ADD GENERATED BY DEFAULT AS IDENTITY, and "
              + "set its sequence behind the greatest rowid"
            : "ALTER TABLE \(table.quoted) ALTER \(name) SET NOT NULL")
        continue
      }
      add(
        .wrongColumn, .damage, table: table.name,
        columns[name].map { "the column \(name) is \($0.type), and not \(type)" }
          ?? "the column \(name) is missing", advice: advice)
      columns[name] = nil
      if name == "rowid" || name == "p" { isReadable = false }
    }
    try checkMarkedColumns(of: table, &columns)
    if isReadable { try checkIndexes(of: table, columns) }
    try checkTriggers(of: table)
    return isReadable ? columns : nil
  }

  /// What makes programs read the marks again.
  var raiseVersion: String { "UPDATE \(system.state) SET version = version + 1" }

  /// Columns of indexes. Those that are wrong are removed.
  private mutating func checkMarkedColumns(
    of table: CheckedTable, _ columns: inout [String: ServerColumn]
  ) throws {
    for name in (marks.tables[table.name] ?? [:]).keys.sorted() where !name.isEmpty {
      let wanted = table.entity?.type(ofColumn: name)
      let stored = columns[name.shortName]?.type
      if let stored, wanted == nil || wanted == stored { continue }
      columns[name.shortName] = nil
      add(
        .wrongColumn, .damage, table: table.name,
        stored.map { "the column \(name) is \($0), and not \(wanted ?? "")" }
          ?? "the column \(name) is marked, and is missing",
        advice: "ALTER TABLE \(table.quoted) DROP COLUMN IF EXISTS \(name.quotedName); "
          + "DELETE FROM \(system.columns) WHERE tbl = \(table.name.quotedText) AND col = "
          + "\(name.quotedText); \(raiseVersion): programs add it again")
    }
  }

  /// - Parameter columns: Those that are right. What is wrong with an index of others is known.
  private mutating func checkIndexes(
    of table: CheckedTable, _ columns: [String: ServerColumn]
  ) throws {
    let stored = try indexes(of: table)
    let keys = (0..<100).map { "pk\($0)" }
    let keyCount = try ask(
      "SELECT count(*) FROM pg_attribute WHERE attrelid = to_regclass(\(table.literal)) "
        + "AND attname ~ '^pk[0-9]+$' AND NOT attisdropped")
    let count = Int(keyCount[0][0] ?? "") ?? 0
    for columns in [["rowid"], Array(keys.prefix(count))]
    where !stored.contains(where: { $0.guards(columns) }) {
      add(
        .wrongColumn, .damage, table: table.name,
        "no key of the table is (\(columns.joined(separator: ", "))): several rows may have the "
          + "same",
        advice: "look for such rows, and then: ALTER TABLE \(table.quoted) ADD "
          + "\(columns == ["rowid"] ? "PRIMARY KEY" : "UNIQUE") "
          + "(\(columns.joined(separator: ", ")))")
    }
    guard let entity = table.entity else { return }
    let complete = (marks.tables[table.name] ?? [:]).filter(\.value.isComplete)
    for index in entity.indexes
    where index.columnNames.allSatisfy({ columns[$0.shortName] != nil }) {
      let found = stored.first { $0.name == index.name.shortName }
      // It is created, or filled, soon.
      if found?.isValid != true, !index.columnNames.allSatisfy({ complete[$0] != nil }) { continue }
      if let found, found.isValid, found.isSame(as: index) { continue }
      if found?.isValid != true, try isCreatingIndexes(of: table) { continue }
      let name = "\(system.schema).\(index.name.quotedName)"
      let (state, advice) =
        switch found {
        case nil: ("is missing", "do nothing: the next program that uses the type creates it")
        case let found? where !found.isValid:
          (
            "was not finished",
            "do nothing: the next program that uses the type creates it again"
          )
        default:
          (
            "has other columns than it was made with",
            "DROP INDEX CONCURRENTLY \(name): the next program that uses the type creates it again"
          )
        }
      add(
        .damagedIndex, .repairable, table: table.name, "the index \(index.name) \(state)",
        advice: advice)
    }
  }

  /// Whether another connection is about to create an index of a table.
  private func isCreatingIndexes(of table: CheckedTable) throws -> Bool {
    try ask(
      "SELECT EXISTS (SELECT 1 FROM pg_locks WHERE pid <> pg_backend_pid() AND (relation = "
        + "to_regclass(\(table.literal))::oid AND mode IN ('ShareUpdateExclusiveLock', "
        + "'ShareLock') OR locktype = 'advisory' AND objid::bigint = (hashtext("
        + "\("dflat indexes \(table.quoted)".quotedText))::bigint & 4294967295)))")[0][0] == "t"
  }

  private func indexes(of table: CheckedTable) throws(PostgresError) -> [ServerIndex] {
    try ask(
      "SELECT c.relname, i.indisvalid, i.indisunique AND i.indpred IS NULL, a.amname, "
        + "i.indoption::text, i.indpred IS NULL, array_to_string(ARRAY(SELECT "
        + "pg_get_indexdef(i.indexrelid, k, false) FROM generate_series(1, i.indnkeyatts) AS k), "
        + "chr(1)) FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid "
        + "JOIN pg_am AS a ON a.oid = c.relam WHERE i.indrelid = to_regclass(\(table.literal))"
    ).map { row in
      ServerIndex(
        name: row[0] ?? "", isValid: row[1] == "t", isUnique: row[2] == "t",
        method: row[3] ?? "", options: (row[4] ?? "").split(separator: " ").map(String.init),
        isWhole: row[5] == "t",
        columns: (row[6] ?? "").split(separator: "\u{1}").map(String.init))
    }
  }

  /// The triggers for plain SQL, if the table has any.
  private mutating func checkTriggers(of table: CheckedTable) throws {
    let triggers = try ask(
      "SELECT tgname, tgenabled IN ('O', 'A') FROM pg_trigger "
        + "WHERE tgrelid = to_regclass(\(table.literal)) AND NOT tgisinternal")
    let wanted = PlainSQLTriggers.names
    let stored = triggers.filter { $0[0].map(wanted.contains) == true }
    if stored.isEmpty { return }
    for name in wanted {
      let trigger = stored.first { $0[0] == name }
      if trigger?[1] == "t" { continue }
      add(
        .missingTrigger, .note, table: table.name,
        "the trigger \(name) is \(trigger == nil ? "missing" : "disabled"): live results do not "
          + "follow all that plain SQL changes",
        advice: trigger == nil
          ? "call logPlainSQL(of:) again"
          : "ALTER TABLE \(table.quoted) ENABLE TRIGGER \(name)")
    }
  }

  /// The columns of a table; nil if it does not exist.
  /// - Parameter table: Its quoted name, as a literal.
  private func columns(of table: String) throws(PostgresError) -> [String: ServerColumn]? {
    let rows = try ask(
      "SELECT attname, format_type(atttypid, atttypmod), attnotnull, attidentity <> '' "
        + "FROM pg_class AS c LEFT JOIN pg_attribute AS a ON a.attrelid = c.oid AND attnum > 0 "
        + "AND NOT attisdropped WHERE c.oid = to_regclass(\(table))")
    if rows.isEmpty { return nil }
    var columns: [String: ServerColumn] = [:]
    for row in rows {
      guard let name = row[0] else { continue }
      columns[name] = ServerColumn(
        type: row[1] ?? "", isRequired: row[2] == "t", isIdentity: row[3] == "t")
    }
    return columns
  }
}

/// An index that the server has.
private struct ServerIndex {
  let name: String
  let isValid: Bool
  let isUnique: Bool
  let method: String
  /// For each column, the order as the server's catalog has it.
  let options: [String]
  let isWhole: Bool
  /// The columns as the server writes them.
  let columns: [String]

  /// Whether no two rows have the same values of some columns.
  func guards(_ wanted: [String]) -> Bool {
    isValid && isUnique && columns.count == wanted.count && Set(columns) == Set(wanted)
  }

  func isSame(as index: TableIndex) -> Bool {
    let isOrdered = !index.isInverted
    // Unknown values come first, and row ids are never unknown.
    let options = isOrdered ? index.columns.map { $0 == "rowid" ? "0" : "2" } : nil
    return method == (isOrdered ? "btree" : "gin") && isWhole
      && columns == index.columns && (options == nil || options == self.options)
  }
}

extension EntityTable {
  /// The server's type of a column that this version of the schema writes; nil for others.
  fileprivate func type(ofColumn name: String) -> String? {
    if name == words?.name { return "tsvector" }
    if let column = elements.first(where: { $0.name == name }) { return column.columnType }
    guard let column = schema.column(named: fieldName(ofColumn: name)), column.columnName == name
    else { return nil }
    return column.field.type.columnType
  }
}

extension SystemSQL {
  /// The tables that belong to no type, with their columns.
  fileprivate var expectedTables: [(name: String, columns: [(String, String)])] {
    [
      (
        columns,
        [("tbl", "text"), ("col", "text"), ("complete", "boolean"), ("reach", "bigint")]
      ),
      (state, [("one", "boolean"), ("version", "bigint")]),
      (
        commits,
        [
          ("workspace", "text"), ("seq", "bigint"), ("fence", "bigint"),
          ("at", "timestamp with time zone"),
        ]
      ),
      (
        log.table,
        [
          ("n", "bigint"), ("xid", "xid8"), ("at", "timestamp with time zone"),
          ("workspace", "text"), ("tbl", "text"), ("ids", "bigint[]"),
        ]
      ),
      (log.cutTable, [("one", "boolean"), ("n", "bigint"), ("xid", "xid8")]),
      (firstWrites, [("tbl", "text")]),
      (precedence.table, []),
    ]
  }
}
