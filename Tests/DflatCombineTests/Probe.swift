// A subscriber that asks only when the test says so, and notes what it receives.

import Combine
import Platform

/// Unchecked: everything that changes is changed under the lock.
final class Probe<Input: Sendable>: Subscriber, @unchecked Sendable {
  typealias Failure = Never

  private struct State: Sendable {
    var values: [Input] = []
    var completions = 0
    var inside = 0
    var mostInside = 0
  }

  private let state = Mutex(State())
  private let onValue: @Sendable (Probe<Input>, Input) -> Subscribers.Demand
  private let subscriptionLock = Mutex(())
  private var subscription: (any Subscription)?

  /// - Parameter onValue: Called with each value; says how many more are wanted.
  init(
    _ onValue: @escaping @Sendable (Probe<Input>, Input) -> Subscribers.Demand = { _, _ in .none }
  ) {
    self.onValue = onValue
  }

  var values: [Input] { state.withLock { $0.values } }
  var completions: Int { state.withLock { $0.completions } }
  /// How many threads were in `receive` at the same time, at most.
  var mostAtOnce: Int { state.withLock { $0.mostInside } }

  func request(_ demand: Subscribers.Demand) {
    let subscription = subscriptionLock.withLock { _ in self.subscription }
    subscription?.request(demand)
  }

  /// Cancels, and lets go of the subscription.
  func cancel() {
    let subscription = subscriptionLock.withLock { _ in self.subscription.take() }
    subscription?.cancel()
  }

  func receive(subscription: any Subscription) {
    subscriptionLock.withLock { _ in self.subscription = subscription }
  }

  func receive(_ input: Input) -> Subscribers.Demand {
    state.withLock { state in
      state.values.append(input)
      state.inside += 1
      state.mostInside = max(state.mostInside, state.inside)
    }
    defer { state.withLock { $0.inside -= 1 } }
    return onValue(self, input)
  }

  func receive(completion: Subscribers.Completion<Never>) {
    state.withLock { $0.completions += 1 }
  }
}
