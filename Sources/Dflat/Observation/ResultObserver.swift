// ResultObserver: an observer of the result of a query.

/// An observer of a result. Its handler gets the visible rows.
///
/// Unchecked as `Observer` is: the window and the sort keys belong to the delivery queue.
final class ResultObserver: QueryObserver, @unchecked Sendable {
  typealias Handler = @Sendable (ContiguousArray<Row>, ResultOrigin) -> Void

  /// The origin of the result that the caller passed in. Later results are delivered with the same
  /// origin, because no later time of reading is known for them.
  private let origin: ResultOrigin
  // An observer is used by one delivery at a time, which accesses its properties only briefly, so
  // exclusivity holds without dynamic checks.

  @exclusivity(unchecked) private(set) var window: ResultWindow
  /// Whether there is a change to deliver.
  @exclusivity(unchecked) private var isChanged = false
  private let callback: Callback<Handler>
  @exclusivity(unchecked) private var sortKeys: [SortKey]?
  /// The rows that were delivered last, for a query with an offset: a change before the offset may
  /// shift other rows or none.
  @exclusivity(unchecked) private var shown: ContiguousArray<Row>?

  init(
    _ type: TypeObservers, _ origin: ResultOrigin, _ rows: ContiguousArray<Row>,
    _ handler: @escaping Handler
  ) {
    self.origin = origin
    callback = Callback(handler)
    let query = origin.query
    window = ResultWindow(rows, limit: query.limitWithOffset)
    // The rows before the offset are not known yet; registering the observer reads them.
    if query.offset > 0 { shown = rows }
    super.init(type, query, callback)
  }

  /// The rows that the handler gets.
  private var visible: ContiguousArray<Row> {
    query.offset == 0 ? window.visible : ContiguousArray(window.visible.dropFirst(query.offset))
  }

  private var order: [SortKey] {
    if let sortKeys { return sortKeys }
    let keys = query.order.map(SortKey.init)
    sortKeys = keys
    return keys
  }

  override func apply(
    _ touches: ResultTouches, _ orders: inout ChangeRanks.Table, _ replaced: inout ReplacedRows
  ) -> Bool {
    let order = orders.order(query.order, order, touching: touches.count)
    if window.apply(touches, in: order, &replaced) { isChanged = true }
    var isFailed = false
    for key in order.keys where !key.program.calls.isEmpty {
      if key.program.failures.take(query.schema) != nil { isFailed = true }
    }
    return window.isShort || isFailed
  }

  // MARK: Reading

  override func read(_ past: PastView) throws {
    let before = visible
    let wider = Query(
      schema: query.schema, condition: query.condition, order: query.order,
      limit: query.limitWithOffset.map(ResultWindow.capacity))
    let (rows, isComplete) = try past.rows(wider)
    window.replace(rows, isComplete: isComplete)
    isStale = false
    if !isChanged { isChanged = query.offset > 0 || !isSame(before, visible) }
  }

  private func isSame(_ left: ContiguousArray<Row>, _ right: ContiguousArray<Row>) -> Bool {
    left.count == right.count
      && left.elementsEqual(right) {
        // A row that was fetched before it was migrated has no id.
        ($0.id == $1.id || $0.id < 0) && $0.equals($1, as: query.schema.layout)
      }
  }

  override func deliverChange() {
    // A result with missing rows is delivered after it could be read again.
    if isStale || !isChanged { return }
    isChanged = false
    let visible = visible
    if let last = shown {
      if isSame(last, visible) { return }
      shown = visible
    }
    callback.call { $0(visible, origin) }
  }
}
