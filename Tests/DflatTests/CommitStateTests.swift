// Write leases, as plain data: random schedules against a model of two arrays.

import DflatTestSupport
import Platform
import Testing

@testable import Dflat

@Suite("Write leases as data")
struct CommitStateTests {
  /// A transaction of the model.
  private struct Holder {
    var slot: Int
    var writesShared = false
  }

  @Test("Leases pass in the order of the requests, and one transaction writes the shared tables")
  func schedules() throws {
    for _ in 0..<(isLongRun ? 20_000 : 1_000) {
      try withSeed { random in
        let count = Int.random(in: 1...4, using: &random)
        var state = CommitState(slots: count)
        var holders: [Holder] = []
        var waiting: [LeaseWaiter] = []
        /// The slots that wait for the shared tables, the first one in front.
        var waitingForShared: [(slot: Int, waiter: LeaseWaiter)] = []
        var ended = 0
        for _ in 0..<60 {
          switch Int.random(in: 0..<4, using: &random) {
          case 0:
            switch state.takeOrAwaitLease() {
            case .taken(let slot):
              try #require(!holders.contains { $0.slot == slot }, "seed \(random.seed)")
              holders.append(Holder(slot: slot))
            case .waiting(let waiter):
              try #require(holders.count == count, "seed \(random.seed): a lease was free")
              waiting.append(waiter)
            }
          case 1:
            let slot = state.takeLeaseIfIdle()
            try #require((slot == nil) == (holders.count == count), "seed \(random.seed)")
            if let slot { holders.append(Holder(slot: slot)) }
          case 2:
            // Those that wait for the shared tables do nothing else.
            let free = holders.indices.filter { index in
              !waitingForShared.contains { $0.slot == holders[index].slot }
            }
            guard let index = free.randomElement(using: &random) else { continue }
            let isWritten = holders.contains(where: \.writesShared)
            let known = ended - Int.random(in: 0...1, using: &random)
            if Bool.random(using: &random) {
              let mayWrite = holders[index].writesShared || !isWritten && known == ended
              let isTaken = state.takeShared(holders[index].slot, since: known)
              try #require(isTaken == mayWrite, "seed \(random.seed)")
              holders[index].writesShared = mayWrite
            } else if let waiter = state.takeShared(holders[index].slot) {
              try #require(isWritten, "seed \(random.seed): the tables were free")
              waitingForShared.append((holders[index].slot, waiter))
            } else {
              try #require(!isWritten || holders[index].writesShared, "seed \(random.seed)")
              holders[index].writesShared = true
            }
          default:
            let free = holders.indices.filter { index in
              !waitingForShared.contains { $0.slot == holders[index].slot }
            }
            guard let index = free.randomElement(using: &random) else { continue }
            let holder = holders.remove(at: index)
            state.passLease(holder.slot)
            if holder.writesShared {
              ended += 1
              if !waitingForShared.isEmpty {
                // It was entered already: otherwise this would hang.
                let (slot, waiter) = waitingForShared.removeFirst()
                try #require(waiter.wait() == slot, "seed \(random.seed)")
                for index in holders.indices where holders[index].slot == slot {
                  holders[index].writesShared = true
                }
              }
            }
            if !waiting.isEmpty {
              let slot = waiting.removeFirst().wait()
              try #require(slot == holder.slot, "seed \(random.seed)")
              holders.append(Holder(slot: slot))
            }
          }
          try #require(state.waiting.count == waiting.count, "seed \(random.seed)")
          try #require(
            state.waitingForShared.count == waitingForShared.count, "seed \(random.seed)")
          try #require(state.sharedCount == ended, "seed \(random.seed)")
          for slot in 0..<count {
            let holder = holders.first { $0.slot == slot }
            try #require(state.slots[slot].isTaken == (holder != nil), "seed \(random.seed)")
            try #require(
              state.slots[slot].writesShared == (holder?.writesShared ?? false),
              "seed \(random.seed)")
          }
        }
      }
    }
  }
}
