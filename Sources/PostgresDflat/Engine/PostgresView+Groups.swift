// Groups that the server counts.

import Dflat

extension PostgresView {
  func countGroups(
    by fields: [FieldDescriptor], _ query: Query, _ body: (ScannedRow) throws -> Bool
  ) throws -> Bool {
    let types = fields.map(\.type)
    let query = query.reading(fields)
    return try reading(query.schema, missing: true) { table in
      let plan = plan(query, table)
      guard let selection = plan.groupCounts else {
        return try scanColumns(fields, query) { try body(ScannedRow($0.values, rows: 1)) }
      }
      let cancellation = ReadCancellation()
      try withUnsafeTemporaryAllocation(of: ColumnValue.self, capacity: types.count) { values in
        values.initialize(repeating: .null)
        _ = try run(SelectSQL(plan, table, selection), firstPortion: 1000) { rows, row in
          for index in types.indices {
            values[index] = rows.columnValue(row, index + 1, types[index])
          }
          hasGivenRows = true
          let count = Int(rows.integer(row, 0))
          return try body(ScannedRow(UnsafeBufferPointer(values), rows: count))
            && cancellation?.isCancelled != true
        }
      }
      try cancellation?.check()
      return true
    }
  }
}
