// ParallelScan: reads a large table by two readers, each one half of the row ids.
//
// A query that no index narrows evaluates its condition on every row, which takes most of its time.
// Two threads do it in a little more than half of the time. Invariants:
//
//  - Both readers see the same state: no connection has committed anything between the moments at
//    which they began to read. The second reader's `data_version` shows that.
//  - The result and its order are those of one reader.
//  - It is used only if a second reader is free at once, and for tables of which the last complete
//    scan has evaluated many rows: beginning takes some 60 µs, as long as evaluating a few hundred
//    rows, and other queries need processors, too.

import Dflat
import Dispatch
import FlatBuffersRuntime
import Platform
import SQLiteAccess

struct ParallelScan {
  /// The smallest table that is read by two readers. Measured: below some 4,000 rows one reader is
  /// faster; the rest leaves processors to other queries.
  static let leastRows = 20_000

  private let engine: SQLiteEngine
  private let plan: Plan
  private let connection: Connection

  /// - Returns: nil if the plan is not one that reads a whole large table.
  init?(_ plan: Plan, _ engine: SQLiteEngine, _ connection: Connection) {
    guard plan.predicate == nil, plan.residual != nil, plan.scan == nil, !plan.query.isCut,
      !connection.isInTransaction, ScanSizes.processors > 1,
      engine.scanSizes.last(of: plan.query.schema.table) >= Self.leastRows
    else { return nil }
    self.engine = engine
    self.plan = plan
    self.connection = connection
  }

  /// The rows; nil if a single reader has to read them.
  func rows(
    mark: ReadMark, report: @escaping (Int64, VerificationError) -> Void
  ) throws -> RowBuffer? {
    guard let lease = freeReader() else { return nil }
    defer { lease.end() }
    let second = lease.connection
    if second.isInTransaction || second.isOutdated || connection.isOutdated { return nil }
    guard let version = try? second.dataVersion() else { return nil }
    try connection.begin(.deferred)
    defer { end(connection) }
    guard let (first, last) = try extent() else { return nil }
    // The query does not depend on the second reader, and reports no errors of it.
    guard (try? second.begin(.deferred)) != nil else { return nil }
    defer { end(second) }
    // Otherwise another connection may have committed in between.
    guard (try? second.dataVersion()) == version else { return nil }

    // Row ids that other programs have chosen may be as far apart as numbers can be.
    let middle = (first & last) &+ ((first ^ last) >> 1)
    // Each is used by one of the two threads until `concurrentPerform` returns.
    let halves = [
      Confined(shared: Half(connection, "<=", RowCollector(plan, mark: mark, report: report))),
      Confined(shared: Half(second, ">", RowCollector(plan, mark: mark, report: report))),
    ]
    let table = plan.query.schema.table
    DispatchQueue.concurrentPerform(iterations: 2) { half in
      halves[half].withValue { $0.read(table, middle) }
    }
    let counts = try halves.map { half in try half.withValue { try $0.count.get() } }
    engine.scanSizes.note(counts[0] + counts[1], in: table)
    return try RowBuffer(
      try halves[0].withValue { try $0.finish() },
      followedBy: try halves[1].withValue { try $0.finish() }, of: plan)
  }

  /// A second reader, if the pool has one to spare.
  private func freeReader() -> ReaderLease? {
    let readers = engine.readers
    guard readers.idleCount > 0 || readers.openCount < readers.limit else { return nil }
    return try? readers.checkout()
  }

  /// The least and the greatest row id; nil if there are no rows.
  private func extent() throws -> (Int64, Int64)? {
    let table = plan.query.schema.table
    guard
      let statement = try connection.statement(
        "SELECT (SELECT min(rowid) FROM \(table.quoted)), (SELECT max(rowid) FROM \(table.quoted))",
        reading: table), try statement.step(of: table), !statement.isNull(0)
    else { return nil }
    return (statement.int64(0), statement.int64(1))
  }

  /// Ends a read transaction. If that fails, the reader is not used again.
  private func end(_ connection: Connection) {
    do { try connection.rollback() } catch { engine.reports.report(error) }
  }
}

/// The rows on one side of a row id.
private final class Half {
  private let connection: Connection
  private let comparison: String
  private var collector: RowCollector?
  /// The number of rows that were evaluated.
  private(set) var count = Result<Int, any Error>.success(0)

  init(_ connection: Connection, _ comparison: String, _ collector: consuming RowCollector) {
    self.connection = connection
    self.comparison = comparison
    self.collector = consume collector
  }

  func read(_ table: String, _ middle: Int64) {
    count = Result {
      let text = "SELECT rowid, p FROM \(table.quoted) WHERE rowid \(comparison) ? ORDER BY rowid"
      guard let statement = try connection.statement(text, reading: table) else { return 0 }
      try statement.bind(1, middle)
      var count = 0
      while try statement.step(of: table) {
        count += 1
        let isWanted = collector?.offer(bytes: statement.blob(1), id: statement.int64(0)) ?? false
        if !isWanted { break }
      }
      return count
    }
  }

  /// The rows that were found. Called once.
  func finish() throws -> RowBuffer {
    guard let collector = collector.take() else { return RowBuffer() }
    return try collector.finish()
  }
}

/// How many rows the last complete scan of each table has evaluated.
final class ScanSizes: Sendable {
  static let processors = processorCount()

  private let sizes = Mutex<[String: Int]>([:])

  func last(of table: String) -> Int { sizes.withLock { $0[table] ?? 0 } }

  func note(_ count: Int, in table: String) {
    sizes.withLock { if $0[table] != count { $0[table] = count } }
  }
}
