// Threads for tasks that do not depend on Swift's pool: clients and tests block the threads of that
// one.

import Dispatch

/// Runs tasks on threads of a queue.
final class TaskQueue: TaskExecutor {
  private let queue = DispatchQueue(label: "tasks", attributes: .concurrent)

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}
