// The states in which the side tables of a file can be found.

public import Dflat
public import SQLiteAccess

/// A state of an entity type's side tables, and how another program would bring it about.
public enum IndexState: String, CaseIterable, Sendable {
  /// As the workspace made them.
  case complete
  /// No side table exists.
  case missing
  /// Each lacks some of the last objects.
  case partial
  /// Each exists and has no row.
  case emptied
  /// Each lacks some objects in between.
  case holes
  /// Each has rows of objects that do not exist.
  case orphans
  /// As many rows too many as too few, and with the same sum of row ids.
  case balanced
  /// Some rows have the value of another object.
  case wrongValues
  /// A different one for each side table.
  case mixed
  /// SQLite's indexes are gone.
  case withoutIndexes
  /// Renamed and renamed back, so that SQLite's indexes have other names.
  case renamed

  /// Brings the side tables of an entity type into this state. The main table stays as it is.
  public func impose(
    on schema: EntitySchema, _ connection: Connection, using random: inout SeededGenerator
  ) throws {
    let tables = schema.indexes.map(\.table)
    try connection.execute("BEGIN IMMEDIATE")
    for table in tables where try exists(table, connection) {
      let state = self == .mixed ? random.pick(IndexState.single) : self
      try state.impose(on: table, of: schema.table, connection, using: &random)
    }
    try connection.execute("COMMIT")
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
    // Those of no object.
    let taken = Set(ids).union(try rowIDs(of: main))
    let column = String(side.dropFirst(main.count + 2))
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
        try connection.execute(
          "INSERT OR IGNORE INTO \"\(side)\" (rowid, \"\(column)\") VALUES (?, ?)",
          [.integer(id), try anyValue(side, column, connection)])
      }
    case .balanced:
      // Two rows make place for two others with the same sum of ids.
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
          "UPDATE OR IGNORE \"\(side)\" SET \"\(column)\" = "
            + "(SELECT \"\(column)\" FROM \"\(side)\" WHERE rowid = ?) WHERE rowid = ?",
          [.integer(random.pick(ids)), .integer(id)])
      }
    case .withoutIndexes:
      try connection.execute("DROP INDEX IF EXISTS \"index__\(side)\"")
    case .renamed:
      try connection.execute("ALTER TABLE \"\(side)\" RENAME TO \"elsewhere\"")
      try connection.execute("DROP INDEX IF EXISTS \"index__\(side)\"")
      try connection.execute(
        "CREATE INDEX IF NOT EXISTS \"other__\(side)\" ON elsewhere (\"\(column)\")")
      try connection.execute("ALTER TABLE \"elsewhere\" RENAME TO \"\(side)\"")
    }
  }

  private func exists(_ table: String, _ connection: Connection) throws -> Bool {
    try !connection.rows("SELECT 1 FROM sqlite_master WHERE name = ?", [.text(table)]).isEmpty
  }

  /// A value that some other row has, so that an orphan is found by conditions that objects satisfy.
  private func anyValue(
    _ side: String, _ column: String, _ connection: Connection
  ) throws -> SQLValue {
    try connection.value(
      "SELECT \"\(column)\" FROM \"\(side)\" ORDER BY \"\(column)\" LIMIT 1") ?? .null
  }
}
