// Fifo: a line of things, first in, first out.
//
// An array with the index of its first element. What was taken is let go of at once, and its room given back when it is more
// than half of the array, so each operation costs the same for any length.

struct Fifo<Element> {
  private var elements: [Element?] = []
  private var start = 0

  var isEmpty: Bool { start == elements.count }
  var count: Int { elements.count - start }
  var first: Element? { isEmpty ? nil : elements[start] }

  /// From first to last.
  func forEach(_ body: (Element) -> Void) {
    for index in start..<elements.count {
      if let element = elements[index] { body(element) }
    }
  }

  mutating func append(_ element: Element) {
    elements.append(element)
  }

  /// Takes the first element out that is meant, wherever it stands. It is looked for.
  mutating func remove(where isMeant: (Element) -> Bool) {
    let place = elements[start...].firstIndex { $0.map(isMeant) ?? false }
    guard let place else { return }
    elements.remove(at: place)
    if start == elements.count { clear() }
  }

  private mutating func clear() {
    elements.removeAll(keepingCapacity: start <= 256)
    start = 0
  }

  mutating func popFirst() -> Element? {
    guard start < elements.count else { return nil }
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
}
