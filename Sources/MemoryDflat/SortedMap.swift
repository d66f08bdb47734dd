// SortedMap: a sorted map whose copies share their common parts.
//
// It is a B+ tree of arrays, of which copies share the memory. A copy of the map costs two
// reference counts; the first change after it copies the arrays on one path from the root to a
// leaf, and later changes of these happen in place. Invariants:
//
//  - All values are in leaves, and all leaves have the same depth.
//  - The key of a child is not greater than any key in the child, and greater than all keys in the
//    children before it. The key of a node's first child is not used.
//  - No node but the root is empty, and none has more than `mostEntries`.
//
// Removals may leave nodes nearly empty. Such nodes are not merged; an empty one is removed.

/// A sorted map.
struct SortedMap<Value: Sendable>: Sendable {
  private var root = Node<Value>()
  /// The number of keys.
  private(set) var count = 0

  /// The value of a key.
  func find(_ key: KeyView) -> Value? { root.find(key) }

  /// Sets the value of a key.
  /// - Returns: The previous value.
  @discardableResult
  mutating func set(_ key: SortKey, _ value: Value) -> Value? {
    var old: Value?
    if let right = key.withView({ root.set($0, key, value, &old) }) {
      root = Node(children: [root, right].map { Entry(key: $0.firstKey, content: $0) })
    }
    if old == nil { count += 1 }
    return old
  }

  /// Removes a key.
  /// - Returns: Its value.
  @discardableResult
  mutating func remove(_ key: KeyView) -> Value? {
    guard let old = root.remove(key) else { return nil }
    count -= 1
    while root.children.count == 1 { root = root.children[0].content }
    return old
  }

  /// Calls `body` with the keys in a range and their values, until it returns false.
  func forEach(
    in range: KeyRange = KeyRange(), descending: Bool = false,
    _ body: (SortKey, Value) throws -> Bool
  ) rethrows {
    _ = try root.forEach(in: range, descending, body)
  }

  /// Traps, in debug builds, if an invariant at the top of this file is violated.
  func _checkInvariants() {
    #if DEBUG
      precondition(root.check(isRoot: true).keys.count == count, "the number of keys is wrong")
    #endif
  }
}

/// The greatest number of entries of a node.
private let mostEntries = 64

/// A key of a node, and the value or child that it has there.
private struct Entry<Content: Sendable>: Sendable {
  let key: SortKey
  var content: Content
}

private struct Node<Value: Sendable>: Sendable {
  /// In leaves only.
  var values: [Entry<Value>] = []
  /// In inner nodes only.
  var children: [Entry<Node>] = []

  var count: Int { max(values.count, children.count) }
  var firstKey: SortKey { children.isEmpty ? values[0].key : children[0].key }

  func find(_ key: KeyView) -> Value? {
    if !children.isEmpty {
      return children.withUnsafeBufferPointer { $0[$0.child(for: key)].content.find(key) }
    }
    return values.withUnsafeBufferPointer { values in
      let (place, isFound) = values.search(key)
      return isFound ? values[place].content : nil
    }
  }

  /// - Returns: Whether to continue.
  func forEach(
    in range: KeyRange, _ descending: Bool, _ body: (SortKey, Value) throws -> Bool
  ) rethrows -> Bool {
    func first(_ key: KeyView) -> Int {
      children.isEmpty ? values.search(key).place : children.child(for: key)
    }
    let start = range.lower?.withView(first) ?? 0
    // The child that may contain the upper bound has lesser keys, too.
    let end = range.upper?.withView { first($0) + (children.isEmpty ? 0 : 1) } ?? count
    for step in 0..<max(0, end - start) {
      let place = descending ? end - 1 - step : start + step
      let isWanted =
        children.isEmpty
        ? try body(values[place].key, values[place].content)
        : try children[place].content.forEach(in: range, descending, body)
      if !isWanted { return false }
    }
    return true
  }

  /// - Returns: The right half of the node if it was split.
  mutating func set(
    _ view: KeyView, _ key: SortKey, _ value: Value, _ old: inout Value?
  ) -> Node? {
    if children.isEmpty {
      let (place, isFound) = values.search(view, from: values.count - 1)
      guard isFound else {
        return values.insert(Entry(key: key, content: value), splittingAt: place)
          .map { Node(values: $0) }
      }
      old = values[place].content
      values[place].content = value
      return nil
    }
    // Ascending keys are appended, so the last one is compared first.
    let place = children.child(for: view, from: children.count - 1)
    guard let right = children[place].content.set(view, key, value, &old) else { return nil }
    return children.insert(Entry(key: right.firstKey, content: right), splittingAt: place + 1)
      .map { Node(children: $0) }
  }

  mutating func remove(_ key: KeyView) -> Value? {
    if children.isEmpty {
      let (place, isFound) = values.search(key)
      return isFound ? values.remove(at: place).content : nil
    }
    let place = children.child(for: key)
    let old = children[place].content.remove(key)
    if children[place].content.count == 0 { children.remove(at: place) }
    return old
  }

  /// - Returns: The keys below, and the depth.
  func check(isRoot: Bool = false) -> (keys: [SortKey], depth: Int) {
    precondition(isRoot || count > 0, "a node is empty")
    precondition(count <= mostEntries, "a node is too large")
    let below = children.map { (first: $0.key, check: $0.content.check()) }
    for (left, right) in zip(below.map(\.check), below.dropFirst()) {
      precondition(left.depth == right.check.depth, "leaves are not equally deep")
      precondition(left.keys[left.keys.count - 1] < right.first, "a child has keys of the next one")
      precondition(right.first <= right.check.keys[0], "a child begins before its key")
    }
    let keys = values.map(\.key) + below.flatMap(\.check.keys)
    precondition(zip(keys, keys.dropFirst()).allSatisfy { $0 < $1 }, "keys are out of order")
    return (keys, (below.first?.check.depth ?? 0) + 1)
  }
}

extension RandomAccessCollection where Index == Int {
  /// The position of a key, or where it has to be inserted.
  /// - Parameter first: The position that is compared first; nil for the middle.
  @inline(__always)
  fileprivate func search<Content>(
    _ key: KeyView, from first: Int? = nil
  ) -> (place: Int, isFound: Bool) where Element == Entry<Content> {
    var low = 0
    var high = count
    var middle = first ?? high / 2
    while low < high {
      let order = self[middle].key.compare(key)
      if order == 0 { return (middle, true) }
      if order < 0 { low = middle &+ 1 } else { high = middle }
      middle = (low &+ high) >> 1
    }
    return (low, false)
  }

  /// The position of the child that may contain a key.
  @inline(__always)
  fileprivate func child<Value>(
    for key: KeyView, from first: Int? = nil
  ) -> Int where Element == Entry<Node<Value>> {
    let (place, isFound) = search(key, from: first)
    return isFound ? place : Swift.max(0, place - 1)
  }
}

extension Array {
  /// Inserts an entry.
  /// - Returns: The right half if there are too many entries now.
  @inline(__always)
  fileprivate mutating func insert(_ new: Element, splittingAt place: Int) -> Self? {
    let isLast = place == count
    if isLast { append(new) } else { insert(new, at: place) }
    guard count > mostEntries else { return nil }
    // Of ascending keys only the new entry moves, so that they fill their nodes.
    let half = isLast ? place : count / 2
    var right: Self = []
    right.reserveCapacity(mostEntries + 1)
    right += self[half...]
    removeLast(count - half)
    return right
  }
}
