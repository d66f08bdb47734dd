// Failed transactions and queries that end early leak no memory. Measured in a separate process.

import Empire
import Foundation
import Testing

#if os(Linux)
  struct LeakTests {
    struct Rollback: Error {}

    private static let rounds = 6_000
    /// A cursor has about 400 bytes, a transaction more: one leak per round adds up to 2,400,000.
    private static let limit = 1_600_000

    /// Repeats everything that could leak, and prints by how many bytes the process has grown. Runs
    /// in the child process.
    static func printGrowth(_ directory: String) throws {
      let store = Store(database: try LockingDatabase(path: directory))
      try store.withTransaction { context in
        for number in 0..<300 {
          try context.insert(
            Triple(a: number, b: 1, c: "c", note: String(repeating: "n", count: 500)))
        }
      }
      func round() throws {
        for readOnly in [true, false] {
          try? store.withTransaction(readOnly: readOnly) { context in
            // Cursors that do not reach their end.
            try context.forEach(of: Triple.self) { $0.a < 5 }
            try? context.forEach(Triple.query(a: .greaterThan(3))) { _ in
              throw Rollback()
            }
            _ = try Triple.select(in: context, limit: 3, a: .lessThan(200))
            throw Rollback()
          }
        }
        try? store.withTransaction { context in
          for number in 0..<50 { try context.insert(Triple(a: number, b: 2, c: "d", note: "x")) }
          try? store.withTransaction(parent: context) { child in
            try child.insert(Triple(a: 1, b: 3, c: ""))
            throw Rollback()
          }
          _ = try? context.insert(Tree(name: "\0"))
          _ = try? context.insert(Tree(name: String(repeating: "x", count: 600)))
          throw Rollback()
        }
        _ = try? Triple.select(in: store, a: .within([1, 2, 1_000]))
        let subscription = try store.subscribe(to: RecordSet<Tree>.all) { _ in }
        subscription.cancel()
      }
      for _ in 0..<200 { try round() }
      let before = try dataSize()
      for _ in 0..<rounds { try round() }
      let grown = try dataSize() - before
      FileHandle.standardOutput.write(Data("grown by \(grown)\n".utf8))
    }

    /// The private memory of the process that is not mapped from a file, in bytes.
    private static func dataSize() throws -> Int {
      let fields = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8)
        .split(separator: " ")
      return (Int(fields[5]) ?? 0) * 4096
    }

    @Test(
      "6,000 rounds of failing transactions and unfinished queries do not make the process grow")
    func growth() throws {
      // A leak makes every process grow. Some grow without one: the system's libraries take memory
      // for good in steps of up to 1 MiB, when work happens to wait, and the testing library keeps
      // what it knows of errors that were thrown.
      var grown = Int.max
      for _ in 0..<10 where grown >= Self.limit { grown = min(grown, try growthOfProcess()) }
      #expect(grown < Self.limit)
    }

    private func growthOfProcess() throws -> Int {
      try withTemporaryDirectory { directory in
        let output = Pipe()
        let child = try ChildProcess.start("leak", directory, output)
        let text = String(
          decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        child.waitUntilExit()
        let line = try #require(
          text.split(separator: "\n").first { $0.hasPrefix("grown by ") }, "\(text)")
        return try #require(Int(line.dropFirst("grown by ".count)))
      }
    }
  }
#else
  enum LeakTests {
    static func printGrowth(_ directory: String) throws {}
  }
#endif
