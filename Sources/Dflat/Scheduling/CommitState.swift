// CommitState: which transactions write, which wait, and what waits for its commit.

import Dispatch
import Platform

/// The state of a write coordinator, accessed under its lock only.
struct CommitState {
  /// What is known of a write lane.
  struct Lane {
    /// Whether a transaction holds the lane's write lease.
    var isTaken = false
    /// Whether this transaction may also write the tables that belong to all types.
    var writesShared = false
    /// The group that is open, or that the lease holder is about to commit.
    var group: CommitGroup?

    var isIdle: Bool { !isTaken && group == nil }
    /// Whether its group was left open.
    var isLeft: Bool { !isTaken && group != nil }
  }

  var lanes: [Lane]
  /// The transactions that wait for a write lease.
  var waiting = Fifo<LeaseWaiter>()
  /// Those that hold a lease and wait until no other one writes the tables of all types.
  var waitingForShared = Fifo<LeaseWaiter>()
  /// How many transactions that might write them have ended.
  var sharedCount = 0
  var hasAlarm = false

  init(lanes: Int) {
    self.lanes = Array(repeating: Lane(), count: lanes)
  }

  /// The first open group for which `isWanted` is true.
  func group(where isWanted: (CommitGroup) -> Bool) -> CommitGroup? {
    for lane in lanes {
      if let group = lane.group, isWanted(group) { return group }
    }
    return nil
  }

  var isIdle: Bool { lanes.allSatisfy(\.isIdle) }

  /// Takes the lease of a lane that is free.
  mutating func takeLease() -> Int? {
    guard let lane = lanes.firstIndex(where: { !$0.isTaken }) else { return nil }
    lanes[lane].isTaken = true
    return lane
  }

  mutating func takeLeaseIfIdle() -> Int? {
    guard let lane = lanes.firstIndex(where: \.isIdle) else { return nil }
    lanes[lane].isTaken = true
    return lane
  }

  /// Passes a write lease to the transaction that has waited longest, or frees it.
  mutating func passLease(_ lane: Int) {
    if lanes[lane].writesShared {
      lanes[lane].writesShared = false
      sharedCount += 1
      if let next = waitingForShared.popFirst() {
        lanes[next.lane].writesShared = true
        next.enter()
      }
    }
    if let next = waiting.popFirst() { next.enter(lane) } else { lanes[lane].isTaken = false }
  }

  /// Lets the holder of a lane's lease write the tables of all types.
  /// - Returns: Where it has to wait until another one does so no longer; nil if it may.
  mutating func takeShared(_ lane: Int) -> LeaseWaiter? {
    if lanes[lane].writesShared { return nil }
    if lanes.contains(where: \.writesShared) {
      let waiter = LeaseWaiter(lane)
      waitingForShared.append(waiter)
      return waiter
    }
    lanes[lane].writesShared = true
    return nil
  }

  /// The same without waiting, for a transaction that has begun already.
  /// - Parameter count: `sharedCount` when it began.
  /// - Returns: False if another one has written these tables since, or may be doing so.
  mutating func takeShared(_ lane: Int, since count: Int) -> Bool {
    if lanes[lane].writesShared { return true }
    if count != sharedCount || lanes.contains(where: \.writesShared) { return false }
    lanes[lane].writesShared = true
    return true
  }
}

/// A transaction that waits for a lease.
final class LeaseWaiter: Sendable {
  private let isEntered = DispatchSemaphore(value: 0)
  private let number: Atomic<Int>

  init(_ lane: Int = -1) {
    number = Atomic(lane)
  }

  var lane: Int { number.load(ordering: .relaxed) }

  /// Ends the waiting.
  func enter() { isEntered.signal() }

  /// Ends the waiting, with the lease of a lane.
  func enter(_ lane: Int) {
    number.store(lane, ordering: .relaxed)
    isEntered.signal()
  }

  /// - Returns: The lane.
  @discardableResult
  func wait() -> Int {
    isEntered.wait()
    return lane
  }
}

extension StorageError {
  static let givenUp = StorageError(
    .other, message: "after an error the storage rolled back everything that was not committed")
}
