// ResultObserver: an observer of the result of a query.

/// An observer of a result. Its handler gets the visible rows.
///
/// Unchecked as `Observer` is.
final class ResultObserver: Observer, @unchecked Sendable {
  typealias Handler = @Sendable (ContiguousArray<Row>, ResultOrigin) -> Void

  /// The origin of the result that the caller passed in. Later results are delivered with the same
  /// origin, because no later time of reading is known for them.
  private let origin: ResultOrigin
  // An observer is used by one delivery at a time, which accesses its properties only briefly, so
  // exclusivity holds without dynamic checks.

  @exclusivity(unchecked) private(set) var window: ResultWindow
  /// What the transaction that is being delivered does to the result.
  @exclusivity(unchecked) private var touches = ResultTouches()
  @exclusivity(unchecked) private var match = Match.unknown
  /// Whether there is a change to deliver.
  @exclusivity(unchecked) private var isChanged = false
  /// Written by the thread that releases it, when no call uses it any more.
  @exclusivity(unchecked) private var handler: Handler?
  /// The string that rows must have.
  @exclusivity(unchecked) private var text = ""
  @exclusivity(unchecked) private var sortKeys: [SortKey]?
  /// The condition, compiled when it is first evaluated, and the fields that it depends on.
  @exclusivity(unchecked) private var program: Program?
  @exclusivity(unchecked) private var mask: UInt64 = 0
  /// Whether a function has failed in this transaction, so that the result must be read again.
  @exclusivity(unchecked) private var hasFailed = false
  /// Whether the result depends on a function that may give other results for the same row. Each
  /// change then makes it be read again.
  private let isUnstable: Bool
  /// Its position in the list of observers that look at every change.
  var place = -1

  /// How to decide whether a row matches.
  private enum Match {
    /// By the condition, which is compiled when the first row must be evaluated: most observers
    /// never see one.
    case unknown
    /// All rows under the access path match.
    case path
    /// Rows with the observer's string match.
    case text
    case condition
    case always
  }

  /// Which rows of a change are under an access path.
  enum Side {
    case old, new
    /// Each row that the change has; if there are two, both have the same value.
    case both
  }

  var query: Query { origin.query }

  init(
    _ type: TypeObservers, _ origin: ResultOrigin, _ rows: ContiguousArray<Row>,
    _ handler: @escaping Handler
  ) {
    self.origin = origin
    self.handler = handler
    let query = origin.query
    isUnstable =
      query.condition?.isDeterministic == false
      || !query.order.allSatisfy { $0.node.isDeterministic }
    window = ResultWindow(rows, limit: origin.query.limit)
    super.init(type)
  }

  override func dropHandler() {
    // Releasing it may deinitialize captured objects and run arbitrary code.
    let last = handler.take()
    withExtendedLifetime(last) {}
  }

  /// Prepares the observer before it is registered.
  /// - Parameter net: Its access paths; nil if it looks at every change.
  func prepare(_ net: AccessPath.Net?) {
    if query.condition == nil {
      match = .always
    } else if let net, net.isExact, let path = net.paths.first {
      if case .equal(_, .string(let text)) = path {
        match = .text
        self.text = text
      } else {
        match = .path
      }
    }
  }

  // MARK: Changes

  /// Looks at a change that was found under one of the observer's access paths, or that must be
  /// evaluated anyway.
  /// - Parameters:
  ///   - index: The change's position in the transaction.
  ///   - side: Which of its rows are under the path.
  ///   - value: The value of these rows there, if it is a string.
  /// - Returns: Whether this is the first change that touches the result.
  func meet(
    _ change: UnsafePointer<RowChange>, _ index: Int, _ side: Side,
    _ value: UnsafeRawBufferPointer?
  ) -> Bool {
    var wasIn = side != .new && change.pointee.old != nil
    var isIn = side != .old && change.pointee.new != nil
    switch match {
    case .always, .path: break
    case .text:
      // Different strings may have the same hash.
      guard let value, text.withUTF8({ equalBytes(UnsafeRawBufferPointer($0), value) }) else {
        return false
      }
    case .condition, .unknown:
      // The change may already have been found under another path.
      if touches.last?.change == UInt32(index) { return false }
      (wasIn, isIn) = evaluate(change.pointee)
      if !wasIn, !isIn { return false }
    }
    return touches.add(UInt32(index), wasIn, isIn)
  }

  private func evaluate(_ change: RowChange) -> (wasIn: Bool, isIn: Bool) {
    guard let program = program ?? compile() else { return (false, false) }
    if isUnstable { return (true, true) }
    if !program.calls.isEmpty { return evaluateCalling(program, change) }
    let isIn = change.new?.read(program.evaluate) == .true
    // None of the fields that the condition depends on has changed.
    if change.fields & mask == 0, change.old != nil, change.new != nil { return (isIn, isIn) }
    return (change.old?.read(program.evaluate) == .true, isIn)
  }

  /// As `evaluate`, with functions that may fail.
  private func evaluateCalling(
    _ program: Program, _ change: RowChange
  ) -> (wasIn: Bool, isIn: Bool) {
    let isIn = change.new?.read(program.evaluate) == .true
    let wasIn = change.old?.read(program.evaluate) == .true
    // The error is reported when the result is read again.
    guard program.failures.take(query.schema) != nil else { return (wasIn, isIn) }
    hasFailed = true
    return (true, true)
  }

  private func compile() -> Program? {
    match = .condition
    mask = query.condition?.rootMask ?? 0
    program = query.condition.map { Program($0) }
    return program
  }

  private var order: [SortKey] {
    if let sortKeys { return sortKeys }
    let keys = query.order.map(SortKey.init)
    sortKeys = keys
    return keys
  }

  /// Applies the changes that touch the result.
  /// - Parameters:
  ///   - orders: The orders of the results that the transaction touches.
  ///   - replaced: Receives the rows that are not kept any more.
  /// - Returns: Whether the result must be read again.
  func apply(_ orders: inout ChangeRanks.Table, _ replaced: inout ReplacedRows) -> Bool {
    let touches = touches
    self.touches = ResultTouches()
    let mustRead = hasFailed || isUnstable
    hasFailed = false
    if isStale || mustRead { return true }
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
    let before = window.visible
    let wider = Query(
      schema: query.schema, condition: query.condition, order: query.order,
      limit: query.limit.map(ResultWindow.capacity))
    let (rows, isComplete) = try past.rows(wider)
    window.replace(rows, isComplete: isComplete)
    isStale = false
    if !isChanged { isChanged = !isSame(before, window.visible) }
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
    call { handler?(window.visible, origin) }
  }
}
