// Scans: passing rows, ids and column values on, and counting, without making rows.

import Dflat
import FlatBuffersRuntime
import SQLiteAccess

extension SQLiteView {
  func scan(
    _ request: ReadRequest, _ form: ScanForm, _ body: (ScannedRow) throws -> Bool
  ) throws -> Bool {
    switch (request, form) {
    case (.query(let query), .bytes): try scan(query, withIDs: false, body)
    case (.query(let query), .rows): try scan(query, withIDs: true, body)
    case (.query(let query), .ids): try scanIDs(query, body)
    case (.query(let query), .columns(let fields)): return try scanColumns(fields, query, body)
    case (.query(let query), .groups(let fields)): return try countGroups(by: fields, query, body)
    case (_, .columns), (_, .groups): return false
    case (.keys(let schema, let keys), .ids): try scanIDs(of: keys, schema, body)
    default: try scanCollected(request, body)
    }
    return true
  }

  private func scan(
    _ query: Query, withIDs: Bool, _ body: (ScannedRow) throws -> Bool
  ) throws {
    if query.key != nil { return try scanCollected(.query(query), body) }
    try withStorageErrors(table: query.schema.table) {
      try withPlan(query) { plan in
        if plan.isSortedInMemory { return try scanCollected(.query(query), body) }
        if withIDs { return try scan(plan) { try body(ScannedRow(id: $0.int64(0), $1)) } }
        try scan(plan) { _, bytes in try body(ScannedRow(bytes)) }
      }
    }
  }

  private func scanIDs(_ query: Query, _ body: (ScannedRow) throws -> Bool) throws {
    if query.key != nil { return try scanCollected(.query(query), body) }
    try withStorageErrors(table: query.schema.table) {
      let isAnswered = try withSelected([], query) { rows in
        while try rows.next() {
          hasGivenRows = true
          if try !body(ScannedRow(id: rows.statement.int64(0))) { return }
        }
      }
      if isAnswered { return }
      try withPlan(query) { plan in
        if plan.isSortedInMemory { return try scanCollected(.query(query), body) }
        try scan(plan) { statement, _ in try body(ScannedRow(id: statement.int64(0))) }
      }
    }
  }

  func scanConcurrently(_ query: Query, _ prepare: () -> ConcurrentScan) throws -> Bool {
    if !mayUseTwoReaders || connection.isInTransaction
      || !ParallelScan.isWorthwhile(query.schema, engine)
    {
      return false
    }
    let table = query.schema.table
    let receiver = prepare()
    return try withStorageErrors(table: table) {
      // Planning with the fields may need a read transaction, and a parallel scan has its own.
      if let fields = receiver.fields,
        try withPlan(query.reading(fields), { $0.covers(fields) != nil })
      {
        return false
      }
      return try withPlan(query) { plan in
        guard let scan = ParallelScan(plan, engine, connection) else { return false }
        return try scan.scan(report: reporter(of: table), receiver.body)
      }
    }
  }

  /// Calls `body` for each row of a plan that needs no sorting, until it returns false.
  @inline(__always)
  private func scan(
    _ plan: Plan, _ body: (Statement, _ bytes: UnsafeRawBufferPointer) throws -> Bool
  ) throws {
    let schema = plan.query.schema
    let table = schema.table
    var scan = RowScan(
      plan, isBehindStart: plan.beginsExactly, report: reporter(of: table))
    var count = 0
    let hasEnded = try forEachCandidate(plan) { statement in
      count &+= 1
      return try scan.offer(bytes: statement.object(1, of: schema), id: statement.int64(0)) {
        hasGivenRows = true
        return try body(statement, $0)
      }
    }
    if !hasEnded, plan.readsWholeTable { engine.scanSizes.note(count, in: table) }
    try scan.check()
  }

  /// Calls `body` with a statement at each candidate of a plan, until it returns false. Its columns
  /// are the row id, which is read only where it is needed, and the bytes.
  /// - Returns: Whether it has returned false.
  @inline(__always) @discardableResult
  func forEachCandidate(_ plan: Plan, _ body: (Statement) throws -> Bool) throws -> Bool {
    if let most = plan.rankedLimit { return try forEachBest(most, plan, body) }
    for part in plan.parts {
      let select = SelectSQL(plan, engine.sql(for: plan.query.schema), .rows, part)
      if try run(select, body) { return true }
    }
    return false
  }

