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
  /// Another one only if the first is lost before its transaction has begun.
  @exclusivity(unchecked) private(set) var connection: Connection
  /// The index marks of the open transaction; nil if none is open. Before `confirmMarks` they are
  /// those that were known before it.
  @exclusivity(unchecked) private(set) var marks: IndexMarks?
  /// The beginning of the open transaction, until `confirmMarks`.
  @exclusivity(unchecked) private var beginning: PipelinedBegin?
  /// Whether a row was given to the caller: then a query cannot begin anew.
  @exclusivity(unchecked) var hasGivenRows = false
  @exclusivity(unchecked) fileprivate(set) var cursors = 0

  /// Whether a table was not there.
  @exclusivity(unchecked) private(set) var hasMissedTable = false

  /// Whether it is a part of a transaction, which can run again if the connection is lost.
  let isInTransaction: Bool
  /// Whether its transaction goes on after a query.
  private let isLasting: Bool
  /// Whether transactions of its own wait for a state that the server cannot refuse.
  let isSettled: Bool
  /// Whether they take no part in the order of transactions.
  private let isCopying: Bool

  init(
    _ engine: PostgresEngine, _ connection: Connection, marks: IndexMarks? = nil,
    isInTransaction: Bool = false, isSettled: Bool = false, isCopying: Bool = false
  ) {
    self.isSettled = isSettled
    self.isCopying = isCopying
    self.engine = engine
    self.connection = connection
    self.marks = marks
    self.isInTransaction = isInTransaction
    isLasting = marks != nil
  }

  /// A view of a transaction whose beginning was sent.
  init(
    _ engine: PostgresEngine, _ connection: Connection, _ beginning: PipelinedBegin,
    isInTransaction: Bool
  ) {
    self.engine = engine
    self.connection = connection
    self.beginning = beginning
    marks = beginning.known
    self.isInTransaction = isInTransaction
    isLasting = true
    isSettled = false
    isCopying = false
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
    isSettled = false
    isCopying = false
  }

  /// The columns of a table that are right for every object, in the state that is read; nil if the
  /// table does not exist.
  func completeColumns(of table: EntityTable) -> [String: Bool]? {
    marks?.tables[table.name]?.mapValues(\.isComplete)
  }

  /// Makes sure that the marks are those of the transaction's state.
  func confirmMarks() throws(PostgresError) {
    guard let beginning else { return }
    marks = try orBeginningAgain { () throws(PostgresError) in
      try (self.beginning ?? beginning).marks()
    }
    self.beginning = nil
  }

  /// Begins the transaction on another connection, after the first one was lost.
  /// - Returns: nil if that is not possible. It is asked at most once.
  func beginAgain() -> (connection: Connection, beginning: PipelinedBegin)? { nil }

  /// Calls `body`; once more, in a transaction that begins again, if the connection is lost before
  /// the server has answered that it has begun. Nothing was done then.
  func orBeginningAgain<R: ~Copyable, E: Error>(_ body: () throws(E) -> R) throws(E) -> R {
    do { return try body() } catch {
      guard (error as? PostgresError)?.isConnectionLost == true, let beginning,
        !beginning.isAnswered, let again = beginAgain()
      else { throw error }
      connection = again.connection
      self.beginning = again.beginning
      marks = again.beginning.known
    }
    return try body()
  }

  /// Called with a row that was found by its key.
  func noteFound(_ row: Row, _ schema: EntitySchema) {}

  /// The row with a row's key, if it need not be asked for.
  func known(keyOf row: TableReader, _ schema: EntitySchema) -> Row? { nil }

  /// Called before a table is read, which may not exist.
  func requireTable(of schema: EntitySchema) throws {}

  /// Calls `body` in a transaction.
  func inOneState<R: ~Copyable>(_ body: () throws -> R) throws -> R {
    if marks != nil { return try body() }
    let isolation: PostgresEngine.Isolation =
      isCopying ? .repeatableRead : isSettled ? .settled : .serializable
    guard let marks = try engine.beginReading(connection, isolation) else {
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
        return try orBeginningAgain { try body(table) }
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

  func rows(_ request: ReadRequest, mark: ReadMark) throws -> RowBuffer {
    switch request {
    case .query(let query): try rows(query, mark: mark)
    case .key(let schema, let key): RowBuffer(try row(of: schema, with: key, mark: mark))
    case .keys(let schema, let keys): try rows(of: schema, with: keys, mark: mark)
    case .keyOf(let schema, let row): RowBuffer(try self.row(keyOf: row, schema, mark))
    case .id(let schema, let id): RowBuffer(try row(id: id, schema, mark))
    case .ids(let schema, let ids): try rows(ids: ids, schema, mark)
    case .after(let schema, let id, let limit): try rows(after: id, limit: limit, schema, mark)
    }
  }

  private func rows(_ query: Query, mark: ReadMark) throws -> RowBuffer {
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

  // MARK: Candidates

  /// How to answer a query by the columns that are complete. A build is requested if others could
  /// help.
  func plan(_ query: Query, _ table: EntityTable) -> Plan {
    let complete = completeColumns(of: table) ?? [:]
    var capabilities = engine.capabilities.queries
    // See `KeyTexts`.
    if complete[""] != true { capabilities.textKeys = .candidates }
    func plan() -> Plan {
      Plan(query, capabilities) { place in
        let isComplete = table.columnNames(ofIndexAt: place).allSatisfy { complete[$0] ?? false }
        if !isComplete { engine.want(indexesOf: query.schema) }
        return isComplete
      }
    }
    let few = capabilities.maximumPredicateSize
    guard query.mayHaveConstants(moreThan: few) else { return plan() }
    // A list is one parameter, but each comparison of its own makes the statement longer.
    capabilities.maximumPredicateSize = Self.longestList
    let long = plan()
    if long.predicate?.comparisons ?? 0 <= few { return long }
    capabilities.maximumPredicateSize = few
    return plan()
  }

  /// The greatest number of values in conditions that are sent to the server.
  private static let longestList = 1_000_000

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
      let isOver = try run(select, of: table, firstPortion: portion) { rows, row in
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
  /// - Parameters:
  ///   - table: Whose objects the rows have; nil if they have only values and ids.
  ///   - firstPortion: How many rows may be enough.
  /// - Returns: Whether it has returned false.
  func run(
    _ select: SelectSQL, of table: EntityTable? = nil, firstPortion: Int,
    _ body: (borrowing Rows, Int) throws -> Bool
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
      Connection.Portions(
        first: min(firstPortion, table?.firstPortion ?? firstPortion),
        largest: Self.largestPortion, all: firstPortion >= Self.largestPortion),
      of: "c\(cursors)", for: select.text, closes: isLasting
    ) { rows in
      table?.noteSize(of: rows)
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
