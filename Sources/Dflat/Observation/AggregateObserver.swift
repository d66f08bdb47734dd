// AggregateObserver: an observer of aggregates over what a query gives.
//
// The aggregates are maintained from the changed rows: the values of a row that has left are
// removed, those of a row that has entered are added. They are computed again only if that is
// impossible: when the least or greatest value has left, for sums of floating-point numbers, whose
// rounding depends on the order of the terms, and for queries with a limit or an offset.

import FlatBuffersRuntime

/// An observer of aggregates. Its handler gets the results.
///
/// Unchecked as `Observer` is: the accumulators and results belong to the delivery queue.
final class AggregateObserver: QueryObserver, @unchecked Sendable {
  typealias Handler = @Sendable ([AggregateResult]) -> Void

  private let parts: [AggregatePart]
  private let readers: ExpressionReaders
  /// Whether all aggregates are numbers of objects, for which no row has to be read.
  private let onlyCounts: Bool
  @exclusivity(unchecked) private var accumulators: [Accumulator]
  /// What the handler got last; nil at first.
  @exclusivity(unchecked) private var shown: [AggregateResult]?
  @exclusivity(unchecked) private var isTouched = false
  private let callback: Callback<Handler>

  init(
    _ type: TypeObservers, _ query: Query, _ parts: [AggregatePart], _ handler: @escaping Handler
  ) {
    let expressions = parts.map(\.expression)
    // Locals: the optimiser of Swift 6.3.1 fails if the properties themselves are passed on.
    let callback = Callback(handler)
    self.parts = parts
    self.callback = callback
    readers = ExpressionReaders(expressions)
    accumulators = parts.map(\.empty)
    onlyCounts = parts.allSatisfy { $0.kind == .count }
    let nodes = expressions.map(\.node)
    super.init(type, query, computing: nodes, callback)
  }

  override func apply(
    _ touches: ResultTouches, _ orders: inout ChangeRanks.Table, _ replaced: inout ReplacedRows
  ) -> Bool {
    if query.isCut { return true }
    isTouched = true
    if onlyCounts {
      var difference = 0
      touches.forEach { difference += ($0.isIn ? 1 : 0) - ($0.wasIn ? 1 : 0) }
      for index in accumulators.indices { accumulators[index].count(difference) }
      return false
    }
    var isKnown = true
    touches.forEach { touch in
      let change = orders.changes[Int(touch.change)]
      if !replace(touch.wasIn ? change.old : nil, by: touch.isIn ? change.new : nil) {
        isKnown = false
      }
    }
    return !isKnown || readers.hasFailed(query.schema)
  }

  /// Replaces the values of a row that has left by those of one that has entered.
  /// - Returns: Whether all aggregates are still known.
  private func replace(_ old: Row?, by new: Row?) -> Bool {
    var isKnown = true
    func withValues(of row: Row?, _ body: (UnsafeBufferPointer<ColumnValue>?) -> Void) {
      guard let row else { return body(nil) }
      readers.withValues(of: row) { body($0) }
    }
    withValues(of: old) { left in
      withValues(of: new) { entered in
        for index in accumulators.indices {
          let isApplied =
            switch (left?[index], entered?[index]) {
            case (let left?, let entered?): accumulators[index].replace(left, by: entered)
            case (let left?, nil): accumulators[index].remove(left)
            case (nil, let entered?): accumulators[index].admit(entered)
            case (nil, nil): true
            }
          if !isApplied { isKnown = false }
        }
      }
    }
    return isKnown
  }

  override func read(_ past: PastView) throws {
    accumulators = try past.accumulate(parts, query)
    isTouched = true
    isStale = false
  }

  override func deliverChange() {
    if isStale || !isTouched { return }
    isTouched = false
    let results = accumulators.map(\.result)
    if let shown, zip(shown, results).allSatisfy({ $0.isSame(as: $1) }) { return }
    shown = results
    callback.call { $0(results) }
  }
}
