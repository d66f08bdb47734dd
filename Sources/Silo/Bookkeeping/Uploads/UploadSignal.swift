// UploadSignal: wakes tasks that wait for news of a queue.

import Foundation
import Platform

/// A counter that tasks can wait for.
final class UploadSignal: Sendable {
  private struct State {
    var count = 0
    var lastWaiter = 0
    var waiters: [Int: CheckedContinuation<Void, Never>] = [:]
  }

  private let state = Mutex(State())
  private let clock: WallClock

  init(_ clock: WallClock) { self.clock = clock }

  /// How often there was news.
  var count: Int { state.withLock(\.count) }

  /// Wakes all waiting tasks.
  func raise() {
    let waiters = state.withLock { state in
      state.count += 1
      defer { state.waiters = [:] }
      return state.waiters
    }
    for waiter in waiters.values { waiter.resume() }
  }

  /// Returns when there is news since a count, at a time, or when the task is cancelled.
  /// - Parameters:
  ///   - count: What is news comes behind it.
  ///   - time: The time of day; nil for no end.
  ///   - longest: How many seconds are waited at most, if there is a time: the clock may be set
  ///     back meanwhile.
  func wait(
    after count: Int, until time: Date? = nil, longest: TimeInterval = .infinity
  ) async {
    let end = time.map { TimedWait(clock, time: $0, longest: longest) }
    let number = state.withLock { state in
      state.lastWaiter += 1
      return state.lastWaiter
    }
    let timer = end.map { end in
      Task {
        // Clocks differ: the wait is over when nothing of it is left.
        while true {
          let rest = end.rest
          if rest <= 0 { break }
          // Any number may be stored.
          try await Task.sleep(for: .seconds(min(3600, max(0.001, rest))))
        }
        wake(number)
      }
    }
    defer { timer?.cancel() }
    await withTaskCancellationHandler {
      await withCheckedContinuation { waiter in
        let hasNews = state.withLock { state in
          if state.count != count || Task.isCancelled { return true }
          if let end, end.rest <= 0 { return true }
          state.waiters[number] = waiter
          return false
        }
        if hasNews { waiter.resume() }
      }
    } onCancel: {
      wake(number)
    }
  }

  private func wake(_ number: Int) {
    state.withLock { $0.waiters.removeValue(forKey: number) }?.resume()
  }
}
