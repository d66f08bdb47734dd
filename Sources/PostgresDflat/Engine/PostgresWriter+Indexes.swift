// Filling the columns of indexes, step by step.

import Dflat

extension PostgresWriter {
  func fillIndexes(of schema: EntitySchema, limit: Int) throws -> IndexProgress {
    try withStorageErrors(table: schema.table, isWriting: true) {
      let table = try prepare(schema, addingColumns: true)
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
      func isOpen(_ name: String) -> Bool { marks[name]?.isComplete == false }
      let open = table.table.columnNames.filter(isOpen)
      guard let start = open.compactMap({ marks[$0]?.reach }).min() else {
        return IndexProgress(filled: 0, remaining: 0, blocked: missing)
      }
      var step = IndexStep(
        table.table, table.table.columns.filter { isOpen($0.columnName) },
        table.table.words.flatMap { isOpen($0.name) ? $0 : nil }, connection)
      try beginChange()
      let last = try step.run(after: start, limit: limit)
      hasWritten = true
      for name in open {
        changedMarks[schema.table, default: [:]][name] = IndexMarks.Mark(
          isComplete: last == nil, reach: last ?? .max)
      }
      let remaining =
        try last.map { last in Int(max(1, (try lastID(of: schema) ?? 0) - last)) } ?? 0
      return IndexProgress(filled: step.filled, remaining: remaining, blocked: missing)
    }
  }
}
