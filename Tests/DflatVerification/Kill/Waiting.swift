// Waiting for a completion, with a timeout.

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
