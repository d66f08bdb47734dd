// Lanes: where jobs run.
//
// A lane is a serial queue; each has a thread of its own when there is something to run, so a job that waits for another one
// stops no third. (A concurrent queue has as many threads as there are processors, and then waits for one of them.) Lanes
// target the program's own queue if it gave one, which then decides how many jobs run at once.
//
// Who does its own work does it on its own thread; where the program gave a queue, as a job of that
// queue, which runs nothing else meanwhile that it would not run beside a job in a lane.
//
// Work inherits the priority of whoever hands it in, and a lane that is waited for is lifted, where Dispatch knows priorities.

import Dispatch
import Platform

final class Lanes: Sendable {
  private let target: DispatchQueue?
  private let mark = QueueMark()
  private let idle = Mutex<[DispatchQueue]>([])

  init(target: DispatchQueue?) {
    self.target = target
    target?.setSpecific(key: mark.key, value: true)
  }

  deinit {
    target?.setSpecific(key: mark.key, value: nil)
  }

  /// Whether the thread runs something of the target queue: what waits for a job of that queue may
  /// then wait for ever.
  var areAround: Bool { target != nil && DispatchQueue.getSpecific(key: mark.key) == true }

  /// Whether other work may wait for a lane's thread.
  var areShared: Bool { target != nil }

  /// Runs a job as soon as a thread can, and returns at once.
  func run(_ job: @escaping @Sendable () -> Void) {
    let lane = takeLane()
    lane.async { [self] in
      job()
      idle.withLock { $0.append(lane) }
    }
  }

  /// Runs a caller's own work, on its thread.
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

/// Under what a target queue carries the mark of a workspace.
///
/// Unchecked: a key is an identity, and does not change.
private struct QueueMark: @unchecked Sendable {
  let key = DispatchSpecificKey<Bool>()
}
