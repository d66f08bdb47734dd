// ThreadLoan: the thread of a job queue runs a task.
//
// The closure of an awaited transaction belongs to its task: it may ask whether the task is
// cancelled, and read task-local values. But it may have to wait for other transactions or another
// process, which nothing must do on a thread of the task pool. So the job queue, whose thread may
// wait, runs the task itself: the loan is the task's preferred executor.
//
//  - The task's first job waits here until a job queue lends its thread, or until `decline`.
//  - `lend` returns when that job has returned or has suspended.
//  - Later jobs of the task run in the task pool.

import Platform

final class ThreadLoan: TaskExecutor {
  private enum State {
    case expected
    case waiting(UnownedJob)
    case over
  }

  private let state = Monitor(State.expected)

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    state.lock()
    guard case .expected = state.state else {
      state.unlock()
      return Self.runInPool(job)
    }
    state.state = .waiting(job)
    state.signal()
    state.unlock()
  }

  /// Runs the task's first job on this thread. The task has called for it already, or is about to
  /// suspend on another thread.
  func lend() {
    state.lock()
    while case .expected = state.state { state.wait() }
    guard case .waiting(let job) = state.state else {
      preconditionFailure("a thread was lent to a task that runs already")
    }
    state.state = .over
    state.unlock()
    job.runSynchronously(on: asUnownedTaskExecutor())
  }

  /// Runs the task's first job in the task pool: no job queue will lend its thread.
  func decline() {
    state.lock()
    let before = state.state
    state.state = .over
    state.unlock()
    if case .waiting(let job) = before { Self.runInPool(job) }
  }

  private static func runInPool(_ job: UnownedJob) {
    globalConcurrentExecutor.enqueue(job)
  }
}
