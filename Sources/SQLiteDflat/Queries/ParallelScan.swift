// ParallelScan: reads a large table by two readers, each one half of the row ids.
//
// A query that no index narrows evaluates its condition, and what is computed, on every row, which
// takes most of its time. Two threads do it in a little more than half of the time.
// Invariants:
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

  /// Whether the table of a type is large enough.
  static func isWorthwhile(_ schema: EntitySchema, _ engine: SQLiteEngine) -> Bool {
    ScanSizes.processors > 1 && engine.scanSizes.last(of: schema.table) >= leastRows
  }

  /// - Returns: nil if the plan is not one that reads a whole large table.
  init?(_ plan: Plan, _ engine: SQLiteEngine, _ connection: Connection) {
    guard plan.readsWholeTable, !plan.query.isCut, !connection.isInTransaction,
      Self.isWorthwhile(plan.query.schema, engine)
    else { return nil }
    self.engine = engine
    self.plan = plan
    self.connection = connection
  }

  /// The rows; nil if a single reader has to read them.
  func rows(
    mark: ReadMark, report: @escaping (Int64, VerificationError) -> Void
  ) throws -> RowBuffer? {
    // Rows that are only copied are not worth it.
    guard plan.residual != nil else { return nil }
    var found: [FoundRows] = []
    let isRead = try read {
      found = (0..<2).map { _ in
        FoundRows(RowCollector(plan, mark: mark, report: report), of: plan.query.schema)
      }
      return found.map { half in { half.offer($0) } }
    }
    guard isRead else { return nil }
    return try RowBuffer(found[0].finish(), followedBy: found[1].finish(), of: plan)
  }

  /// Calls `body` with each row of a plan without an order; see `StorageReader.scanConcurrently`.
  /// - Returns: False if a single reader has to read them; `body` was not called then.
  func scan(
    report: @escaping (Int64, VerificationError) -> Void,
    _ body: @escaping (_ half: Int, _ bytes: UnsafeRawBufferPointer) -> Bool
  ) throws -> Bool {
    var passed: [PassedRows] = []
    let isRead = try read {
      passed = (0..<2).map { half in
        PassedRows(RowScan(plan, report: report), of: plan.query.schema) { body(half, $0) }
      }
      return passed.map { half in { half.offer($0) } }
    }
    for half in passed { try half.check() }
    return isRead
  }

  /// Reads the table by two readers.
  /// - Parameter offers: Makes what takes the rows of each half, with a statement at a row, and
  ///   returns whether it wants more.
  /// - Returns: False if a single reader has to read it; then nothing has taken a row.
  private func read(_ offers: () -> [(Statement) -> Bool]) throws -> Bool {
    guard let lease = freeReader() else { return false }
    defer { lease.end() }
    let second = lease.connection
    if second.isInTransaction || second.isOutdated || connection.isOutdated { return false }
    guard let version = try? second.dataVersion() else { return false }
    try connection.begin(.deferred)
    defer { end(connection) }
    guard let (first, last) = try extent() else { return false }
    // The query does not depend on the second reader, and reports no errors of it.
    guard (try? second.begin(.deferred)) != nil else { return false }
    defer { end(second) }
    // Otherwise another connection may have committed in between.
    guard (try? second.dataVersion()) == version else { return false }

    // Row ids that other programs have chosen may be as far apart as numbers can be.
    let middle = (first & last) &+ ((first ^ last) >> 1)
    let offers = offers()
    // Each is used by one of the two threads until `concurrentPerform` returns.
    let halves = [
      Confined(shared: Half(connection, "<=", offers[0])),
      Confined(shared: Half(second, ">", offers[1])),
    ]
    let table = plan.query.schema.table
    DispatchQueue.concurrentPerform(iterations: 2) { half in
      halves[half].withValue { $0.read(table, middle) }
    }
    let counts = try halves.map { half in try half.withValue { try $0.count.get() } }
    engine.scanSizes.note(counts[0] + counts[1], in: table)
    return true
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
  private let offer: (Statement) -> Bool
  /// The number of rows that were evaluated.
  private(set) var count = Result<Int, any Error>.success(0)

  init(_ connection: Connection, _ comparison: String, _ offer: @escaping (Statement) -> Bool) {
    self.connection = connection
    self.comparison = comparison
    self.offer = offer
  }

  func read(_ table: String, _ middle: Int64) {
    count = Result {
      let text = "SELECT rowid, p FROM \(table.quoted) WHERE rowid \(comparison) ? ORDER BY rowid"
      guard let statement = try connection.statement(text, reading: table) else { return 0 }
      try statement.bind(1, middle)
      var count = 0
      while try statement.step(of: table) {
        count += 1
        if !offer(statement) { break }
      }
      return count
    }
  }
}

/// The rows of a half that are copied.
private final class FoundRows {
  @exclusivity(unchecked) private var collector: RowCollector?
  private let schema: EntitySchema

  init(_ collector: consuming RowCollector, of schema: EntitySchema) {
    self.collector = consume collector
    self.schema = schema
  }

  @inline(__always)
  func offer(_ statement: Statement) -> Bool {
    collector?.offer(bytes: statement.object(1, of: schema), id: statement.int64(0)) ?? false
  }

  /// The rows that were found. Called once.
  func finish() throws -> RowBuffer {
    guard let collector = collector.take() else { return RowBuffer() }
    return try collector.finish()
  }
}

/// The rows of a half that are passed on.
private final class PassedRows {
  @exclusivity(unchecked) private var scan: RowScan
  private let schema: EntitySchema
  private let body: (_ bytes: UnsafeRawBufferPointer) -> Bool

  init(
    _ scan: consuming RowScan, of schema: EntitySchema,
    _ body: @escaping (_ bytes: UnsafeRawBufferPointer) -> Bool
  ) {
    self.scan = scan
    self.schema = schema
    self.body = body
  }

  @inline(__always)
  func offer(_ statement: Statement) -> Bool {
    scan.offer(bytes: statement.object(1, of: schema), id: statement.int64(0), to: body)
  }

  /// Throws what has ended the scan.
  func check() throws { try scan.check() }
}

extension Plan {
  /// Whether every row is a candidate, by the row ids alone.
  var readsWholeTable: Bool { predicate == nil && scan == nil }
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
