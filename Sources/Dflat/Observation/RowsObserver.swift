// RowsObserver: an observer of the objects that a query gives, in no order, for what is held in
// memory.

/// An observer of the objects that enter and leave the result of a query, or are changed in it.
///
/// Unchecked as `Observer` is: `event` belongs to the delivery queue.
class RowsObserver: QueryObserver, @unchecked Sendable {
  typealias Handler = @Sendable (Event) -> Void

  /// What happened to the result.
  enum Event: Sendable {
    /// These are all rows.
    case all(ArraySlice<Row>)
    /// Some rows have left, then others have entered. A row that was changed does both.
    case changed(left: [Row], entered: [Row])
    /// The rows could not be read. They are read again after the next change.
    case failed(any Error)
  }

  @exclusivity(unchecked) final var event: Event?
  private let callback: Callback<Handler>
  /// Whether only changes of keys are changes.
  private let watchesKeysOnly: Bool

  init(
    _ type: TypeObservers, _ query: Query, keysOnly: Bool = false, _ handler: @escaping Handler
  ) {
    callback = Callback(handler)
    watchesKeysOnly = keysOnly
    super.init(type, query, callback)
  }

  override func apply(
    _ touches: ResultTouches, _ orders: inout ChangeRanks.Table, _ replaced: inout ReplacedRows
  ) -> Bool {
    if query.isCut { return true }
    var left: [Row] = []
    var entered: [Row] = []
    touches.forEach { touch in
      let change = orders.changes[Int(touch.change)]
      let old = touch.wasIn ? change.old : nil
      let new = touch.isIn ? change.new : nil
      if watchesKeysOnly, let old, let new, query.schema.hasSameKey(old, new) { return }
      if let old { left.append(old) }
      if let new { entered.append(new) }
    }
    if !left.isEmpty || !entered.isEmpty { event = .changed(left: left, entered: entered) }
    return false
  }

  override func read(_ past: PastView) throws {
    event = .all(try past.result(of: query))
    isStale = false
  }

  override func readingFailed(_ error: any Error) {
    callback.call { $0(.failed((error as? Unmigrated)?.cause ?? error)) }
  }

  final override func deliverChange() {
    guard !isStale, let event = event.take() else { return }
    callback.call { $0(event) }
  }
}
