// Lanes: where jobs run.
//
// A lane is a serial queue; each has a thread of its own when there is something to run, so a job that waits for another one
// stops no third. (A concurrent queue has as many threads as there are processors, and then waits for one of them.) Lanes
// target the program's own queue if it gave one, which then decides how many jobs run at once.
//
// Work inherits the priority of whoever hands it in, and a lane that is waited for is lifted, where Dispatch knows priorities.

import Dispatch
import Synchronization

final class Lanes: Sendable {
  private let target: DispatchQueue?
  private let idle = Mutex<[DispatchQueue]>([])

  init(target: DispatchQueue?) {
    self.target = target
  }

  /// Whether other work may wait for a lane's thread.
  var areShared: Bool { target != nil }

  /// Runs a job as soon as a thread can, and returns at once.
  func run(_ job: @escaping @Sendable () -> Void) {
    let lane = idle.withLock { $0.popLast() } ?? DispatchQueue(label: "dflat.lane", target: target)
    lane.async { [self] in
      job()
      idle.withLock { $0.append(lane) }
    }
  }
}
