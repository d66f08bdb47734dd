// DemandBuffer: delivers the newest state to a reader that requests a number of values.
//
// It implements the demand rules of Combine's publishers without Combine. Invariants:
//
//  - the reader gets no more values than it requested;
//  - a reader that is behind gets the newest value when it requests more, and no value twice;
//  - `start` is called once, at the first demand;
//  - values are delivered one after another, without holding a lock; the reader may request more,
//    or cancel, during a delivery;
//  - completion follows the last value, which waits for demand; after completion or `cancel`
//    nothing is delivered, and the reader is released.

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

  /// Delivers a value to the reader.
  /// - Returns: How many more values the reader requests.
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
    /// Whether a thread is delivering values.
    var isDelivering = false
    var subscription: (any WorkspaceSubscription)?
  }

  private let state: Mutex<State>
  private let gate = CallGate()
  private let start: @Sendable (DemandBuffer<Value>) -> (any WorkspaceSubscription)?

  /// - Parameters:
  ///   - receive: Takes a value.
  ///   - finish: Called when there are no more values.
  ///   - start: Begins to send values. The subscription that it returns is kept, and cancelled at
  ///     the end.
  package init(
    receive: @escaping Receive, finish: @escaping @Sendable () -> Void,
    start: @escaping @Sendable (DemandBuffer<Value>) -> (any WorkspaceSubscription)?
  ) {
    state = Mutex(State(reader: Reader(receive: receive, finish: finish)))
    self.start = start
  }

  /// Requests more values for the reader.
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
    deliver()
  }

  /// Sends a new value.
  func send(_ value: Value) {
    state.withLock { state in
      if !state.isFinished { state.newest = value }
    }
    deliver()
  }

  /// Completes the stream: no more values follow.
  func finish() {
    state.withLock { $0.isFinished = true }
    deliver()
  }

  /// Cancels the subscription of the reader.
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
    // Releasing the reader may run the program's code, so the last release is outside of the lock.
    withExtendedLifetime(reader) {}
  }

  private enum Step {
    case deliver(Value, Receive)
    case end(@Sendable () -> Void, (any WorkspaceSubscription)?)
    case done
  }

  /// Delivers the requested values. Only one thread does this at a time; other threads leave their
  /// values to it.
  private func deliver() {
    let isOurs = state.withLock { state in
      defer { state.isDelivering = true }
      return !state.isDelivering
    }
    guard isOurs else { return }
    while true {
      switch state.withLock({ Self.step(&$0) }) {
      case .deliver(let value, let receive):
        guard gate.enter() else { continue }
        let more = receive(value)
        _ = gate.leave()
        state.withLock { $0.demand.add(more) }
      case .end(let finish, let subscription):
        subscription?.cancel()
        finish()
      case .done: return
      }
    }
  }

  private static func step(_ state: inout State) -> Step {
    if let reader = state.reader {
      if state.newest != nil, !state.demand.isNone, let value = state.newest.take() {
        state.demand.takeOne()
        return .deliver(value, reader.receive)
      }
      if state.isFinished, state.newest == nil {
        defer {
          state.reader = nil
          state.subscription = nil
        }
        return .end(reader.finish, state.subscription)
      }
    }
    state.isDelivering = false
    return .done
  }
}
