// RepairRun: one repair, step by step.
//
//  1. The tables are known from sqlite_master, the schemas that the file keeps, those given, and
//     rows whose table nothing else describes: see RepairRun+Forms.swift.
//  2. Each tree is walked from its root. What it reaches is stored at once if it is sound.
//  3. If a tree is damaged, or the index of the key knows more rows than it has, the other pages
//     are searched for the rows: see RepairRun+Strays.swift.
//  4. Rows that are not good are kept apart, see RepairRun+Pending.swift, and those that only an
//     index knows are lost.
//  5. Indexes, triggers and views of plain SQL are created last.
//
// Memory: a few numbers for each page and, of each table at a time, for each row.

import Dflat
import Foundation
import SQLiteAccess

/// One repair.
final class RepairRun {
  let source: PageSource
  let file: RepairedFile
  let map: PageMap
  let payloads: Payloads
  let given: [GivenSchema]
  var schema: SchemaEntries
  var tables: [RepairTable] = []
  var report: RepairReport
  /// Whether nothing is damaged in the trees that are not restored, as far as they were looked at.
  private(set) var otherTreesAreSound = true
  /// The damage that the report names at most.
  private static let damageLimit = 100
  /// The tables without row ids that were created by their rows, with row ids.
  var tablesByRows: Set<[UInt8]> = []
  /// The form of rows of two columns that fit no known table.
  var pairs: [RowForm] = []
  /// The number of the next owner of pages; sqlite_master is the first one.
  private var nextOwner: UInt32 = 2

  init(_ source: PageSource, _ file: RepairedFile, _ given: [GivenSchema]) {
    self.source = source
    self.file = file
    self.given = given
    map = PageMap(source)
    payloads = Payloads(source: source, map: map)
    schema = SchemaEntries(source, map)
    report = RepairReport(
      source: source.path, target: file.path, pageBytes: source.pageSize,
      pages: source.pageCount, damagedFrames: source.log?.damagedFrames ?? 0, unreadableSectors: 0,
      hasDamagedJournal: source.hasDamagedJournal)
  }

  func run() throws -> RepairReport {
    try requireDatabase()
    noteDamage()
    try createTables()
    for table in tables { try readTree(table) }
    if !schema.isSound || tables.contains(where: { $0.isWanting || !$0.pending.isEmpty }) {
      try claimOtherTrees()
      map.addLostFreePages()
    }
    if !schema.isSound || tables.contains(where: \.isWanting) {
      try addUnknownTables()
      try readStrays()
      try addTableOfPairs()
    }
    try acceptPending()
    for table in tables { try settle(table) }
    try createRest()
    try restoreSequences()
    try restoreNumbers()
    let lost = source.unreadableSectors
    if lost > 0 {
      let sectors = lost == 1 ? "a sector" : "\(lost) sectors"
      report.damage.insert("the disk cannot read \(sectors) of 512 bytes", at: 0)
    }
    report = RepairReport(
      source: report.source, target: report.target, pageBytes: report.pageBytes,
      pages: report.pages, damagedFrames: report.damagedFrames,
      unreadableSectors: source.unreadableSectors, hasDamagedJournal: source.hasDamagedJournal,
      tables: reports(), damage: report.damage,
      notCreated: report.notCreated)
    return report
  }

  private func reports() -> [RepairedTable] {
    func isType(_ table: RepairTable) -> Bool {
      table.objects != nil && table.table != StoredType.dictionaryTable
    }
    return (tables.filter(isType) + tables.filter { !isType($0) }).map(\.report)
  }

  private func requireDatabase() throws {
    guard source.pageCount > 0 else {
      throw ToolError(.badData, "\(source.path) is empty", advice: "restore a backup")
    }
    // Texts are UTF-8 in all files of Dflat.
    let encoding = source.page(1)?.bigEndian(56, size: 4) ?? 0
    let isFirst = source.page(1)?.bytes.starts(with: "SQLite format 3".utf8) == true
    if schema.all.isEmpty, !schema.isSound, isFirst, encoding == 2 || encoding == 3 {
      throw ToolError(
        .badData, "\(source.path) has its texts in UTF-16, which repair does not read",
        advice: "use the .recover of the sqlite3 command")
    }
  }

  // MARK: Damage

  func note(_ damage: String) {
    if report.damage.count < Self.damageLimit { report.damage.append(damage) }
  }

