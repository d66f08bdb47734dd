// SchemaEntries: the tables and indexes of a damaged file, from its table `sqlite_master`.
//
//  - If its tree, which begins on page 1, is sound, only that counts.
//  - Otherwise any other leaf with rows of that form adds what the tree lacks: a name, its table,
//    a root, and a statement that creates it.
//  - Names stand there several times. What contradicts itself is put right by the majority.

/// Something that a file has: a table, an index, a trigger or a view.
struct SchemaEntry: Hashable {
  var type: String
  var name: String
  var table: String
  var root: Int
  /// nil for indexes that a table has by itself, and if it is damaged.
  var sql: String?

  /// nil if a row is no row of `sqlite_master`.
  init?(_ record: StoredRecord) {
    guard record.count == 5, record.fillsItsBytes, let type = record[0].text,
      let name = record[1].text,
      let table = record[2].text, let root = record[3].integer,
      ["table", "index", "trigger", "view"].contains(type), !name.isEmpty, !table.isEmpty,
      root >= 0, root < 1 << 32, !name.utf8.contains(0), !table.utf8.contains(0)
    else { return nil }
    self.type = type
    self.name = name
    self.table = table
    self.root = Int(root)
    sql = record[4].text
    if sql == nil, type != "index" || !record[4].isNull { return nil }
    // A damaged statement does not make the rest untrue.
    if let text = sql, text.utf8.contains(0) || !text.lowercased().hasPrefix("create ") {
      if type != "table" { return nil }
      sql = nil
    }
    // Names with other letters of case are the same to SQLite.
    if type == "table", name.lowercased() == RepairRun.schemaTable {
      (self.name, self.table) = (RepairRun.schemaTable, RepairRun.schemaTable)
      return
    }
    guard type == "table", name != table else { return }
    // One of the two is damaged. The statement has the name, too.
    if sql?.contains(table) == true { self.name = table } else { self.table = name }
  }

  /// Whether the statement is that of a table of objects, as far as two phrases of it can say so if
  /// the others are damaged. Other tables may refer to the key of one.
  var saysObjects: Bool {
    guard let sql else { return false }
    let phrases = ["(rowid INTEGER PRIMARY KEY", ", __pk0 ", ", p BLOB,", "UNIQUE(__pk0"]
    return phrases.count { sql.contains($0) } > 1
  }

  /// The index that SQLite keeps for the first constraint of a table.
  static func constraintIndex(of table: String) -> String { "sqlite_autoindex_\(table)_1" }
}

/// What `sqlite_master` says.
struct SchemaEntries {
  private(set) var all: [SchemaEntry] = []
  /// Whether the whole of it could be read.
  private(set) var isSound = false
  private(set) var problems: [String] = []

  init(_ source: PageSource, _ map: PageMap) {
    let payloads = Payloads(source: source, map: map)
    var walk = TreeWalk(source, map, owner: 1)
    var entries: [SchemaEntry] = []
    var isWhole = true
    var strangers: Set<Int> = []
    walk.table(root: 1) { row in
      let entry = payloads.with(row.cell, at: row.page, claims: true) { payload in
        if payload.doubt != nil { isWhole = false }
        return payload.isComplete ? StoredRecord(payload.bytes).flatMap { SchemaEntry($0) } : nil
      }
      if let entry = entry ?? nil { entries.append(entry) } else { strangers.insert(row.page) }
    }
    // Leaves of other trees: these look for them.
    for page in strangers { map.release(page) }
    if !strangers.isEmpty { isWhole = false }
    isSound = walk.isSound && isWhole && Self.isPossible(source)
    problems = walk.problems
    if !isSound { entries += Self.strays(source, map, payloads) }
    // SQLite compares names byte by byte, and Swift does not.
    var known: Set<[UInt8]> = []
    for entry in entries where known.insert(Array("\(entry.type) \(entry.name)".utf8)).inserted {
      all.append(entry)
    }
  }

  /// An empty first page is none of a database, unless the whole file is empty.
  private static func isPossible(_ source: PageSource) -> Bool {
    source.page(1)?.isZero(0..<112) == false
  }

  /// Rows of that form in leaves that no tree has reached, and in older versions of page 1.
  private static func strays(
    _ source: PageSource, _ map: PageMap, _ payloads: Payloads
  ) -> [SchemaEntry] {
    var found: [SchemaEntry] = []
    let alternates = source.alternates.indices.map { source.pageCount + 1 + $0 }
    for place in Array(1..<max(1, source.pageCount + 1)) + alternates {
      let number = source.number(of: place)
      if place <= source.pageCount, map.isClaimed(place) || map.isReserved(place) { continue }
      guard let buffer = source.page(place),
        let page = TreePage(
          buffer, usableSize: source.usableSize, isFirst: number == 1),
        page.kind == .tableLeaf
      else { continue }
      for index in 0..<page.cellCount {
        // The types of the first value: a text of 4, 5 or 7 bytes.
        guard let cell = page.cell(index), cell.payloadSize >= 20,
          [21, 23, 27].contains(buffer.byte(cell.start + 1))
        else { continue }
        let entry = payloads.with(cell, at: place) { payload in
          payload.isComplete ? StoredRecord(payload.bytes).flatMap { SchemaEntry($0) } : nil
        }
        if let entry = entry ?? nil { found.append(entry) }
      }
    }
    return found
  }

  mutating func rename(_ entry: SchemaEntry, to name: String) {
    guard let place = all.firstIndex(of: entry) else { return }
    (all[place].name, all[place].table) = (name, name)
  }

  func root(ofIndex name: String) -> Int? {
    all.first { $0.type == "index" && $0.name == name }?.root
  }
}
