// SortedMap: a sorted map whose copies share their common parts.
//
// It is a B+ tree of arrays. A copy costs one reference count; the first change after it copies the
// nodes on one path from the root to a leaf, and later changes of these nodes happen in place.
// Invariants:
//
//  - All values are in leaves, and all leaves have the same depth.
//  - A leaf has a key for each value. An inner node has a key for each child that is not greater
//    than any key in the child and greater than all keys in the children before it.
//  - No node but the root is empty, and none has more than `capacity` entries.
//
// Removals may leave nodes nearly empty. Such nodes are not merged; an empty one is removed.

/// A sorted map.
struct SortedMap<Key: Comparable & Sendable, Value: Sendable>: Sendable {
  private var root = Node()
  /// The number of keys.
  private(set) var count = 0

  /// The greatest key.
  var lastKey: Key? {
    var node = root
    while let child = node.children.last { node = child }
    return node.keys.last
  }

  /// The value of a key.
  subscript(key: Key) -> Value? { root.find(key) }

  /// Sets the value of a key.
  /// - Returns: The previous value.
  @discardableResult
  mutating func set(_ key: Key, _ value: Value) -> Value? {
    let (old, sibling) = root.set(key, value)
    if let sibling {
      let left = root
      root = Node()
      root.keys = [left.keys[0], sibling.keys[0]]
      root.children = [left, sibling]
    }
    if old == nil { count += 1 }
    return old
  }

  /// Removes a key.
  /// - Returns: Its value.
  @discardableResult
  mutating func remove(_ key: Key) -> Value? {
    guard let old = root.remove(key) else { return nil }
    count -= 1
    while root.children.count == 1 { root = root.children[0] }
    return old
  }

  /// Calls `body` with keys and values in ascending order, until it returns false.
  ///
  /// - Parameter isBefore: Whether a key comes before the wanted ones. It must be true for a prefix
  ///   of the keys, which may be empty.
  func forEach(
    after isBefore: (Key) -> Bool = { _ in false }, _ body: (Key, Value) throws -> Bool
  ) rethrows {
    _ = try root.forEach(after: isBefore, body)
  }

  /// The same in descending order.
  ///
  /// - Parameter isBehind: Whether a key comes after the wanted ones. It must be true for a suffix
  ///   of the keys, which may be empty.
  func forEachReversed(
    before isBehind: (Key) -> Bool = { _ in false }, _ body: (Key, Value) throws -> Bool
  ) rethrows {
    _ = try root.forEachReversed(before: isBehind, body)
  }

  /// Traps, in debug builds, if an invariant at the top of this file is violated.
  func _checkInvariants() {
    #if DEBUG
      precondition(root.check(isRoot: true).count == count, "the number of keys is wrong")
    #endif
  }
}

extension SortedMap {
  private static var capacity: Int { 64 }

  private struct Node: Sendable {
    var keys: ContiguousArray<Key> = []
    /// Empty in inner nodes.
    var values: ContiguousArray<Value> = []
    /// Empty in leaves.
    var children: ContiguousArray<Node> = []

    private var isLeaf: Bool { children.isEmpty }

    /// The length of the prefix of keys for which `isFirst` holds.
    @inline(__always)
    private func count(where isFirst: (Key) -> Bool) -> Int {
      var low = 0
      var high = keys.count
      while low < high {
        let middle = (low + high) / 2
        if isFirst(keys[middle]) { low = middle + 1 } else { high = middle }
      }
      return low
    }

    /// The child that contains a key, if any does.
    @inline(__always)
    private func child(for key: Key) -> Int { max(0, count { $0 <= key } - 1) }

    func find(_ key: Key) -> Value? {
      if !isLeaf { return children[child(for: key)].find(key) }
      let place = count { $0 < key }
      return place < keys.count && keys[place] == key ? values[place] : nil
    }

