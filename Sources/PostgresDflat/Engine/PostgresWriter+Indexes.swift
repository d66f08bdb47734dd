// The columns of indexes: filling them step by step, and the marks of how far they are right.

import Dflat
import FlatBuffersRuntime

extension PostgresWriter {
  func fillIndexes(of schema: EntitySchema, limit: Int) throws -> IndexProgress {
    try withStorageErrors(table: schema.table, isWriting: true) {
      let table = try prepare(schema)
      if laidOut[schema.table] != nil {
        // The next step can change the marks of what was added.
        return IndexProgress(filled: 0, remaining: 1, blocked: [])
      }
      guard let marks = currentMarks(of: table.table.name) else {
        return IndexProgress(filled: 0, remaining: 0, blocked: [])
      }
      // Columns that could not be added.
      var missing = schema.indexes.filter { $0.columns.contains { marks[$0.columnName] == nil } }
        .map(\.table)
      if let words = table.table.words, marks[words.name] == nil {
        missing.append(words.index.table)
      }
      missing += table.table.elements.filter { marks[$0.name] == nil }.map(\.index.table)
      if missing.isEmpty {
        missing = try engine.missingIndexes(of: table.table, connection).map(\.name)
      }
      func isOpen(_ name: String) -> Bool { marks[name]?.isComplete == false }
      let open = table.table.columnNames.filter(isOpen)
      guard let start = open.compactMap({ marks[$0]?.firstOpen }).min() else {
        return IndexProgress(
          filled: 0, remaining: 0, blocked: missing,
          obstacle: missing.isEmpty ? nil : engine.obstacle(of: table.table))
      }
      var step = IndexStep(
        table.table, table.table.columns.filter { isOpen($0.columnName) },
        table.table.words.flatMap { isOpen($0.name) ? $0 : nil },
        table.table.elements.filter { isOpen($0.name) }, connection)
      try beginChange()
      let last = try step.run(from: start, limit: limit)
      hasWritten = true
      if step.filled > 0 { changes.addFilling(of: schema.table) }
      // Before the marks are noted: an error rolls back what was filled, and not the marks.
      let remaining =
        try last.map { last in Int(max(1, (try lastID(of: schema) ?? 0) - max(last, 0))) } ?? 0
      for name in open {
        changedMarks[schema.table, default: [:]][name] = IndexMarks.Mark(
          isComplete: last == nil, reach: last ?? .max)
      }
      return IndexProgress(
        filled: step.filled, remaining: remaining, blocked: missing,
        obstacle: missing.isEmpty ? nil : engine.obstacle(of: table.table))
    }
  }

  // MARK: Marks

  /// Takes away the marks of columns that cannot be written for a row.
  func noteUncovered(_ table: WriteTable, _ id: Int64) throws {
    for name in table.uncovered { try lowerMark(of: name, in: table.table, below: id) }
  }

  /// Takes away the mark of the key if a row that was written has a long one.
  func noteShortenedKey(of row: TableReader, _ table: WriteTable) throws {
    guard table.table.keyTexts.shortensKey(of: row, table.table.schema) else { return }
    try lowerMark(of: "", in: table.table, below: 0)
  }

  /// Takes away the mark of a column for rows from an id on.
  private func lowerMark(of column: String, in table: EntityTable, below id: Int64) throws {
    guard let mark = currentMarks(of: table.name)?[column], mark.isComplete || mark.reach >= id
    else { return }
    let lower = IndexMarks.Mark(
      isComplete: false, reach: min(mark.reach, IndexMarks.reach(below: id)))
    if laidOut[table.name] == nil {
      changedMarks[table.name, default: [:]][column] = lower
    } else {
      // The transaction does not see these marks. Without them no answer is wrong, so they may be
      // taken away before the commit.
      try besideTransaction { try engine.lowerMark(of: column, in: table, below: id) }
      laidOut[table.name]?[column] = lower
    }
  }

  /// Lets the server know that tables are filled which are newer than the transaction's state: see
  /// `PostgresView.noteMissing`.
  func noteFirstWrites() throws(PostgresError) {
    for table in laidOut.keys.sorted() {
      connection.parameters.begin(1)
      connection.parameters.set(0, text: table)
      try connection.send(
        Connection.Sent(statement: engine.system.insertFirstWrite, table: table))
    }
  }

  /// Writes the marks that have changed.
  /// - Returns: Whether there are any.
  func writeMarks() throws -> Bool {
    if changedMarks.isEmpty { return false }
    let parameters = connection.parameters
    for (table, marks) in changedMarks.sorted(by: { $0.key < $1.key }) {
      for (name, mark) in marks.sorted(by: { $0.key < $1.key }) {
        parameters.begin(4)
        parameters.set(0, text: table)
        parameters.set(1, text: name)
        parameters.set(2, mark.isComplete)
        parameters.set(3, mark.reach)
        if try connection.run(engine.system.setMark).changes != 1 {
          // The column is newer than the state that the transaction sees.
          throw StorageError(
            .conflict, table: table,
            message: "another program has changed the table's indexes during the transaction")
        }
      }
    }
    parameters.begin(0)
    try connection.run(engine.system.bump)
    return true
  }
}
