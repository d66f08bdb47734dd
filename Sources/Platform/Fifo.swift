// A queue: first in, first out.
//
// An array with the index of its first element. A removed element is released at once, and its slot
// is freed when more than half of the array is unused, so the amortised cost of an operation does
// not depend on the length. Inlinable, because other modules use it in loops.

/// A queue of elements, first in, first out.
@usableFromInline
package struct Fifo<Element> {
  @usableFromInline var elements: [Element?] = []
  @usableFromInline var start = 0

  /// An empty queue.
  @inlinable
  package init() {}

  @inlinable package var isEmpty: Bool { start == elements.count }
  @inlinable package var count: Int { elements.count - start }
  @inlinable package var first: Element? { isEmpty ? nil : elements[start] }

  /// Calls `body` with each element, in order.
  @inlinable
  package func forEach(_ body: (Element) -> Void) {
    for index in start..<elements.count {
      if let element = elements[index] { body(element) }
    }
  }

  @inlinable
  package mutating func append(_ element: Element) {
    elements.append(element)
  }

  /// Removes the first element that matches. This searches from the front.
  /// - Returns: Whether there was one.
  @inlinable @discardableResult
  package mutating func remove(where matches: (Element) -> Bool) -> Bool {
    guard let place = elements[start...].firstIndex(where: { $0.map(matches) ?? false }) else {
      return false
    }
    elements.remove(at: place)
    if start == elements.count { clear() }
    return true
  }

  /// Removes all elements.
  /// - Returns: The removed elements, in order.
  @inlinable
  package mutating func removeAll() -> [Element] {
    defer { clear() }
    return elements[start...].compactMap { $0 }
  }

  @inlinable
  package mutating func popFirst() -> Element? {
    guard start < elements.count else { return nil }
    // Most queues have one element, and keep their memory.
    if elements.count == 1 {
      start = 0
      return elements.removeLast()
    }
    let element = elements[start].take()
    start += 1
    if start == elements.count {
      clear()
    } else if start > 256, start * 2 > elements.count {
      elements.removeFirst(start)
      start = 0
    }
    return element
  }

  @usableFromInline
  mutating func clear() {
    elements.removeAll(keepingCapacity: start <= 256)
    start = 0
  }
}

extension Fifo: Sendable where Element: Sendable {}
