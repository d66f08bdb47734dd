// The tables that the writer knows, and how far their side tables reach.
//
// This state holds as long as no other connection has committed and nothing was rolled back; then
// it is read again. It includes the writer's prepared statements.

import Dflat
import FlatBuffersRuntime
import SQLiteAccess
import Platform

typealias RowView = TableReader

/// The writer's state for all entity types it has written.
final class WriterTables {
  private let externalChanges: ExternalChanges
  private var known: [ObjectIdentifier: WriterTable] = [:]
  /// The generation inside the transaction.
  private(set) var generation = 0
  /// The greatest row id that was handed out, by table, before the current state was read.
  private var highest: [String: Int64] = [:]
  /// Side tables that were verified inside the transaction.
  private var verified: Set<String> = []
  /// Whether a trigger has written to side tables. What was verified in a generation must hold for
  /// all its states, so the commit has to begin a new one.
  private var changesGeneration = false
  /// Which version of a schema each table was last used with.
  private var versions: [String: EntitySchema] = [:]
  /// The type that was written last: most transactions write one.
  @exclusivity(unchecked) private var latest: WriterTable?
  /// Triggers of other programs, which change rows that no request names.
  let triggers = WriterTriggers()
  /// Separates a transaction from the others that share its commit, and a change from its
  /// transaction.
  @exclusivity(unchecked) var members = MemberSavepoints()
  @exclusivity(unchecked) var change = Savepoint("change")
  /// What FTS5 has in memory.
  let texts = PendingTexts()
  let sameLength = SameLengthUpdates()
  /// nil if rows are written without checksums.
  private let sealer: RowSealer?

  init(_ externalChanges: ExternalChanges, sealsRows: Bool) {
    self.externalChanges = externalChanges
    sealer = sealsRows ? RowSealer() : nil
  }

  /// What is stored for the bytes of a row; valid until the next call.
  @inline(__always)
  func blob(of bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    sealer?.sealed(bytes) ?? bytes
  }

  /// Begins a transaction that sees external changes up to this generation.
  func begin(at generation: Int) {
    if generation != self.generation { forget() }
    self.generation = generation
    verified.removeAll()
    members.beginTransaction()
  }

  /// Records that a side table was verified in the transaction. This holds inside the transaction
  /// only.
  func recordVerified(_ side: String) { verified.insert(side) }

  /// Whether a side table agrees with the objects in the transaction's state; nil if unknown.
  ///
  /// It is always unknown where a program uses two versions of a schema: a write by one may
  /// invalidate what was verified for the other.
  func isVerified(_ side: String) -> Bool? {
    if externalChanges.usesSeveralVersions.load(ordering: .acquiring) { return nil }
    return verified.contains(side) ? true : externalChanges.verdict(of: side, at: generation)
  }

  /// Begins a new generation if the transaction, which was just committed, requires one. At this
  /// point the generation cannot be read yet.
  /// - Returns: The generation from now on.
  func beginGenerationIfDue() -> Int {
    if !changesGeneration, !externalChanges.usesSeveralVersions.load(ordering: .acquiring) {
      return generation
    }
    changesGeneration = false
    return externalChanges.beginGeneration()
  }

  /// Makes sure that row ids are never reused, even if the changes that used them were undone:
  /// SQLite's own counter is undone with them.
  private func raiseSequence(of table: String, _ connection: Connection) throws {
    guard let id = highest[table] else { return }
    guard try connection.tableExists("sqlite_sequence") else {
      throw StorageError(
        .other, table: table, message: ReusedRowIDs.message, path: connection.path,
        advice: ReusedRowIDs.advice)
    }
    try connection.execute(
      "UPDATE sqlite_sequence SET seq = ?1 WHERE name = ?2 AND seq < ?1",
      [.integer(id), .text(table)])
    try connection.execute(
      "INSERT INTO sqlite_sequence (name, seq) SELECT ?2, ?1 "
        + "WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = ?2)",
      [.integer(id), .text(table)])
  }

  /// Forgets the state of a type, so that it is read again.
  func forget(_ schema: EntitySchema) {
    guard let table = known.removeValue(forKey: ObjectIdentifier(schema)) else { return }
    highest[schema.table] = max(highest[schema.table] ?? 0, table.highestID)
    latest = nil
  }

  /// Forgets the state of some types.
  func forget(where isWanted: (WriterTable) -> Bool) {
    for table in known.values where isWanted(table) { forget(table.schema) }
  }

  /// Begins a change of an object.
  @inline(__always)
  func beginChange(of table: WriterTable) {
    if !triggers.areThere { return }
    triggers.begin()
    for fullText in table.fullTexts { fullText.rowChanges = 0 }
  }

