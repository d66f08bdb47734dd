// DemandBuffer: the newest state, for a reader that asks for a number of values.
//
// What Combine's publishers do, without Combine. It keeps true:
//
//  - no more values are given than were asked for;
//  - a reader that is behind gets the newest value when it asks again, and none twice;
//  - `start` is called once, at the first demand;
//  - values are given one after another, without a lock; the reader may ask for more, or cancel, meanwhile;
//  - the end comes after the last value, which waits until it is asked for; after the end, and after `cancel`, nothing comes,
//    and the reader is let go of.

import Platform

package final class DemandBuffer<Value: Sendable>: Sendable {
  /// How many values are wanted.
  package enum Demand: Sendable {
    case atMost(Int)
    case unlimited

    fileprivate var isNone: Bool { if case .atMost(let count) = self { count <= 0 } else { false } }

    fileprivate mutating func add(_ more: Demand) {
      guard case .atMost(let count) = self, case .atMost(let extra) = more else {
        self = .unlimited
        return
      }
      let (sum, overflow) = count.addingReportingOverflow(extra)
      self = overflow ? .unlimited : .atMost(sum)
    }

    fileprivate mutating func takeOne() {
      if case .atMost(let count) = self { self = .atMost(count - 1) }
    }
  }

  /// What the reader does with a value.
  /// - Returns: How many more it wants.
  package typealias Receive = @Sendable (Value) -> Demand

  private struct Reader: Sendable {
    let receive: Receive
    let finish: @Sendable () -> Void
  }

  private struct State: Sendable {
    var reader: Reader?
    var demand = Demand.atMost(0)
    var newest: Value?
    var isStarted = false
    var isFinished = false
    /// Whether some thread is giving values.
    var isGiving = false
    var subscription: (any WorkspaceSubscription)?
  }

  private let state: Mutex<State>
  private let gate = CallGate()
  private let start: @Sendable (DemandBuffer<Value>) -> (any WorkspaceSubscription)?

  /// - Parameters:
  ///   - receive: Takes a value.
  ///   - finish: Told that there are no more.
  ///   - start: Begins to send values. What it returns is kept, and cancelled at the end.
  package init(
    receive: @escaping Receive, finish: @escaping @Sendable () -> Void,
    start: @escaping @Sendable (DemandBuffer<Value>) -> (any WorkspaceSubscription)?
  ) {
    state = Mutex(State(reader: Reader(receive: receive, finish: finish)))
    self.start = start
  }

  /// The reader asks for more.
  package func request(_ demand: Demand) {
    if demand.isNone { return }
    let isFirst = state.withLock { state in
      if state.reader == nil { return false }
      state.demand.add(demand)
      defer { state.isStarted = true }
      return !state.isStarted
    }
    if isFirst {
      let subscription = start(self)
      let isWanted = state.withLock { state in
        if state.reader != nil { state.subscription = subscription }
        return state.reader != nil
      }
      if !isWanted { subscription?.cancel() }
    }
    give()
  }

  /// There is a new value.
  func send(_ value: Value) {
    state.withLock { state in
      if !state.isFinished { state.newest = value }
    }
    give()
  }

  /// There will be no more values.
  func finish() {
    state.withLock { $0.isFinished = true }
    give()
  }

  /// The reader wants nothing any more.
  package func cancel() {
    _ = gate.close()
    let (reader, subscription) = state.withLock { state in
      defer {
        state.reader = nil
        state.newest = nil
        state.subscription = nil
      }
      return (state.reader, state.subscription)
    }
    subscription?.cancel()
    // Its last release may run the program's code: outside of the lock.
    withExtendedLifetime(reader) {}
  }

  private enum Step {
    case give(Value, Receive)
    case end(@Sendable () -> Void, (any WorkspaceSubscription)?)
    case rest
  }

  /// Gives what is wanted. Only one thread does; others leave it to that one.
  private func give() {
    let isOurs = state.withLock { state in
      defer { state.isGiving = true }
      return !state.isGiving
    }
    guard isOurs else { return }
    while true {
      switch state.withLock({ Self.step(&$0) }) {
      case .give(let value, let receive):
        guard gate.enter() else { continue }
        let more = receive(value)
        _ = gate.leave()
        state.withLock { $0.demand.add(more) }
      case .end(let finish, let subscription):
        subscription?.cancel()
        finish()
      case .rest: return
      }
    }
  }

  private static func step(_ state: inout State) -> Step {
    if let reader = state.reader {
      if state.newest != nil, !state.demand.isNone, let value = state.newest.take() {
        state.demand.takeOne()
        return .give(value, reader.receive)
      }
      if state.isFinished, state.newest == nil {
        defer {
          state.reader = nil
          state.subscription = nil
        }
        return .end(reader.finish, state.subscription)
      }
    }
    state.isGiving = false
    return .rest
  }
}