    /// - Returns: The old value, and the right half of the node if it was split.
    mutating func set(_ key: Key, _ value: Value) -> (old: Value?, sibling: Node?) {
      if isLeaf {
        let place = count { $0 < key }
        if place < keys.count, keys[place] == key {
          let old = values[place]
          values[place] = value
          return (old, nil)
        }
        keys.insert(key, at: place)
        values.insert(value, at: place)
        return (nil, splitIfFull(isAppended: place == keys.count - 1))
      }
      let place = child(for: key)
      let (old, sibling) = children[place].set(key, value)
      if place == 0, key < keys[0] { keys[0] = key }
      guard let sibling else { return (old, nil) }
      keys.insert(sibling.keys[0], at: place + 1)
      children.insert(sibling, at: place + 1)
      return (old, splitIfFull(isAppended: place == children.count - 2))
    }

    /// - Parameter isAppended: Whether the last entry is new. Then only that entry moves, so that
    ///   ascending keys fill their nodes.
    private mutating func splitIfFull(isAppended: Bool) -> Node? {
      guard keys.count > SortedMap.capacity else { return nil }
      let middle = isAppended ? keys.count - 1 : keys.count / 2
      var sibling = Node()
      sibling.keys = ContiguousArray(keys[middle...])
      keys.removeSubrange(middle...)
      if isLeaf {
        sibling.values = ContiguousArray(values[middle...])
        values.removeSubrange(middle...)
      } else {
        sibling.children = ContiguousArray(children[middle...])
        children.removeSubrange(middle...)
      }
      return sibling
    }

    mutating func remove(_ key: Key) -> Value? {
      if isLeaf {
        let place = count { $0 < key }
        guard place < keys.count, keys[place] == key else { return nil }
        keys.remove(at: place)
        return values.remove(at: place)
      }
      let place = child(for: key)
      let old = children[place].remove(key)
      if children[place].keys.isEmpty {
        keys.remove(at: place)
        children.remove(at: place)
      }
      return old
    }

    /// - Returns: Whether to continue.
    func forEach(
      after isBefore: (Key) -> Bool, _ body: (Key, Value) throws -> Bool
    ) rethrows -> Bool {
      let start = count(where: isBefore)
      if isLeaf {
        for place in start..<keys.count where try !body(keys[place], values[place]) {
          return false
        }
      } else {
        for place in max(0, start - 1)..<children.count {
          if try !children[place].forEach(after: isBefore, body) { return false }
        }
      }
      return true
    }

    /// - Returns: Whether to continue.
    func forEachReversed(
      before isBehind: (Key) -> Bool, _ body: (Key, Value) throws -> Bool
    ) rethrows -> Bool {
      let end = count { !isBehind($0) }
      if isLeaf {
        for place in (0..<end).reversed() where try !body(keys[place], values[place]) {
          return false
        }
      } else {
        for place in (0..<end).reversed() {
          if try !children[place].forEachReversed(before: isBehind, body) { return false }
        }
      }
      return true
    }

    /// - Returns: The number of keys below, and the depth.
    func check(isRoot: Bool) -> (count: Int, depth: Int) {
      precondition(isRoot || !keys.isEmpty, "a node is empty")
      precondition(keys.count <= SortedMap.capacity, "a node is too large")
      precondition(zip(keys, keys.dropFirst()).allSatisfy { $0 < $1 }, "keys are out of order")
      if isLeaf {
        precondition(keys.count == values.count, "a leaf has as many keys as values")
        return (keys.count, 0)
      }
      precondition(keys.count == children.count, "an inner node has a key for each child")
      var total = 0
      var depths: Set<Int> = []
      for (place, child) in children.enumerated() {
        precondition(keys[place] <= child.keys[0], "a child begins before its key")
        if place > 0 {
          precondition(children[place - 1].keys[children[place - 1].keys.count - 1] < keys[place])
        }
        let (count, depth) = child.check(isRoot: false)
        total += count
        depths.insert(depth + 1)
      }
      precondition(depths.count == 1, "leaves are not equally deep")
      return (total, depths.first ?? 0)
    }
  }
}
