// Scans: passing rows, ids and column values on, and counting, without making rows.

import Dflat
import FlatBuffersRuntime

extension PostgresView {
  func scan(
    _ request: ReadRequest, _ form: ScanForm, _ body: (ScannedRow) throws -> Bool
  ) throws -> Bool {
    switch (request, form) {
    case (.query(let query), .bytes), (.query(let query), .rows): try scan(query, body)
    case (.query(let query), .ids): try scanIDs(query, body)
    case (.query(let query), .columns(let fields)): return try scanColumns(fields, query, body)
    case (.query(let query), .groups(let fields)): return try countGroups(by: fields, query, body)
    case (_, .columns), (_, .groups): return false
    case (.keys(let schema, let keys), .ids): try scanIDs(of: keys, schema, body)
    case (.keys(let schema, let keys), _): try scan(keys, schema, body)
    default: try scanCollecting(request, body)
    }
    return true
  }

  private func scan(_ query: Query, _ body: (ScannedRow) throws -> Bool) throws {
    if query.key != nil { return try scanCollecting(.query(query), body) }
    try reading(query.schema, missing: ()) { table in
      let plan = plan(query, table)
      if plan.isSortedInMemory { return try scanCollecting(.query(query), body) }
      try scan(plan, table, body)
    }
  }

  private func scanCollecting(
    _ request: ReadRequest, _ body: (ScannedRow) throws -> Bool
  ) throws {
    try scanCollected(request) { row in
      hasGivenRows = true
      return try body(row)
    }
  }

  /// Calls `body` for each row of a plan that needs no sorting, until it returns false.
  private func scan(
    _ plan: Plan, _ table: EntityTable, _ body: (ScannedRow) throws -> Bool
  ) throws {
    var scan = RowScan(
      plan, isBehindStart: plan.beginsExactly, report: reporter(of: table.name))
    try forEachCandidate(plan, table) { rows, row in
      let id = rows.integer(row, 0)
      return try scan.offer(bytes: rows.bytes(row, 1), id: id) {
        hasGivenRows = true
        return try body(ScannedRow(id: id, $0))
      }
    }
    try scan.check()
  }

  private func scanIDs(_ query: Query, _ body: (ScannedRow) throws -> Bool) throws {
    if query.key != nil { return try scanCollecting(.query(query), body) }
    let isAnswered = try scanSelected([], query) { rows, row in
      hasGivenRows = true
      return try body(ScannedRow(id: rows.integer(row, 0)))
    }
    if !isAnswered { try scan(query, body) }
  }

  func scanColumns(
    _ fields: [FieldDescriptor], _ query: Query, _ body: (ScannedRow) throws -> Bool
  ) throws -> Bool {
    let types = fields.map(\.type)
    return try withUnsafeTemporaryAllocation(of: ColumnValue.self, capacity: max(1, fields.count)) {
      values in
      values.initialize(repeating: .null)
      let wanted = UnsafeBufferPointer(rebasing: values[..<fields.count])
      return try scanSelected(fields, query) { rows, row in
        for index in types.indices {
          values[index] = rows.columnValue(row, index + 1, types[index])
        }
        hasGivenRows = true
        return try body(ScannedRow(wanted))
      }
    }
  }

  /// Calls `body` with each row of a query's result, in order, until it returns false. Its columns
  /// are the row id and the fields.
  /// - Returns: False if no key or index has all fields; `body` was not called then.
  private func scanSelected(
    _ fields: [FieldDescriptor], _ query: Query, _ body: (borrowing Rows, Int) throws -> Bool
  ) throws -> Bool {
    // The values of the sort keys are needed to find a start.
    if query.key != nil || query.start != nil { return false }
    let query = query.reading(fields)
    return try reading(query.schema, missing: true) { table in
      let plan = plan(query, table)
      guard let positions = plan.covers(fields) else { return false }
      let cancellation = ReadCancellation()
      var skipped = query.offset
      var remaining = query.limit ?? .max
      let select = SelectSQL(plan, table, .values(positions), atMost: Self.most(of: plan))
      _ = try run(select, firstPortion: 1000) { rows, row in
        if cancellation?.isCancelled == true { return false }
        if skipped > 0 {
          skipped -= 1
          return true
        }
        guard remaining > 0 else { return false }
        remaining -= 1
        return try body(rows, row) && remaining > 0
      }
      try cancellation?.check()
      return true
    }
  }

  func count(_ query: Query) throws -> Int? {
    if query.key != nil || query.isCut { return nil }
    // All objects are counted in the table itself.
    let query = query.condition == nil ? query : query.reading([])
    return try reading(query.schema, missing: 0) { table in
      let plan = plan(query, table)
      guard plan.residual == nil else { return nil }
      let select = SelectSQL(plan, table, .count)
      select.bind(to: connection.parameters)
      let rows = try connection.run(select.text)
      return Int(rows.integer(0, 0))
    }
  }
}
