// RepairRun+Creating: the tables of the new file, and what is created behind their rows.
//
//  - Tables that follow from objects are left out: the library builds indexes when it uses them.
//  - What the file keeps of schemas comes first, because it says what the other rows are.

import Dflat
import Platform
import SQLiteAccess
import SQLiteDflat

extension RepairRun {
  static let schemaTable = "dflat_schemas"

  /// Creates the tables, and finds out what is known of their rows.
  func createTables() throws {
    putNamesRight()
    let entries = schema.all.filter { $0.type == "table" && !$0.name.hasPrefix("sqlite_") }
    var failures: [(entry: SchemaEntry, reason: String)] = []
    func createTable(_ entry: SchemaEntry) throws {
      if try file.exists("table", entry.name) { return }
      if let reason = try file.create(entry) { failures.append((entry, reason)) }
    }
    for entry in entries where entry.saysObjects { try createTable(entry) }
    try createSchemas(entries.first { $0.name == Self.schemaTable })
    try createMissingMains()
    try createMainsByRows(entries)
    let mains = try StoredTables(file.connection)
    try collectObjects(mains)
    let names = mains.mains.map(\.table) + missingMains
    for entry in entries where !names.contains(entry.name) && entry.name != Self.schemaTable {
      if isVirtual(entry) || StoredTables.ofLibrary.contains(entry.name) { continue }
      try createTable(entry)
      let columns = try columns(of: entry.name)
      // The library gives each table of an index an index of its own.
      let damage = schema.root(ofIndex: "index__" + entry.name) == nil ? 0 : 1
      if StoredTables.isOfIndex(
        entry.name, columns.isEmpty ? nil : columns, of: names, damage: damage)
      {
        try file.connection.execute("DROP TABLE IF EXISTS \(entry.name.quotedForSQL)")
        failures.removeAll { $0.entry == entry }
        continue
      }
      if try lacksColumns(entry) {
        try file.connection.execute("DROP TABLE \(entry.name.quotedForSQL)")
        failures.append((entry, "its rows have more columns than its statement"))
      }
    }
    for (entry, reason) in failures where try !file.exists("table", entry.name) {
      let rows = try createPlainByRows(entry) ? "; its rows are in columns c0, c1, …" : ""
      report.notCreated.append("table \(entry.name): \(reason)\(rows)")
    }
    try collectPlain(mains)
  }

  private func isVirtual(_ entry: SchemaEntry) -> Bool {
    entry.sql?.lowercased().hasPrefix("create virtual") == true
  }

  /// The tables of objects to be repaired, once they are in the new file.
  private func collectObjects(_ mains: StoredTables) throws {
    let types = StoredType.all(in: mains, given: given)
    let roots = roots
    for (table, _) in mains.mains {
      let type = types.first { $0.table == table }
      let entity =
        table == StoredType.dictionaryTable ? DictionaryItem.schema : type?.entity
      tables.append(
        RepairTable(
          .objects(
            ObjectRows(
              table: table, keyTypes: try keyTypes(of: table),
              addedColumns: Array(try columns(of: table).drop { $0 != "p" }.dropFirst()),
              entity: entity)),
          name: type?.name ?? table, table: table, hasSchema: entity != nil,
          root: roots[Array(table.utf8)], owner: takeOwner()))
    }
  }

  /// The other tables to be repaired.
  private func collectPlain(_ mains: StoredTables) throws {
    let roots = roots
    let others = try file.connection.rows(
      "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY rowid"
    ).compactMap { $0[0].text }
    for name in others
    where name != Self.schemaTable && !name.hasPrefix("sqlite_")
      && !mains.mains.contains(where: { $0.table == name })
    {
      tables.append(
        RepairTable(
          .plain(
            try PlainRows(
              table: name, comeWithoutRowIDs: tablesByRows.contains(Array(name.utf8)),
              file.connection)), name: name, table: name,
          hasSchema: false, root: roots[Array(name.utf8)], owner: takeOwner()))
    }
  }

  /// Where tables begin, by their names. SQLite compares names byte by byte, and Swift does not.
  private var roots: [[UInt8]: Int] {
    Dictionary(
      schema.all.filter { $0.type == "table" }.map { (Array($0.name.utf8), $0.root) },
      uniquingKeysWith: { first, _ in first })
  }

  /// The names of the columns of a table in the new file; none if it has no such table.
  private func columns(of table: String) throws -> [String] {
    try file.connection.rows("SELECT name FROM pragma_table_info(?) ORDER BY cid", [.text(table)])
      .compactMap { $0[0].text }
  }

  /// The types of the key columns of a table in the new file.
  func keyTypes(of table: String) throws -> [String] {
    try file.connection.rows(
      "SELECT upper(type) FROM pragma_table_info(?) WHERE name GLOB '__pk*' ORDER BY cid",
      [.text(table)]
    ).compactMap { $0[0].text }
  }

  // MARK: Schemas

  /// Restores the schemas that the file keeps: those whose digest is right.
  private func createSchemas(_ entry: SchemaEntry?) throws {
    var rows: [[SQLValue]] = []
    var isSound = false
    let owner = takeOwner()
    if let entry {
      var walk = TreeWalk(source, map, owner: owner)
      var isWhole = true
      var strangers: Set<Int> = []
      walk.table(root: entry.root) { row in
        let values = payloads.with(row.cell, at: row.page, claims: true) { Self.schemaRow($0) }
        if let values = values ?? nil { rows.append(values) } else { strangers.insert(row.page) }
      }
      for page in strangers { map.release(page) }
      if !strangers.isEmpty { isWhole = false }
      isSound = walk.isSound && isWhole
      for problem in walk.problems { note("\(Self.schemaTable): \(problem)") }
    }
    if !isSound, entry != nil || !schema.isSound { rows += straySchemas() }
    if rows.isEmpty, entry == nil { return }
    if try !file.exists("table", Self.schemaTable) {
      try StoredSchemas.createTable(file.connection)
    }
    for row in rows {
      try file.connection.execute(
        "INSERT OR IGNORE INTO \(Self.schemaTable) (\"table\", digest, version, date, schema) "
          + "VALUES (?, ?, ?, ?, ?)", row)
    }
  }