  /// Finishes a change. The state of tables that other programs' triggers have changed as well is
  /// forgotten; all other state stays valid.
  func endChange(of table: WriterTable, _ id: Int64, _ connection: Connection) throws {
    try settleTexts(connection)
    let own = Set(table.tables)
    let others = triggers.end(changing: table.expectedChanges, id: id)
    for other in known.values where other !== table || !others.isDisjoint(with: own) {
      if !others.isDisjoint(with: other.tables) { forget(other.schema) }
    }
    guard others.isDisjoint(with: own) else {
      // What was verified before is no longer valid.
      changesGeneration = true
      return
    }
    for side in table.sides {
      try IndexMarks.set(side.verified, of: side.table, main: table.schema.table, connection)
    }
    for fullText in table.fullTexts { try fullText.mark(fullText.verified, connection) }
    for elements in table.elements { try elements.mark(elements.verified, connection) }
  }

  /// Forgets everything, because the rollback may have removed a table.
  func forget() {
    for table in known.values {
      let name = table.schema.table
      highest[name] = max(highest[name] ?? 0, table.highestID)
    }
    known.removeAll()
    verified.removeAll()
    latest = nil
    // Releases all statements: the connection may be about to be closed.
    sameLength.end()
    members.dropStatements()
    change = Savepoint("change")
    texts.forget()
  }

  /// The table of an entity type, if its state is known: then nothing has to be created.
  func prepared(_ schema: EntitySchema) -> WriterTable? {
    if let latest, latest.schema === schema { return latest }
    guard let table = known[ObjectIdentifier(schema)] else { return nil }
    latest = table
    return table
  }

  /// The table of an entity type with all its side tables and indexes; missing ones are created.
  func prepare(
    _ schema: EntitySchema, _ connection: Connection, _ engine: SQLiteEngine
  ) throws -> WriterTable {
    if let table = prepared(schema) { return table }
    let sql = engine.sql(for: schema)
    if let other = versions.updateValue(schema, forKey: schema.table), other != schema {
      // The program uses two versions. Each knows side tables that the other does not.
      forget(other)
    }
    try triggers.look(connection)
    if let taken = try TakenName.all(of: sql, connection).first {
      throw taken.error(connection.path)
    }
    if let error = try sql.otherEntity(on: connection) { throw error }
    try connection.execute(sql.create)
    try sql.lookAtKeys(on: connection)
    try ensureUniqueKeys(sql, connection, engine)
    try keepSchema(schema, connection, engine)
    try raiseSequence(of: schema.table, connection)
    let isGuarded = try guardMain(sql, connection)
    let sides =
      try ownSides(sql.sides, of: sql, isMainGuarded: isGuarded, connection, engine)
      + sidesOfOtherVersions(
        of: schema, beside: sql.sides, isMainGuarded: isGuarded, connection)
    let table = WriterTable(
      sql, sides,
      try fullTexts(of: sql, isMainGuarded: isGuarded, connection, engine),
      try elements(of: sql, isMainGuarded: isGuarded, connection, engine))
    // A unique index may contain values that no object has, and refuse them: it is verified before
    // use.
    let doubtful = sides.filter { $0.table.isUnique && $0.isComplete && !$0.isTrusted }
    if !doubtful.isEmpty {
      var step = IndexStep(of: table, connection, engine, limits: .none)
      _ = try step.run(doubtful)
    }
    known[ObjectIdentifier(schema)] = table
    latest = table
    return table
  }

  /// Makes sure that no two objects have the same key. Another program may have made the main table
  /// without `UNIQUE`, as `CREATE TABLE … AS` does; then it gets an index. Objects that have the
  /// same key already are reported, and can be deleted.
  private func ensureUniqueKeys(
    _ sql: TableSQL, _ connection: Connection, _ engine: SQLiteEngine
  ) throws {
    let keys = Set<String?>(sql.keyColumns)
    let indexes = try StoredIndex.all(of: sql.table, connection)
    if indexes.contains(where: { $0.isUnique && $0.isBinary && Set($0.columns) == keys }) { return }
    let name = try freeIndexName("keys__\(sql.table)", connection)
    let columns = sql.keyColumns.joined(separator: ", ")
    do {
      try connection.execute(
        "CREATE UNIQUE INDEX \(name.quoted) ON \(sql.table.quoted) (\(columns))")
    } catch {
      guard error.isConstraint else { throw error }
      engine.reports.reportOnce(
        StorageError(
          .corruptFile, table: sql.table,
          message: "objects have the same primary key, and nothing in the table prevents that",
          underlying: error, path: error.path, advice: "delete all but one of them"))
    }
  }

