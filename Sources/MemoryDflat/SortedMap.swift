// SortedMap: a sorted map whose copies share their common parts.
//
// It is a B+ tree. A copy costs one reference count; the first change after it copies the nodes on
// one path from the root to a leaf, and later changes of these nodes happen in place. Invariants:
//
//  - All values are in leaves, and all leaves have the same depth.
//  - The key of a child is not greater than any key in the child, and greater than all keys in the
//    children before it. The key of a node's first child is not used.
//  - No node but the root is empty, and none has more than `capacity` entries.
//  - A node is changed only while it has one reference, so a shared node never changes.
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
    let sibling = key.withView { Node.set(&root, $0, key, value, &old) }
    if let sibling { root = Node(root, sibling) }
    if old == nil { count += 1 }
    return old
  }

  /// Removes a key.
  /// - Returns: Its value.
  @discardableResult
  mutating func remove(_ key: KeyView) -> Value? {
    guard let old = Node.remove(&root, key) else { return nil }
    count -= 1
    while root.count == 1, let children = root.children { root = children[0] }
    return old
  }

  /// Calls `body` with the keys in a range and their values, until it returns false. They are where
  /// the map has them, so that `body` retains only what it needs.
  func forEach(
    in range: KeyRange = KeyRange(), descending: Bool = false,
    _ body: (UnsafePointer<SortKey>, UnsafePointer<Value>) throws -> Bool
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
private let capacity = 64

/// A node. Its memory has room for one entry too many.
///
/// Unchecked: its entries are in memory that it points to. A node is changed only while it has one
/// reference, which is that of the map or node that is being changed; so no other thread can have
/// it, and one that several threads have never changes.
private final class Node<Value: Sendable>: @unchecked Sendable {
  private(set) var count: Int
  private let keys: UnsafeMutablePointer<SortKey>
  /// In leaves only.
  private let values: UnsafeMutablePointer<Value>?
  /// In inner nodes only.
  let children: UnsafeMutablePointer<Node>?

  /// An empty leaf.
  init() { (count, keys, values, children) = (0, .make(), .make(), nil) }

  /// A root above two nodes.
  init(_ left: Node, _ right: Node) {
    (count, keys, values, children) = (0, .make(), nil, .make())
    _ = insert(left, children, key: left.keys[0], at: 0)
    _ = insert(right, children, key: right.keys[0], at: 1)
  }

  /// Copies another node, or moves its entries from a position on.
  private init(_ other: Node, movingFrom start: Int? = nil) {
    let (start, isMoved) = (start ?? 0, start != nil)
    let range = start..<other.count
    keys = .make(other.keys, range, isMoved)
    values = other.values.map { .make($0, range, isMoved) }
    children = other.children.map { .make($0, range, isMoved) }
    count = range.count
    if isMoved { other.count = start }
  }

  deinit {
    keys.destroy(count)
    values?.destroy(count)
    children?.destroy(count)
  }

  // MARK: Searching

  /// The position of a key, or where it has to be inserted.
  @inline(__always)
  private func search(_ key: KeyView) -> (place: Int, isFound: Bool) {
    var low = 0
    var high = count
    // Ascending keys are appended.
    var middle = high - 1
    while low < high {
      let order = keys[middle].compare(key)
      if order == 0 { return (middle, true) }
      if order < 0 { low = middle &+ 1 } else { high = middle }
      middle = (low &+ high) >> 1
    }
    return (low, false)
  }

  /// The position of the child that may contain a key.
  @inline(__always)
  private func child(for key: KeyView) -> Int {
    let (place, isFound) = search(key)
    return isFound ? place : max(0, place - 1)
  }

  func find(_ key: KeyView) -> Value? {
    if let children {
      // This node keeps its child, so that it need not be retained.
      return UnsafeRawPointer(children + child(for: key)).load(as: Unmanaged<Node>.self)
        ._withUnsafeGuaranteedRef { $0.find(key) }
    }
    let (place, isFound) = search(key)
    return isFound ? values?[place] : nil
  }

  /// - Returns: Whether to continue.
  func forEach(
    in range: KeyRange, _ descending: Bool,
    _ body: (UnsafePointer<SortKey>, UnsafePointer<Value>) throws -> Bool
  ) rethrows -> Bool {
    func place(_ key: KeyView) -> Int { children == nil ? search(key).place : child(for: key) }
    let start = range.lower?.withView(place) ?? 0
    // The child that may contain the upper bound has lesser keys, too.
    let end = range.upper?.withView { place($0) + (children == nil ? 0 : 1) } ?? count
    for step in 0..<max(0, end - start) {
      let place = descending ? end - 1 - step : start + step
      if let values, try !body(keys + place, values + place) { return false }
      if let children, try !children[place].forEach(in: range, descending, body) { return false }
    }
    return true
  }

  // MARK: Changes

  /// - Returns: The right half of the node if it was split.
  static func set(
    _ node: inout Node, _ view: KeyView, _ key: SortKey, _ value: Value, _ old: inout Value?
  ) -> Node? {
    if !isKnownUniquelyReferenced(&node) { node = Node(node) }
    if let children = node.children {
      let place = node.child(for: view)
      guard let right = set(&children[place], view, key, value, &old) else { return nil }
      return node.insert(right, children, key: right.keys[0], at: place + 1)
    }
    let (place, isFound) = node.search(view)
    guard isFound else { return node.insert(value, node.values, key: key, at: place) }
    old = node.values?[place]
    node.values?[place] = value
    return nil
  }

  @inline(__always)
  private func insert<T>(
    _ new: T, _ memory: UnsafeMutablePointer<T>?, key: SortKey, at place: Int
  ) -> Node? {
    keys.insert(key, at: place, of: count)
    memory?.insert(new, at: place, of: count)
    count += 1
    // Of ascending keys only the new entry moves, so that they fill their nodes.
    return count > capacity
      ? Node(self, movingFrom: place == count - 1 ? place : count / 2) : nil
  }

  static func remove(_ node: inout Node, _ key: KeyView) -> Value? {
    if !isKnownUniquelyReferenced(&node) { node = Node(node) }
    guard let children = node.children else {
      let (place, isFound) = node.search(key)
      return isFound ? node.remove(node.values, at: place) : nil
    }
    let place = node.child(for: key)
    let old = remove(&children[place], key)
    if children[place].count == 0 { _ = node.remove(children, at: place) }
    return old
  }

  private func remove<T>(_ memory: UnsafeMutablePointer<T>?, at place: Int) -> T? {
    count -= 1
    _ = keys.remove(at: place, leaving: count)
    return memory?.remove(at: place, leaving: count)
  }

  /// - Returns: The keys below, and the depth.
  func check(isRoot: Bool = false) -> (keys: [SortKey], depth: Int) {
    precondition(isRoot || count > 0, "a node is empty")
    precondition(count <= capacity, "a node is too large")
    var (all, depth) = (Array(UnsafeBufferPointer(start: keys, count: count)), 0)
    if let children {
      (all, depth) = children[0].check()
      for place in 1..<count {
        let below = children[place].check()
        precondition(all[all.count - 1] < keys[place], "a child has keys of the next one")
        precondition(keys[place] <= below.keys[0], "a child begins before its key")
        precondition(below.depth == depth, "leaves are not equally deep")
        all += below.keys
      }
      depth += 1
    }
    precondition(zip(all, all.dropFirst()).allSatisfy { $0 < $1 }, "keys are out of order")
    return (all, depth)
  }
}

/// The memory of a node.
extension UnsafeMutablePointer {
  fileprivate static func make() -> Self { allocate(capacity: capacity + 1) }

  fileprivate static func make(_ source: Self, _ range: Range<Int>, _ isMoved: Bool) -> Self {
    let memory = make()
    if isMoved {
      memory.moveInitialize(from: source + range.lowerBound, count: range.count)
    } else {
      memory.initialize(from: source + range.lowerBound, count: range.count)
    }
    return memory
  }

  fileprivate func destroy(_ count: Int) {
    deinitialize(count: count)
    deallocate()
  }

  @inline(__always)
  fileprivate func insert(_ new: Pointee, at place: Int, of count: Int) {
    (self + place + 1).moveInitialize(from: self + place, count: count - place)
    (self + place).initialize(to: new)
  }

  fileprivate func remove(at place: Int, leaving count: Int) -> Pointee {
    let old = (self + place).move()
    (self + place).moveInitialize(from: self + place + 1, count: count - place)
    return old
  }
}
