// ResultObserver: an observer of the result of a query.

/// An observer of a result. Its handler gets the visible rows.
///
/// Unchecked as `Observer` is: the window and the sort keys belong to the delivery queue.
class ResultObserver: QueryObserver, @unchecked Sendable {
  typealias Handler = @Sendable (ContiguousArray<Row>, ResultOrigin) -> Void

  /// The origin of the result that the caller passed in. Later results are delivered with the same
  /// origin, because no later time of reading is known for them.
  private let origin: ResultOrigin
  // An observer is used by one delivery at a time, which accesses its properties only briefly, so
  // exclusivity holds without dynamic checks.

  @exclusivity(unchecked) final var window: ResultWindow
  /// Whether there is a change to deliver.
  @exclusivity(unchecked) private var isChanged: Bool
  private let callback: Callback<Handler>
  @exclusivity(unchecked) private var sortKeys: [SortKey]?
  /// The rows that were delivered last, for a query with an offset: a change before the offset may
  /// shift other rows or none.
  @exclusivity(unchecked) private var shown: ContiguousArray<Row>?

  /// - Parameter rows: The result as the program has it; nil if it has none yet, so that the
  ///   first one is delivered.
  init(
    _ type: TypeObservers, _ origin: ResultOrigin, _ rows: ContiguousArray<Row>?,
    _ handler: @escaping Handler
  ) {
    self.origin = origin
    callback = Callback(handler)
    let query = origin.query
    window = ResultWindow(rows ?? [], limit: query.limitWithOffset)
    isChanged = rows == nil
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
    if window.apply(touches, in: order, mayLag: type.mayLag, &replaced) { isChanged = true }
    var isFailed = false
    for key in order.keys where !key.program.calls.isEmpty {
      if key.program.failures.take(query.schema) != nil { isFailed = true }
    }
    return window.isShort || isFailed
  }

  override func apply(_ changed: RereadRows, _ replaced: inout ReplacedRows) -> Bool {
    guard let matches = matches(in: changed) else { return true }
    let matching = Set(matches.map(\.id))
    var changes: [RowChange] = []
    var touches = ResultTouches()
    var held: Set<Int64> = []
    for row in window.rows where changed.ids.contains(row.id) {
      // Own changes of a row whose change by another connection was not delivered yet.
      if !held.insert(row.id).inserted { return true }
      let new = matching.contains(row.id) ? changed[row.id] : nil
      if let new, new.equals(row, as: query.schema.layout) { continue }
      _ = touches.add(UInt32(changes.count), true, new != nil)
      changes.append(RowChange(id: row.id, old: row, new: new, fields: .max))
    }
    for row in matches where !held.contains(row.id) {
      _ = touches.add(UInt32(changes.count), false, true)
      changes.append(RowChange(id: row.id, old: nil, new: row, fields: .max))
    }
    if changes.isEmpty { return false }
    return changes.withUnsafeBufferPointer { changes in
      var orders = ChangeRanks.Table(changes)
      return apply(touches, &orders, &replaced)
    }
  }

  // MARK: Reading

  override func read(_ past: PastView) throws {
    let wider = Query(
      schema: query.schema, condition: query.condition, order: query.order,
      limit: query.limitWithOffset.map(ResultWindow.capacity))
    let (rows, isComplete) = try past.rows(wider)
    take(rows, isComplete: isComplete)
  }

  /// Takes rows that were just read.
  /// - Parameter isComplete: Whether no rows follow these.
  final func take(_ rows: ContiguousArray<Row>, isComplete: Bool) {
    let before = visible
    window.replace(rows, isComplete: isComplete)
    isStale = false
    if !isChanged { isChanged = query.offset > 0 || !isSame(before, visible) }
  }

  /// Notes that there is a change to deliver.
  final func markChanged() { isChanged = true }

  private func isSame(_ left: ContiguousArray<Row>, _ right: ContiguousArray<Row>) -> Bool {
    left.count == right.count
      && left.elementsEqual(right) {
        // A row that was fetched before it was migrated has no id.
        ($0.id == $1.id || $0.id < 0) && $0.equals($1, as: query.schema.layout)
      }
  }

  final override func deliverChange() {
    // A result with missing rows is delivered after it could be read again.
    if isStale || !isChanged { return }
    isChanged = false
    let visible = visible
    if query.offset > 0 {
      if let last = shown, isSame(last, visible) { return }
      shown = visible
    }
    callback.call { $0(visible, origin) }
  }
}
