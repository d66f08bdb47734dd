// CommitState: which transactions write, which wait, and what waits for its commit.
//
// Invariants:
//
//  - Each slot has one write lease. A transaction waits for a lease only while all are taken, and
//    the one that has waited longest gets the next.
//  - At most one slot writes the tables of all types, and a transaction holds its lease.
//  - A transaction waits to write these tables only while another slot writes them, and holds the
//    lease of a slot of its own.

import Dispatch
import Platform

/// The state of a write coordinator, accessed under its lock only.
struct CommitState {
  /// What is known of a write slot.
  struct SlotState {
    /// Whether a transaction holds the slot's write lease.
    var isTaken = false
    /// Whether this transaction may also write the tables that belong to all types.
    var writesShared = false
    /// The group that is open, or that the lease holder is about to commit.
    var group: CommitGroup?

    var isIdle: Bool { !isTaken && group == nil }
    /// Whether its group was left open.
    var isLeft: Bool { !isTaken && group != nil }
  }

  var slots: [SlotState]
  /// The transactions that wait for a write lease.
  var waiting = Fifo<LeaseWaiter>()
  /// Those that hold a lease and wait until no other one writes the tables of all types.
  var waitingForShared = Fifo<LeaseWaiter>()
  /// How many transactions that might write them have ended.
  var sharedCount = 0
  var hasAlarm = false

  init(slots: Int) {
    self.slots = Array(repeating: SlotState(), count: slots)
  }

  /// The first open group for which `isWanted` is true.
  func group(where isWanted: (CommitGroup) -> Bool) -> CommitGroup? {
    for slot in slots {
      if let group = slot.group, isWanted(group) { return group }
    }
    return nil
  }

  var isIdle: Bool { slots.allSatisfy(\.isIdle) }

  /// Takes the lease of a slot that is free.
  mutating func takeLease() -> Int? {
    guard let slot = slots.firstIndex(where: { !$0.isTaken }) else { return nil }
    slots[slot].isTaken = true
    _checkInvariants()
    return slot
  }

  /// Takes the lease of a slot, or waits for one.
  mutating func takeOrAwaitLease() -> LeaseRequest {
    if let slot = takeLease() { return .taken(slot) }
    let waiter = LeaseWaiter()
    waiting.append(waiter)
    _checkInvariants()
    return .waiting(waiter)
  }

  /// Takes the lease of the slot whose group was left open.
  mutating func takeLeftLease(_ slot: Int) {
    assert(slots[slot].isLeft, "the group of a slot was not left open")
    slots[slot].isTaken = true
    _checkInvariants()
  }

  mutating func takeLeaseIfIdle() -> Int? {
    guard let slot = slots.firstIndex(where: \.isIdle) else { return nil }
    slots[slot].isTaken = true
    _checkInvariants()
    return slot
  }

  /// Passes a write lease to the transaction that has waited longest, or frees it.
  mutating func passLease(_ slot: Int) {
    if slots[slot].writesShared {
      slots[slot].writesShared = false
      sharedCount += 1
      if let next = waitingForShared.popFirst() {
        slots[next.slot].writesShared = true
        next.enter()
      }
    }
    if let next = waiting.popFirst() { next.enter(slot) } else { slots[slot].isTaken = false }
    _checkInvariants()
  }

  /// Lets the holder of a slot's lease write the tables of all types.
  /// - Returns: Where it has to wait until another one does so no longer; nil if it may.
  mutating func takeShared(_ slot: Int) -> LeaseWaiter? {
    if slots[slot].writesShared { return nil }
    if slots.contains(where: \.writesShared) {
      let waiter = LeaseWaiter(slot)
      waitingForShared.append(waiter)
      _checkInvariants()
      return waiter
    }
    slots[slot].writesShared = true
    _checkInvariants()
    return nil
  }

  /// The same without waiting, for a transaction that has begun already.
  /// - Parameter count: `sharedCount` when it began.
  /// - Returns: False if another one has written these tables since, or may be doing so.
  mutating func takeShared(_ slot: Int, since count: Int) -> Bool {
    if slots[slot].writesShared { return true }
    if count != sharedCount || slots.contains(where: \.writesShared) { return false }
    slots[slot].writesShared = true
    _checkInvariants()
    return true
  }

  /// Traps, in debug builds, if an invariant in the header of this file is violated.
  func _checkInvariants() {
    #if DEBUG
      precondition(
        waiting.isEmpty || slots.allSatisfy(\.isTaken), "a transaction waits beside a free lease")
      let writing = slots.count { $0.writesShared }
      precondition(writing <= 1, "two transactions write the tables of all types")
      precondition(
        slots.allSatisfy { $0.isTaken || !$0.writesShared }, "a slot without a lease writes")
      precondition(
        waitingForShared.isEmpty || writing == 1, "a transaction waits for tables that are free")
      var slotsOfWaiters: Set<Int> = []
      waitingForShared.forEach { waiter in
        precondition(
          slots[waiter.slot].isTaken && !slots[waiter.slot].writesShared
            && slotsOfWaiters.insert(waiter.slot).inserted,
          "a transaction that waits for the tables of all types has no lease of its own")
      }
    #endif
  }
}

/// What a transaction gets that asks for a lease.
enum LeaseRequest {
  /// The lease of a slot.
  case taken(Int)
  /// It has to wait.
  case waiting(LeaseWaiter)
}

/// A transaction that waits for a lease.
final class LeaseWaiter: Sendable {
  private let isEntered = DispatchSemaphore(value: 0)
  private let number: Atomic<Int>

  init(_ slot: Int = -1) {
    number = Atomic(slot)
  }

  var slot: Int { number.load(ordering: .relaxed) }

  /// Ends the waiting.
  func enter() { isEntered.signal() }

  /// Ends the waiting, with the lease of a slot.
  func enter(_ slot: Int) {
    number.store(slot, ordering: .relaxed)
    isEntered.signal()
  }

  /// - Returns: The slot.
  @discardableResult
  func wait() -> Int {
    isEntered.wait()
    return slot
  }
}

extension StorageError {
  static let givenUp = StorageError(
    .other, message: "after an error the storage rolled back everything that was not committed")
}
