// PostgresView: reading rows through one connection.
//
// A view is used by one thread. A query reads in one transaction: first the version of the index
// marks, then the rows, so both are of one state.
//
// Results that may be large come through a cursor, some rows at a time: memory is bounded, and a
// query that has what it wants stops without cancelling the statement, which would end the
// transaction.

import Dflat
import FlatBuffersRuntime
import Platform

/// Reads in the transaction that is open on the connection, or in one of its own for each query.
class PostgresView: StorageReader {
  let engine: PostgresEngine
  let connection: Connection
  /// The index marks of the open transaction; nil if none is open. Before `confirmMarks` they are
  /// those that were known before it.
  @exclusivity(unchecked) private(set) var marks: IndexMarks?
  /// The beginning of the open transaction, until `confirmMarks`.
  @exclusivity(unchecked) private var beginning: Beginning?
  /// Whether a row was given to the caller: then a query cannot begin anew.
  @exclusivity(unchecked) var hasGivenRows = false
  @exclusivity(unchecked) fileprivate(set) var cursors = 0

  /// Whether a table was not there.
  @exclusivity(unchecked) private(set) var hasMissedTable = false

  /// Whether it is a part of a transaction, which can run again if the connection is lost.
  let isInTransaction: Bool
  /// Whether its transaction goes on after a query.
  private let isLasting: Bool

  init(
    _ engine: PostgresEngine, _ connection: Connection, marks: IndexMarks? = nil,
    isInTransaction: Bool = false
  ) {
    self.engine = engine
    self.connection = connection
    self.marks = marks
    self.isInTransaction = isInTransaction
    isLasting = marks != nil
  }

  /// A view of a transaction whose beginning was sent.
  init(
    _ engine: PostgresEngine, _ connection: Connection, _ beginning: Beginning,
    isInTransaction: Bool
  ) {
    self.engine = engine
    self.connection = connection
    self.beginning = beginning
    marks = beginning.known
    self.isInTransaction = isInTransaction
    isLasting = true
  }

  /// A view of the transaction that another view reads in, which is not used any more.
  init(goingOnFrom view: PostgresView) {
    engine = view.engine
    connection = view.connection
    marks = view.marks
    beginning = view.beginning
    cursors = view.cursors
    isInTransaction = true
    isLasting = true
  }

  /// The columns of a table that are right for every object, in the state that is read; nil if the
  /// table does not exist.
  func completeColumns(of table: EntityTable) -> [String: Bool]? {
    marks?.tables[table.name]?.mapValues(\.isComplete)
  }

  /// Makes sure that the marks are those of the transaction's state.
  func confirmMarks() throws(PostgresError) {
    guard let beginning else { return }
    marks = try beginning.marks()
    self.beginning = nil
  }

  /// Called before a table is read, which may not exist.
  func requireTable(of schema: EntitySchema) throws {}

  /// Calls `body` in a transaction.
  func inOneState<R: ~Copyable>(_ body: () throws -> R) throws -> R {
    if marks != nil { return try body() }
    guard let marks = try engine.beginReading(connection) else {
      // Nothing was ever stored.
      self.marks = IndexMarks.none
      defer { self.marks = nil }
      return try body()
    }
    self.marks = marks
    defer { self.marks = nil }
    do {
      let result = try body()
      try connection.commit()
      return result
    } catch {
      // The first error is reported; a failure to end the read transaction adds nothing.
      try? connection.rollback()
      throw error
    }
  }

  /// Calls `body` in a transaction with the table of a type; `missing` if it does not exist.
  /// - Parameter byIDs: Whether rows are found by their ids or keys, which needs no marks.
  func reading<R: ~Copyable>(
    _ schema: EntitySchema, rowid: Int64? = nil, byIDs: Bool = false,
    missing: @autoclosure () -> R, _ body: (EntityTable) throws -> R
  ) throws -> R {
    try withStorageErrors(table: schema.table, rowid: rowid, isWriting: isInTransaction) {
      try inOneState {
        let table = engine.table(of: schema)
        // A table that was seen once exists from then on.
        if !byIDs || completeColumns(of: table) == nil { try confirmMarks() }
        try requireTable(of: schema)
        if completeColumns(of: table) == nil {
          try noteMissing()
          return missing()
        }
        if !table.isKnown.load(ordering: .relaxed) {
          table.isKnown.store(true, ordering: .releasing)
        }
        return try body(table)
      }
    }
  }

  /// Lets the server know that a table was not there.
  ///
  /// A transaction with an older state than this one may fill the table, which was created in its
  /// middle. What it writes then (`PostgresWriter.noteFirstWrites`) is read here: so the server
  /// knows that it comes after this one, and refuses it if it also comes before.
  ///
  /// A transaction whose state has the table does not write that. It sees all that this one has
  /// seen, and can only come before it if this one writes.
  private func noteMissing() throws(PostgresError) {
    hasMissedTable = true
    // Otherwise nothing was ever stored.
    guard connection.isInTransaction else { return }
    connection.parameters.begin(0)
    try connection.run(engine.system.selectFirstWrites)
  }

  // MARK: Queries

  func rows(_ query: Query, mark: ReadMark) throws -> RowBuffer {
    if let key = query.key {
      return RowBuffer(query.limit == 0 ? nil : try row(of: query.schema, with: key, mark: mark))
    }
    return try reading(query.schema, missing: RowBuffer()) { table in
      let plan = plan(query, table)
      var collector = RowCollector(
        plan, isBehindStart: plan.beginsExactly, mark: mark,
        report: reporter(of: table.name))
      try forEachCandidate(plan, table) { rows, row in
        collector.offer(bytes: rows.bytes(row, 1), id: rows.integer(row, 0))
      }
      return try collector.finish()
    }
  }

