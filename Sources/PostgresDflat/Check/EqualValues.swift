// EqualValues: objects that had equal values before their field became unique.
//
// They stay, and every query finds them. Writers refuse new equal values only, so nothing but a
// check meets the old ones.

import Dflat

/// The objects of a table that share the values of a unique index with an earlier object.
struct EqualValues {
  /// The index's fields, with the schema's names.
  let fields: String
  private let select: StatementText

  /// nil if the index's columns cannot be relied on.
  init?(_ index: IndexDescriptor, of table: EntityTable, _ marks: [String: IndexMarks.Mark]) {
    let isComplete = index.columns.allSatisfy { marks[$0.columnName]?.isComplete == true }
    guard index.isUnique, isComplete else { return nil }
    fields = table.schema.name(of: index)
    // The inner query is answered by the index, row by row. NULL is unknown, and equals nothing.
    let conditions = index.columns.map { column in
      let value = "later.\(column.columnName.quotedName)"
      let test = "\(column.columnName.quotedName) = \(value)"
      return column.field.type == .string
        ? "\(column.indexedSQL()) = \(value.indexedText()) AND \(test)" : test
    }
    select = StatementText(
      "SELECT later.rowid, earlier.rowid FROM \(table.quoted) AS later, LATERAL (SELECT rowid "
        + "FROM \(table.quoted) WHERE \(conditions.joined(separator: " AND ")) "
        + "AND rowid < later.rowid LIMIT 1) AS earlier "
        + "WHERE later.rowid BETWEEN $1 AND $2 ORDER BY later.rowid")
  }

  /// Calls `body` for the objects with certain row ids, each with the row id of an earlier one.
  func forEach(
    in ids: ClosedRange<Int64>, _ connection: Connection, _ body: (Int64, Int64) -> Void
  ) throws(PostgresError) {
    let parameters = connection.parameters
    parameters.begin(2)
    parameters.set(0, ids.lowerBound)
    parameters.set(1, ids.upperBound)
    let rows = try connection.run(select)
    for row in 0..<rows.count { body(rows.integer(row, 0), rows.integer(row, 1)) }
  }
}
