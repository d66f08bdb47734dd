// RelatedSide: what a result across relations observes of one type.
//
// The result itself is in no index. Each of its types has a side in the index of that type: a query
// for the objects whose changes may concern the result. A side only notes the changes that touch
// it. When a transaction has been shown to the observers of all its types, the result takes them.

/// Unchecked as `Observer` is: its properties belong to the delivery queue.
final class RelatedSide: QueryObserver, @unchecked Sendable {
  /// A change, and whether its rows satisfy the side's condition.
  struct Touch {
    let change: RowChange
    let wasIn: Bool
    let isIn: Bool
  }

  @exclusivity(unchecked) private var touches: [Touch] = []
  /// The result; nil once it has ended.
  @exclusivity(unchecked) private(set) var result: (any JointObserver)?

  init(_ type: TypeObservers, _ query: Query, of result: any JointObserver) {
    self.result = result
    super.init(type, query, Callback<@Sendable () -> Void>({}))
  }

  override var joint: (any JointObserver)? { result }

  override func apply(
    _ touches: ResultTouches, _ orders: inout ChangeRanks.Table, _ replaced: inout ReplacedRows
  ) -> Bool {
    touches.forEach { touch in
      self.touches.append(
        Touch(
          change: orders.changes[Int(touch.change)], wasIn: touch.wasIn, isIn: touch.isIn))
    }
    return false
  }

  /// Takes the changes that were noted.
  func takeTouches() -> [Touch] {
    defer { touches = [] }
    return touches
  }

  /// The type alone does not tell what has become of the result.
  override func read(_ past: PastView) {
    isStale = false
    result?.readLater(in: past.workspace)
  }

  override func deliverChange() {}

  /// Leaves the type. Called in a delivery of all types of the result.
  func leave() {
    result = nil
    touches = []
    cancel()
  }
}
