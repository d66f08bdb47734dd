// TaskQueue: threads for tasks, independent of Swift's pool, whose threads may be blocked by
// clients and tests.

import Dispatch

/// Runs tasks on the threads of a queue.
public final class TaskQueue: TaskExecutor {
  private let queue = DispatchQueue(label: "tasks", attributes: .concurrent)

  /// Creates an executor with its own threads.
  public init() {}

  /// Runs a job on one of the queue's threads.
  public func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}
