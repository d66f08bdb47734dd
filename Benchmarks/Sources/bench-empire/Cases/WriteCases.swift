// Cases that write. Each run has a directory of its own; its final content is compared.

import Empire
import Foundation

extension Case {
  static let insert = Case(
    id: "empire-insert", title: "insert 10,000, one transaction", goal: 1.25, upstream: 2.0
  ) { fixture in
    let entries = fixture.entries
    return (
      ours: {
        let url = try fixture.directory()
        let store = try fixture.store(url)
        let nanoseconds = try time {
          try store.withTransaction { context in
            for entry in entries { try context.insert(entry) }
          }
        }
        return Outcome(nanoseconds: nanoseconds, checksum: try fixture.sum(url))
      },
      floor: {
        let url = try fixture.directory()
        let floor = try FloorDatabase(url)
        let nanoseconds = try time { try floor.insert(entries[...]) }
        return Outcome(nanoseconds: nanoseconds, checksum: try fixture.sum(url))
      }
    )
  }

  static let delete = Case(
    id: "empire-delete", title: "delete 10,000, one transaction", goal: 1.15, upstream: 1.5
  ) { fixture in
    let entries = fixture.entries
    let filled = try fixture.filled("few", entries)
    return (
      ours: {
        let url = try fixture.copy(of: filled)
        let store = try fixture.store(url)
        let nanoseconds = try time {
          try store.withTransaction { context in
            for entry in entries { try context.delete(entry) }
          }
        }
        return Outcome(nanoseconds: nanoseconds, checksum: try fixture.sum(url))
      },
      floor: {
        let url = try fixture.copy(of: filled)
        let floor = try FloorDatabase(url)
        let nanoseconds = try time { try floor.delete(entries) }
        return Outcome(nanoseconds: nanoseconds, checksum: try fixture.sum(url))
      }
    )
  }

  static let durable = Case(
    id: "empire-durable", title: "10,000 durable transactions at once, each waited for", goal: 0.1,
    upstream: 1.06
  ) { fixture in
    let entries = fixture.entries
    return (
      ours: {
        let url = try fixture.directory()
        let store = BackgroundStore(
          database: try LockingDatabase(url: url, mapSize: .fixed(2 << 30)))
        let nanoseconds = try time {
          try wait {
            try await withThrowingTaskGroup(of: Void.self) { group in
              for entry in entries {
                group.addTask { try await store.withTransaction { try $0.insert(entry) } }
              }
              try await group.waitForAll()
            }
          }
        }
        return Outcome(nanoseconds: nanoseconds, checksum: try fixture.sum(url))
      },
      floor: {
        let url = try fixture.directory()
        let floor = try FloorDatabase(url)
        let nanoseconds = try time {
          for index in entries.indices { try floor.insert(entries[index...index]) }
        }
        return Outcome(nanoseconds: nanoseconds, checksum: try fixture.sum(url))
      }
    )
  }

  static let grow = Case(
    id: "empire-grow",
    title: "fill most of a map of 1 GiB that began with 1 MiB, 200 records a transaction",
    goal: 1.3
  ) { fixture in
    // 3,000 records of a quarter of a megabyte; far fewer in short and in smoke runs.
    let text = String(repeating: "growing ", count: 32_000)
    let count = fixture.entries.count * 3 / 10
    let entries = fixture.entries.prefix(count).map { entry in
      var entry = entry
      entry.text = text
      return entry
    }
    return (
      ours: {
        let url = try fixture.directory()
        defer { try? FileManager.default.removeItem(at: url) }
        let store = Store(
          database: try LockingDatabase(url: url, mapSize: .growing(from: 1 << 20, to: 1 << 30)))
        let nanoseconds = try time {
          for start in stride(from: 0, to: count, by: 200) {
            try store.withTransaction { context in
              for entry in entries[start..<min(start + 200, count)] { try context.insert(entry) }
            }
          }
        }
        return Outcome(nanoseconds: nanoseconds, checksum: try fixture.sum(url))
      },
      floor: {
        let url = try fixture.directory()
        defer { try? FileManager.default.removeItem(at: url) }
        let floor = try FloorDatabase(url, mapSize: 1 << 30)
        let nanoseconds = try time {
          for start in stride(from: 0, to: count, by: 200) {
            try floor.insertLarge(entries[start..<min(start + 200, count)])
          }
        }
        return Outcome(nanoseconds: nanoseconds, checksum: try fixture.sum(url))
      }
    )
  }
}

/// Runs asynchronous work from a thread that may block.
private func wait(_ work: @escaping @Sendable () async throws -> Void) throws {
  final class Box: @unchecked Sendable { var result: Result<Void, any Error>? }
  let box = Box()
  let done = DispatchSemaphore(value: 0)
  Task {
    do { box.result = .success(try await work()) } catch { box.result = .failure(error) }
    done.signal()
  }
  done.wait()
  try box.result?.get()
}