  /// The same in the order of a search's relevance, if that many candidates are enough unless some
  /// of them are damaged.
  private func forEachBest(
    _ most: Int, _ plan: Plan, _ body: (Statement) throws -> Bool
  ) throws -> Bool {
    let sql = engine.sql(for: plan.query.schema)
    var seen = 0
    for most in [most, nil] {
      let select = SelectSQL(plan, sql, atMost: most)
      guard let statement = try connection.statement(select.text, reading: sql.table) else {
        return false
      }
      try select.bind(to: statement)
      var count = 0
      while try statement.step(of: sql.table) {
        count += 1
        // The second time the first rows come again.
        if count > seen, try !body(statement) { return true }
      }
      if let most, count < most { return false }
      seen = count
      statement.reset()
    }
    return false
  }

  /// Calls `body` with the rows of a statement until it returns false.
  /// - Returns: Whether it has returned false.
  @inline(__always)
  private func run(_ select: SelectSQL, _ body: (Statement) throws -> Bool) throws -> Bool {
    let table = select.mainTable
    guard let statement = try connection.statement(select.text, reading: table) else {
      return false
    }
    try select.bind(to: statement)
    while try statement.step(of: table) {
      if try !body(statement) { return true }
    }
    return false
  }

  private func scanColumns(
    _ fields: [FieldDescriptor], _ query: Query, _ body: (ScannedRow) throws -> Bool
  ) throws -> Bool {
    let types = fields.map(\.type)
    return try withUnsafeTemporaryAllocation(of: ColumnValue.self, capacity: fields.count) {
      values in
      values.initialize(repeating: .null)
      return try withSelected(fields, query) { rows in
        while try rows.next() {
          hasGivenRows = true
          for index in types.indices {
            values[index] = rows.statement.columnValue(index, types[index])
          }
          if try !body(ScannedRow(UnsafeBufferPointer(values))) { return }
        }
      }
    }
  }

  /// Calls `body` with a query's result as rows whose columns are fields, or the row id if there
  /// are no fields.
  /// - Returns: False if no key or index has all fields; `body` was not called then.
  @inline(__always)
  private func withSelected(
    _ fields: [FieldDescriptor], _ query: Query, _ body: (inout SelectedRows) throws -> Void
  ) throws -> Bool {
    // The values of the sort keys are needed to find a start.
    if query.key != nil || query.start != nil { return false }
    let query = query.reading(fields)
    return try withStorageErrors(table: query.schema.table) {
      try withPlan(query) { plan in
        guard let positions = plan.covers(fields) else { return false }
        if try eachValue(plan, positions, body) { return true }
        let select = SelectSQL(plan, engine.sql(for: query.schema), .values(positions))
        guard let statement = try connection.statement(select.text, reading: select.mainTable)
        else { return true }
        try select.bind(to: statement)
        var rows = SelectedRows(statement, of: query)
        try body(&rows)
        try rows.check()
        return true
      }
    }
  }

  private func countGroups(
    by fields: [FieldDescriptor], _ query: Query, _ body: (ScannedRow) throws -> Bool
  ) throws -> Bool {
    let types = fields.map(\.type)
    let query = query.reading(fields)
    return try withStorageErrors(table: query.schema.table) {
      try withPlan(query) { plan in
        guard let selection = plan.groupCounts else {
          return try scanColumns(fields, query) { try body(ScannedRow($0.values, rows: 1)) }
        }
        let cancellation = ReadCancellation()
        try withUnsafeTemporaryAllocation(of: ColumnValue.self, capacity: types.count) { values in
          values.initialize(repeating: .null)
          _ = try run(SelectSQL(plan, engine.sql(for: query.schema), selection)) { statement in
            hasGivenRows = true
            for index in types.indices {
              values[index] = statement.columnValue(index, types[index])
            }
            let count = Int(statement.int64(types.count))
            return try body(ScannedRow(UnsafeBufferPointer(values), rows: count))
              && cancellation?.isCancelled != true
          }
        }
        try cancellation?.check()
        return true
      }
    }
  }

  func count(_ query: Query) throws -> Int? {
    if query.key != nil || query.isCut { return nil }
    // All objects are counted in the table itself.
    let query = query.condition == nil ? query : query.reading([])
    return try withStorageErrors(table: query.schema.table) {
      try withPlan(query) { plan in
        guard plan.residual == nil else { return nil }
        var count = 0
        _ = try run(SelectSQL(plan, engine.sql(for: query.schema), .count)) { statement in
          count = Int(statement.int64(0))
          return false
        }
        return count
      }
    }
  }
}
