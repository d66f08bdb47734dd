// Lanes: where jobs run.
//
// A lane is a serial dispatch queue. Dispatch gives each lane its own thread while it has work, so
// a job that blocks on another one does not stop a third. (A concurrent queue has as many threads
// as there are processors, and then waits for one of them.) Lanes target the program's own queue if
// it set one; that queue then decides how many jobs run at once.
//
// A caller that runs its own work does so on its own thread. If the program set a queue, the work
// runs as a job of that queue. Meanwhile the queue runs nothing that it would not run beside a job
// in a lane.
//
// A transaction is handed over without an allocation: a lane keeps the block that Dispatch runs,
// and the block finds in the lane what it is to do.
//
// Work inherits the priority of the submitting thread. Where Dispatch supports priorities, a lane
// that is waited for is boosted.

import Dispatch
import Platform

final class Lanes: Sendable {
  private let target: DispatchQueue?
  /// The key under which the target queue carries this object's mark.
  private let mark = DispatchSpecificKey<Bool>()
  private let idle = Mutex<[Lane]>([])

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

  /// Whether lanes share the program's queue, so that other work may wait for their threads.
  var areShared: Bool { target != nil }

  /// Runs a job as soon as a thread can, and returns at once.
  func run(_ job: @escaping @Sendable () -> Void) { start(.job(job)) }

  /// The same with the work of a ready ticket.
  func run(_ ticket: Ticket, of scheduler: TicketScheduler) { start(.ticket(ticket, scheduler)) }

  private func start(_ work: Lane.Work) {
    let lane = takeLane()
    lane.slot.next.withLock { $0 = Lane.Assignment(work: work, lane: lane, lanes: self) }
    lane.queue.async(execute: lane.block)
  }

  /// Runs the caller's own work on its thread.
  func runHere<R>(_ work: () -> R) -> R {
    if target == nil { return work() }
    let lane = takeLane()
    defer { giveBack(lane) }
    return lane.queue.sync(execute: work)
  }

  private func takeLane() -> Lane { idle.withLock { $0.popLast() } ?? Lane(target) }

  fileprivate func giveBack(_ lane: Lane) { idle.withLock { $0.append(lane) } }
}

/// A serial queue, and what it runs next. The caller that has taken it from the idle ones uses it.
private struct Lane: Sendable {
  enum Work: Sendable {
    case job(@Sendable () -> Void)
    case ticket(Ticket, TicketScheduler)
  }

  /// What the lane is to do. It keeps the lane and its owner alive until then.
  struct Assignment: Sendable {
    let work: Work
    let lane: Lane
    let lanes: Lanes

    func run() {
      switch work {
      case .job(let job): job()
      case .ticket(let ticket, let scheduler): scheduler.run(ticket)
      }
      lanes.giveBack(lane)
    }
  }

  final class Slot: Sendable {
    let next = Mutex<Assignment?>(nil)

    func run() {
      guard let assignment = next.withLock({ $0.take() }) else {
        preconditionFailure("a lane was started without work")
      }
      assignment.run()
    }
  }

  let queue: DispatchQueue
  let slot: Slot
  /// The same block for all that the lane runs.
  let block: @Sendable @convention(block) () -> Void

  init(_ target: DispatchQueue?) {
    let slot = Slot()
    queue = DispatchQueue(label: "dflat.lane", target: target)
    self.slot = slot
    block = { slot.run() }
  }
}
