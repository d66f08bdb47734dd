// WriteGate: lets writers pass side by side, and a move alone.
//
// Writers that need several gates take them in the order of their types, and a move takes one only.
// So there is no deadlock. A waiting move stops new writers, so that its turn comes.

import Platform

final class WriteGate: Sendable {
  private enum Waiter {
    case writer(CheckedContinuation<Void, Never>)
    case move(CheckedContinuation<Void, Never>)
  }

  private struct State {
    var writers = 0
    var isMoving = false
    var queue: [Waiter] = []
  }

  private let state = Mutex(State())

  /// Begins to write.
  func enter() async {
    await withCheckedContinuation { continuation in
      let isFree = state.withLock { state in
        if state.isMoving || !state.queue.isEmpty {
          state.queue.append(.writer(continuation))
          return false
        }
        state.writers += 1
        return true
      }
      if isFree { continuation.resume() }
    }
  }

  /// Ends writing.
  func leave() {
    state.withLock { $0.writers -= 1 }
    admit()
  }

  /// Whether there are writers, or waiting ones.
  var isBusy: Bool { state.withLock { $0.isMoving || $0.writers > 0 || !$0.queue.isEmpty } }

  /// Whether a writer or a move waits.
  var isAwaited: Bool { state.withLock { !$0.queue.isEmpty } }

  /// Begins a move, when no writer is inside.
  func enterAlone() async {
    await withCheckedContinuation { continuation in
      let isFree = state.withLock { state in
        if state.isMoving || state.writers > 0 || !state.queue.isEmpty {
          state.queue.append(.move(continuation))
          return false
        }
        state.isMoving = true
        return true
      }
      if isFree { continuation.resume() }
    }
  }

  /// Ends a move.
  func leaveAlone() {
    state.withLock { $0.isMoving = false }
    admit()
  }

  /// Admits those at the head of the queue that may pass.
  private func admit() {
    let admitted = state.withLock { state in
      var admitted: [CheckedContinuation<Void, Never>] = []
      while let first = state.queue.first, !state.isMoving {
        switch first {
        case .writer(let continuation):
          state.writers += 1
          admitted.append(continuation)
        case .move(let continuation):
          if state.writers > 0 { return admitted }
          state.isMoving = true
          admitted.append(continuation)
        }
        state.queue.removeFirst()
      }
      return admitted
    }
    for continuation in admitted { continuation.resume() }
  }
}
