// SQLiteView: reading rows through one connection.
//
// A view is used by one thread. Statements come from the connection's cache. A query that mentions
// indexes examines these indexes and reads in one read transaction, so both see the same state.
// What is scanned is in SQLiteView+Scans.swift, what is looked up in SQLiteView+Rows.swift.

import Dflat
import FlatBuffersRuntime
import SQLiteAccess

/// Reads in whatever transaction the connection is in.
class SQLiteView: StorageReader {
  let engine: SQLiteEngine
  let connection: Connection
  /// Whether large tables may be read with the help of a second reader.
  let mayUseTwoReaders: Bool
  /// Whether the query that runs has given a row to its caller: then it cannot begin anew.
  @exclusivity(unchecked) var hasGivenRows = false

  init(_ engine: SQLiteEngine, _ connection: Connection, mayUseTwoReaders: Bool = false) {
    self.engine = engine
    self.connection = connection
    self.mayUseTwoReaders = mayUseTwoReaders
  }

  func rows(_ request: ReadRequest, mark: ReadMark) throws -> RowBuffer {
    switch request {
    case .query(let query): try rows(query, mark: mark)
    case .key(let schema, let key): RowBuffer(try row(with: key, schema, mark))
    case .keys(let schema, let keys): try rows(of: schema, oneByOne: keys, mark: mark)
    case .keyOf(let schema, let row): RowBuffer(try self.row(keyOf: row, schema, mark))
    case .id(let schema, let id): RowBuffer(try row(id: id, schema, mark))
    case .ids(let schema, let ids): try rows(ids: ids, schema, mark)
    case .after(let schema, let id, let limit): try rows(after: id, limit: limit, schema, mark)
    }
  }

  private func rows(_ query: Query, mark: ReadMark) throws -> RowBuffer {
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
          return collector.offer(
            bytes: statement.object(1, of: query.schema), id: statement.int64(0))
        }
        if !hasEnded, plan.readsWholeTable, plan.residual != nil {
          engine.scanSizes.note(count, in: table)
        }
        return try collector.finish()
      }
    }
  }

  /// Reports damaged rows of a table.
  func reporter(of table: String) -> (Int64, VerificationError) -> Void {
    { [engine] id, error in
      engine.reports.report(
        StorageError(.corruptRow, table: table, rowid: id, message: error.storedReason))
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
