// Large tables are read by two readers.

import Dflat
import DflatTestSupport
import Dispatch
import Platform
@testable import SQLiteDflat
import Testing

@Suite("Scans by two readers")
struct ParallelScanTests {
  private static let count = Int32(ParallelScan.leastRows) + 500

  private func withLargeTable(_ body: (TemporaryFile) throws -> Void) throws {
    try withTemporaryFile { workspace in
      try workspace.dflat.write(Post.self) { txn in
        try txn.insert(contentsOf: (1...Self.count).map { post($0, likes: $0 % 1000) })
      }
      // The first scan finds out how large the table is.
      #expect(workspace.posts.where(Post.isPinned).isEmpty)
      try body(workspace)
    }
  }

  @Test("Results and their order are those of one reader")
  func results() throws {
    try withLargeTable { workspace in
      let numbers = 1...Self.count
      let dflat = workspace.dflat
      for _ in 0..<3 {
        let some = workspace.posts.where(!Post.isPinned && Post.number % 7 == 3)
        #expect(some.map(\.number) == numbers.filter { $0 % 7 == 3 })
        let sorted = workspace.posts.where(
          Post.number % 5 == 1, orderBy: [Post.likes.descending, Post.number.descending])
        let expected = numbers.filter { $0 % 5 == 1 }
          .sorted { ($0 % 1000, $0) > ($1 % 1000, $1) }
        #expect(sorted.map(\.number) == expected)
        // Only one reader is used where the result is cut off, and in snapshots.
        #expect(workspace.posts.where(Post.number % 7 == 3, limit: 2).map(\.number) == [3, 10])
        let inSnapshot = dflat.fetchWithinASnapshot {
          workspace.posts.where(Post.number % 7 == 3).count
        }
        #expect(inSnapshot == some.count)
      }
      try workspace.tamper("UPDATE blog__post_v1_0 SET p = x'00' WHERE rowid IN (5, 20000)")
      #expect(workspace.posts.where(!Post.isPinned).count == Int(Self.count) - 2)
      #expect(workspace.takeErrors().compactMap(\.rowid).sorted() == [5, 20000])
    }
  }

  @Test("Both readers see one state while transactions commit")
  func oneState() throws {
    try withLargeTable { workspace in
      let dflat = workspace.dflat
      try dflat.write(Post.self) { txn in
        try txn.update(Post.self, keys: [CompositeKey("s", 1)]) { $0.isPinned = true }
      }
      let isOver = Atomic(false)
      let done = DispatchSemaphore(value: 0)
      // Each transaction moves one object from the first half to the second or back. It has a
      // thread of its own, since the scans keep theirs.
      DispatchQueue.global().async {
        for round in 0..<60 {
          let (from, to): (Int32, Int32) = round % 2 == 0 ? (1, Self.count) : (Self.count, 1)
          do {
            try dflat.write(Post.self) { txn in
              try txn.update(Post.self, keys: [CompositeKey("s", from)]) { $0.isPinned = false }
              try txn.update(Post.self, keys: [CompositeKey("s", to)]) { $0.isPinned = true }
            }
          } catch { Issue.record(error) }
        }
        isOver.store(true, ordering: .releasing)
        done.signal()
      }
      var scans = 0
      while !isOver.load(ordering: .acquiring) {
        let pinned = workspace.posts.where(Post.isPinned)
        #expect(pinned.count == 1, "\(pinned.map(\.number))")
        scans += 1
      }
      done.expect("the end of the writer")
      #expect(scans > 0)
    }
  }

  @Test("A function that fails in one half ends the query")
  func failures() throws {
    struct Refusal: Error {}
    try withLargeTable { workspace in
      let refuses = Function("refuses") { (number: Int32) -> Bool in
        if number == Self.count - 10 { throw Refusal() }
        return true
      }
      #expect(workspace.posts.where(refuses(Post.number)).isEmpty)
      #expect(workspace.takeErrors().count == 1)
    }
  }
}
