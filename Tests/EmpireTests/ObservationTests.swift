// Observing records: which observers are called, when, how often, and with which records.
//
// A transaction returns after its observers have been notified, so these tests need not wait.

import DflatTestSupport
@testable import Empire
import Foundation
import LMDB
import Testing

struct ObservationTests {
  @Test("A range is notified once of each relevant transaction, with the result of a fresh query")
  func ranges() throws {
    try withChairs { store in
      let received = Recorder<[Int]>()
      let limited = Recorder<[Int]>()
      let query = Query("a", last: .range(2..<6))
      let subscriptions = [
        try store.subscribe(to: RecordSet<Chair>.query(query)) {
          received.add((try? $0.get().map(\.number)) ?? [-1])
        },
        try store.subscribe(
          to: RecordSet<Chair>.query(Query("a", last: .lessThan(9), limit: 2))
        ) { limited.add((try? $0.get().map(\.number)) ?? [-1]) },
      ]
      try store.withTransaction { context in
        for number in 0..<4 { try context.insert(chair(number)) }
      }
      #expect(received.take() == [[2, 3]])
      #expect(limited.take() == [[3, 2]])
      // Outside the range, the window, the type.
      try store.insert(chair(1, 5))
      try store.insert(chair(3, room: "b"))
      try store.insert(Tree(name: "x"))
      #expect(received.take() == [] && limited.take() == [])
      // Only the fields have changed.
      try store.insert(chair(3, 5))
      #expect(received.take() == [[2, 3]] && limited.take() == [[3, 2]])
      // The same fields; rolled back; inserted and deleted in one transaction.
      try store.insert(chair(3, 5))
      #expect(throws: Rollback.self) {
        try store.withTransaction {
          try $0.insert(chair(4))
          throw Rollback()
        }
      }
      try store.withTransaction {
        try $0.insert(chair(4))
        try $0.delete(chair(4))
      }
      #expect(received.take() == [] && limited.take() == [])
      // Another record enters the window.
      try store.delete(chair(3))
      #expect(received.take() == [[2]] && limited.take() == [[2, 1]])
      // A nested transaction is part of its parent; one that is rolled back is not reported.
      try store.withTransaction { outer in
        try store.withTransaction(parent: outer) { try $0.insert(chair(5)) }
        try? store.withTransaction(parent: outer) {
          try $0.insert(chair(3))
          throw Rollback()
        }
        try outer.insert(chair(4))
      }
      #expect(received.take() == [[2, 4, 5]] && limited.take() == [[5, 4]])
      for subscription in subscriptions { subscription.cancel() }
      _ = try store.withTransaction { try $0.deleteAll(of: Chair.self) }
      #expect(received.take() == [])
    }
  }

  @Test(
    "An observer of a key is notified of changes, then of the deletion, and of nothing afterwards")
  func keys() throws {
    try withChairs { store in
      let received = Recorder<Int>()
      let subscription = try store.subscribe(to: Chair.self, key: Tuple("a", 1)) { event in
        switch event {
        case .updated(let chair): received.add(chair.weight)
        case .deleted: received.add(-1)
        case .failed: received.add(-2)
        }
      }
      try store.insert(chair(2, 7))
      try store.insert(chair(1, 3))
      try store.withTransaction { context in
        try context.insert(chair(1, 4))
        try context.insert(chair(1, 5))
      }
      #expect(received.take() == [3, 5])
      try store.delete(chair(1))
      try store.insert(chair(1, 6))
      #expect(received.take() == [-1])
      subscription.cancel()
    }
  }

  @Test("A subscription goes on after the store that has made it is released")
  func releasedStore() throws {
    try withTemporaryDirectory { directory in
      func open() throws -> Store { Store(database: try LockingDatabase(url: directory)) }
      let counts = Log<Int>()
      let subscription = try open().subscribe(to: RecordSet<Tree>.all) { result in
        counts.add((try? result.get())?.count ?? -1)
      }
      try open().insert(Tree(name: "a"))
      #expect(counts.events == [1])
      subscription.cancel()
      // No database is open any more.
      _ = try Environment(url: directory, maxDatabases: 1)
      try open().insert(Tree(name: "b"))
      #expect(counts.events == [1])
      withExtendedLifetime(subscription) {}
    }
  }

  @Test("Sets by an index and of a whole type; the present state first, if requested")
  func sets() throws {
    try withChairs { store in
      try store.insert(chair(1, 3))
      let light = Recorder<[Int]>()
      let all = Recorder<[Int]>()
      let kept = [
        try store.subscribe(
          to: Chair.query(weight: .lessThan(5)), includingPresent: true
        ) { light.add((try? $0.get().map(\.number)) ?? []) },
        try store.subscribe(to: RecordSet<Chair>.all) {
          all.add((try? $0.get().map(\.number)) ?? [])
        },
      ]
      try store.insert(chair(2, 4))
      try store.insert(chair(1, 9))
      try store.insert(chair(1, 8))
      #expect(light.take() == [[1], [2, 1], [2]])
      #expect(all.take() == [[1, 2], [1, 2], [1, 2]])
      withExtendedLifetime(kept) {}
    }
  }

  @Test(
    "Calls are in commit order on all threads, and are made before the transaction returns"
  )
  func order() async throws {
    try await withTemporaryDirectory { directory in
      // Two databases: the queues belong to the directory.
      let stores = try (0..<2).map { _ in Store(database: try LockingDatabase(url: directory)) }
      let counts = Recorder<[Int]>()
      let subscription = try stores[0].subscribe(to: RecordSet<Chair>.all) {
        counts.add((try? $0.get().map(\.number)) ?? [])
      }
      try await withThrowingTaskGroup(of: Void.self) { group in
        for task in 0..<4 {
          group.addTask {
            for number in 0..<25 {
              let number = task * 100 + number
              try stores[task % 2].insert(Chair(room: "a", number: number, weight: 0))
              #expect(counts.events.contains { $0.contains(number) })
            }
          }
        }
        try await group.waitForAll()
      }
      #expect(counts.events.map(\.count) == Array(1...100))
      subscription.cancel()
    }
  }

  @Test("Transactions that share a commit are reported one by one, before each returns")
  func groups() async throws {
    try await withTemporaryDirectory { directory in
      let store = try BackgroundStore(url: directory)
      let received = Recorder<[Int]>()
      let subscription = try store.subscribe(to: RecordSet<Chair>.all) {
        received.add((try? $0.get().map(\.number)) ?? [])
      }
      await withTaskGroup(of: Void.self) { group in
        for number in 0..<200 {
          group.addTask {
            do {
              try await store.withTransaction { context in
                try context.insert(Chair(room: "a", number: number, weight: 0))
                if number % 4 == 0 { throw Rollback() }
              }
              #expect(received.events.contains { $0.contains(number) })
            } catch { #expect(number % 4 == 0 && error is Rollback) }
          }
        }
      }
      #expect(received.events.map(\.count) == Array(1...150))
      #expect(received.events.allSatisfy { $0.allSatisfy { $0 % 4 != 0 } })
      subscription.cancel()
    }
  }

  @Test("The updates of a group member that is rolled back are not delivered")
  func rolledBackMember() async throws {
    // Members run in tasks, for which a thread of its own waits.
    let (received, isRefused) = try await beyondTasks {
      try withChairs { store in
        let received = Recorder<[Int]>()
        let subscription = try store.subscribe(to: RecordSet<Chair>.all) {
          received.add((try? $0.get().map(\.number)) ?? [-1])
        }
        var isRefused = false
        try store.withTransaction { outer in
          // Like a commit group. A member computes its updates at its end; after that it may still
          // fail.
          nonisolated(unsafe) let outer = outer
          func member(_ number: Int, isCancelled: Bool) throws {
            nonisolated(unsafe) var result: Result<Void, any Error>?
            let done = DispatchSemaphore(value: 0)
            let task = Task.detached {
              while isCancelled && !Task.isCancelled { await Task.yield() }
              result = Result {
                try store.write(parent: outer, isMember: true) {
                  try $0.insert(Chair(room: "a", number: number, weight: 0))
                } delivered: { _ in
                }
              }
              done.signal()
            }
            if isCancelled { task.cancel() }
            done.wait()
            try result?.get()
          }
          try member(1, isCancelled: false)
          do { try member(2, isCancelled: true) } catch is CancellationError { isRefused = true }
          try member(3, isCancelled: false)
        }
        subscription.cancel()
        return (received.take(), isRefused)
      }
    }
    #expect(received == [[1], [1, 3]] && isRefused)
  }
}