  func scan(_ query: Query, _ body: (_ bytes: UnsafeRawBufferPointer) throws -> Bool) throws {
    try scanRows(query) { try body($1) }
  }

  func scanRows(
    _ query: Query, _ body: (_ id: Int64, _ bytes: UnsafeRawBufferPointer) throws -> Bool
  ) throws {
    if query.key != nil { return try scanCollecting(query, body) }
    try reading(query.schema, missing: ()) { table in
      let plan = plan(query, table)
      if plan.isSortedInMemory { return try scanCollecting(query, body) }
      try scan(plan, table, body)
    }
  }

  private func scanCollecting(
    _ query: Query, _ body: (_ id: Int64, _ bytes: UnsafeRawBufferPointer) throws -> Bool
  ) throws {
    try scanRowsCollected(query) { id, bytes in
      hasGivenRows = true
      return try body(id, bytes)
    }
  }

  /// Calls `body` for each row of a plan that needs no sorting, until it returns false.
  private func scan(
    _ plan: Plan, _ table: EntityTable,
    _ body: (_ id: Int64, _ bytes: UnsafeRawBufferPointer) throws -> Bool
  ) throws {
    var scan = RowScan(
      plan, isBehindStart: plan.beginsExactly, report: reporter(of: table.name))
    try forEachCandidate(plan, table) { rows, row in
      let id = rows.integer(row, 0)
      return try scan.offer(bytes: rows.bytes(row, 1), id: id) {
        hasGivenRows = true
        return try body(id, $0)
      }
    }
    try scan.check()
  }

  func ids(_ query: Query) throws -> [Int64] {
    if query.key != nil {
      let rows = try rows(query, mark: .none)
      return (0..<rows.count).map { rows[$0].id }
    }
    var ids: [Int64] = []
    let isAnswered = try scanSelected([], query) { rows, row in
      ids.append(rows.integer(row, 0))
      return true
    }
    if isAnswered { return ids }
    try scanRows(query) { id, _ in
      ids.append(id)
      return true
    }
    return ids
  }

  func scanColumns(
    _ fields: [FieldDescriptor], _ query: Query,
    _ body: (_ values: UnsafeBufferPointer<ColumnValue>) throws -> Bool
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
        return try body(wanted)
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

  // MARK: Candidates

  /// How to answer a query by the columns that are complete. A build is requested if others could
  /// help.
  func plan(_ query: Query, _ table: EntityTable) -> Plan {
    let complete = completeColumns(of: table) ?? [:]
    var capabilities = engine.capabilities.queries
    // See `KeyTexts`.
    if complete[""] != true { capabilities.textKeys = .candidates }
    return Plan(query, capabilities) { place in
      let isComplete = table.columnNames(ofIndexAt: place).allSatisfy { complete[$0] ?? false }
      if !isComplete { engine.want(indexesOf: query.schema) }
      return isComplete
    }
  }

  /// The number of candidates that are enough for a plan, unless some of them are damaged; nil for
  /// no such number.
  static func most(of plan: Plan) -> Int? {
    guard plan.residual == nil, !plan.isSortedInMemory, let limit = plan.query.limit,
      plan.query.start == nil || plan.beginsExactly
    else { return nil }
    let (sum, isTooGreat) = limit.addingReportingOverflow(plan.query.offset)
    return isTooGreat ? nil : sum
  }

  /// Calls `body` with each candidate of a plan, until it returns false. Its columns are the row id
  /// and the bytes.
  func forEachCandidate(
    _ plan: Plan, _ table: EntityTable, _ body: (borrowing Rows, Int) throws -> Bool
  ) throws {
    var seen = 0
    if let most = Self.most(of: plan) {
      if most == 0 { return }
      let select = SelectSQL(plan, table, atMost: most)
      if try run(select, firstPortion: most, { try seen.count(body, $0, $1) }) { return }
      if seen < most { return }
    }
    // Damaged rows were left out, so that more are needed; the first rows come again.
    for part in plan.parts {
      let select = SelectSQL(plan, table, .rows, part)
      let portion = plan.query.limit == nil ? Self.largestPortion : 64
      let isOver = try run(select, firstPortion: portion) { rows, row in
        if seen > 0 {
          seen -= 1
          return true
        }
        return try body(rows, row)
      }
      if isOver { return }
    }
  }

  /// The greatest number of rows that are in memory at the same time.
  private static let largestPortion = 1000

  /// Calls `body` with the rows of a statement until it returns false.
  /// - Parameter firstPortion: How many rows may be enough.
  /// - Returns: Whether it has returned false.
  func run(
    _ select: SelectSQL, firstPortion: Int, _ body: (borrowing Rows, Int) throws -> Bool
  ) throws -> Bool {
    if select.isLimited, firstPortion <= Self.largestPortion {
      select.bind(to: connection.parameters)
      let rows = try connection.run(select.text)
      for row in 0..<rows.count where try !body(rows, row) { return true }
      return false
    }
    cursors += 1
    select.bind(to: connection.parameters)
    var hasStopped = false
    try connection.forEachPortion(
      Connection.Portions(first: firstPortion, largest: Self.largestPortion), of: "c\(cursors)",
      for: select.text, closes: isLasting
    ) { rows in
      for row in 0..<rows.count where try !body(rows, row) {
        hasStopped = true
        return false
      }
      return true
    }
    return hasStopped
  }

  /// Reports damaged rows of a table.
  func reporter(of table: String) -> (Int64, VerificationError) -> Void {
    { [engine] id, error in
      engine.report(StorageError(.corruptRow, table: table, rowid: id, message: error.reason))
    }
  }
}