  private func noteDamage() {
    if let log = source.log {
      if log.hasDamagedHeader { note("the header of the log is damaged") }
      if log.damagedFrames > 0 { note("\(log.damagedFrames) frames of the log are damaged") }
    }
    if source.hasDamagedJournal {
      note("the rollback journal is damaged: a part of a transaction may be in the file")
    }
    for problem in schema.problems { note("sqlite_master: \(problem)") }
    if !schema.isSound, schema.problems.isEmpty { note("sqlite_master: rows are damaged") }
  }

  // MARK: Trees

  /// Two numbers for owners of pages.
  func takeOwner() -> UInt32 {
    defer { nextOwner += 2 }
    return nextOwner
  }

  /// Reads the tree of a table, and before it the index of its key.
  private func readTree(_ table: RepairTable) throws {
    if let objects = table.objects,
      let root = schema.root(ofIndex: SchemaEntry.constraintIndex(of: table.table))
    {
      table.keys = KeyIndex(
        source, map, root: root, owner: table.keyOwner, keyCount: objects.keyCount)
    }
    guard let root = table.root, root > 0 else {
      note("\(table.table): nothing says where it begins")
      return
    }
    var walk = TreeWalk(source, map, owner: table.owner)
    // By pages: the rows of the table, and the others.
    var counts: [Int: (own: Int, others: Int)] = [:]
    func count(_ page: Int, _ fit: Fit) {
      if fit == .own, counts[page] == nil { return }
      let known = counts[page] ?? (0, 0)
      counts[page] = fit == .own ? (known.own + 1, known.others) : (known.own, known.others + 1)
      if fit == .stranger { table.hasStrangers = true }
      if fit == .exchanged { table.foreignPages.insert(page) }
    }
    if case .plain(let rows) = table.rows, !rows.hasRowIDs {
      try walk.index(root: root) { page, cell in
        count(page, try take(cell, at: page, isInOrder: true, table))
      }
    } else {
      try walk.table(root: root) { row in
        count(row.page, try take(row.cell, at: row.page, isInOrder: row.isInOrder, table))
      }
    }
    // A page of something else: what it belongs to looks for it.
    var hasForeignPages = walk.hasForeignPages
    for (page, count) in counts {
      if count.others > 2 * count.own {
        map.release(page)
        hasForeignPages = true
      } else {
        table.foreignPages.remove(page)
      }
    }
    table.hasStrangers = table.hasStrangers || hasForeignPages
    table.isSound = walk.isSound && !table.hasStrangers
    table.damagedLeaves = walk.damagedLeaves
    for problem in walk.problems { note("\(table.table): \(problem)") }
  }

  /// Whether a row belongs to the tree in which it stands.
  private enum Fit {
    case own
    /// It is an object that its own table lacks, since a page of that is exchanged for this one.
    case exchanged
    case stranger
  }

  /// Takes a row that the tree has reached.
  private func take(
    _ cell: TreePage.Cell, at page: Int, isInOrder: Bool, _ table: RepairTable
  ) throws -> Fit {
    let fit = try payloads.with(cell, at: page, claims: true) { payload -> Fit in
      guard let record = StoredRecord(payload.bytes) else {
        table.addPending(cell, at: page, payload.doubt ?? "its record is damaged")
        return .own
      }
      guard let objects = table.objects else {
        return try takePlain(record, payload, cell, at: page, isInOrder: isInOrder, table)
      }
      let row: Int64
      switch decide(objects.judge(record), payload, cell, at: page, isInOrder: isInOrder, table) {
      case .stranger: return .stranger
      case .damaged(let reason):
        table.addPending(cell, at: page, reason)
        return .stranger
      case .doubtful(let reason):
        table.addPending(cell, at: page, reason)
        return .own
      case .good(let id): row = id
      }
      if payload.hasZeros, !objects.isProven(record) {
        table.addPending(
          cell, at: page, Payload.zeros, objects.canHaveZeros ? .zeros : .damaged)
      } else if try table.insert(record, row: row, file.connection) {
        table.report.whole += 1
      } else {
        table.addPending(cell, at: page, "another row has its row id or key", .conflict)
      }
      return .own
    }
    if fit == nil { table.addPending(cell, at: page, "its page cannot be read") }
    return fit ?? .own
  }

  /// What becomes of a row that the tree has reached.
  private enum Decision {
    case good(row: Int64)
    case doubtful(String)
    /// It is no object of the table, unless it is damaged.
    case damaged(String)
    case stranger
  }

