// Large tables are read by two readers.

import Dflat
import DflatTestSupport
import Dispatch
import Foundation
import Platform
@testable import SQLiteDflat
import Testing

@Suite("Scans by two readers")
struct ParallelScanTests {
  private static let count = Int32(ParallelScan.leastRows) + 500

  private func withLargeTable(_ body: (TemporaryFile) throws -> Void) throws {
    try withTemporaryFile(configure: { $0.tracesStatements = true }) { workspace in
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

  /// How many questions of `body` two readers have answered.
  private func answersOfTwo(
    _ workspace: TemporaryFile, _ body: (ObjectQuery<Post>) throws -> Void
  ) throws -> Int {
    _ = workspace.takeEvents()
    try body(workspace.dflat.query(Post.self).where(!Post.isPinned && Post.number % 7 == 3))
    return workspace.takeEvents().count {
      if case .statement(let sql, _) = $0 { sql.contains("WHERE rowid > ?") } else { false }
    }
  }

  @Test("Counts, aggregates and groups are those of one reader")
  func aggregates() throws {
    try withLargeTable { workspace in
      let numbers = (1...Self.count).filter { $0 % 7 == 3 }
      let likes = numbers.map { $0 % 1000 }
      let sum = numbers.reduce(0) { $0 + Int64($1) }
      let answers = try answersOfTwo(workspace) { (query: ObjectQuery<Post>) throws -> Void in
        #expect(try query.count() == numbers.count)
        #expect(try query.orderBy(Post.likes.descending).count() == numbers.count)
        #expect(try query.sum(Post.number) == sum)
        #expect(try query.max(Post.likes + 1) == 1000)
        let (count, least, greatest, average, site) = try query.values(
          .count, .min(Post.number), .max(Post.number), .average(Post.number), .max(Post.site))
        #expect(count == numbers.count && least == 3 && greatest == numbers.last && site == "s")
        #expect(average == Double(sum) / Double(numbers.count))
        let groups = try query.group(by: Post.likes, .count, .sum(Post.number), .min(Post.number))
        let expected = Dictionary(grouping: numbers) { $0 % 1000 }
        #expect(groups.map { $0.0 } == expected.keys.sorted())
        for (likes, count, sum, least) in groups {
          let group = expected[likes ?? -1] ?? []
          #expect(count == group.count && sum == group.reduce(0) { $0 + Int64($1) })
          #expect(least == group.first)
        }
        #expect(try query.distinct(Post.likes) == Set(likes).sorted())
        #expect(try query.distinct(Post.number % 100).count == 100)
      }
      #expect(answers == 8)
      // One reader is enough for what is cut off, for what an index has, and in snapshots; and sums
      // of floating-point numbers depend on the order of the rows.
      let others = try answersOfTwo(workspace) { (query: ObjectQuery<Post>) throws -> Void in
        #expect(try query.limit(5).count() == 5)
        #expect(try query.exists())
        #expect(try query.sum(Post.place.lat) == 0)
        let all = workspace.dflat.query(Post.self)
        #expect(try all.count() == Int(Self.count) && all.max(Post.likes) == 999)
        let inRead = try workspace.dflat.read { try $0.query(Post.self).sum(Post.number) }
        let inWrite = try workspace.dflat.write(Post.self) { txn in
          try txn.query(Post.self).where(!Post.isPinned).count()
        }
        #expect(inRead ?? 0 > sum && inWrite == Int(Self.count))
      }
      #expect(others == 0)
      try workspace.tamper("UPDATE blog__post_v1_0 SET p = x'00' WHERE rowid IN (3, 20023)")
      let damaged = try answersOfTwo(workspace) { (query: ObjectQuery<Post>) throws -> Void in
        #expect(try query.count() == numbers.count - 2)
      }
      #expect(damaged == 1)
      #expect(workspace.takeErrors().compactMap(\.rowid).sorted() == [3, 20023])
    }
  }

  @Test("A count is what makes a table known to be large, and small tables have one reader")
  func sizes() throws {
    try withTemporaryFile(configure: { $0.tracesStatements = true }) { workspace in
      try workspace.store((1...50).map { post($0) })
      let small = try answersOfTwo(workspace) { (query: ObjectQuery<Post>) throws -> Void in
        for _ in 0..<3 { #expect(try query.count() == 7) }
      }
      try workspace.dflat.write(Post.self) { txn in
        try txn.insert(contentsOf: (51...Self.count).map { post($0) })
      }
      let large = try answersOfTwo(workspace) { (query: ObjectQuery<Post>) throws -> Void in
        for _ in 0..<3 { #expect(try query.count() == (1...Self.count).count { $0 % 7 == 3 }) }
      }
      #expect(small == 0 && large == 2)
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
      Thread.detachNewThread {
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
        #expect(try dflat.query(Post.self).where(Post.isPinned).count() == 1)
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
      let query = workspace.dflat.query(Post.self)
      #expect(throws: FunctionError.self) { try query.where(refuses(Post.number)).count() }
      #expect(throws: FunctionError.self) { try query.group(by: refuses(Post.number), .count) }
      #expect(throws: FunctionError.self) { try query.distinct(refuses(Post.number)) }
    }
  }
}
