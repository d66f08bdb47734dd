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
  func wait(after count: Int, until time: Date?) async {
    let number = state.withLock { state in
      state.lastWaiter += 1
      return state.lastWaiter
    }
    let timer = time.map { time in
      Task {
        // Clocks differ: the time is over when it is over for `isOver`.
        while !isOver(time) {
          // Any number may be stored.
          let pause = min(3600, max(0.001, time.timeIntervalSinceNow))
          try await Task.sleep(for: .seconds(pause))
        }
        wake(number)
      }
    }
    defer { timer?.cancel() }
    await withTaskCancellationHandler {
      await withCheckedContinuation { waiter in
        let hasNews = state.withLock { state in
          if state.count != count || Task.isCancelled || isOver(time) { return true }
          state.waiters[number] = waiter
          return false
        }
        if hasNews { waiter.resume() }
      }
    } onCancel: {
      wake(number)
    }
  }

  private func isOver(_ time: Date?) -> Bool { time.map { $0 <= Date() } ?? false }

  private func wake(_ number: Int) {
    state.withLock { $0.waiters.removeValue(forKey: number) }?.resume()
  }
}
