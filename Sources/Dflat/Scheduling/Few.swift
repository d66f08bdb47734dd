// Few: a list that mostly has one element, which needs no memory of its own.

struct Few<Element>: Sequence {
  private(set) var first: Element?
  private var others: [Element] = []

  /// An empty list.
  init() {}

  var isEmpty: Bool { first == nil }
  var count: Int { first == nil ? 0 : 1 + others.count }

  mutating func append(_ element: Element) {
    if first == nil { first = element } else { others.append(element) }
  }

  mutating func removeAll() { self = Few() }

  mutating func popLast() -> Element? { others.popLast() ?? first.take() }

  struct Iterator: IteratorProtocol {
    fileprivate var first: Element?
    fileprivate var others: ArraySlice<Element>

    mutating func next() -> Element? { first.take() ?? others.popFirst() }
  }

  func makeIterator() -> Iterator { Iterator(first: first, others: others[...]) }
}

extension Few: Sendable where Element: Sendable {}
