// Index step: makes columns agree with the objects, from the first row that the marks do not cover.
//
// Objects are visited in the order of row ids, for all columns at once, some in each transaction.
// Other transactions go on meanwhile; one that writes without these columns and did not see that
// they are complete is refused by the server, since it has read the marks.

import Dflat
import FlatBuffersRuntime

struct IndexStep {
  private let columns: [IndexColumn]
  private let words: WordsColumn?
  private let elements: [ElementsColumn]
  private let connection: Connection
  private let select: String
  private let update: String
  /// The number of rows that were corrected.
  private(set) var filled = 0

  /// - Parameters:
  ///   - columns: The columns of fields to fill.
  ///   - words: The column of the full-text index, if it is to be filled.
  ///   - elements: The columns of indexes of elements to fill.
  init(
    _ table: EntityTable, _ columns: [IndexColumn], _ words: WordsColumn?,
    _ elements: [ElementsColumn], _ connection: Connection
  ) {
    self.columns = columns
    self.words = words
    self.elements = elements
    self.connection = connection
    var selected = columns.map { $0.columnName.quotedName }
    var sets = selected.indices.map { "\(selected[$0]) = $\($0 + 2)" }
    if let words {
      let name = words.name.quotedName
      selected.append("convert_to(\(name)::text, 'UTF8')")
      sets.append("\(name) = $\(columns.count + 2)")
    }
    for column in elements {
      selected.append(column.name.quotedName)
      sets.append("\(column.name.quotedName) = $\(sets.count + 2)")
    }
    select =
      "SELECT rowid, p, \(selected.joined(separator: ", ")) FROM \(table.quoted) WHERE rowid > $1 "
      + "ORDER BY rowid LIMIT $2"
    update = "UPDATE \(table.quoted) SET \(sets.joined(separator: ", ")) WHERE rowid = $1"
  }

  /// Corrects the rows behind a row id.
  /// - Parameter limit: The greatest number of rows to look at.
  /// - Returns: The last row that was looked at; nil if that was the last one of the table.
  mutating func run(after start: Int64, limit: Int) throws(PostgresError) -> Int64? {
    let parameters = connection.parameters
    parameters.begin(2)
    parameters.set(0, start)
    parameters.set(1, Int64(limit))
    let rows = try connection.run(select)
    for row in 0..<rows.count {
      let object = TableReader(root: rows.bytes(row, 1))
      if isRight(object, rows, row) { continue }
      filled += 1
      parameters.begin(1 + columns.count + (words == nil ? 0 : 1) + elements.count)
      parameters.set(0, rows.integer(row, 0))
      for (place, column) in columns.enumerated() {
        if let object {
          parameters.set(place + 1, column, of: object)
        } else {
          parameters.setNull(place + 1, column.field.type.postgresType)
        }
      }
      if let words, case let place = 1 + columns.count {
        if let object {
          parameters.set(place, words, of: object)
        } else {
          parameters.setNull(place, PostgresType.words)
        }
      }
      for (offset, column) in elements.enumerated() {
        let place = parameters.count - elements.count + offset
        if let object {
          parameters.set(place, column, of: object)
        } else {
          parameters.setNull(place, PostgresType.array(of: column.index.type.postgresType))
        }
      }
      try connection.run(update)
    }
    return rows.count < limit ? nil : rows.integer(rows.count - 1, 0)
  }

  /// Whether the columns of a row are as its object has them.
  private func isRight(_ object: TableReader?, _ rows: borrowing Rows, _ row: Int) -> Bool {
    for (place, column) in columns.enumerated() {
      let stored = rows.columnValue(row, place + 2, column.field.type)
      let isRight =
        object.map { column.withValue(of: $0) { $0.isSame(as: stored) } }
        ?? stored.isSame(as: .null)
      if !isRight { return false }
    }
    var place = columns.count + 2
    if let words {
      if !isRight(object, rows, row, place, { words.isRight(rows.text(row, place), for: $0) }) {
        return false
      }
      place += 1
    }
    for column in elements {
      let isRight = isRight(object, rows, row, place) {
        column.isRight(rows.bytes(row, place), for: $0)
      }
      if !isRight { return false }
      place += 1
    }
    return true
  }

  /// Whether a column that is NULL only for unreadable objects is right.
  private func isRight(
    _ object: TableReader?, _ rows: borrowing Rows, _ row: Int, _ place: Int,
    _ test: (TableReader) -> Bool
  ) -> Bool {
    guard let object, !rows.isNull(row, place) else {
      return object == nil && rows.isNull(row, place)
    }
    return test(object)
  }
}
