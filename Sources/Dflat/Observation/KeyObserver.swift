// KeyObserver: an observer of which objects a query gives, for sets of keys.

/// An observer of the objects that enter and leave the result of a query.
///
/// Unchecked as `Observer` is: `event` belongs to the delivery queue.
final class KeyObserver: QueryObserver, @unchecked Sendable {
  typealias Handler = @Sendable (Event) -> Void

  /// What happened to the result.
  enum Event: Sendable {
    /// These are all rows.
    case all(ArraySlice<Row>)
    /// Some rows have left, then others have entered. A row whose key has changed does both.
    case changed(left: [Row], entered: [Row])
    /// The rows could not be read. They are read again after the next change.
    case failed(any Error)
  }

  @exclusivity(unchecked) private var event: Event?
  private let callback: Callback<Handler>

  init(_ type: TypeObservers, _ query: Query, _ handler: @escaping Handler) {
    callback = Callback(handler)
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
      if let old, let new, query.schema.hasSameKey(old, new) { return }
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
    callback.call { $0(.failed(error)) }
  }

  override func deliverChange() {
    guard !isStale, let event = event.take() else { return }
    callback.call { $0(event) }
  }
}
