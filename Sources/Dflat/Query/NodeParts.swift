// NodeParts: the parts of a conjunction or disjunction.
//
// Programs build conditions in loops, `c = c || x` or `c = (c && x) || y`, so there may be very
// many parts, and very many levels of them. Invariants:
//
//  - The list is immutable. Its parts are in chunks, each at least twice as long as the next one
//    outwards, so joining two lists copies, over all, each part a logarithmic number of times.
//  - What bounds the recursion over conditions, `measure`, is known without looking at the parts.
//  - The parts are released in a loop, and not level by level on the stack.

/// The parts of a conjunction or disjunction, from left to right.
@usableFromInline package struct NodeParts: Sendable, Sequence {
  fileprivate let storage: PartsStorage

  /// What is known of the parts.
  var measure: NodeMeasure { storage.measure }

  /// The number of parts.
  package var count: Int { storage.count }

  /// A list of parts.
  @usableFromInline
  init(_ parts: [Node]) {
    storage = PartsStorage(middle: parts)
  }

  /// The parts of two lists, one after the other.
  init(_ left: NodeParts, _ right: NodeParts) {
    storage = PartsStorage(left.storage, right.storage)
  }

  /// The parts as an array.
  var array: [Node] {
    storage.front.isEmpty && storage.back.isEmpty ? storage.middle : Array(storage.chunks.joined())
  }

  /// The parts from left to right.
  @usableFromInline package func makeIterator() -> IndexingIterator<[Node]> { array.makeIterator() }
}

extension NodeParts: ExpressibleByArrayLiteral {
  /// A list of some parts.
  @usableFromInline package init(arrayLiteral parts: Node...) { self.init(parts) }
}

/// The chunks of a list.
///
/// Unchecked: nothing is changed until the last reference is gone, and then by its owner alone.
private final class PartsStorage: @unchecked Sendable {
  /// The chunks before the middle one, from the middle outwards.
  private(set) var front: [[Node]] = []
  /// The longest chunk.
  private(set) var middle: [Node]
  /// The chunks behind the middle one, from the middle outwards.
  private(set) var back: [[Node]] = []
  let measure: NodeMeasure
  let count: Int

  init(middle: [Node]) {
    self.middle = middle
    measure = middle.reduce(into: NodeMeasure(size: 1)) { $0.add($1.measure) }.inConnective
    count = middle.count
  }

  init(_ left: PartsStorage, _ right: PartsStorage) {
    measure = left.measure.joined(with: right.measure)
    count = left.count + right.count
    // The chunks of the shorter list are added to the longer one.
    let longer = left.count < right.count ? right : left
    middle = longer.middle
    front = longer.front
    back = longer.back
    if longer === left {
      for chunk in right.chunks { append(chunk) }
    } else {
      for chunk in left.chunks.reversed() { prepend(chunk) }
    }
  }

  /// All chunks, from left to right.
  var chunks: [[Node]] { front.reversed() + [middle] + back }

  private func append(_ chunk: [Node]) {
    var chunk = chunk
    while let last = back.last {
      if last.count >= 2 * chunk.count { return back.append(chunk) }
      chunk = last + chunk
      back.removeLast()
    }
    if middle.count >= 2 * chunk.count { back.append(chunk) } else { middle += chunk }
  }

  private func prepend(_ chunk: [Node]) {
    var chunk = chunk
    while let first = front.last {
      if first.count >= 2 * chunk.count { return front.append(chunk) }
      chunk += first
      front.removeLast()
    }
    if middle.count >= 2 * chunk.count { front.append(chunk) } else { middle = chunk + middle }
  }

  deinit {
    if measure.levels < 2 { return }
    var pending: [Node] = []
    takeParts(into: &pending)
    while !pending.isEmpty {
      // No other reference to the parts is left here, if there is none elsewhere.
      var inner = pending.removeLast().partsStorage
      if isKnownUniquelyReferenced(&inner) { inner?.takeParts(into: &pending) }
    }
  }

  private func takeParts(into pending: inout [Node]) {
    for chunk in chunks { pending += chunk }
    front = []
    middle = []
    back = []
  }
}

extension Node {
  /// The parts of a connective, or of one that this negates.
  fileprivate var partsStorage: PartsStorage? {
    switch self {
    case .and(let parts), .or(let parts), .not(.and(let parts)), .not(.or(let parts)):
      parts.storage
    default: nil
    }
  }
}
