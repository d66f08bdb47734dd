// What the writer knows of one entity type's tables, with the statements that it keeps for them.

import Dflat
import SQLiteAccess

// Used by the writer alone, which is used by one thread and keeps no statement while another is asked for: exclusivity holds
// without a check.

/// A main table as the writer knows it.
final class WriterTable {
  let sides: [WriterSide]
  let hasUniqueSides: Bool
  /// The fields that the primary key and side tables are made of.
  let indexedFields: FieldSet
  @exclusivity(unchecked) var insert: KeptStatement
  @exclusivity(unchecked) var update: KeptStatement
  @exclusivity(unchecked) var updateWithKey: KeptStatement
  @exclusivity(unchecked) var delete: KeptStatement
  /// The greatest row id that was given to a new object.
  @exclusivity(unchecked) var highestID: Int64 = 0
  private let sql: TableSQL
  var schema: EntitySchema { sql.schema }

  init(_ sql: TableSQL, _ sides: [WriterSide]) {
    self.sql = sql
    self.sides = sides
    hasUniqueSides = sides.contains { $0.table.isUnique }
    var fields = FieldSet.none
    for reader in sql.schema.keyReaders { fields.insert(reader.field.rootField) }
    for side in sides { fields.insert(side.table.rootField) }
    // An update may leave a field out that has its default now, and had another one when the side table was filled.
    indexedFields = sides.contains(where: \.isOutdated) ? .all : fields
    insert = KeptStatement(sql.insert)
    update = KeptStatement(sql.update)
    updateWithKey = KeptStatement(sql.updateWithKey)
    delete = KeptStatement(sql.delete)
  }
}

extension WriterTable {
  /// Where a row is.
  func place(of id: Int64) -> RowPlace { sql.place(of: id) }

  /// Whether a value that no two objects may have is among these fields.
  func hasUniqueSides(among fields: FieldSet) -> Bool {
    hasUniqueSides && sides.contains { $0.table.isUnique && fields.contains($0.table.rootField) }
  }
}

/// A statement that is prepared at its first use and then kept.
struct KeptStatement {
  private let sql: String
  private var prepared: Statement?

  init(_ sql: String) {
    self.sql = sql
  }

  mutating func on(_ connection: Connection) throws -> Statement {
    if let prepared { return prepared }
    let statement = try connection.statement(sql)
    prepared = statement
    return statement
  }
}

/// A side table as the writer knows it.
final class WriterSide {
  let table: SideTable
  /// Reads its values; nil if this version of the schema has not the field, or other values where it is absent.
  let reader: ColumnReader?
  /// Whether another version of the schema has filled it, for which absent fields read as something else.
  let isOutdated: Bool
  private let main: String
  /// It has a row for every object up to this row id, and none beyond.
  var reach: Int64
  /// Whether an object beyond it has a value that is there already, and may not be.
  var isBlocked = false
  /// Whether it reaches all objects.
  let isComplete: Bool
  /// Whether its index can be believed to refuse every duplicate.
  let isTrusted: Bool
  @exclusivity(unchecked) var insert: KeptStatement
  @exclusivity(unchecked) var upsert: KeptStatement
  @exclusivity(unchecked) var delete: KeptStatement

  init(
    _ table: SideTable, of main: String, hasIndex: Bool, _ connection: Connection,
    _ engine: SQLiteEngine, _ tables: WriterTables
  ) throws {
    self.main = main
    self.table = table
    insert = KeptStatement(table.insert)
    upsert = KeptStatement(table.upsert)
    delete = KeptStatement(table.delete)
    var extent = try IndexHealth.extent(of: table, connection)
    if let side = extent?.side, side > extent?.main ?? .min {
      // Rows of objects that are not there would be in the way of new ones.
      let statement = try connection.statement(
        "DELETE FROM \(table.table.quoted) WHERE rowid > ?")
      try statement.bind(1, extent?.main ?? 0)
      try statement.run()
      extent = try IndexHealth.extent(of: table, connection)
    }
    reach = extent?.side ?? 0
    let isOfThisVersion =
      try table.reader != nil && IndexHealth.isOfThisVersion(table, connection)
    reader = isOfThisVersion ? table.reader : nil
    isOutdated = !isOfThisVersion && table.reader != nil
    isComplete = extent?.main == extent?.side && (isOfThisVersion || table.reader == nil)
    guard table.isUnique else {
      isTrusted = true
      return
    }
    guard isComplete, hasIndex else {
      isTrusted = false
      return
    }
    if tables.isSound(table.trustKey)
      || engine.foreignChanges.isSound(table.trustKey, at: tables.generation)
    {
      isTrusted = true
    } else {
      isTrusted = try IndexHealth.hasSameRows(table.table, main, connection)
      if isTrusted { tables.foundSound(table.trustKey) }
    }
  }

  /// Whether the side table is to have a row for an object that is stored.
  func covers(_ id: Int64) -> Bool { isComplete || id <= reach }

  /// Gives up the rows from an object on: its value is one that this version of the schema cannot read.
  func truncate(from id: Int64, _ connection: Connection) throws {
    let statement = try connection.statement(
      "DELETE FROM \(table.table.quoted) WHERE rowid >= ?")
    try statement.bind(1, id)
    try statement.run()
    reach = min(reach, id - 1)
  }

  /// Removes rows that have a value of their own and no object.
  func removeOrphans(with value: ColumnValue, _ connection: Connection) throws {
    let side = table.table.quoted
    let statement = try connection.statement(
      "DELETE FROM \(side) WHERE \(table.column.quoted) = ? "
        + "AND NOT EXISTS (SELECT 1 FROM \(main.quoted) AS m WHERE m.rowid = \(side).rowid)")
    try statement.bind(1, column: value)
    try statement.run()
  }
}
