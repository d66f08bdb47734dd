// RowScan: passes the rows of a result on without copying them.
//
// For everything that needs values of rows and not the rows: counts, aggregates, projections. It is
// used where the candidates come in the query's order, or the query has none; otherwise the rows
// are collected and sorted first.

package import FlatBuffersRuntime

/// Passes the rows of a result on, in the engine's memory. For engines.
package struct RowScan: ~Copyable {
  private let filter: RowFilter
  private var skipped: Int
  private var remaining: Int

  /// - Parameters:
  ///   - plan: A plan that needs no sorting.
  ///   - isBehindStart: Whether all candidates come behind the query's start.
  ///   - report: Called with each damaged row.
  package init(
    _ plan: Plan, isBehindStart: Bool = false,
    report: @escaping (_ id: Int64, VerificationError) -> Void
  ) {
    assert(!plan.isSortedInMemory, "rows that must be sorted cannot be passed on one by one")
    filter = RowFilter(plan, isBehindStart: isBehindStart, report: report)
    skipped = plan.query.offset
    remaining = plan.query.limit ?? .max
  }

  /// Passes a candidate on if it is in the result.
  /// - Parameters:
  ///   - bytes: The candidate, in the engine's memory.
  ///   - id: Its row id; evaluated only if needed.
  ///   - body: Called with the row; returns whether it wants more.
  /// - Returns: Whether more candidates are wanted.
  @inline(__always)
  package mutating func offer(
    bytes: UnsafeRawBufferPointer, id: @autoclosure () -> Int64,
    to body: (_ bytes: UnsafeRawBufferPointer) throws -> Bool
  ) rethrows -> Bool {
    guard remaining > 0 else { return false }
    let verdict = filter.hasResidual ? filter.evaluate(bytes) : .true
    if filter.isOver { return false }
    guard verdict != .false, filter.accepts(bytes, id(), verdict) else { return true }
    if skipped > 0 {
      skipped -= 1
      return true
    }
    remaining -= 1
    return try body(bytes) && remaining > 0
  }

  /// Ends the scan.
  /// - Throws: `FunctionError`, or `CancellationError` if the read's task was cancelled.
  package func check() throws { try filter.check() }
}
