// ResultObserver: who observes the result of a query.

/// Who observes a result. It is told the rows that are shown.
///
/// Unchecked as `Observer` is.
final class ResultObserver: HandlingObserver<ContiguousArray<Row>>, @unchecked Sendable {
  let query: Query
  // An observer is used by one delivery at a time, which touches its properties for a moment only, so exclusivity holds without a
  // check.

  @exclusivity(unchecked) private(set) var window: ResultWindow
  /// What has touched the result in the transaction that is being delivered.
  @exclusivity(unchecked) private var touches: [ResultWindow.Touch] = []
  @exclusivity(unchecked) private var match = Match.unknown
  @exclusivity(unchecked) private var sortKeys: [SortKey]?
  /// Whether there is something to be told.
  @exclusivity(unchecked) private var isChanged = false
  /// Its place among those that are looked at for every change.
  var place = -1

  /// How it is known whether a row matches.
  private enum Match {
    /// By the condition, which is compiled when the first row is in question: most observers never see one.
    case unknown
    /// All rows under its path do.
    case path
    /// Those with this text do.
    case text(String)
    case condition(Program)
    case always
  }

  init(
    _ type: TypeObservers, _ query: Query, _ rows: ContiguousArray<Row>,
    _ handler: @escaping Handler
  ) {
    self.query = query
    window = ResultWindow(rows, limit: query.limit)
    super.init(type, handler)
  }

  /// The observer is going to be registered.
  /// - Parameter net: Under which paths; nil if every change is looked at.
  func prepare(_ net: AccessPath.Net?) {
    if query.condition == nil {
      match = .always
    } else if let net, net.isExact, let path = net.paths.first {
      match = if case .equal(_, .string(let text)) = path { .text(text) } else { .path }
    }
  }

  // MARK: Changes

  /// Looks at a change that was found under one of the observer's paths, or is to be looked at anyway.
  /// - Parameters:
  ///   - index: The change's place in the transaction.
  ///   - reader: Reads the field of the path.
  ///   - isOld: Whether the old row is under the path.
  ///   - isNew: Whether the new row is.
  /// - Returns: Whether this is the first change that touches the result.
  func meet(
    _ change: RowChange, _ index: Int, _ reader: ColumnReader?, isOld: Bool, isNew: Bool
  ) -> Bool {
    if case .unknown = match, let condition = query.condition {
      match = .condition(Program(condition))
    }
    let wasIn: Bool
    let isIn: Bool
    switch match {
    case .always:
      wasIn = change.old != nil
      isIn = change.new != nil
    case .path:
      wasIn = isOld
      isIn = isNew
    case .text(let text):
      wasIn = isOld && reader?.reads(text, in: change.old) == true
      isIn = isNew && reader?.reads(text, in: change.new) == true
    case .condition(let program):
      // It may have been met under another path.
      if touches.last?.change == index { return false }
      wasIn = change.old?.read(program.evaluate) == .true
      isIn = change.new?.read(program.evaluate) == .true
    case .unknown: return false
    }
    if !wasIn, !isIn { return false }
    if let last = touches.last, last.change == index {
      touches[touches.count - 1].wasIn = last.wasIn || wasIn
      touches[touches.count - 1].isIn = last.isIn || isIn
      return false
    }
    touches.append(ResultWindow.Touch(change: index, wasIn: wasIn, isIn: isIn))
    return touches.count == 1
  }

  private var order: [SortKey] {
    if let sortKeys { return sortKeys }
    let keys = query.order.map(SortKey.init)
    sortKeys = keys
    return keys
  }

  /// Works in what it has met.
  /// - Returns: Whether the result must be read again.
  func apply(_ changes: [RowChange]) -> Bool {
    defer { touches = [] }
    if isStale { return true }
    isChanged = window.apply(touches, of: changes, order: order) || isChanged
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
    tell(window.visible)
  }
}

extension ColumnReader {
  /// Whether a row has a text in the field.
  fileprivate func reads(_ text: String, in row: Row?) -> Bool {
    guard let row else { return false }
    return row.read { table in
      guard case .text(let bytes) = read(table) else { return false }
      var text = text
      return text.withUTF8 { equalBytes(UnsafeRawBufferPointer($0), bytes) }
    }
  }
}
