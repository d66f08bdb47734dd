// RepairRun+Strays: rows outside of the trees that still hold together.
//
// The run searches these places in this order, the most trustworthy first. It takes each row once:
//
//  1. leaves that nothing leads to, and that the file does not call free;
//  2. damaged frames of the log, whose content is newer than the page that is used instead;
//  3. cells in pages that do not tell any more where their cells are;
//  4. older and uncommitted versions of pages, and free pages.
//
//  - The index of the key is the witness: what it knows with this row id and key is not deleted.
//    If it is sound and does not know a row, the row was deleted.
//  - Without its word only rows of the first kind are good. Those of the log and of the last kind
//    never are, since they may be changed, or older than what is lost; they are doubtful if the
//    index knows them.

import Dflat
import SQLiteAccess

extension RepairRun {
  /// How a row was found outside of its tree.
  enum Rank {
    case stray, damagedFrame, carved, old
  }

  /// The current leaves that nothing has claimed.
  func strayLeaves(includingFree: Bool) -> [PageSource.Place] {
    guard source.pageCount > 0 else { return [] }
    return (1...source.pageCount).filter { page in
      if map.isClaimed(page) || map.isReserved(page) { return false }
      return (includingFree || !map.isFree(page)) && leaf(at: page) != nil
    }
  }

  private func leaf(at place: PageSource.Place) -> TreePage? {
    guard let buffer = source.page(place),
      let page = TreePage(
        buffer, usableSize: source.usableSize, isFirst: source.number(of: place) == 1),
      page.kind == .tableLeaf
    else { return nil }
    return page
  }

  /// Calls `body` with each cell of a leaf.
  func withCells(at place: PageSource.Place, _ body: (TreePage.Cell) throws -> Void) rethrows {
    guard let page = leaf(at: place) else { return }
    for index in 0..<page.cellCount {
      if let cell = page.cell(index) { try body(cell) }
    }
  }

  /// Looks for the rows that the trees lack.
  func readStrays() throws {
    for place in strayLeaves(includingFree: false) { try readLeaf(place, .stray) }
    try readStraysWithoutRowIDs()
    let alternates = source.alternates.indices.map { source.pageCount + 1 + $0 }
    func kind(_ place: PageSource.Place) -> LogFrames.Kind {
      source.alternates[place - source.pageCount - 1].kind
    }
    for place in alternates where kind(place) == .damaged { try readLeaf(place, .damagedFrame) }
    try carve()
    for place in alternates where kind(place) != .damaged { try readLeaf(place, .old) }
    guard source.pageCount > 0 else { return }
    for page in 1...source.pageCount
    where !map.isClaimed(page) && !map.isReserved(page) && map.isFree(page) {
      try readLeaf(page, .old)
    }
  }

  /// Takes the rows of a leaf, whatever table they belong to: the table that most of them fit.
  func readLeaf(_ place: PageSource.Place, _ rank: Rank) throws {
    let wanting = tables.filter(\.isWanting)
    if wanting.isEmpty { return }
    var votes: [Int: Int] = [:]
    withCells(at: place) { cell in
      payloads.with(cell, at: place) { payload in
        for (index, table) in wanting.enumerated() {
          let vote = vote(of: payload, cell, table)
          if vote > 0 { votes[index, default: 0] += vote }
        }
      }
    }
    guard let best = votes.values.max() else { return }
    let winners = votes.filter { $0.value == best }.keys.sorted()
    let table = wanting[winners[0]]
    let isClear = winners.count == 1
    try withCells(at: place) { cell in
      try takeStray(cell, at: place, rank, table, isClear: isClear)
    }
  }

  /// How well a row fits a table.
  private func vote(
    of payload: Payload, _ cell: TreePage.Cell, _ table: RepairTable
  ) -> Int {
    guard payload.isComplete, let record = StoredRecord(payload.bytes) else { return 0 }
    guard let objects = table.objects else {
      return table.hasForm(record) && !mayBeObject(record) ? 1 : 0
    }
    switch objects.judge(record) {
    case .sound(let key): return table.keys.hash(ofRow: cell.rowID) == key ? 4 : 2
    case .unsure(let key): return table.keys.hash(ofRow: cell.rowID) == key ? 4 : 1
    case .wrongKey, .damaged, .other: return 0
    }
  }

