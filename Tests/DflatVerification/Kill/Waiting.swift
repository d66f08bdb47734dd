// Waiting for a completion, with a timeout, and for tasks.

import DflatTestSupport
import Dispatch
import Platform

/// Starts an operation that completes later.
/// - Returns: The result passed to the completion, and whether it came within a minute.
func waitForCompletion(
  _ call: (@escaping @Sendable (Bool) -> Void) -> Void
) -> (isCommitted: Bool, isInTime: Bool) {
  let done = DispatchSemaphore(value: 0)
  let result = ResultBox()
  call { isCommitted in
    result.value.withLock { $0 = isCommitted }
    done.signal()
  }
  let isInTime = done.wait(timeout: .now() + 60) == .success
  return (result.value.withLock { $0 }, isInTime)
}

private final class ResultBox: Sendable {
  let value = Mutex(false)
}

/// Runs a task, and blocks this thread until it has ended.
func waitForTask<R: Sendable>(
  on queue: TaskQueue = TaskQueue(), _ body: @escaping @Sendable () async throws -> R
) throws -> R {
  let done = DispatchSemaphore(value: 0)
  let outcome = TaskOutcome<R>()
  Task(executorPreference: queue) {
    let result: Result<R, any Error>
    do { result = .success(try await body()) } catch { result = .failure(error) }
    outcome.result.withLock { $0 = result }
    done.signal()
  }
  done.wait()
  guard let result = outcome.result.withLock({ $0 }) else {
    preconditionFailure("a task has signalled without a result")
  }
  return try result.get()
}

private final class TaskOutcome<R: Sendable>: Sendable {
  let result = Mutex<Result<R, any Error>?>(nil)
}