  /// The values of a row with a schema, if it is sound.
  static func schemaRow(_ payload: Payload) -> [SQLValue]? {
    guard payload.isComplete, let record = StoredRecord(payload.bytes), record.count == 5,
      let table = record[0].text, let digest = record[1].text, let version = record[2].text,
      let date = record[3].text, let bytes = record[4].blob, digest.utf8.count == 64,
      SHA256.hexadecimal(Array(bytes)) == digest
    else { return nil }
    return [.text(table), .text(digest), .text(version), .text(date), .blob(Array(bytes))]
  }

  private func straySchemas() -> [[SQLValue]] {
    var rows: [[SQLValue]] = []
    for place in strayLeaves(includingFree: false) {
      withCells(at: place) { cell in
        // The digest alone has 64 bytes.
        guard cell.payloadSize > 100 else { return }
        let row = payloads.with(cell, at: place) { Self.schemaRow($0) }
        if let row = row ?? nil { rows.append(row) }
      }
    }
    return rows
  }

  /// Creates the tables of types that are known by their schemas, if sqlite_master does not say
  /// how.
  private func createMissingMains() throws {
    var stored = try StoredTables(file.connection)
    let known = try wholeMains()
    let entries = schema.all.filter { $0.type == "table" }
    let entered = Set(entries.map(\.name))
    // A table of plain SQL may have the name of a type.
    let plain = Set(try entries.filter { try !mayBeObjects($0) }.map(\.name))
    let missing = Set(given.map(\.table) + stored.schemas.keys).filter {
      !known.contains($0) && !plain.contains($0) && (!schema.isSound || entered.contains($0))
    }
    for table in missing.sorted() where !stored.mains.contains(where: { $0.table == table }) {
      stored.add(main: table)
    }
    for type in StoredType.all(in: stored, given: given) where missing.contains(type.table) {
      if let entity = type.entity { try createMain(entity) }
    }
    let dictionary = DictionaryItem.schema
    if !known.contains(dictionary.table), !plain.contains(dictionary.table),
      !schema.isSound || entered.contains(dictionary.table)
    {
      try createMain(dictionary)
    }
  }

  private func createMain(_ entity: EntitySchema) throws {
    // A damaged statement may have created something else.
    try file.connection.execute("DROP TABLE IF EXISTS \(entity.table.quotedForSQL)")
    try file.connection.execute(entity.mainTableStatement)
  }

  // MARK: Behind the rows

  /// Creates indexes, triggers, views and virtual tables.
  func createRest() throws {
    let mains = tables.filter { $0.objects != nil }.map(\.table)
    let order = ["index", "table", "view", "trigger"]
    for type in order {
      for entry in schema.all where entry.type == type {
        guard let sql = entry.sql else { continue }
        if type == "table" {
          guard isVirtual(entry), !StoredTables.isOfIndex(entry.name, nil, of: mains) else {
            continue
          }
          if try !file.exists("table", entry.name) { try file.enter(entry) }
          continue
        }
        // The triggers that watch over indexes come with these.
        if type == "trigger", StoredTables.isGuard(entry.name, sql) { continue }
        if try file.exists(type, entry.name) { continue }
        let hasTable = try file.exists("table", entry.table) || file.exists("view", entry.table)
        guard type == "view" || hasTable else {
          if entry.name != "index__" + entry.table {
            report.notCreated.append(
              "\(type) \(entry.name): the table \(entry.table) is not in the new file")
          }
          continue
        }
        if let reason = try file.create(entry) {
          report.notCreated.append("\(type) \(entry.name): \(reason)")
        }
      }
    }
  }

  /// Row ids that were given once are not given again.
  func restoreSequences() throws {
    if let entry = schema.all.first(where: { $0.name == "sqlite_sequence" && $0.type == "table" }) {
      var numbers: [(String, Int64)] = []
      map.releaseAll(of: owner(of: entry.root))
      var walk = TreeWalk(source, map, owner: takeOwner())
      walk.table(root: entry.root) { row in
        let found = payloads.with(row.cell, at: row.page) { payload -> (String, Int64)? in
          guard payload.isComplete, let record = StoredRecord(payload.bytes), record.count == 2,
            let name = record[0].text, let number = record[1].integer
          else { return nil }
          return (name, number)
        }
        if let found = found ?? nil { numbers.append(found) }
      }
      // A damaged number could leave no row ids.
      let greatest = walk.isSound ? Int64.max : .max / 2
      for (name, number) in numbers where number > 0 && number <= greatest {
        guard tables.contains(where: { $0.table.utf8.elementsEqual(name.utf8) }) else { continue }
        try file.raiseSequence(of: name, to: number)
      }
    }
  }

  /// The numbers that programs keep in the header.
  func restoreNumbers() throws {
    guard let header = source.page(1), header.bytes.starts(with: "SQLite format 3".utf8),
      let version = header.bigEndian(60, size: 4), let id = header.bigEndian(68, size: 4)
    else { return }
    try withExtendedLifetime(header) {
      try file.setNumbers(userVersion: version, applicationID: id)
    }
  }

  private func owner(of page: Int) -> UInt32 {
    map.owners.indices.contains(page) ? map.owners[page] : 0
  }
}
