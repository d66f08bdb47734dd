// Work on a thread with little stack, as the secondary threads of Apple's systems have it.

import Dispatch
import Foundation
import Platform

/// Runs `body` on a new thread with a stack of 512 KiB and waits for its result.
public func onSmallStack<R: Sendable>(_ body: @escaping @Sendable () throws -> R) throws -> R {
  let outcome = StackOutcome<R>()
  let isDone = DispatchSemaphore(value: 0)
  let thread = Thread {
    outcome.set(Result { try body() })
    isDone.signal()
  }
  thread.stackSize = 512 << 10
  thread.start()
  isDone.wait()
  return try outcome.get()
}

private final class StackOutcome<R: Sendable>: Sendable {
  private let result = Mutex<Result<R, any Error>?>(nil)

  func set(_ result: Result<R, any Error>) { self.result.withLock { $0 = result } }

  func get() throws -> R {
    guard let result = result.withLock({ $0 }) else {
      preconditionFailure("the thread has ended without a result")
    }
    return try result.get()
  }
}