  /// Keeps the schema of a type in the file. Nothing depends on it, so no change fails for it.
  private func keepSchema(
    _ schema: EntitySchema, _ connection: Connection, _ engine: SQLiteEngine
  ) throws(SQLiteError) {
    do throws(SQLiteError) { try StoredSchemas.write(schema, connection) } catch {
      // SQLite has no specific code for a table with other columns, or for a view.
      guard error.code == .error else { throw error }
      engine.reports.reportOnce(
        StorageError(
          .other, table: StoredSchemas.table,
          message: "something else has this name, so the file does not keep its schemas",
          underlying: error, path: error.path, advice: "rename it, if tools are to show the objects"
        ))
    }
  }

  /// Creates the guards of the main table, and the table of the marks, if there is anything to
  /// mark.
  /// - Returns: Whether all guards were in place.
  private func guardMain(_ sql: TableSQL, _ connection: Connection) throws -> Bool {
    if sql.sides.isEmpty, sql.fullText == nil, sql.elements.isEmpty {
      return try IndexGuards(main: sql.guards, side: []).stand(on: connection, isCommitted: false)
    }
    try IndexMarks.create(on: connection)
    return try IndexGuards.ensure(sql.guards, connection)
  }

  /// The side tables of an entity type that cover all objects, with their marks; nothing else is
  /// created. The result is for one step, and not for changes of objects.
  /// - Returns: nil if there are no objects.
  func completeSides(
    of schema: EntitySchema, _ connection: Connection, _ engine: SQLiteEngine
  ) throws -> WriterTable? {
    let sql = engine.sql(for: schema)
    guard try connection.tableExists(sql.table) else { return nil }
    let complete = try sql.sides.filter {
      try IndexExtent.read(of: $0, connection)?.isComplete == true
    }
    if complete.isEmpty { return nil }
    let isGuarded = try guardMain(sql, connection)
    // A mark says nothing about the time without guards, which are there now.
    if !isGuarded { try IndexMarks.clear(main: sql.table, connection) }
    let sides = try ownSides(complete, of: sql, isMainGuarded: isGuarded, connection, engine)
    return WriterTable(sql, sides, [], [])
  }

  /// Some side tables of a schema; missing tables, guards and marks are created.
  private func ownSides(
    _ sides: [SideTable], of sql: TableSQL, isMainGuarded: Bool, _ connection: Connection,
    _ engine: SQLiteEngine
  ) throws -> [WriterSide] {
    try sides.map { side in
      if try side.establish(on: connection) { engine.reports.report(side.replacement) }
      try ensureIndex(of: side, connection)
      let isGuarded = try IndexGuards.ensure(side.ownGuards, connection)
      let extent = try trimmedExtent(of: side, connection)
      let table = WriterSide(side, extent)
      if !isMainGuarded || !isGuarded || extent?.verified == nil {
        // An empty index is right. So is one that a reader has verified, if no other connection has
        // committed since.
        let isRight =
          extent?.isComplete == true
          && (extent?.main == nil || isVerified(side.trustKey) == true)
        table.verified = isRight ? IndexMarks.everything : IndexMarks.nothing
        try IndexMarks.set(table.verified, of: side, main: sql.table, connection)
      }
      return table
    }
  }

  /// How many rows of a side table are valid. Rows beyond the last object would conflict with new
  /// ones and are removed.
  private func trimmedExtent(
    of side: SideTable, _ connection: Connection
  ) throws(SQLiteError) -> IndexExtent? {
    let extent = try IndexExtent.read(of: side, connection)
    guard let extent, let last = extent.side else { return extent }
    if let end = extent.main {
      if last <= end { return extent }
      try connection.execute("DELETE FROM \(side.table.quoted) WHERE rowid > ?", [.integer(end)])
    } else {
      try connection.execute("DELETE FROM \(side.table.quoted)")
    }
    return try IndexExtent.read(of: side, connection)
  }

  /// Makes sure that a side table has its index. Names are not relied on: a table may have been
  /// renamed with its index, or an index of another table may have the name.
  private func ensureIndex(of side: SideTable, _ connection: Connection) throws {
    for index in try StoredIndex.all(of: side.table, connection)
    where index.columns == side.columns {
      if index.isBinary, index.isUnique == side.isUnique { return }
      // It is no longer unique, and equal values are allowed; or different ones would be equal.
      if index.isUnique { try connection.execute("DROP INDEX \(index.name.quoted)") }
    }
    let name = try freeIndexName("index__\(side.table)", connection)
    do {
      try connection.execute(side.createIndex(named: name))
    } catch {
      guard error.isConstraint else { throw error }
      // The objects themselves may be right: the side table is filled again from the first row that
      // repeats the values of another, and objects that do so are found and reported then.
      try endAtRepetition(side, connection)
      try connection.execute(side.createIndex(named: name))
    }
  }

