// SQLiteView: reading rows through one connection.
//
// A view is used by one thread. Statements come from the connection's cache. A query that mentions
// indexes examines these indexes and reads in one read transaction, so both see the same state.

import Dflat
import FlatBuffersRuntime
import SQLiteAccess

/// Reads in whatever transaction the connection is in.
class SQLiteView: StorageReader {
  let engine: SQLiteEngine
  let connection: Connection
  /// Whether large tables may be read with the help of a second reader.
  private let mayUseTwoReaders: Bool
  /// Whether the query that runs has given a row to its caller: then it cannot begin anew.
  @exclusivity(unchecked) var hasGivenRows = false

  init(_ engine: SQLiteEngine, _ connection: Connection, mayUseTwoReaders: Bool = false) {
    self.engine = engine
    self.connection = connection
    self.mayUseTwoReaders = mayUseTwoReaders
  }

  func rows(_ query: Query, mark: ReadMark) throws -> RowBuffer {
    let table = query.schema.table
    return try withStorageErrors(table: table) {
      if let key = query.key {
        return RowBuffer(
          query.limit == 0
            ? nil : try engine.row(of: query.schema, with: key, mark: mark, on: connection))
      }
      return try withPlan(query) { plan in
        if mayUseTwoReaders, let scan = ParallelScan(plan, engine, connection),
          let rows = try scan.rows(mark: mark, report: reporter(of: table))
        {
          return rows
        }
        var collector = RowCollector(
          plan, isBehindStart: plan.beginsExactly, mark: mark,
          report: reporter(of: table))
        var count = 0
        let hasEnded = try forEachCandidate(plan) { statement in
          count &+= 1
          return collector.offer(bytes: statement.blob(1), id: statement.int64(0))
        }
        if !hasEnded, plan.readsWholeTable, plan.residual != nil {
          engine.scanSizes.note(count, in: table)
        }
        return try collector.finish()
      }
    }
  }

  func scan(_ query: Query, _ body: (_ bytes: UnsafeRawBufferPointer) throws -> Bool) throws {
    if query.key != nil { return try scanCollected(query, body) }
    try withStorageErrors(table: query.schema.table) {
      try withPlan(query) { plan in
        if plan.isSortedInMemory { return try scanCollected(query, body) }
        try scan(plan) { _, bytes in try body(bytes) }
      }
    }
  }

  func scanRows(
    _ query: Query, _ body: (_ id: Int64, _ bytes: UnsafeRawBufferPointer) throws -> Bool
  ) throws {
    if query.key != nil { return try scanRowsCollected(query, body) }
    try withStorageErrors(table: query.schema.table) {
      try withPlan(query) { plan in
        if plan.isSortedInMemory { return try scanRowsCollected(query, body) }
        try scan(plan) { try body($0.int64(0), $1) }
      }
    }
  }

  func ids(_ query: Query) throws -> [Int64] {
    let isOrdered = query.key == nil
    return try withStorageErrors(table: query.schema.table) {
      var ids: [Int64] = []
      let isAnswered =
        try isOrdered
        && withSelected([], query) { rows in
          while try rows.next() {
            hasGivenRows = true
            ids.append(rows.statement.int64(0))
          }
        }
      if isAnswered { return ids }
      return try withPlan(query) { plan in
        if !isOrdered || plan.isSortedInMemory {
          let rows = try rows(query, mark: .none)
          return (0..<rows.count).map { rows[$0].id }
        }
        try scan(plan) { statement, _ in
          ids.append(statement.int64(0))
          return true
        }
        return ids
      }
    }
  }

  func mayScanInHalves(_ schema: EntitySchema) -> Bool {
    mayUseTwoReaders && !connection.isInTransaction && ParallelScan.isWorthwhile(schema, engine)
  }

  func scanInHalves(
    _ query: Query, fields: [FieldDescriptor]?,
    _ body: @escaping @Sendable (_ half: Int, _ bytes: UnsafeRawBufferPointer) -> Bool
  ) throws -> Bool {
    let table = query.schema.table
    return try withStorageErrors(table: table) {
      // Planning with the fields may need a read transaction, and a parallel scan has its own.
      if let fields, try withPlan(query.reading(fields), { $0.covers(fields) != nil }) {
        return false
      }
      return try withPlan(query) { plan in
        guard let scan = ParallelScan(plan, engine, connection) else { return false }
        return try scan.scan(report: reporter(of: table), body)
      }
    }
  }