  private func takeStray(
    _ cell: TreePage.Cell, at place: PageSource.Place, _ rank: Rank, _ table: RepairTable,
    isClear: Bool
  ) throws {
    try payloads.with(cell, at: place) { payload in
      guard let record = StoredRecord(payload.bytes) else { return }
      guard let objects = table.objects else {
        // Nothing tells deleted rows of these tables from lost ones.
        guard rank == .stray, table.hasForm(record), !mayBeObject(record) else { return }
        if payload.doubt != nil || !isClear || !payload.isComplete || map.lacksFreePages {
          let reason = isClear ? "it may have been deleted" : "it may belong to another table"
          table.addPending(cell, at: place, payload.doubt ?? reason)
        } else if try table.insert(record, row: cell.rowID, file.connection) {
          table.report.recovered += 1
        } else {
          table.addPending(cell, at: place, "another row has its row id or key", .conflict)
        }
        return
      }
      let keys = table.keys
      switch objects.judge(record) {
      case .other: return
      case .damaged(let reason):
        if keys.hash(ofRow: cell.rowID) == objects.columnKey(record) {
          table.addPending(cell, at: place, payload.doubt ?? reason)
        }
      case .wrongKey(let key):
        guard keys.hash(ofRow: cell.rowID) == key else { return }
        try add(record, payload, cell, at: place, rank, table, isKnown: true, isClear: isClear)
      case .unsure(let key) where keys.hash(ofRow: cell.rowID) != key:
        table.addPending(cell, at: place, payload.doubt ?? "no field of the object is like its key")
      case .sound(let key), .unsure(let key):
        let isKnown = keys.hash(ofRow: cell.rowID) == key
        // With another row id it is an older copy, or its row id is damaged.
        if !isKnown, keys.isSound || keys.row(with: key) != nil {
          if rank == .old || rank == .carved { return }
          if keys.row(with: key) != nil { return }
        }
        try add(record, payload, cell, at: place, rank, table, isKnown: isKnown, isClear: isClear)
      }
    }
  }

  private func add(
    _ record: StoredRecord, _ payload: Payload, _ cell: TreePage.Cell,
    at place: PageSource.Place, _ rank: Rank, _ table: RepairTable, isKnown: Bool, isClear: Bool
  ) throws {
    var doubt = table.objects?.isProven(record) == true ? payload.lack : payload.doubt
    if !isKnown, !isClear { doubt = doubt ?? "it may belong to another table" }
    switch rank {
    case .stray:
      if !isKnown, table.keys.isSound {
        doubt = doubt ?? "the index of its key does not know it"
      }
    case .damagedFrame: doubt = doubt ?? "its page in the log is damaged"
    case .carved:
      if !isKnown { doubt = doubt ?? "nothing else in the file knows it" }
    case .old: doubt = doubt ?? "it is an older copy, or was deleted"
    }
    if let doubt {
      table.addPending(cell, at: place, doubt)
    } else if try table.insert(record, row: cell.rowID, file.connection) {
      table.report.recovered += 1
    }
  }

  // MARK: Tables without row ids

  /// Takes the rows of pages that nothing leads to, of tables without row ids: those of the only
  /// table that they fit.
  private func readStraysWithoutRowIDs() throws {
    let wanting = tables.filter { table in
      guard table.isWanting, case .plain(let rows) = table.rows else { return false }
      return !rows.hasRowIDs
    }
    if wanting.isEmpty { return }
    for number in 1..<max(1, source.pageCount + 1) {
      if map.isClaimed(number) || map.isReserved(number) || map.isFree(number) { continue }
      guard let buffer = source.page(number),
        let page = TreePage(buffer, usableSize: source.usableSize, isFirst: number == 1),
        !page.kind.isTable
      else { continue }
      for index in 0..<page.cellCount {
        guard let cell = page.cell(index) else { continue }
        try payloads.with(cell, at: number) { payload in
          guard payload.isComplete, let record = StoredRecord(payload.bytes) else { return }
          let fitting = wanting.filter { $0.hasForm(record) }
          guard let table = fitting.first else { return }
          if payload.doubt != nil || fitting.count > 1 || map.lacksFreePages {
            table.addPending(
              cell, at: number, payload.doubt ?? "it may belong to another table, or was deleted")
          } else if try table.insert(record, row: 0, file.connection) {
            table.report.recovered += 1
          }
        }
      }
    }
  }

