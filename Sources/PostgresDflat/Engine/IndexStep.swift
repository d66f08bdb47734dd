// Index step: makes columns agree with the objects, from the first row that the marks do not cover.
//
// Objects are visited in the order of row ids, for all columns at once, some in each transaction.
// Other transactions go on meanwhile; one that writes without these columns and did not see that
// they are complete is refused by the server, since it has read the marks.
//
// One statement corrects all rows of a step: its parameters are an array for each column. There are
// no arrays of arrays, so elements have a statement for each row; these are sent together.
//
// Both sides have a step in memory, and a statement must not be longer than a gigabyte. So a step
// ends when its objects are large together: their sizes are asked for first, which reads none.

import Dflat
import FlatBuffersRuntime

struct IndexStep {
  private let columns: [IndexColumn]
  private let words: WordsColumn?
  private let elements: [ElementsColumn]
  private let table: EntityTable
  private let connection: Connection
  private let selectSizes: StatementText
  private let select: StatementText
  private let update: StatementText
  /// After how many bytes of objects a step ends.
  private static let mostBytes: Int64 = 16 << 20
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
    self.table = table
    self.columns = columns
    self.words = words
    self.elements = elements
    self.connection = connection
    let types = columns.map(\.field.type.columnType) + (words == nil ? [] : ["tsvector"])
    let names =
      (columns.map(\.columnName) + [words?.name].compactMap(\.self) + elements.map(\.name))
      .map(\.quotedName)
    var selected = names
    if let words {
      selected[columns.count] = "convert_to(\(words.name.quotedName)::text, 'UTF8')"
    }
    selectSizes = table.fillStatement(
      "SELECT rowid, octet_length(p)::bigint FROM \(table.quoted) WHERE rowid >= $1 "
        + "ORDER BY rowid LIMIT $2")
    select = table.fillStatement(
      "SELECT rowid, p, \(selected.joined(separator: ", ")) FROM \(table.quoted) "
        + "WHERE rowid >= $1 AND rowid <= $2 ORDER BY rowid")
    if elements.isEmpty {
      let arrays = (["bigint"] + types).enumerated().map { "$\($0 + 1)::\($1)[]" }
      let values = names.indices.map { "v\($0)" }
      let sets = zip(names, values).map { "\($0) = found.\($1)" }
      update = table.fillStatement(
        "UPDATE \(table.quoted) AS stored SET \(sets.joined(separator: ", ")) "
          + "FROM unnest(\(arrays.joined(separator: ", "))) "
          + "AS found (id, \(values.joined(separator: ", "))) WHERE stored.rowid = found.id")
    } else {
      let sets = names.enumerated().map { "\($1) = $\($0 + 2)" }
      update = table.fillStatement(
        "UPDATE \(table.quoted) SET \(sets.joined(separator: ", ")) WHERE rowid = $1")
    }
  }

  /// Corrects the rows from a row id on.
  /// - Parameter limit: The greatest number of rows to look at.
  /// - Returns: The last row that was looked at; nil if that was the last one of the table.
  mutating func run(from start: Int64, limit: Int) throws(PostgresError) -> Int64? {
    let (last, isEnd) = try end(from: start, limit: limit)
    guard let last else { return nil }
    let parameters = connection.parameters
    parameters.begin(2)
    parameters.set(0, start)
    parameters.set(1, last)
    let rows = try connection.run(select)
    var found = FoundRows(count: columns.count + (words == nil ? 0 : 1))
    for row in 0..<rows.count {
      let object = TableReader(root: rows.bytes(row, 1))
      if isRight(object, rows, row) { continue }
      filled += 1
      let id = rows.integer(row, 0)
      if elements.isEmpty {
        set(object, to: found.values, from: 0)
        found.append(id)
      } else {
        parameters.begin(1 + found.count + elements.count)
        parameters.set(0, id)
        set(object, to: parameters, from: 1)
        try connection.send(Connection.Sent(statement: update, table: table.name, rowid: id))
      }
    }
    if elements.isEmpty {
      if !found.isEmpty {
        found.set(parameters)
        try connection.run(update)
      }
    } else {
      try connection.finishPipeline()
    }
    return isEnd ? nil : last
  }

  /// Where a step ends that begins at a row id.
  /// - Returns: Its last row, nil if there is none, and whether that is the last one of the table.
  private func end(
    from start: Int64, limit: Int
  ) throws(PostgresError) -> (last: Int64?, isEnd: Bool) {
    let parameters = connection.parameters
    parameters.begin(2)
    parameters.set(0, start)
    parameters.set(1, Int64(limit))
    let sizes = try connection.run(selectSizes)
    var last: Int64?
    var bytes: Int64 = 0
    for row in 0..<sizes.count {
      bytes += sizes.integer(row, 1)
      // An object of any size is looked at.
      if last != nil, bytes > Self.mostBytes { return (last, false) }
      last = sizes.integer(row, 0)
    }
    return (last, sizes.count < limit)
  }

  /// Sets the values of all columns for an object; NULL for one that cannot be read.
  private func set(_ object: TableReader?, to parameters: Parameters, from first: Int) {
    var place = first
    for column in columns {
      if let object {
        parameters.set(place, column, of: object)
      } else {
        parameters.setNull(place, column.field.type.postgresType)
      }
      place += 1
    }
    if let words {
      if let object {
        parameters.set(place, words, of: object)
      } else {
        parameters.setNull(place, PostgresType.words)
      }
      place += 1
    }
    for column in elements {
      if let object {
        parameters.set(place, column, of: object)
      } else {
        parameters.setNull(place, PostgresType.array(of: column.index.type.postgresType))
      }
      place += 1
    }
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

/// The rows that a statement corrects, as one array for each column.
private struct FoundRows {
  let count: Int
  /// The values of the next row.
  let values = Parameters()
  private var ids: [Int64] = []
  private var elements: [[UInt8]]
  private var types: [UInt32]

  init(count: Int) {
    self.count = count
    elements = Array(repeating: [], count: count)
    types = Array(repeating: 0, count: count)
    values.begin(count)
  }

  var isEmpty: Bool { ids.isEmpty }

  /// Adds a row whose values are set.
  mutating func append(_ id: Int64) {
    ids.append(id)
    for place in 0..<count {
      types[place] = values.types[place]
      if let start = values.values[place] {
        elements[place].append(
          element: UnsafeRawBufferPointer(start: start, count: Int(values.lengths[place])))
      } else {
        elements[place].appendNull()
      }
    }
    values.begin(count)
  }

  /// Sets the parameters of the statement.
  func set(_ parameters: Parameters) {
    parameters.begin(1 + count)
    parameters.set(0, ids)
    for place in 0..<count {
      let array = .arrayHead(ids.count, of: types[place]) + elements[place]
      array.withUnsafeBytes {
        parameters.set(place + 1, copying: $0, PostgresType.array(of: types[place]))
      }
    }
  }
}
