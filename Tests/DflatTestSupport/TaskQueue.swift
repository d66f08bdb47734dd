// Threads for tasks that do not depend on Swift's pool: clients and tests block the threads of that
// one.

import Dispatch

/// Runs tasks on threads of a queue.
public final class TaskQueue: TaskExecutor {
  private let queue = DispatchQueue(label: "tasks", attributes: .concurrent)

  /// An executor with threads of its own.
  public init() {}

  /// Runs a job on one of the queue's threads.
  public func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}
