// CommitState: which transactions write, which wait, and what waits for its commit.
//
// Invariants:
//
//  - Each lane has one write lease. A transaction waits for a lease only while all are taken, and
//    the one that has waited longest gets the next.
//  - At most one lane writes the tables of all types, and a transaction holds its lease.
//  - A transaction waits to write these tables only while another lane writes them, and holds the
//    lease of a lane of its own.

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
    _checkInvariants()
    return lane
  }

  /// Takes the lease of a lane, or waits for one.
  mutating func takeOrAwaitLease() -> LeaseRequest {
    if let lane = takeLease() { return .taken(lane) }
    let waiter = LeaseWaiter()
    waiting.append(waiter)
    _checkInvariants()
    return .waiting(waiter)
  }

  /// Takes the lease of the lane whose group was left open.
  mutating func takeLeftLease(_ lane: Int) {
    assert(lanes[lane].isLeft, "the group of a lane was not left open")
    lanes[lane].isTaken = true
    _checkInvariants()
  }

  mutating func takeLeaseIfIdle() -> Int? {
    guard let lane = lanes.firstIndex(where: \.isIdle) else { return nil }
    lanes[lane].isTaken = true
    _checkInvariants()
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
    _checkInvariants()
  }

  /// Lets the holder of a lane's lease write the tables of all types.
  /// - Returns: Where it has to wait until another one does so no longer; nil if it may.
  mutating func takeShared(_ lane: Int) -> LeaseWaiter? {
    if lanes[lane].writesShared { return nil }
    if lanes.contains(where: \.writesShared) {
      let waiter = LeaseWaiter(lane)
      waitingForShared.append(waiter)
      _checkInvariants()
      return waiter
    }
    lanes[lane].writesShared = true
    _checkInvariants()
    return nil
  }

  /// The same without waiting, for a transaction that has begun already.
  /// - Parameter count: `sharedCount` when it began.
  /// - Returns: False if another one has written these tables since, or may be doing so.
  mutating func takeShared(_ lane: Int, since count: Int) -> Bool {
    if lanes[lane].writesShared { return true }
    if count != sharedCount || lanes.contains(where: \.writesShared) { return false }
    lanes[lane].writesShared = true
    _checkInvariants()
    return true
  }

  /// Traps, in debug builds, if an invariant in the header of this file is violated.
  func _checkInvariants() {
    #if DEBUG
      precondition(
        waiting.isEmpty || lanes.allSatisfy(\.isTaken), "a transaction waits beside a free lease")
      let writing = lanes.count { $0.writesShared }
      precondition(writing <= 1, "two transactions write the tables of all types")
      precondition(
        lanes.allSatisfy { $0.isTaken || !$0.writesShared }, "a lane without a lease writes")
      precondition(
        waitingForShared.isEmpty || writing == 1, "a transaction waits for tables that are free")
      var lanesOfWaiters: Set<Int> = []
      waitingForShared.forEach { waiter in
        precondition(
          lanes[waiter.lane].isTaken && !lanes[waiter.lane].writesShared
            && lanesOfWaiters.insert(waiter.lane).inserted,
          "a transaction that waits for the tables of all types has no lease of its own")
      }
    #endif
  }
}

/// What a transaction gets that asks for a lease.
enum LeaseRequest {
  /// The lease of a lane.
  case taken(Int)
  /// It has to wait.
  case waiting(LeaseWaiter)
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
