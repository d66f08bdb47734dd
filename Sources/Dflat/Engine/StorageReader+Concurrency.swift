// Counts and aggregates of large tables: two threads read one half each, if the engine can.
//
// Each thread has a state of its own, so the rows need no lock. What is computed must not depend on
// the order of the rows.

import FlatBuffersRuntime
import Platform

extension StorageReader {
  /// Adds the values of expressions for each row of a query's result to one of two states.
  ///
  /// - Parameters:
  ///   - expressions: What is computed from the rows.
  ///   - query: The query.
  ///   - empty: The state without rows.
  ///   - add: Adds the values for a row, null for unknown ones, to the state of its half.
  /// - Returns: nil if one thread has to read the rows; nothing was added then.
  @inline(__always)
  func valuesConcurrently<State>(
    _ expressions: [ValueExpression], _ query: Query, _ empty: State,
    _ add: @escaping @Sendable (inout State, UnsafeBufferPointer<ColumnValue>) -> Void
  ) throws -> (State, State)? {
    if query.isCut || query.key != nil { return nil }
    var values: ConcurrentValues<State>?
    let isScanned = try scanConcurrently(query.with(query.condition, [])) {
      let made = ConcurrentValues(expressions, empty, failures: query.failures)
      values = made
      return made.scan(add)
    }
    guard isScanned, let values else { return nil }
    try values.readers.throwFailure(query.schema)
    return values.states
  }

  /// The number of rows of a query's result, which are looked at one by one.
  func countRows(_ query: Query) throws -> Int {
    if let halves = try valuesConcurrently([], query, 0, { count, _ in count &+= 1 }) {
      return halves.0 + halves.1
    }
    var count = 0
    _ = try scan(.query(query), .bytes) { _ in
      count &+= 1
      return true
    }
    return count
  }
}

/// What two threads have found, and how they find it.
private struct ConcurrentValues<State> {
  let readers: ExpressionReaders
  private let expressions: [ValueExpression]
  private let failures: FunctionFailures?
  /// Each is used by one of the two threads until the scan returns.
  private let halves: [Confined<HalfOfValues<State>>]

  init(_ expressions: [ValueExpression], _ empty: State, failures: FunctionFailures?) {
    self.expressions = expressions
    self.failures = failures
    readers = ExpressionReaders(expressions)
    halves = (0..<2).map { _ in Confined(shared: HalfOfValues(empty, expressions.count)) }
  }

  /// What the threads have found.
  var states: (State, State) {
    (halves[0].withValue { $0.state }, halves[1].withValue { $0.state })
  }

  /// What receives the rows.
  @inline(__always)
  func scan(
    _ add: @escaping @Sendable (inout State, UnsafeBufferPointer<ColumnValue>) -> Void
  ) -> ConcurrentScan {
    let (readers, halves, failures) = (readers, halves, failures)
    let mayFail = readers.mayFail
    let fields = expressions.filter { $0.constant == nil }.map(\.field)
    return ConcurrentScan(fields: fields.contains { $0 == nil } ? nil : fields.compactMap { $0 }) {
      half, bytes in
      guard let table = TableReader(root: bytes) else { return true }
      return halves[half].withValue { half in
        if !readers.roots.isEmpty {
          for index in readers.roots.indices {
            half.memory[index] = readers.roots[index].value(of: table)
          }
          add(&half.state, UnsafeBufferPointer(rebasing: half.memory[..<readers.roots.count]))
          return true
        }
        return readers.withValues(of: table, in: half.memory) { values in
          if mayFail, readers.hasFailure {
            guard let failures else { return false }
            readers.moveFailure(to: failures)
          }
          add(&half.state, values)
          return true
        }
      }
    }
  }
}

/// What one thread has found.
private final class HalfOfValues<State> {
  @exclusivity(unchecked) var state: State
  /// The values for one row.
  let memory: UnsafeMutableBufferPointer<ColumnValue>

  init(_ state: State, _ count: Int) {
    self.state = state
    memory = .allocate(capacity: max(1, count))
    memory.initialize(repeating: .null)
  }

  deinit { memory.deallocate() }
}
