// The writer's state for one entity type's tables, with the prepared statements for them.

import Dflat
import SQLiteAccess

// Only the writer uses these types, on one thread, and it keeps no statement while it asks for
// another: exclusivity holds without a check.

/// A main table as the writer knows it.
final class WriterTable {
  let sides: [WriterSide]
  let fullTexts: [WriterFullText]
  let elements: [WriterElements]
  /// Whether nothing but the main table changes with an object.
  let isPlain: Bool
  let hasUniqueSides: Bool
  /// The fields that the primary key, side tables, full-text tables and tables of elements use.
  let indexedFields: FieldSet
  @exclusivity(unchecked) var insert: KeptStatement
  @exclusivity(unchecked) var insertWithID: KeptStatement
  @exclusivity(unchecked) var insertUnlessKnown: KeptStatement
  @exclusivity(unchecked) var update: KeptStatement
  @exclusivity(unchecked) var updateWithKey: KeptStatement
  @exclusivity(unchecked) var updateIfKeyed: KeptStatement
  @exclusivity(unchecked) var delete: KeptStatement
  /// The greatest row id given to a new object.
  @exclusivity(unchecked) var highestID: Int64 = 0
  let schema: EntitySchema

  init(
    _ sql: TableSQL, _ sides: [WriterSide], _ fullTexts: [WriterFullText],
    _ elements: [WriterElements]
  ) {
    schema = sql.schema
    self.sides = sides
    self.fullTexts = fullTexts
    self.elements = elements
    isPlain = sides.isEmpty && fullTexts.isEmpty && elements.isEmpty
    hasUniqueSides = sides.contains { $0.table.isUnique }
    var fields = FieldSet.none
    for reader in sql.schema.keyReaders { fields.insert(reader.field.rootField) }
    for side in sides { fields.formUnion(side.table.rootFields) }
    for fullText in fullTexts { fields.formUnion(fullText.table.rootFields) }
    for elements in elements { fields.insert(elements.table.index.offset) }
    indexedFields = fields
    insert = KeptStatement(sql.insert)
    insertWithID = KeptStatement(sql.insertWithID)
    insertUnlessKnown = KeptStatement(sql.insertUnlessKnown)
    update = KeptStatement(sql.update)
    updateWithKey = KeptStatement(sql.updateWithKey)
    updateIfKeyed = KeptStatement(sql.updateIfKeyed)
    delete = KeptStatement(sql.delete)
  }
}

extension WriterTable {
  /// Whether these fields include a unique value.
  func hasUniqueSides(among fields: FieldSet) -> Bool {
    hasUniqueSides && sides.contains { $0.table.isUnique && $0.isAffected(by: fields) }
  }
}

extension WriterTable {
  /// The tables whose rows change with an object.
  var tables: [String] {
    [schema.table] + sides.map(\.table.table) + fullTexts.map(\.table.rowTable)
  }

  /// How many rows of these tables may have been changed on purpose by the change of an object
  /// that is now finished.
  var expectedChanges: [String: Int] {
    var expected = Dictionary(tables.map { ($0, 1) }) { first, _ in first }
    for fullText in fullTexts { expected[fullText.table.rowTable] = fullText.rowChanges }
    return expected
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
  /// It has a row for every object up to this row id, and none beyond.
  var reach: Int64
  /// Up to which row it is known to agree with the objects; see `IndexMarks`.
  var verified: Int64
  /// Whether it covers all objects.
  let isComplete: Bool
  @exclusivity(unchecked) var insert: KeptStatement
  @exclusivity(unchecked) var upsert: KeptStatement
  @exclusivity(unchecked) var delete: KeptStatement

  init(_ table: SideTable, _ extent: IndexExtent?) {
    self.table = table
    insert = KeptStatement(table.insert)
    upsert = KeptStatement(table.upsert)
    delete = KeptStatement(table.delete)
    reach = extent?.side ?? .min
    verified = extent?.verified ?? IndexMarks.nothing
    isComplete = extent?.isComplete ?? false
  }

  /// Reads its values; nil if this version of the schema lacks a field.
  var readers: [IndexColumn]? { table.readers }

  /// Whether changes of these fields may change its values.
  func isAffected(by fields: FieldSet) -> Bool { !table.rootFields.isDisjoint(with: fields) }

  /// Whether its index can be relied on to refuse every duplicate.
  var isTrusted: Bool {
    !table.isUnique || (isComplete && verified == IndexMarks.everything)
  }

  /// Whether the side table must have a row for an object that is stored.
  func covers(_ id: Int64) -> Bool { isComplete || id <= reach }

  /// Removes the rows from an object on: its values cannot be read by this version of the schema,
  /// or must not be in the table.
  func truncate(from id: Int64, _ connection: Connection) throws(SQLiteError) {
    let statement = try connection.statement(
      "DELETE FROM \(table.table.quoted) WHERE rowid >= ?")
    try statement.bind(1, id)
    try statement.run()
    let last = IndexMarks.verified(below: id)
    try IndexMarks.lower(table, to: last, connection)
    reach = min(reach, last)
    verified = min(verified, last)
  }

  /// Removes values from a row that has them wrongly: no object has them.
  func vacate(_ values: SideValues, _ connection: Connection) throws {
    let statement = try connection.statement(table.vacate)
    try statement.bind(from: 1, values)
    try statement.run()
  }
}
