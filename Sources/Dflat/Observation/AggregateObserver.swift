// AggregateObserver: an observer of aggregates, or of groups of them, over what a query gives.
//
// They are maintained from the changed rows, and computed again only if that is impossible: see
// MaintainedAggregates. For queries with a limit or an offset it never is possible.

import FlatBuffersRuntime

/// An observer of aggregates. Its handler gets the results.
///
/// Unchecked as `Observer` is: the aggregates and results belong to the delivery queue.
final class AggregateObserver<Aggregates: MaintainedAggregates>: QueryObserver, @unchecked Sendable
{
  typealias Handler = @Sendable (Aggregates.Results) -> Void

  private let readers: ExpressionReaders
  @exclusivity(unchecked) private var aggregates: Aggregates
  /// What the handler got last; nil at first.
  @exclusivity(unchecked) private var shown: Aggregates.Results?
  @exclusivity(unchecked) private var isTouched = false
  /// Whether all changes were applied, and have made some aggregates unknown. Only between `apply`
  /// and the reading that follows it.
  @exclusivity(unchecked) private var isPartlyKnown = false
  private let callback: Callback<Handler>

  init(
    _ type: TypeObservers, _ query: Query, _ aggregates: Aggregates, _ handler: @escaping Handler
  ) {
    let expressions = aggregates.expressions
    // Locals: the optimiser of Swift 6.3.1 fails if the properties themselves are passed on.
    let callback = Callback(handler)
    self.aggregates = aggregates
    self.callback = callback
    readers = ExpressionReaders(expressions)
    let nodes = expressions.map(\.node)
    super.init(type, query, computing: nodes, callback)
  }

  override var appliesDifferences: Bool { !query.isCut }

  override func apply(
    _ touches: ResultTouches, _ orders: inout ChangeRanks.Table, _ replaced: inout ReplacedRows
  ) -> Bool {
    if query.isCut { return true }
    isTouched = true
    if aggregates.onlyCounts {
      var difference = 0
      touches.forEach { difference += ($0.isIn ? 1 : 0) - ($0.wasIn ? 1 : 0) }
      return !aggregates.count(difference)
    }
    var isKnown = true
    touches.forEach { touch in
      let change = orders.changes[Int(touch.change)]
      if !replace(touch.wasIn ? change.old : nil, by: touch.isIn ? change.new : nil) {
        isKnown = false
      }
    }
    if readers.hasFailed(query.schema) { return true }
    isPartlyKnown = !isKnown
    return !isKnown
  }

  /// Replaces a row that has left by one that has entered.
  /// - Returns: Whether all aggregates are still known.
  private func replace(_ old: Row?, by new: Row?) -> Bool {
    var isKnown = true
    switch (old, new) {
    case (let old?, let new?):
      readers.withValues(of: old) { left in
        readers.withValues(of: new) { isKnown = aggregates.replace(left, by: $0) }
      }
    case (let old?, nil): readers.withValues(of: old) { isKnown = aggregates.remove($0) }
    case (nil, let new?): readers.withValues(of: new) { isKnown = aggregates.admit($0) }
    case (nil, nil): break
    }
    return isKnown
  }

  override func read(_ past: PastView) throws {
    let isPartlyKnown = isPartlyKnown
    self.isPartlyKnown = false
    let isKnown = try isPartlyKnown && aggregates.readUnknown(query, in: past)
    if !isKnown { try aggregates.read(query, in: past) }
    isTouched = true
    isStale = false
  }

  override func readingFailed(_ error: any Error) { isPartlyKnown = false }

  override func deliverChange() {
    if isStale || !isTouched { return }
    isTouched = false
    let results = aggregates.results
    if let shown, Aggregates.areSame(shown, results) { return }
    shown = results
    callback.call { $0(results) }
  }
}
