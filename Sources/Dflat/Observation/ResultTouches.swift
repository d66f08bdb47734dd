// ResultTouches: what the changes of a transaction do to an observed result.

/// What a change does to a result.
struct ResultTouch {
  /// The change's position in its transaction.
  let change: UInt32
  /// Whether the row matched before, and matches now.
  var wasIn: Bool
  var isIn: Bool
}

/// What the changes of a transaction do to a result, in their order. A single touch, the most
/// common case, needs no allocation.
struct ResultTouches {
  private var first: ResultTouch?
  private var others: ContiguousArray<ResultTouch> = []

  var last: ResultTouch? { others.last ?? first }
  var count: Int { (first == nil ? 0 : 1) + others.count }

  /// Adds what a change does, or merges it into the last touch if that is of the same change.
  /// - Returns: Whether this is the first touch.
  mutating func add(_ change: UInt32, _ wasIn: Bool, _ isIn: Bool) -> Bool {
    guard let known = first else {
      first = ResultTouch(change: change, wasIn: wasIn, isIn: isIn)
      return true
    }
    if others.isEmpty, known.change == change {
      first = ResultTouch(change: change, wasIn: known.wasIn || wasIn, isIn: known.isIn || isIn)
    } else if let last = others.last, last.change == change {
      others[others.count - 1].wasIn = last.wasIn || wasIn
      others[others.count - 1].isIn = last.isIn || isIn
    } else {
      others.append(ResultTouch(change: change, wasIn: wasIn, isIn: isIn))
    }
    return false
  }

  @inline(__always)
  func forEach(_ body: (ResultTouch) -> Void) {
    if let first { body(first) }
    for touch in others { body(touch) }
  }
}