  /// Decides by what the row says of itself, and what the index of the key says of it.
  private func decide(
    _ verdict: ObjectRows.Verdict, _ payload: Payload, _ cell: TreePage.Cell, at page: Int,
    isInOrder: Bool, _ table: RepairTable
  ) -> Decision {
    let row = cell.rowID
    let known = table.keys.hash(ofRow: row)
    if let doubt = payload.lack { return .doubtful(doubt) }
    switch verdict {
    case .other: return .stranger
    case .damaged(let reason): return .damaged(reason)
    case .wrongKey(let key):
      // Two of three witnesses decide: the columns, the object, the index.
      return known == key
        ? .good(row: row) : .doubtful("its columns have another key than the object")
    case .unsure(let key) where known != key:
      return .doubtful("no field of the object is like its key")
    case .sound(let key), .unsure(let key):
      if known == key { return .good(row: row) }
      if let other = table.keys.row(with: key), !isInOrder || known == nil {
        return .good(row: other)
      }
      if !isInOrder { return .doubtful("its row id is out of order") }
      // Without a schema the object cannot say which of the two is right.
      if known != nil, table.objects?.entity == nil {
        return .doubtful("the index has another key for its row id")
      }
      if table.keys.isSound, isOutdated(page) {
        return .doubtful("a newer version of its page is damaged")
      }
      return .good(row: row)
    }
  }

  /// Whether the log has a newer version of a page, which is damaged.
  private func isOutdated(_ page: Int) -> Bool {
    source.log?.damagedPages.contains(page) == true
  }

  /// Whether a record is an object of some type, with its key: it is no row of a plain table then,
  /// even if it has the form of one.
  func isObject(_ record: StoredRecord) -> Bool {
    tables.contains { table in
      guard let objects = table.objects, objects.entity != nil else { return false }
      if case .sound = objects.judge(record) { return true }
      return false
    }
  }

  /// The same for rows outside of trees, if not all tables are known: the table of the object may
  /// be missing.
  func mayBeObject(_ record: StoredRecord) -> Bool {
    isObject(record) || (!schema.isSound && RowForm(record).keys != nil)
  }

  private func takePlain(
    _ record: StoredRecord, _ payload: Payload, _ cell: TreePage.Cell, at page: Int,
    isInOrder: Bool, _ table: RepairTable
  ) throws -> Fit {
    guard case .plain(let rows) = table.rows, rows.hasForm(record) else {
      if let doubt = payload.doubt { table.addPending(cell, at: page, doubt) }
      return payload.doubt == nil ? .stranger : .own
    }
    let isObject = payload.lack == nil && isObject(record)
    if let doubt = payload.lack ?? (isInOrder ? nil : "its row id is out of order") {
      table.addPending(cell, at: page, doubt)
    } else if payload.hasZeros {
      table.addPending(
        cell, at: page, Payload.zeros, rows.canHaveZeros(record) ? .zeros : .damaged)
    } else if isObject {
      table.addPending(cell, at: page, "it is an object", .object)
    } else if try rows.insert(record, row: cell.rowID, into: file.connection) {
      table.report.whole += 1
    } else {
      table.addPending(cell, at: page, "the table refuses it", .conflict)
    }
    return try isObject && isLacking(record, cell.rowID) ? .exchanged : .own
  }

  /// Claims the pages of what is not restored, so that no rows are looked for there.
  private func claimOtherTrees() throws {
    let known = Set(tables.map { Array($0.table.utf8) })
    for entry in schema.all where entry.root > 0 && !map.isClaimed(entry.root) {
      if entry.type == "table", known.contains(Array(entry.name.utf8)) { continue }
      let owner = takeOwner()
      guard let buffer = source.page(entry.root),
        let page = TreePage(buffer, usableSize: source.usableSize, isFirst: false)
      else {
        otherTreesAreSound = false
        continue
      }
      var walk = TreeWalk(source, map, owner: owner)
      if !page.kind.isTable {
        walk.index(root: entry.root) { _, _ in }
      } else if entry.type == "table" {
        let main = tables.first {
          $0.objects != nil && !$0.keys.isSound && entry.name.hasPrefix($0.table + "__f")
        }
        let objects = tables.compactMap(\.objects)
        var last = 0
        var strangers: Set<Int> = []
        walk.table(root: entry.root) { row in
          if row.page != last {
            last = row.page
            let isStranger = payloads.with(row.cell, at: row.page) { payload in
              guard let record = StoredRecord(payload.bytes) else { return false }
              return objects.contains { $0.hasForm(record) }
            }
            if isStranger == true { strangers.insert(row.page) }
          }
          if let main, !strangers.contains(row.page) {
            main.otherWitness.insert(row.cell.rowID)
          }
        }
        for page in strangers { map.release(page) }
        if !strangers.isEmpty { otherTreesAreSound = false }
      }
      if !walk.isSound { otherTreesAreSound = false }
    }
  }
}
