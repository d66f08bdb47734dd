// Stores that many tasks use at the same time.

import Empire
import Foundation
import Testing

struct BackgroundTests {
  struct Refusal: Error, Equatable {}

  @Test("Many concurrent callers: each transaction is atomic and each result is correct")
  func manyCallers() async throws {
    try await withTemporaryDirectory { directory in
      let store = try BackgroundStore(url: directory)
      try await withThrowingTaskGroup(of: Void.self) { group in
        for number in 0..<400 {
          group.addTask {
            if number % 10 == 3 {
              await #expect(throws: Refusal()) {
                try await store.withTransaction { context in
                  try context.insert(Triple(a: number, b: 0, c: ""))
                  throw Refusal()
                }
              }
            } else {
              let found = try await store.withTransaction { context in
                try context.insert(Triple(a: number, b: 0, c: ""))
                return try Triple.select(in: context, a: number).count
              }
              #expect(found == 1)
            }
          }
        }
        try await group.waitForAll()
      }
      let all = try await store.withTransaction(readOnly: true) {
        try Triple.select(in: $0, a: .greaterOrEqual(0)).map(\.a)
      }
      #expect(all == (0..<400).filter { $0 % 10 != 3 })
    }
  }

  @Test("Only the transaction of a cancelled caller is rolled back")
  func cancellation() async throws {
    try await withTemporaryDirectory { directory in
      let store = try BackgroundStore(path: directory.path())
      await withTaskGroup(of: Void.self) { group in
        for number in 0..<100 {
          group.addTask {
            if number % 2 == 0 { withUnsafeCurrentTask { $0?.cancel() } }
            do {
              try await store.withTransaction { try $0.insert(Triple(a: number, b: 0, c: "")) }
              #expect(number % 2 == 1)
            } catch {
              #expect(error is CancellationError && number % 2 == 0)
            }
          }
        }
      }
      let count = try await store.withTransaction(readOnly: true) {
        try Triple.select(in: $0, a: .greaterOrEqual(0)).count
      }
      #expect(count == 50)
    }
  }

  @Test("A group that finds the map full grows it; a transaction that is too large fails alone")
  func groupsAndMaps() async throws {
    try await withTemporaryDirectory { directory in
      let store = BackgroundStore(
        database: try LockingDatabase(url: directory, mapSize: .growing(from: 1 << 16, to: 1 << 21))
      )
      let note = String(repeating: "x", count: 2_000)
      await withTaskGroup(of: Void.self) { group in
        for number in 0..<200 {
          group.addTask {
            do {
              try await store.withTransaction { context in
                for part in 0..<(number == 50 ? 5_000 : 1) {
                  try context.insert(Triple(a: number, b: UInt(part), c: "", note: note))
                }
              }
              #expect(number != 50)
            } catch {
              #expect(number == 50)
            }
          }
        }
      }
      let found = try await store.withTransaction(readOnly: true) {
        try Triple.select(in: $0, a: .greaterOrEqual(0)).map(\.a)
      }
      #expect(found == (0..<200).filter { $0 != 50 })
    }
  }

  @Test("Several stores of one database write and read at the same time")
  func severalStores() async throws {
    try await withTemporaryDirectory { directory in
      let database = try LockingDatabase(url: directory, mapSize: .growing(from: 1 << 16))
      try await withThrowingTaskGroup(of: Void.self) { group in
        for task in 0..<4 {
          group.addTask {
            let store = Store(database: database)
            for number in 0..<100 {
              try store.insert(Triple(a: task, b: UInt(number), c: ""))
              let seen = try Triple.select(in: store, a: task).count
              #expect(seen == number + 1)
            }
          }
        }
        try await group.waitForAll()
      }
      #expect(try Triple.select(in: Store(database: database), a: .greaterOrEqual(0)).count == 400)
    }
  }

  @Test("Several threads use one store without a lock file")
  func oneStore() async throws {
    try await withTemporaryDirectory { directory in
      let stores = [try Store(url: directory), try Store(url: directory)]
      try await withThrowingTaskGroup(of: Void.self) { group in
        for task in 0..<4 {
          group.addTask {
            for number in 0..<100 {
              try stores[task % 2].insert(Triple(a: task, b: UInt(number), c: ""))
              let seen = try Triple.select(in: stores[number % 2], a: task).count
              #expect(seen == number + 1)
            }
          }
        }
        try await group.waitForAll()
      }
    }
  }

  @Test("The main actor's store reads without waiting for the background store")
  func mainAndBackground() async throws {
    try await withTemporaryDirectory { directory in
      let (store, main) = try await MainActor.run {
        let store = try BackgroundableStore(path: directory.path())
        return (store, store.main)
      }
      try await store.background.withTransaction { context in
        try context.insert(Tree(name: "a"))
        // From another thread while this one writes.
        let seen = Seen()
        let thread = Thread {
          seen.finish { try Tree.select(in: main, name: .greaterThan("")).count }
        }
        thread.start()
        #expect(try seen.wait().get() == 0)
      }
      #expect(try Tree.select(in: main, name: .greaterThan("")).count == 1)
    }
  }
}

/// The result of another thread.
private final class Seen: @unchecked Sendable {
  private let done = DispatchSemaphore(value: 0)
  private var result: Result<Int, any Error> = .success(-1)

  func finish(_ work: () throws -> Int) {
    result = Result { try work() }
    done.signal()
  }

  func wait() -> Result<Int, any Error> {
    done.wait()
    return result
  }
}
