// GroupObserver: an observer of the groups of what a query gives.
//
// The groups are maintained from the changed rows, as single aggregates are; see AggregateObserver.

import FlatBuffersRuntime

/// An observer of groups. Its handler gets all groups.
///
/// Unchecked as `Observer` is: the groups belong to the delivery queue.
final class GroupObserver: QueryObserver, @unchecked Sendable {
  typealias Handler = @Sendable ([GroupResult]) -> Void

  private let parts: GroupedParts
  private let readers: ExpressionReaders
  @exclusivity(unchecked) private var groups: GroupedValues
  /// What the handler got last; nil at first.
  @exclusivity(unchecked) private var shown: [GroupResult]?
  @exclusivity(unchecked) private var isTouched = false
  private let callback: Callback<Handler>

  init(
    _ type: TypeObservers, _ query: Query, _ parts: GroupedParts, _ handler: @escaping Handler
  ) {
    let parts = parts.counted
    let expressions = parts.expressions
    // Locals: the optimiser of Swift 6.3.1 fails if the properties themselves are passed on.
    let callback = Callback(handler)
    self.parts = parts
    self.callback = callback
    readers = ExpressionReaders(expressions)
    groups = GroupedValues(parts)
    super.init(type, query, computing: expressions.map(\.node), callback)
  }

  override func apply(
    _ touches: ResultTouches, _ orders: inout ChangeRanks.Table, _ replaced: inout ReplacedRows
  ) -> Bool {
    if query.isCut { return true }
    isTouched = true
    var isKnown = true
    touches.forEach { touch in
      let change = orders.changes[Int(touch.change)]
      switch (touch.wasIn ? change.old : nil, touch.isIn ? change.new : nil) {
      case (let old?, let new?):
        readers.withValues(of: old) { left in
          readers.withValues(of: new) { if !groups.replace(left, by: $0) { isKnown = false } }
        }
      case (let old?, nil):
        readers.withValues(of: old) { if !groups.remove($0) { isKnown = false } }
      case (nil, let new?):
        readers.withValues(of: new) { if !groups.admit($0) { isKnown = false } }
      case (nil, nil): break
      }
    }
    return !isKnown || readers.hasFailed(query.schema)
  }

  override func read(_ past: PastView) throws {
    groups = try past.group(parts, query)
    isTouched = true
    isStale = false
  }

  override func deliverChange() {
    if isStale || !isTouched { return }
    isTouched = false
    let results = groups.maintainedResults
    if let shown, shown.isSame(as: results) { return }
    shown = results
    callback.call { $0(results) }
  }
}
