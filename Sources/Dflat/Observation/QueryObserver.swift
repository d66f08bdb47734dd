// QueryObserver: an observer of what a query gives.
//
// It decides which changes touch the query's result, and remembers them while the changes of one
// transaction are looked at. What is maintained from them is up to the subclass: the rows of the
// result, an aggregate, or the keys.

/// An observer of what a query gives.
///
/// Unchecked as `Observer` is: its touches and its compiled condition belong to the delivery queue.
class QueryObserver: Observer, @unchecked Sendable {
  let query: Query
  // An observer is used by one delivery at a time, which accesses its properties only briefly, so
  // exclusivity holds without dynamic checks.

  /// What the transaction that is being delivered does to the result.
  @exclusivity(unchecked) private var touches = ResultTouches()
  @exclusivity(unchecked) private var match = Match.unknown
  /// The string that rows must have.
  @exclusivity(unchecked) private var text = ""
  /// The condition, compiled when it is first evaluated, and the fields that it depends on.
  @exclusivity(unchecked) private var program: Program?
  @exclusivity(unchecked) private var mask: UInt64 = 0
  /// Whether a function has failed in this transaction, so that the result must be read again.
  @exclusivity(unchecked) private var hasFailed = false
  /// Whether the result depends on a function that may give other results for the same row. Each
  /// change then makes it be read again.
  final let isUnstable: Bool
  /// Whether it applies changes as differences between rows, and has no rows to compare with.
  var appliesDifferences: Bool { false }
  /// The observer that depends on several types, of which this one is a part.
  var joint: (any JointObserver)? { nil }
  /// Its position in the list of observers that look at every change.
  final var place = -1

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

  /// - Parameter values: What else is computed from the rows.
  init(
    _ type: TypeObservers, _ query: Query, computing values: [Node] = [],
    _ callback: any ClosableCallback
  ) {
    self.query = query
    isUnstable =
      query.condition?.isDeterministic == false
      || !query.order.allSatisfy { $0.node.isDeterministic }
      || !values.allSatisfy(\.isDeterministic)
    super.init(type, callback)
  }

  /// Applies the changes that touch the result.
  /// - Parameters:
  ///   - touches: What each of these changes does.
  ///   - orders: The orders of the results that the transaction touches.
  ///   - replaced: Receives the rows that are not kept any more.
  /// - Returns: Whether the result must be read again.
  func apply(
    _ touches: ResultTouches, _ orders: inout ChangeRanks.Table, _ replaced: inout ReplacedRows
  ) -> Bool { preconditionFailure("QueryObserver is abstract") }

  /// Applies the changes that touch the result, unless it must be read again anyway.
  final func apply(
    _ orders: inout ChangeRanks.Table, _ replaced: inout ReplacedRows
  ) -> Bool {
    let touches = touches
    self.touches = ResultTouches()
    let mustRead = hasFailed || isUnstable
    hasFailed = false
    return isStale || mustRead ? true : apply(touches, &orders, &replaced)
  }

  /// Its access paths; nil if it looks at every change.
  final var covered: AccessPath.CoveredValues? {
    isUnstable ? nil : AccessPath.covered(query.condition)
  }

  /// Prepares the observer before it is registered.
  /// - Parameter covered: Its access paths; nil if it looks at every change.
  final func prepare(_ covered: AccessPath.CoveredValues?) {
    if query.condition == nil {
      match = .always
    } else if let covered, covered.isExact, let path = covered.paths.first {
      if case .equal(_, .string(let text)) = path {
        match = .text
        self.text = text
      } else {
        match = .path
      }
    }
  }

  // MARK: Changes

  /// Applies what other connections have done to rows.
  /// - Returns: Whether the result must be read again: always, unless a subclass knows its rows.
  func apply(_ changed: RereadRows, _ replaced: inout ReplacedRows) -> Bool { true }

  /// Looks at a change that was found under one of the observer's access paths, or that must be
  /// evaluated anyway.
  /// - Parameters:
  ///   - index: The change's position in the transaction.
  ///   - side: Which of its rows are under the path.
  ///   - value: The value of these rows there, if it is a string.
  /// - Returns: Whether this is the first change that touches the result.
  final func examine(
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
}
