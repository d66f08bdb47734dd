// The possible states of the side tables of a file.

public import Dflat
public import SQLiteAccess

/// A state of an entity type's side tables, as other programs may cause it.
public enum IndexState: String, CaseIterable, Sendable {
  /// As created by the workspace.
  case complete
  /// No side table exists.
  case missing
  /// Each table lacks some of the last objects.
  case partial
  /// Each table exists and is empty.
  case emptied
  /// Each table lacks some objects in the middle.
  case holes
  /// Each table has rows of objects that do not exist.
  case orphans
  /// As many surplus rows as missing ones, with the same sum of row ids.
  case balanced
  /// Some rows have the value of another object.
  case wrongValues
  /// Each side table is in a different state.
  case mixed
  /// The SQLite indexes are missing.
  case withoutIndexes
  /// The tables were renamed and renamed back, so that the SQLite indexes have other names.
  case renamed

  /// Puts the side tables of an entity type into this state. The main table is unchanged.
  public func impose(
    on schema: EntitySchema, _ connection: Connection, using random: inout SeededGenerator
  ) throws {
    let tables = schema.indexes.map(\.table)
    try connection.execute("BEGIN IMMEDIATE")
    for table in tables where try exists(table, connection) {
      let state = self == .mixed ? random.pick(IndexState.single) : self
      try state.impose(on: table, of: schema.table, connection, using: &random)
    }
    if let fullText = schema.fullText?.table, try exists(fullText, connection) {
      try impose(onFullText: fullText, of: schema, connection, using: &random)
    }
    try connection.execute("COMMIT")
  }

  /// Puts a full-text table into a state that is like that of the side tables.
  private func impose(
    onFullText table: String, of schema: EntitySchema, _ connection: Connection,
    using random: inout SeededGenerator
  ) throws {
    let rows = "\"\(table)_docsize\""
    switch self {
    case .complete, .withoutIndexes: break
    case .missing: try connection.execute("DROP TABLE \"\(table)\"")
    case .emptied, .mixed:
      try connection.execute("INSERT INTO \"\(table)\" (\"\(table)\") VALUES ('delete-all')")
    case .partial:
      try connection.execute(
        "DELETE FROM \(rows) WHERE id > (SELECT max(id) / 2 FROM \(rows))")
    case .holes:
      try connection.execute(
        "DELETE FROM \(rows) WHERE id % ? = 0", [.integer(random.pick([2, 3, 5]))])
    case .orphans, .balanced, .wrongValues:
      // The words of one object for another one.
      let column = schema.fullText?.columns[0].name ?? ""
      try connection.execute(
        "INSERT INTO \"\(table)\" (rowid, \"\(column)\") SELECT max(id) + ?, 'hello world' FROM \(rows)",
        [.integer(self == .orphans ? 3 : 0)])
    case .renamed:
      try connection.execute("ALTER TABLE \"\(table)\" RENAME TO \"elsewhere\"")
      try connection.execute("ALTER TABLE \"elsewhere\" RENAME TO \"\(table)\"")
    }
  }

  private static let single: [IndexState] = [
    .complete, .missing, .partial, .emptied, .holes, .orphans, .balanced, .wrongValues,
    .withoutIndexes,
  ]

  private func impose(
    on side: String, of main: String, _ connection: Connection,
    using random: inout SeededGenerator
  ) throws {
    func rowIDs(of table: String) throws -> [Int64] {
      try connection.rows("SELECT rowid FROM \"\(table)\" ORDER BY rowid")
        .compactMap { $0.first?.integer }
    }
    let ids = try rowIDs(of: side)
    // Row ids without an object.
    let taken = Set(ids).union(try rowIDs(of: main))
    let columns = EntitySchema.columnNames(ofIndex: String(side.dropFirst(main.count + 2)))
      .map { "\"\($0)\"" }
    let list = columns.joined(separator: ", ")
    switch self {
    case .complete, .mixed: break
    case .missing: try connection.execute("DROP TABLE \"\(side)\"")
    case .emptied: try connection.execute("DELETE FROM \"\(side)\"")
    case .partial:
      guard let last = ids.randomElement(using: &random) else { return }
      try connection.execute("DELETE FROM \"\(side)\" WHERE rowid > ?", [.integer(last)])
    case .holes:
      for id in ids.dropLast() where random.oneIn(4) {
        try connection.execute("DELETE FROM \"\(side)\" WHERE rowid = ?", [.integer(id)])
      }
    case .orphans:
      guard let last = ids.last else { return }
      var free = Set(1..<last).subtracting(taken).sorted()
      if !taken.contains(last + 3), random.oneIn(2) { free.append(last + 3) }
      for id in free where random.oneIn(2) {
        // Values of some other row, so that conditions that match objects also find the orphan.
        try connection.execute(
          "INSERT OR IGNORE INTO \"\(side)\" (rowid, \(list)) "
            + "SELECT ?, \(list) FROM \"\(side)\" ORDER BY \(list) LIMIT 1", [.integer(id)])
      }
    case .balanced:
      // Replaces two rows by two others with the same sum of ids.
      guard let last = ids.last else { return }
      let present = Set(ids)
      let free = (1..<last).filter { !taken.contains($0) }
      for (low, high) in zip(free, free.dropFirst()) {
        guard
          let first = ids.first(where: {
            let second = low + high - $0
            return $0 != second && second < last && present.contains(second)
          })
        else { continue }
        try connection.execute(
          "UPDATE OR IGNORE \"\(side)\" SET rowid = ? WHERE rowid = ?",
          [.integer(low), .integer(first)])
        try connection.execute(
          "UPDATE OR IGNORE \"\(side)\" SET rowid = ? WHERE rowid = ?",
          [.integer(high), .integer(low + high - first)])
        return
      }
    case .wrongValues:
      for id in ids where random.oneIn(3) {
        try connection.execute(
          "UPDATE OR IGNORE \"\(side)\" SET (\(list)) = "
            + "(SELECT \(list) FROM \"\(side)\" WHERE rowid = ?) WHERE rowid = ?",
          [.integer(random.pick(ids)), .integer(id)])
      }
    case .withoutIndexes:
      try connection.execute("DROP INDEX IF EXISTS \"index__\(side)\"")
    case .renamed:
      try connection.execute("ALTER TABLE \"\(side)\" RENAME TO \"elsewhere\"")
      try connection.execute("DROP INDEX IF EXISTS \"index__\(side)\"")
      try connection.execute(
        "CREATE INDEX IF NOT EXISTS \"other__\(side)\" ON elsewhere (\(list))")
      try connection.execute("ALTER TABLE \"elsewhere\" RENAME TO \"\(side)\"")
    }
  }

  private func exists(_ table: String, _ connection: Connection) throws -> Bool {
    try !connection.rows("SELECT 1 FROM sqlite_master WHERE name = ?", [.text(table)]).isEmpty
  }
}
