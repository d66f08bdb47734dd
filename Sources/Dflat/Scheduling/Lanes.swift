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
// Work inherits the priority of the submitting thread. Where Dispatch supports priorities, a lane
// that is waited for is boosted.

import Dispatch
import Platform

final class Lanes: Sendable {
  private let target: DispatchQueue?
  /// The key under which the target queue carries this object's mark.
  private let mark = DispatchSpecificKey<Bool>()
  private let idle = Mutex<[DispatchQueue]>([])

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
  func run(_ job: @escaping @Sendable () -> Void) {
    let lane = takeLane()
    lane.async { [self] in
      job()
      idle.withLock { $0.append(lane) }
    }
  }

  /// Runs the caller's own work on its thread.
  func runHere<R>(_ work: () -> R) -> R {
    if target == nil { return work() }
    let lane = takeLane()
    defer { idle.withLock { $0.append(lane) } }
    return lane.sync(execute: work)
  }

  private func takeLane() -> DispatchQueue {
    idle.withLock { $0.popLast() } ?? DispatchQueue(label: "dflat.lane", target: target)
  }
}
