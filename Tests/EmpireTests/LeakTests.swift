// Failed transactions and queries that end early leak no memory. Measured in a separate process.

import Empire
import Foundation
import Testing

#if os(Linux)
  struct LeakTests {
    struct Rollback: Error {}

    /// A cursor has about 400 bytes, a transaction more: one leak per round adds up to 800,000.
    private static let limit = 400_000

    /// Repeats everything that could leak.
    /// - Returns: By how many bytes the process has grown.
    private static func growth(in directory: URL) throws -> Int {
      let store = Store(database: try LockingDatabase(url: directory))
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
      for _ in 0..<6_000 { try round() }
      try fillFreeMemory()
      // A leak makes every part grow. The system's libraries take memory for good in steps of up to
      // 1 MiB, when work happens to wait.
      var grown = Int.max
      for _ in 0..<3 {
        let before = try dataSize()
        for _ in 0..<2_000 { try round() }
        grown = min(grown, try dataSize() - before)
        if grown < limit { break }
      }
      return grown
    }

    /// Has the testing library no longer keep where errors are thrown, which takes memory for each.
    private static func forgetErrors() {
      for hook in ["_swift_willThrow", "_swift_willThrowTypedImpl"] {
        dlsym(nil, hook)?.assumingMemoryBound(to: UnsafeRawPointer?.self).pointee = nil
      }
    }

    /// Takes the memory that was freed before, into which a leak would go first.
    private static func fillFreeMemory() throws {
      let before = try dataSize()
      while try dataSize() == before {
        for _ in 0..<1_000 { _ = UnsafeMutableRawPointer.allocate(byteCount: 48, alignment: 8) }
      }
    }

    /// The private memory of the process that is not mapped from a file, in bytes.
    private static func dataSize() throws -> Int {
      let fields = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8)
        .split(separator: " ")
      return (Int(fields[5]) ?? 0) * 4096
    }

    @Test(
      "2,000 rounds of failing transactions and unfinished queries do not make the process grow")
    func growth() async {
      await #expect(processExitsWith: .success) {
        LeakTests.forgetErrors()
        let grown = try withTemporaryDirectory { try LeakTests.growth(in: $0) }
        #expect(grown < LeakTests.limit)
      }
    }
  }
#endif