  /// Calls `body` for each row of a plan that needs no sorting, until it returns false.
  @inline(__always)
  private func scan(
    _ plan: Plan, _ body: (Statement, _ bytes: UnsafeRawBufferPointer) throws -> Bool
  ) throws {
    let table = plan.query.schema.table
    var scan = RowScan(
      plan, isBehindStart: plan.beginsExactly, report: reporter(of: table))
    var count = 0
    let hasEnded = try forEachCandidate(plan) { statement in
      count &+= 1
      return try scan.offer(bytes: statement.blob(1), id: statement.int64(0)) {
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
  private func forEachCandidate(_ plan: Plan, _ body: (Statement) throws -> Bool) throws -> Bool {
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

  func scanColumns(
    _ fields: [FieldDescriptor], _ query: Query,
    _ body: (_ values: UnsafeBufferPointer<ColumnValue>) throws -> Bool
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
          if try !body(UnsafeBufferPointer(values)) { return }
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

  func countGroups(
    by fields: [FieldDescriptor], _ query: Query,
    _ body: (_ values: UnsafeBufferPointer<ColumnValue>, _ count: Int) throws -> Void
  ) throws -> Bool {
    let types = fields.map(\.type)
    let query = query.reading(fields)
    return try withStorageErrors(table: query.schema.table) {
      try withPlan(query) { plan in
        guard let selection = plan.groupCounts else {
          return try scanColumns(fields, query) { values in
            try body(values, 1)
            return true
          }
        }
        let cancellation = ReadCancellation()
        try withUnsafeTemporaryAllocation(of: ColumnValue.self, capacity: types.count) { values in
          values.initialize(repeating: .null)
          _ = try run(SelectSQL(plan, engine.sql(for: query.schema), selection)) { statement in
            hasGivenRows = true
            for index in types.indices {
              values[index] = statement.columnValue(index, types[index])
            }
            try body(UnsafeBufferPointer(values), Int(statement.int64(types.count)))
            return cancellation?.isCancelled != true
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

  /// Reports damaged rows of a table.
  private func reporter(of table: String) -> (Int64, VerificationError) -> Void {
    { [engine] id, error in
      engine.reports.report(
        StorageError(.corruptRow, table: table, rowid: id, message: error.reason))
    }
  }

  func explain(_ query: Query) throws -> QueryExplanation {
    try withStorageErrors(table: query.schema.table) {
      try withPlan(query) { plan in
        let sql = engine.sql(for: query.schema)
        let key = query.key
        let positions = query.reading.flatMap(plan.covers)
        let select =
          key.map { SelectSQL($0, sql) }
          ?? positions.flatMap { SelectSQL.eachValue(plan, sql, $0) }
          ?? SelectSQL(plan, sql, plan.groupCounts ?? positions.map { .values($0) } ?? .rows)
        var lines: [String] = []
        if let statement = try connection.statement(
          "EXPLAIN QUERY PLAN " + select.text, reading: query.schema.table)
        {
          try select.bind(to: statement)
          while try statement.step() { lines.append(statement.string(3) ?? "") }
        }
        return QueryExplanation(
          statement: select.text, plan: lines, indexes: select.indexes, of: query.schema,
          rowByRow: plan.residual.map { $0.text(in: query.schema) },
          isSortedInMemory: plan.isSortedInMemory,
          isCovering: key == nil && positions != nil)
      }
    }
  }

  // MARK: Trust

  /// Whether the state that is read is committed.
  var isCommitted: Bool { true }

  /// A generation that is not later than the state being read. An earlier one is as right as the
  /// current one and needs no query; at worst, something is verified again.
  func generationBeforeState() -> Int { engine.externalChanges.lastGeneration }

  /// Whether a side table was found to agree with the objects in the state being read; nil if
  /// unknown.
  func verdict(of side: String, at generation: Int) throws -> Bool? {
    // If no other connection has committed between that state and now, the state has this
    // generation.
    guard let verdict = engine.externalChanges.verdict(of: side, at: generation),
      try engine.externalChanges.generation() == generation
    else { return nil }
    return verdict
  }

  /// Records the result of comparing a side table with the objects, in a state not earlier than
  /// this generation.
  func note(_ isRight: Bool, of side: String, at generation: Int) {
    engine.externalChanges.note(isRight, of: side, at: generation)
  }
}
