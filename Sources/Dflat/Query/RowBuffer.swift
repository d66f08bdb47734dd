// RowBuffer: the rows of a result, on their way from an engine to the objects of a program.
//
// A result of many rows is walked as rarely as possible: each walk over rows that have left the processor's caches costs as
// much as copying them did. So rows are moved from place to place and never retained. It keeps true:
//
//  - the first `count` places hold rows, the others nothing;
//  - a single row that a fetch by key found needs no place: it is in `only`, and there is no memory;
//  - the buffer owns its rows: those that nobody has moved out of it go away with it, also when a fetch fails midway.
//
// The memory is that of `malloc`, so that a large buffer grows without being copied. A row is one reference and may be moved
// as its bits.

import Platform

/// The rows of a result, in order. For engines.
@frozen
public struct RowBuffer: ~Copyable {
  @usableFromInline var start: UnsafeMutablePointer<Row>?
  private var capacity = 0
  /// The only row, if there is no memory for rows. The buffer owns it.
  @usableFromInline var only: Unmanaged<RowStorage>?
  /// How many rows there are.
  public private(set) var count = 0

  /// No rows, and no memory for any.
  public init() {}

  /// One row, or none.
  public init(_ row: consuming Row?) {
    guard let row else { return }
    only = .passRetained(row.storage)
    count = 1
  }

  deinit {
    only?.release()
    elements.deinitialize()
    RowBuffer.deallocate(start)
  }

  /// The rows that are in memory of the buffer: all of them, unless there is one only.
  @usableFromInline
  var elements: UnsafeMutableBufferPointer<Row> {
    UnsafeMutableBufferPointer(start: start, count: start == nil ? 0 : count)
  }

  /// The row at a position, from 0 up.
  public subscript(position: Int) -> Row {
    require(position >= 0 && position < count, "a RowBuffer has no row at \(position)")
    guard let only else { return elements[position] }
    return Row(storage: only.takeUnretainedValue())
  }

  /// Adds a row at the end.
  @inline(__always)
  public mutating func append(_ row: consuming Row) {
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

  /// Moves the rows out, each into what `transform` makes of it.
  /// - Parameter transform: Takes a row over.
  /// - Returns: What was made, in the order of the rows.
  @inlinable
  public consuming func map<T>(_ transform: (consuming Row) -> T) -> [T] {
    let rows = elements
    let only = only
    // From here on the rows are ours, and so is the memory.
    discard self
    if let only { return [transform(Row(storage: only.takeRetainedValue()))] }
    // Making room for nothing would write to the empty array that all threads share.
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
