// Index step: makes columns agree with the objects, from the first row that the marks do not cover.
//
// Objects are visited in the order of row ids, for all columns at once, some in each transaction.
// Other transactions go on meanwhile; one that writes without these columns and did not see that
// they are complete is refused by the server, since it has read the marks.

import Dflat
import FlatBuffersRuntime

struct IndexStep {
  private let columns: [IndexColumn]
  private let connection: Connection
  private let select: String
  private let update: String
  /// The number of rows that were corrected.
  private(set) var filled = 0

  init(_ table: EntityTable, _ columns: [IndexColumn], _ connection: Connection) {
    self.columns = columns
    self.connection = connection
    let names = columns.map { $0.columnName.quotedName }
    select =
      "SELECT rowid, p, \(names.joined(separator: ", ")) FROM \(table.quoted) WHERE rowid > $1 "
      + "ORDER BY rowid LIMIT $2"
    let sets = names.indices.map { "\(names[$0]) = $\($0 + 2)" }.joined(separator: ", ")
    update = "UPDATE \(table.quoted) SET \(sets) WHERE rowid = $1"
  }

  /// Corrects the rows behind a row id.
  /// - Parameter limit: The greatest number of rows to look at.
  /// - Returns: The last row that was looked at; nil if that was the last one of the table.
  mutating func run(after start: Int64, limit: Int) throws(PostgresError) -> Int64? {
    connection.parameters.begin(2)
    connection.parameters.set(0, start)
    connection.parameters.set(1, Int64(limit))
    let rows = try connection.run(select)
    for row in 0..<rows.count {
      let object = TableReader(root: rows.bytes(row, 1))
      let isRight = columns.indices.allSatisfy { place in
        let column = columns[place]
        let stored = rows.columnValue(row, place + 2, column.field.type)
        guard let object else { return stored.isSame(as: .null) }
        return column.withValue(of: object) { $0.isSame(as: stored) }
      }
      if isRight { continue }
      filled += 1
      connection.parameters.begin(1 + columns.count)
      connection.parameters.set(0, rows.integer(row, 0))
      for (place, column) in columns.enumerated() {
        if let object {
          connection.parameters.set(place + 1, column, of: object)
        } else {
          connection.parameters.setNull(place + 1, column.field.type.postgresType)
        }
      }
      try connection.run(update)
    }
    return rows.count < limit ? nil : rows.integer(rows.count - 1, 0)
  }
}
