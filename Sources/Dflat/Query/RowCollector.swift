// RowCollector: turns candidates into the rows of the result.
//
// An engine passes the candidates of a plan one by one, in its own memory. The collector evaluates
// the rest of the condition, verifies the row, copies it if it matches, and keeps as many rows as
// the limit allows:
//
//  - if the engine delivers the order, or there is none, it stops at the limit;
//  - otherwise it keeps the first `limit` rows of the order in a heap, so memory use depends on the
//    result and not on the input.
//
// A damaged row is reported and left out.

public import FlatBuffersRuntime

/// Collects the result of a plan from candidates. For engines.
public struct RowCollector: ~Copyable {
  private let layout: LayoutPlan
  private let residual: Program?
  /// Whether there is a residual condition, for inlined code that has no access to it.
  @usableFromInline let hasResidual: Bool
  private let keys: [SortKey]
  /// nil if nothing can end the query before its last row.
  private let watch: QueryWatch?
  /// Whether there is a watch: a test without reference counting.
  private let isWatched: Bool
  private let limit: Int
  private let mark: ReadMark
  private let report: (_ id: Int64, VerificationError) -> Void
  private var rows = RowBuffer()
  /// Whether `rows` is a heap whose top is the last row of the order.
  private var isHeap = false

  /// - Parameters:
  ///   - plan: The plan of the query.
  ///   - mark: The mark for the rows.
  ///   - report: Called with each damaged row.
  public init(
    _ plan: Plan, mark: ReadMark, report: @escaping (_ id: Int64, VerificationError) -> Void
  ) {
    layout = plan.query.schema.layout.plan
    let residual = plan.residual.map(Program.init)
    self.residual = residual
    hasResidual = residual != nil
    keys = plan.isOrderedByEngine ? [] : plan.query.order.map(SortKey.init)
    watch = QueryWatch(plan.query, keys.map(\.program) + (residual.map { [$0] } ?? []))
    isWatched = watch != nil
    limit = plan.query.limit ?? .max
    self.mark = mark
    self.report = report
  }

  /// Adds a candidate. Candidates come in the engine's order, or by ascending row id.
  /// - Parameters:
  ///   - bytes: The candidate, in the engine's memory.
  ///   - id: Its row id; evaluated only if needed.
  /// - Returns: Whether more candidates are wanted.
  @inlinable
  public mutating func offer(
    bytes: UnsafeRawBufferPointer, id: @autoclosure () -> Int64
  ) -> Bool {
    let verdict = hasResidual ? evaluateResidual(bytes) : .true
    return verdict == .false ? true : take(bytes, id(), verdict)
  }

  /// Evaluates the residual condition on a row. Also unknown if the result may be false because of
  /// damage.
  @usableFromInline
  func evaluateResidual(_ bytes: UnsafeRawBufferPointer) -> Ternary {
    guard let residual else { return .true }
    guard let table = TableReader(root: bytes) else { return .unknown }
    if isWatched { return evaluateWatched(residual, table) }
    let verdict = residual.evaluate(table)
    return verdict == .false && residual.mayHideDamage ? .unknown : verdict
  }

  /// As `evaluateResidual`, in a query that may have to end. Unknown if it must.
  @inline(never)
  private func evaluateWatched(_ residual: Program, _ table: TableReader) -> Ternary {
    let verdict = residual.evaluate(table)
    guard let watch else { return verdict }
    if watch.isOver { return .unknown }
    if watch.leavesOutRow(residual) { return .false }
    return verdict == .false && residual.mayHideDamage ? .unknown : verdict
  }

  @usableFromInline
  mutating func take(_ bytes: UnsafeRawBufferPointer, _ id: Int64, _ verdict: Ternary) -> Bool {
    guard rows.count < limit || !keys.isEmpty else { return false }
    if isWatched, watch?.isOver == true { return false }
    // An unknown result may be due to damage.
    guard layout.isSound(bytes) || isSoundByVerifier(bytes, id) else { return true }
    if verdict == .unknown { return true }
    if rows.count < limit {
      rows.append(Row(sound: bytes, id: id, mark: mark))
      return keys.isEmpty ? rows.count < limit : true
    }
    return replaceLast(id, bytes)
  }

  /// A row that the fast check rejects is damaged, or too large for that check.
  @inline(never)
  private func isSoundByVerifier(_ bytes: UnsafeRawBufferPointer, _ id: Int64) -> Bool {
    do throws(VerificationError) {
      try layout.verifyFully(bytes)
      return true
    } catch {
      report(id, error)
      return false
    }
  }

  /// Finishes the result: the rows in the query's order.
  /// - Throws: `FunctionError`, or `CancellationError` if the read's task was cancelled.
  public consuming func finish() throws -> RowBuffer {
    if !keys.isEmpty {
      sort(rows.elements, by: keys)
    }
    try watch?.check()
    return rows
  }

  /// If the result is full: replaces the last row if the candidate comes before it.
  private mutating func replaceLast(_ id: Int64, _ bytes: UnsafeRawBufferPointer) -> Bool {
    guard limit > 0 else { return false }
    if !isHeap {
      for index in stride(from: rows.count / 2 - 1, through: 0, by: -1) { siftDown(index) }
      isHeap = true
    }
    let row = Row(sound: bytes, id: id, mark: mark)
    if isBefore(keys, row, rows.elements[0]) {
      rows.elements[0] = row
      siftDown(0)
    }
    return true
  }

  private mutating func siftDown(_ start: Int) {
    var parent = start
    while true {
      var last = parent
      for child in [2 * parent + 1, 2 * parent + 2] where child < rows.count {
        if isBefore(keys, rows.elements[last], rows.elements[child]) { last = child }
      }
      if last == parent { return }
      rows.elements.swapAt(parent, last)
      parent = last
    }
  }
}
