// ResultObserver: who observes the result of a query.

/// Who observes a result. It is told the rows that are shown.
///
/// Unchecked as `Observer` is.
final class ResultObserver: Observer, @unchecked Sendable {
  typealias Handler = @Sendable (ContiguousArray<Row>, ResultOrigin) -> Void

  /// Where the result comes from that it was given, and with which later ones are told: with what is known of them they are as old.
  private let origin: ResultOrigin
  // An observer is used by one delivery at a time, which touches its properties for a moment only, so exclusivity holds without a
  // check.

  @exclusivity(unchecked) private(set) var window: ResultWindow
  /// What has touched the result in the transaction that is being delivered.
  @exclusivity(unchecked) private var touches = ResultTouches()
  @exclusivity(unchecked) private var match = Match.unknown
  /// Whether there is something to be told.
  @exclusivity(unchecked) private var isChanged = false
  /// Written by who lets go of it, when nobody calls it any more.
  @exclusivity(unchecked) private var handler: Handler?
  /// The text that rows must have.
  @exclusivity(unchecked) private var text = ""
  @exclusivity(unchecked) private var sortKeys: [SortKey]?
  /// The condition, once it was in question, and the fields that it depends on.
  @exclusivity(unchecked) private var program: Program?
  @exclusivity(unchecked) private var mask: UInt64 = 0
  /// Its place among those that are looked at for every change.
  var place = -1

  /// How it is known whether a row matches.
  private enum Match {
    /// By the condition, which is compiled when the first row is in question: most observers never see one.
    case unknown
    /// All rows under its path do.
    case path
    /// Those with its text do.
    case text
    case condition
    case always
  }

  /// Which rows of a change are under a path.
  enum Side {
    case old, new
    /// Those that there are; if there are two, both have one value there.
    case both
  }

  var query: Query { origin.query }

  init(
    _ type: TypeObservers, _ origin: ResultOrigin, _ rows: ContiguousArray<Row>,
    _ handler: @escaping Handler
  ) {
    self.origin = origin
    self.handler = handler
    window = ResultWindow(rows, limit: origin.query.limit)
    super.init(type)
  }

  override func dropHandler() {
    // What it has captured may end here, and do anything.
    let last = handler.take()
    withExtendedLifetime(last) {}
  }

  /// The observer is going to be registered.
  /// - Parameter net: Under which paths; nil if every change is looked at.
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

  /// Looks at a change that was found under one of the observer's paths, or is to be looked at anyway.
  /// - Parameters:
  ///   - index: The change's place in the transaction.
  ///   - side: Which of its rows are there.
  ///   - value: What they have there, if it is a text.
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
      // Other texts may have the same hash.
      guard let value, text.withUTF8({ equalBytes(UnsafeRawBufferPointer($0), value) }) else {
        return false
      }
    case .condition, .unknown:
      // It may have been met under another path.
      if touches.last?.change == UInt32(index) { return false }
      (wasIn, isIn) = evaluate(change.pointee)
      if !wasIn, !isIn { return false }
    }
    return touches.add(UInt32(index), wasIn, isIn)
  }

  private func evaluate(_ change: RowChange) -> (wasIn: Bool, isIn: Bool) {
    guard let program = program ?? compile() else { return (false, false) }
    let isIn = change.new?.read(program.evaluate) == .true
    // Nothing has changed that the condition looks at.
    if change.fields & mask == 0, change.old != nil, change.new != nil { return (isIn, isIn) }
    return (change.old?.read(program.evaluate) == .true, isIn)
  }

  private func compile() -> Program? {
    match = .condition
    query.condition?.forEachField { mask |= $0.rootMask }
    program = query.condition.map { Program($0) }
    return program
  }

  private var order: [SortKey] {
    if let sortKeys { return sortKeys }
    let keys = query.order.map(SortKey.init)
    sortKeys = keys
    return keys
  }

  /// Works in what it has met.
  /// - Parameters:
  ///   - orders: The orders of the results that the transaction touches.
  ///   - replaced: Gets rows that are not kept any more.
  /// - Returns: Whether the result must be read again.
  func apply(_ orders: inout ChangeRanks.Table, _ replaced: inout ReplacedRows) -> Bool {
    let touches = touches
    self.touches = ResultTouches()
    if isStale { return true }
    let order = orders.order(query.order, order, touching: touches.count)
    if window.apply(touches, in: order, &replaced) { isChanged = true }
    return window.isShort
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
        // What was fetched before it was migrated has no id.
        ($0.id == $1.id || $0.id < 0) && $0.equals($1, as: query.schema.layout)
      }
  }

  override func tellNews() {
    // What is not whole is told when it could be read.
    if isStale || !isChanged { return }
    isChanged = false
    call { handler?(window.visible, origin) }
  }
}
