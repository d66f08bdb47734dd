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
// Which candidates are in the result at all is decided by `RowFilter`.

package import FlatBuffersRuntime

/// Collects the result of a plan from candidates. For engines.
package struct RowCollector: ~Copyable {
  @usableFromInline let filter: RowFilter
  /// The sort keys, if the rows must be sorted.
  private let keys: [SortKey]
  /// The number of rows that are kept. If they must be sorted, this includes the rows before the
  /// query's offset.
  private let limit: Int
  /// The number of matching rows that are still to be left out at the beginning.
  private var skipped: Int
  private let mark: ReadMark
  private var rows = RowBuffer()
  /// Whether `rows` is a heap whose top is the last row of the order.
  private var isHeap = false

  /// - Parameters:
  ///   - plan: The plan of the query.
  ///   - isBehindStart: Whether all candidates come behind the query's start.
  ///   - mark: The mark for the rows.
  ///   - report: Called with each damaged row.
  package init(
    _ plan: Plan, isBehindStart: Bool = false, mark: ReadMark,
    report: @escaping (_ id: Int64, VerificationError) -> Void
  ) {
    let query = plan.query
    keys = plan.isOrderedByEngine ? [] : query.order.map(SortKey.init)
    filter = RowFilter(
      plan, isBehindStart: isBehindStart, calling: keys.map(\.program), report: report)
    // Rows before the offset are sorted, too.
    limit = (keys.isEmpty ? query.limit : query.limitWithOffset) ?? .max
    skipped = query.offset
    self.mark = mark
  }

  /// Adds a candidate. Candidates come in the engine's order, or by ascending row id.
  /// - Parameters:
  ///   - bytes: The candidate, in the engine's memory.
  ///   - id: Its row id; evaluated only if needed.
  /// - Returns: Whether more candidates are wanted.
  @inlinable
  package mutating func offer(
    bytes: UnsafeRawBufferPointer, id: @autoclosure () -> Int64
  ) -> Bool {
    let verdict = filter.hasResidual ? filter.evaluate(bytes) : .true
    return verdict == .false ? true : take(bytes, id(), verdict)
  }

  @usableFromInline
  mutating func take(_ bytes: UnsafeRawBufferPointer, _ id: Int64, _ verdict: Ternary) -> Bool {
    guard rows.count < limit || !keys.isEmpty else { return false }
    if filter.isOver { return false }
    guard filter.accepts(bytes, id, verdict) else { return true }
    if keys.isEmpty, skipped > 0 {
      skipped -= 1
      return true
    }
    if rows.count < limit {
      rows.append(Row(sound: bytes, id: id, mark: mark))
      return keys.isEmpty ? rows.count < limit : true
    }
    return replaceLast(id, bytes)
  }

  /// Finishes the result: the rows in the query's order.
  /// - Throws: `FunctionError`, or `CancellationError` if the read's task was cancelled.
  package consuming func finish() throws -> RowBuffer {
    if !keys.isEmpty {
      sort(rows.elements, by: keys)
      rows.removeFirst(skipped)
    }
    try filter.check()
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
