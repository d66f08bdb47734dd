// RowCollector: candidates in, the rows of the result out.
//
// An engine offers the candidates of a plan one after another, as they lie in its own memory. The collector checks what is
// left of the condition, verifies, copies what matches, and keeps as many as the limit asks for:
//
//  - if the order is the engine's (or there is none), it stops at the limit;
//  - otherwise it keeps the first `limit` rows by the order, in a heap, so memory follows the result and not the input.
//
// A damaged row is reported and left out.

public import FlatBuffersRuntime

/// Collects the result of a plan from candidates. For engines.
public struct RowCollector: ~Copyable {
  private let layout: LayoutPlan
  private let residual: Program?
  /// Whether there is a residual, for those who cannot see it.
  @usableFromInline let mustJudge: Bool
  private let keys: [SortKey]
  private let limit: Int
  private let mark: ReadMark
  private let report: (_ id: Int64, VerificationError) -> Void
  private var rows = RowBuffer()
  /// Whether `rows` is a heap with the last row of the order on top.
  private var isHeap = false

  /// - Parameters:
  ///   - plan: Whose result is collected.
  ///   - mark: The mark for the rows.
  ///   - report: Called with each damaged row.
  public init(
    _ plan: Plan, mark: ReadMark, report: @escaping (_ id: Int64, VerificationError) -> Void
  ) {
    layout = plan.query.schema.layout.plan
    residual = plan.residual.map(Program.init)
    mustJudge = residual != nil
    keys = plan.isOrderedByEngine ? [] : plan.query.order.map(SortKey.init)
    limit = plan.query.limit ?? .max
    self.mark = mark
    self.report = report
  }

  /// Takes a candidate. Candidates come in the engine's order, or by ascending row id.
  /// - Parameters:
  ///   - bytes: The candidate, where it lies.
  ///   - id: Its row id; asked for only if it is needed.
  /// - Returns: Whether more candidates are wanted.
  @inlinable
  public mutating func offer(
    bytes: UnsafeRawBufferPointer, id: @autoclosure () -> Int64
  ) -> Bool {
    let verdict = mustJudge ? judge(bytes) : .true
    return verdict == .false ? true : take(bytes, id(), verdict)
  }

  /// What the rest of the condition is for a row; unknown, too, if it may be false because of damage.
  @usableFromInline
  func judge(_ bytes: UnsafeRawBufferPointer) -> Ternary {
    guard let residual else { return .true }
    guard let table = TableReader(root: bytes) else { return .unknown }
    let verdict = residual.evaluate(table)
    return verdict == .false && residual.mayHideDamage ? .unknown : verdict
  }

  @usableFromInline
  mutating func take(_ bytes: UnsafeRawBufferPointer, _ id: Int64, _ verdict: Ternary) -> Bool {
    guard rows.count < limit || !keys.isEmpty else { return false }
    // What is unknown may be so because of damage.
    guard layout.isSound(bytes) || isSoundAfterAll(bytes, id) else { return true }
    if verdict == .unknown { return true }
    if rows.count < limit {
      rows.append(Row(sound: bytes, id: id, mark: mark))
      return keys.isEmpty ? rows.count < limit : true
    }
    return replaceLast(id, bytes)
  }

  /// What the fast check does not accept is damaged, or too large for it.
  @inline(never)
  private func isSoundAfterAll(_ bytes: UnsafeRawBufferPointer, _ id: Int64) -> Bool {
    do throws(VerificationError) {
      try layout.verifyFully(bytes)
      return true
    } catch {
      report(id, error)
      return false
    }
  }

  /// The rows in the query's order.
  public consuming func finish() -> RowBuffer {
    if !keys.isEmpty {
      sort(rows.elements, by: keys)
    }
    return rows
  }

  /// The result is full: takes the row in if it comes before the last one that is kept.
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
