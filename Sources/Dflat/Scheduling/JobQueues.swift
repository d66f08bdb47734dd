// JobQueues: where jobs run.
//
// A job queue is a serial dispatch queue. Dispatch gives each one its own thread while it has work,
// so a job that blocks on another one does not stop a third. (A concurrent queue has as many
// threads as there are processors, and then waits for one of them.) Job queues target the program's
// own queue if it set one; that queue then decides how many jobs run at once.
//
// A caller that runs its own work does so on its own thread. If the program set a queue, the work
// runs as a job of that queue. Meanwhile the queue runs nothing that it would not run beside
// another job.
//
// A transaction is handed over without an allocation: a job queue keeps the block that Dispatch
// runs, and the block finds there what it is to do.
//
// Work inherits the priority of the submitting thread. Where Dispatch supports priorities, a job
// queue that is waited for is boosted.

import Dispatch
import Platform

final class JobQueues: Sendable {
  private let target: DispatchQueue?
  /// The key under which the target queue carries this object's mark.
  private let mark = DispatchSpecificKey<Bool>()
  private let idle = Mutex<[JobQueue]>([])

  init(target: DispatchQueue?) {
    self.target = target
    target?.setSpecific(key: mark, value: true)
  }

  deinit {
    target?.setSpecific(key: mark, value: nil)
  }

  /// Whether this thread runs a job of the target queue. Waiting here for another job of that queue
  /// may then deadlock.
  var areAround: Bool { target != nil && DispatchQueue.getSpecific(key: mark) == true }

  /// Whether this thread runs the main queue, for which all jobs wait. Of another queue only the
  /// program knows whether it runs one job at a time.
  var areBehindThisThread: Bool { areAround && DispatchQueue.main.getSpecific(key: mark) == true }

  /// Whether job queues share the program's queue, so that other work may wait for their threads.
  var areShared: Bool { target != nil }

  /// Runs a job as soon as a thread can, and returns at once.
  func run(_ job: @escaping @Sendable () -> Void) { start(.job(job)) }

  /// The same with the work of a ready ticket.
  func run(_ ticket: Ticket, of scheduler: TicketScheduler) { start(.ticket(ticket, scheduler)) }

  private func start(_ work: JobQueue.Work) {
    let jobQueue = takeQueue()
    jobQueue.next.assignment.withLock {
      $0 = JobQueue.Assignment(work: work, jobQueue: jobQueue, owner: self)
    }
    jobQueue.queue.async(execute: jobQueue.block)
  }

  /// Runs the caller's own work on its thread.
  func runHere<R>(_ work: () -> R) -> R {
    if target == nil { return work() }
    let jobQueue = takeQueue()
    defer { giveBack(jobQueue) }
    return jobQueue.queue.sync(execute: work)
  }

  private func takeQueue() -> JobQueue { idle.withLock { $0.popLast() } ?? JobQueue(target) }

  fileprivate func giveBack(_ jobQueue: JobQueue) { idle.withLock { $0.append(jobQueue) } }
}

/// A serial queue, and what it runs next. The caller that has taken it from the idle ones uses it.
private struct JobQueue: Sendable {
  enum Work: Sendable {
    case job(@Sendable () -> Void)
    case ticket(Ticket, TicketScheduler)
  }

  /// What the job queue is to do. It keeps the job queue and its owner alive until then.
  struct Assignment: Sendable {
    let work: Work
    let jobQueue: JobQueue
    let owner: JobQueues

    func run() {
      switch work {
      case .job(let job): job()
      case .ticket(let ticket, let scheduler): scheduler.run(ticket)
      }
      owner.giveBack(jobQueue)
    }
  }

  final class Next: Sendable {
    let assignment = Mutex<Assignment?>(nil)

    func run() {
      guard let assignment = assignment.withLock({ $0.take() }) else {
        preconditionFailure("a job queue was started without work")
      }
      assignment.run()
    }
  }

  let queue: DispatchQueue
  let next: Next
  /// The same block for all that the job queue runs.
  let block: @Sendable @convention(block) () -> Void

  init(_ target: DispatchQueue?) {
    let next = Next()
    queue = DispatchQueue(label: "dflat.jobs", target: target)
    self.next = next
    block = { next.run() }
  }
}