  /// A name that no index has.
  private func freeIndexName(_ base: String, _ connection: Connection) throws -> String {
    let taken = Set(
      try connection.rows("SELECT name FROM sqlite_master WHERE type = 'index'")
        .compactMap { $0[0].text })
    var name = base
    var number = 2
    while taken.contains(name) {
      name = "\(base)_\(number)"
      number += 1
    }
    return name
  }

  /// Ends a side table below the first row that has the same values as an earlier one.
  private func endAtRepetition(_ side: SideTable, _ connection: Connection) throws {
    let columns = side.columns.map(\.quoted)
    let known = columns.map { "\($0) IS NOT NULL" }.joined(separator: " AND ")
    let first = try connection.value(
      "SELECT min(rowid) FROM (SELECT rowid, row_number() OVER (PARTITION BY \(columns.joined(separator: ", ")) "
        + "ORDER BY rowid) AS place FROM \(side.table.quoted) WHERE \(known)) WHERE place > 1")
    guard let first = first?.integer else { return }
    try connection.execute(
      "DELETE FROM \(side.table.quoted) WHERE rowid >= ?", [.integer(first)])
    try IndexMarks.lower(side, to: first - 1, connection)
  }

  /// Side tables that another version of the schema has created, recognised by name and shape.
  private func sidesOfOtherVersions(
    of schema: EntitySchema, beside sides: [SideTable], isMainGuarded: Bool,
    _ connection: Connection
  ) throws -> [WriterSide] {
    let prefix = schema.table + "__"
    let names = try connection.rows(
      "SELECT name FROM sqlite_master WHERE type = 'table' AND substr(name, 1, ?) = ?",
      [.integer(Int64(prefix.utf8.count)), .text(prefix)]
    ).compactMap { $0.first?.text }
    return try names.compactMap { name in
      let columns = EntitySchema.columnNames(ofIndex: String(name.dropFirst(prefix.count)))
      guard !columns.isEmpty, !sides.contains(where: { $0.table == name }) else { return nil }
      let shape = try connection.rows("PRAGMA table_info(\(name.quoted))").compactMap {
        $0[1].text
      }
      guard shape == ["rowid"] + columns else { return nil }
      // It is no longer unique, and equal values are allowed.
      for index in try connection.rows("PRAGMA index_list(\(name.quoted))")
      where index[2].integer == 1 {
        if let unique = index[1].text { try connection.execute("DROP INDEX \(unique.quoted)") }
      }
      let side = SideTable(foreign: name, columns: columns, of: schema)
      let extent = try IndexExtent.read(of: side, connection)
      let foreign = WriterSide(side, extent)
      let isGuarded =
        try isMainGuarded && side.guards.stand(on: connection, isCommitted: false)
      // A mark of a version with another default does not hold for what this version writes.
      if extent?.verified == nil || !isGuarded, try connection.tableExists(IndexMarks.table) {
        try IndexMarks.clear(side.table, connection)
        foreign.verified = IndexMarks.nothing
      }
      // This version stores no rows in it, so it is not verified for rows to come.
      if foreign.readers == nil, foreign.verified == IndexMarks.everything {
        try IndexMarks.lower(side, to: extent?.main ?? 0, connection)
      }
      return foreign
    }
  }
}

/// An index that covers all rows of a table.
private struct StoredIndex {
  let name: String
  let isUnique: Bool
  /// nil for an expression.
  let columns: [String?]
  /// Whether it compares text by its bytes.
  let isBinary: Bool

  static func all(of table: String, _ connection: Connection) throws -> [StoredIndex] {
    try connection.rows("PRAGMA index_list(\(table.quoted))").compactMap { row in
      // Sequence, name, whether it is unique, origin, whether it is partial.
      guard let name = row[1].text, row[4].integer == 0 else { return nil }
      // Number, column, name, whether it is descending, collation, whether it is part of the key.
      let parts = try connection.rows("PRAGMA index_xinfo(\(name.quoted))")
        .filter { $0[5].integer == 1 }
      return StoredIndex(
        name: name, isUnique: row[2].integer == 1, columns: parts.map { $0[2].text },
        isBinary: parts.allSatisfy { $0[4].text?.uppercased() == "BINARY" })
    }
  }
}
