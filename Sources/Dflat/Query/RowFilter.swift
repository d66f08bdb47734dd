// RowFilter: decides which candidates of a plan are in the result, in the engine's memory.
//
// A candidate is in the result if the rest of the condition is true for it, it comes after the
// query's start position, and its bytes are sound. A damaged row is reported and left out.

import FlatBuffersRuntime

/// Decides which candidates of a plan are in the result. For engines.
package struct RowFilter: ~Copyable {
  private let layout: LayoutPlan
  private let memo: SoundnessMemo
  private let residual: Program?
  /// Whether there is a residual condition, for inlined code that has no access to it.
  @usableFromInline let hasResidual: Bool
  // What follows is asked for each row, so that no reference is counted for it.
  private let unretainedResidual: Unmanaged<Program>?
  private let rootTest: RootTest?
  private let mayHideDamage: Bool
  private let hasStart: Bool
  private let isWatched: Bool
  private let start: RowStart?
  /// nil if nothing can end the query before its last row.
  private let watch: QueryWatch?
  private let report: (_ id: Int64, VerificationError) -> Void

  /// - Parameters:
  ///   - plan: The plan of the query.
  ///   - isBehindStart: Whether all candidates come behind the query's start.
  ///   - programs: What else is evaluated for the rows.
  ///   - report: Called with each damaged row.
  init(
    _ plan: Plan, isBehindStart: Bool, calling programs: [Program] = [],
    report: @escaping (_ id: Int64, VerificationError) -> Void
  ) {
    layout = plan.query.schema.layout.plan
    memo = SoundnessMemo(layout)
    let residual = plan.residual.map(Program.init)
    self.residual = residual
    hasResidual = residual != nil
    unretainedResidual = residual.map(Unmanaged.passUnretained)
    rootTest = residual?.rootTest
    mayHideDamage = residual?.mayHideDamage ?? false
    let start =
      isBehindStart ? nil : plan.query.start.map { RowStart($0, plan.query.order) }
    self.start = start
    hasStart = start != nil
    let watch = QueryWatch(
      plan.query, programs + (start?.programs ?? []) + (residual.map { [$0] } ?? []))
    self.watch = watch
    isWatched = watch != nil
    self.report = report
  }

  /// Whether the query ends before its last row.
  @inline(__always)
  var isOver: Bool { isWatched && watch?.isOver == true }

  /// Throws what has ended the query, or what a function has thrown.
  func check() throws { try watch?.check() }

  /// Evaluates the residual condition on a row. Also unknown if the result may be false because of
  /// damage.
  @usableFromInline
  func evaluate(_ bytes: UnsafeRawBufferPointer) -> Ternary {
    guard let unretainedResidual else { return .true }
    guard let table = TableReader(root: bytes) else { return .unknown }
    if isWatched, let residual { return evaluateWatched(residual, table) }
    if let rootTest { return rootTest.evaluate(table) }
    let verdict = unretainedResidual._withUnsafeGuaranteedRef { $0.evaluate(table) }
    return verdict == .false && mayHideDamage ? .unknown : verdict
  }

  /// As `evaluate`, in a query that may have to end. Unknown if it must.
  @inline(never)
  private func evaluateWatched(_ residual: Program, _ table: TableReader) -> Ternary {
    let verdict = residual.evaluate(table)
    guard let watch else { return verdict }
    if watch.isOver { return .unknown }
    if watch.leavesOutRow(residual) { return .false }
    return verdict == .false && residual.mayHideDamage ? .unknown : verdict
  }

  /// Whether a row is in the result.
  /// - Parameter verdict: The result of `evaluate`, which is not false.
  @inline(__always)
  func accepts(
    _ bytes: UnsafeRawBufferPointer, _ id: @autoclosure () -> Int64, _ verdict: Ternary
  ) -> Bool {
    // An unknown result may be due to damage.
    guard memo.isSound(bytes) || isSoundByVerifier(bytes, id()) else { return false }
    if verdict == .unknown { return false }
    guard hasStart, let start else { return true }
    return start.isBefore(bytes, id())
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
}