  // MARK: Carving

  /// Looks for cells in pages that do not tell where they are.
  private func carve() throws {
    guard source.pageCount > 0 else { return }
    let wanting = tables.filter { $0.isWanting && $0.objects != nil }
    if wanting.isEmpty { return }
    var leaves: [Int: RepairTable] = [:]
    for table in wanting {
      for page in table.damagedLeaves { leaves[page] = table }
    }
    for page in 1...source.pageCount {
      if let table = leaves[page] {
        try carve(page, for: [table])
      } else if !map.isClaimed(page), !map.isReserved(page), !map.isFree(page),
        !map.isOverflow(page), leaf(at: page) == nil
      {
        try carve(page, for: wanting)
      }
    }
  }

  private func carve(_ page: Int, for tables: [RepairTable]) throws {
    guard let buffer = source.page(page), !buffer.isZero else { return }
    for table in tables {
      guard let objects = table.objects else { continue }
      for cell in objects.carve(buffer, usableSize: source.usableSize) {
        try takeStray(cell, at: page, .carved, table, isClear: tables.count == 1)
      }
    }
  }

  // MARK: The end

  /// Keeps the rows apart that are not good, and counts those that are lost.
  func settle(_ table: RepairTable) throws {
    var doubtful: Set<Int64> = []
    for row in table.pending {
      let id = row.cell.rowID
      let hasRowIDs: Bool
      if case .plain(let rows) = table.rows { hasRowIDs = rows.hasRowIDs } else { hasRowIDs = true }
      if hasRowIDs {
        if doubtful.contains(id) { continue }
        if row.kind != .conflict, try file.hasRow(id, in: table) { continue }
        doubtful.insert(id)
      }
      try addDoubtful(row, table, id: hasRowIDs ? id : nil)
      table.report.doubtful += 1
    }
    table.pending = []
    var lost: Set<Int64> = []
    func lose(_ id: Int64) throws {
      if doubtful.contains(id) { return }
      if try !file.hasRow(id, in: table) { lost.insert(id) }
    }
    for id in table.keys.rows { try lose(id) }
    for id in table.otherWitness.sorted() { try lose(id) }
    table.report.lost = lost.count
    table.report.mayLackMore = !table.isSound && !table.keys.isSound
    if !lost.isEmpty { table.report.lostKeys = lostKeys(lost, table) }
  }

  private func addDoubtful(_ row: RepairTable.Pending, _ table: RepairTable, id: Int64?) throws {
    try payloads.with(row.cell, at: row.place) { payload in
      var keys: [String] = []
      var bytes = Array(payload.bytes)
      if let record = StoredRecord(payload.bytes) {
        let isObject = table.objects != nil && record.count > 2
        let columns = isObject ? 1..<(record.count - 1) : 0..<record.count
        keys = columns.map { record[$0].shown }
        if isObject, let object = record[record.count - 1].blob { bytes = Array(object) }
      }
      let text = String(decoding: try ToolJSON.line(keys), as: UTF8.self)
      try file.addDoubtful(
        table: table.table, row: id, page: source.number(of: row.place), reason: row.reason,
        keys: text, bytes: bytes)
    }
  }

  /// The keys of lost rows, from the pages of the index.
  private func lostKeys(_ lost: Set<Int64>, _ table: RepairTable) -> [[String]] {
    guard let objects = table.objects else { return [] }
    var found: [Int64: [String]] = [:]
    for page in map.owners.indices where map.owners[page] == table.keyOwner {
      guard found.count < 100, let buffer = source.page(page),
        let tree = TreePage(buffer, usableSize: source.usableSize, isFirst: false)
      else { continue }
      for index in 0..<tree.cellCount {
        guard let cell = tree.cell(index), found.count < 100 else { continue }
        payloads.with(cell, at: page) { payload in
          guard let record = StoredRecord(payload.bytes), record.count == objects.keyCount + 1,
            let id = record[objects.keyCount].integer, lost.contains(id)
          else { return }
          found[id] = (0..<objects.keyCount).map { record[$0].shown }
        }
      }
    }
    return found.sorted { $0.key < $1.key }.map(\.value)
  }
}
