// RowBuffer: the rows of a result on their way from an engine to the program's objects.
//
// A large result is traversed as rarely as possible: each traversal of rows that have left the
// processor's caches costs as much as copying them. So rows are moved and never retained.
// Invariants:
//
//  - The first `count` slots contain rows, the others nothing.
//  - A single row, such as the result of a fetch by key, is in `only`, and no memory is allocated.
//  - The buffer owns its rows. Rows that were not moved out are released with it, also when a fetch
//    fails midway.
//
// The memory comes from `malloc`, so that a large buffer can grow without being copied. A row is a
// single reference and can be moved bitwise.

import Platform

/// The rows of a result, in order. For engines.
@frozen
@usableFromInline package struct RowBuffer: ~Copyable {
  @usableFromInline var start: UnsafeMutablePointer<Row>?
  private var capacity = 0
  /// The only row, if no memory is allocated. The buffer owns it.
  @usableFromInline var only: Unmanaged<RowStorage>?
  /// The number of rows.
  package private(set) var count = 0

  /// Creates an empty buffer without allocating memory.
  package init() {}

  /// Creates a buffer with one row or none.
  package init(_ row: consuming Row?) {
    guard let row else { return }
    only = .passRetained(row.storage)
    count = 1
  }

  /// Joins the results of two parts of a plan's candidates.
  /// - Parameters:
  ///   - first: The rows of the first part, as `RowCollector` gives them.
  ///   - second: The rows of the second part, whose row ids are greater.
  ///   - plan: The plan, which cuts off nothing.
  /// - Throws: `FunctionError` if the order calls a function that fails.
  package init(
    _ first: consuming RowBuffer, followedBy second: consuming RowBuffer, of plan: Plan
  ) throws {
    self = first
    for row in second.map({ $0 }) { append(row) }
    if plan.isSortedInMemory, count > 1 {
      let keys = plan.query.order.map(SortKey.init)
      sort(elements, by: keys)
      for key in keys { try key.program.throwFailure(plan.query.schema) }
    }
  }

  deinit {
    only?.release()
    elements.deinitialize()
    RowBuffer.deallocate(start)
  }

  /// The rows in allocated memory: all rows, unless there is only one.
  @usableFromInline
  var elements: UnsafeMutableBufferPointer<Row> {
    UnsafeMutableBufferPointer(start: start, count: start == nil ? 0 : count)
  }

  /// The row at a position, from 0 up.
  package subscript(position: Int) -> Row {
    require(position >= 0 && position < count, "a RowBuffer has no row at \(position)")
    guard let only else { return elements[position] }
    return Row(storage: only.takeUnretainedValue())
  }

  /// Moves the only row out; nil if there is none.
  package consuming func onlyRow() -> Row? {
    guard let row = only.take() else { return count > 0 ? self[0] : nil }
    return Row(storage: row.takeRetainedValue())
  }

  /// The rows, in order.
  func copied() -> [Row] { (0..<count).map { self[$0] } }

  /// Appends a row.
  @inline(__always)
  package mutating func append(_ row: consuming Row) {
    if count >= capacity { grow(to: max(16, capacity * 2)) }
    (start.unsafelyUnwrapped + count).initialize(to: row)
    count &+= 1
  }

  @inline(never)
  private mutating func grow(to capacity: Int) {
    guard
      let memory = realloc(UnsafeMutableRawPointer(start), capacity * MemoryLayout<Row>.stride)
    else { preconditionFailure("there is no memory for a result of \(capacity) objects") }
    let start = memory.assumingMemoryBound(to: Row.self)
    self.start = start
    self.capacity = capacity
    guard let only else { return }
    start.initialize(to: Row(storage: only.takeRetainedValue()))
    self.only = nil
  }

  /// Releases the first rows, at most all of them.
  mutating func removeFirst(_ number: Int) {
    let number = min(number, count)
    if number == 0 { return }
    if let only {
      only.release()
      self.only = nil
    } else {
      let start = start.unsafelyUnwrapped
      start.deinitialize(count: number)
      start.moveInitialize(from: start + number, count: count - number)
    }
    count -= number
  }

  /// Releases the last rows as long as they satisfy a condition.
  mutating func removeLast(while isUnwanted: (Row) -> Bool) {
    while count > 0, isUnwanted(self[count - 1]) {
      if let only {
        only.release()
        self.only = nil
      } else {
        (start.unsafelyUnwrapped + count - 1).deinitialize(count: 1)
      }
      count -= 1
    }
  }

  /// Moves the rows out and transforms each.
  /// - Parameter transform: Takes ownership of a row.
  /// - Returns: The results, in the order of the rows.
  @inlinable
  package consuming func map<T>(_ transform: (consuming Row) -> T) -> [T] {
    let rows = elements
    let only = only
    // From here on this function owns the rows and the memory.
    discard self
    if let only { return [transform(Row(storage: only.takeRetainedValue()))] }
    // Reserving capacity for no elements would write to the empty array that all threads share.
    if rows.isEmpty { return [] }
    defer { RowBuffer.deallocate(rows.baseAddress) }
    return [T](unsafeUninitializedCapacity: rows.count) { places, count in
      for index in rows.indices {
        places.initializeElement(at: index, to: transform(rows.moveElement(from: index)))
      }
      count = rows.count
    }
  }

  @usableFromInline
  static func deallocate(_ memory: UnsafeMutablePointer<Row>?) {
    free(memory)
  }
}
