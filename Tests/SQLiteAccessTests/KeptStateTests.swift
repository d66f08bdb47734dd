// Single rows that are read from a state which a pool keeps.

import Dispatch
import DflatTestSupport
import Foundation
import SQLiteAccess
import Synchronization
import Testing

@Suite("A state that is kept")
struct KeptStateTests {
  private struct Failure: Error {}

  /// A pool, and the connection that writes with its knowledge.
  private struct Fixture {
    let pool: ReaderPool
    let writer: Connection

    /// Reads until a state is kept that has the last commit.
    func keep() throws {
      let newest = try writer.dataState()
      try #expect(
        eventually {
          pool.noteCommit()
          for _ in 0..<20 { try pool.withReader { _ = try $0.value("SELECT 1 FROM t") } }
          return pool.withKeptState { try $0.connection.dataState() } == newest
        }, "no state is kept")
    }

    /// The number of a row, if it can be read from the state that is kept.
    func number(_ id: Int64) -> Int64? { Self.number(id, pool) }

    static func number(_ id: Int64, _ pool: ReaderPool) -> Int64? {
      pool.withKeptState { state in
        guard let number = try state.connection.number(id) else { return nil }
        return state.isCurrent(RowPlace(table: 0, id: id)) ? number : nil
      }
    }

    func write(_ changed: [Int64], _ sql: String...) throws {
      try writer.begin(.immediate)
      for sql in sql { try writer.execute(sql) }
      try pool.committing(rows(changed), writer) { () throws(SQLiteError) in try writer.commit() }
    }

    /// Commits a transaction that was begun, by `body`.
    func commit(_ changed: [Int64], _ body: () throws -> Void) throws {
      try pool.committing(rows(changed), writer) { try body() }
    }

    func rows(_ ids: [Int64]) -> ChangedRows {
      var rows = ChangedRows()
      for id in ids { rows.insert(RowPlace(table: 0, id: id)) }
      return rows
    }
  }

  /// A file with rows 1 to 9, each with ten times its id as its number.
  private func withFixture(_ body: (Fixture, _ path: String) throws -> Void) throws {
    try withTemporaryFile { path in
      let writer = try Connection(path: path)
      try writer.prepareDatabaseFile()
      try writer.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, number INTEGER)")
      for id in 1...9 { try writer.execute("INSERT INTO t VALUES (\(id), \(10 * id))") }
      let pool = ReaderPool(path: path)
      // Long enough that none is let go of before a test has come to its end.
      pool.keepStates(forMilliseconds: 1_000_000)
      try body(Fixture(pool: pool, writer: writer), path)
      pool.close()
    }
  }

  @Test("Rows that the writer has not changed are read from it, and no others")
  func own() throws {
    try withFixture { fixture, _ in
      #expect(fixture.number(1) == nil, "nothing is kept yet")
      try fixture.keep()
      #expect(fixture.number(1) == 10 && fixture.number(2) == 20 && fixture.number(10) == nil)
      try fixture.write([1], "UPDATE t SET number = 11 WHERE id = 1")
      #expect(fixture.number(1) == nil && fixture.number(2) == 20)
      try fixture.write([3], "DELETE FROM t WHERE id = 3", "INSERT INTO t VALUES (10, 100)")
      #expect(fixture.number(1) == nil && fixture.number(2) == 20 && fixture.number(3) == nil)
      #expect(fixture.number(10) == nil)
      // Nothing to commit.
      try fixture.write([4])
      #expect(fixture.number(2) == 20)
      try fixture.keep()
      #expect(fixture.number(1) == 11 && fixture.number(3) == nil && fixture.number(10) == 100)
    }
  }

  @Test("When others commit, nothing is read from it")
  func others() throws {
    try withFixture { fixture, path in
      let other = try Connection(path: path)
      try fixture.keep()
      try other.execute("UPDATE t SET number = 21 WHERE id = 2")
      #expect((1...9).allSatisfy { fixture.number($0) == nil })
      try fixture.keep()
      #expect(fixture.number(2) == 21)
      // Before, between and after the writer's commits.
      for number in 0..<3 {
        try fixture.keep()
        if number == 0 { try other.execute("UPDATE t SET number = 31 WHERE id = 3") }
        try fixture.write([1], "UPDATE t SET number = number + 1 WHERE id = 1")
        if number == 1 { try other.execute("UPDATE t SET number = 41 WHERE id = 4") }
        try fixture.write([1], "UPDATE t SET number = number + 1 WHERE id = 1")
        if number == 2 { try other.execute("UPDATE t SET number = 51 WHERE id = 5") }
        #expect((1...9).allSatisfy { fixture.number($0) == nil }, "\(number)")
      }
      // The writer, without a word of what it changes.
      try fixture.keep()
      try fixture.writer.execute("UPDATE t SET number = 61 WHERE id = 6")
      #expect(fixture.number(6) == nil)
      try fixture.write([1], "UPDATE t SET number = 0 WHERE id = 1")
      #expect(fixture.number(6) == nil)
    }
  }

  @Test(
    "A commit of others is not taken for the writer's that failed, or wrote nothing, or came first")
  func mistaken() throws {
    try withFixture { fixture, path in
      let writer = fixture.writer
      let other = try Connection(path: path)
      let change = "UPDATE t SET number = number + 1 WHERE id = 2"
      try fixture.keep()
      try writer.begin(.immediate)
      try writer.execute("UPDATE t SET number = 0 WHERE id = 1")
      do {
        try fixture.commit([1]) {
          try writer.rollback()
          try other.execute(change)
          throw Failure()
        }
        Issue.record("a commit that failed did not throw")
      } catch is Failure {}
      #expect(fixture.number(2) == nil && fixture.number(3) == nil)
      try fixture.keep()
      try writer.begin(.immediate)
      try fixture.commit([]) {
        try writer.commit()
        try other.execute(change)
      }
      #expect(fixture.number(2) == nil && fixture.number(3) == nil)
      try fixture.keep()
      try writer.begin(.immediate)
      try writer.execute("UPDATE t SET number = 1 WHERE id = 1")
      try fixture.commit([1]) {
        try writer.commit()
        try other.execute(change)
      }
      #expect(fixture.number(2) == nil && fixture.number(3) == nil)
      try fixture.keep()
      #expect(fixture.number(1) == 1 && fixture.number(2) == 23)
    }
  }

  @Test("A state that is taken during a commit, or after its transaction has begun, is as good")
  func duringCommit() throws {
    try withFixture { fixture, _ in
      let writer = fixture.writer
      try writer.begin(.immediate)
      try writer.execute("UPDATE t SET number = 11 WHERE id = 1")
      try fixture.commit([1]) {
        let isKept = try eventually {
          for _ in 0..<20 { try fixture.pool.withReader { _ = try $0.value("SELECT 1 FROM t") } }
          return fixture.number(1) == 10
        }
        #expect(isKept)
        try writer.commit()
        // Nobody knows yet whose commit that was.
        #expect(fixture.number(1) == nil && fixture.number(2) == nil)
      }
      #expect(fixture.number(1) == nil && fixture.number(2) == 20)
    }
    try withFixture { fixture, path in
      let writer = fixture.writer
      let other = try Connection(path: path)
      try writer.begin(.immediate)
      try writer.execute("UPDATE t SET number = 11 WHERE id = 1")
      try fixture.commit([1]) {
        try writer.commit()
        try fixture.keep()
        try other.execute("UPDATE t SET number = 21 WHERE id = 2")
      }
      #expect(fixture.number(2) == nil && fixture.number(3) == nil)
    }
    try withFixture { fixture, _ in
      let writer = fixture.writer
      try writer.begin(.immediate)
      try writer.execute("UPDATE t SET number = 11 WHERE id = 1")
      let isKept = try eventually {
        for _ in 0..<20 { try fixture.pool.withReader { _ = try $0.value("SELECT 1 FROM t") } }
        return fixture.number(1) == 10
      }
      #expect(isKept)
      try fixture.commit([1]) { try writer.commit() }
      #expect(fixture.number(1) == nil && fixture.number(2) == 20)
    }
  }

  @Test("Where very much was changed, nothing is read from it")
  func everything() throws {
    try withFixture { fixture, _ in
      try fixture.keep()
      try fixture.write(Array(1000...3000), "UPDATE t SET number = number + 1")
      #expect((1...9).allSatisfy { fixture.number($0) == nil })
    }
  }

  @Test("One thread at a time uses it; what fails in it is read again by the others' way")
  func use() throws {
    try withFixture { fixture, _ in
      try fixture.keep()
      let inner = fixture.pool.withKeptState { _ in fixture.number(1) == nil }
      #expect(inner == true)
      #expect(fixture.pool.withKeptState { _ -> Int in throw Failure() } == nil)
      #expect(fixture.number(1) == 10)
      // Who leaves a transaction open does not make an old state pass for a new one.
      _ = fixture.pool.withKeptState { state in
        try state.connection.begin(.deferred)
        return try state.connection.number(1)
      }
      try fixture.write([1], "UPDATE t SET number = 11 WHERE id = 1")
      try fixture.keep()
      #expect(fixture.number(1) == 11)
    }
  }

  @Test("Who closes the pool waits for who reads")
  func closing() throws {
    try withFixture { fixture, path in
      let pool = fixture.pool
      let hasBegun = DispatchSemaphore(value: 0)
      let mayEnd = DispatchSemaphore(value: 0)
      let events = Collected<String>()
      let group = DispatchGroup()
      DispatchQueue.global().async(group: group) {
        var found: Int64?
        while found == nil {
          for _ in 0..<20 { try? pool.withReader { _ = try $0.value("SELECT 1 FROM t") } }
          found = pool.withKeptState { state in
            hasBegun.signal()
            guard mayEnd.expect("the end of the reading") else { return 0 }
            // The state is still there.
            let number = try state.connection.number(1)
            events.append("read")
            return number
          }
        }
        #expect(found == 10)
      }
      try hasBegun.wait(for: "the reader")
      DispatchQueue.global().async(group: group) {
        pool.close()
        events.append("closed")
      }
      #expect(eventually { (try? pool.withReader { _ in }) == nil })
      mayEnd.signal()
      group.wait()
      #expect(events.all == ["read", "closed"])
      try fixture.writer.close()
      #expect(!FileManager.default.fileExists(atPath: path + "-wal"))
    }
  }

  /// Rows as readers may see them: not older than what was committed or seen by anybody before, nor newer than what was written.
  private final class Bounds: @unchecked Sendable {
    private let lock = NSLock()
    private var numbers = (0...9).map { (least: Int64(10 * $0), most: Int64(10 * $0)) }
    let kept = Atomic(0)

    func least(_ row: Int) -> Int64 { lock.withLock { numbers[row].least } }

    /// Somebody is about to write a row.
    func next(_ row: Int) -> Int64 {
      lock.withLock {
        numbers[row].most += 1
        return numbers[row].most
      }
    }

    /// Somebody has committed a number, or seen it.
    /// - Returns: Whether it can have been seen.
    func saw(_ number: Int64, _ row: Int) -> Bool {
      lock.withLock {
        numbers[row].least = max(numbers[row].least, number)
        return number <= numbers[row].most
      }
    }
  }

  @Test("Whoever commits, a row is never older than what anybody has seen before")
  func order() throws {
    let seed = UInt64.random(in: 0...UInt64(Int64.max))
    var random = SeededGenerator(seed: seed)
    try withFixture { fixture, path in
      let pool = fixture.pool
      pool.keepStates(forMilliseconds: Int.random(in: 1...50, using: &random))
      let other = try Connection(path: path)
      let bounds = Bounds()
      let isDone = Collected<Bool>()
      let readers = DispatchGroup()
      for offset in 0..<2 {
        DispatchQueue.global().async(group: readers) {
          var row = offset
          while isDone.all.isEmpty {
            row = row % 9 + 1
            let least = bounds.least(row)
            let kept = Fixture.number(Int64(row), pool)
            if kept != nil { bounds.kept.add(1, ordering: .relaxed) }
            let found = kept ?? (try? pool.withReader { try $0.number(Int64(row)) })
            guard let found, found >= least, bounds.saw(found, row) else {
              Issue.record("row \(row) is \(found ?? -1) after \(least), seed \(seed)")
              return
            }
          }
        }
      }
      // More commits are the writer's own for a while, and then more are not.
      let deadline = ContinuousClock.now + .seconds(120)
      var step = 0
      while step < 4000 || bounds.kept.load(ordering: .relaxed) < 100, .now < deadline {
        step += 1
        let row = Int.random(in: 1...9, using: &random)
        let number = bounds.next(row)
        let sql = "UPDATE t SET number = \(number) WHERE id = \(row)"
        if random.oneIn(step / 500 % 2 == 0 ? 200 : 3) {
          try other.execute(sql)
        } else {
          try fixture.write([Int64(row)], sql)
        }
        _ = bounds.saw(number, row)
        if random.oneIn(300) { _ = try pool.checkpoint(fixture.writer, .restart) }
      }
      isDone.append(true)
      readers.wait()
      #expect(bounds.kept.load(ordering: .relaxed) >= 100)
    }
  }

  @Test(
    "Checkpoints, ours and others', have their way while rows are read without a pause",
    arguments: [true, false])
  func checkpoints(areOurs: Bool) throws {
    try withFixture { fixture, path in
      let pool = fixture.pool
      pool.keepStates(forMilliseconds: 4)
      // A connection that has read nothing has nothing to checkpoint.
      let other = try Connection(path: path)
      _ = try other.number(1)
      let isDone = Collected<Bool>()
      let kept = Bounds()
      let readers = DispatchGroup()
      DispatchQueue.global().async(group: readers) {
        var misses = 0
        while isDone.all.isEmpty {
          misses += 1
          if Fixture.number(2, pool) != nil {
            misses = 0
            kept.kept.add(1, ordering: .relaxed)
          } else if misses > 10_000 {
            // Not each time: a reader that begins anew leaves the newest state's lock for others to follow.
            for _ in 0..<16 { try? pool.withReader { _ = try $0.number(2) } }
          }
        }
      }
      for _ in 0..<5 {
        try fixture.write([1], "UPDATE t SET number = number + 1 WHERE id = 1")
        let before = kept.kept.load(ordering: .relaxed)
        #expect(eventually { kept.kept.load(ordering: .relaxed) > before })
        try fixture.write([1], "UPDATE t SET number = number + 1 WHERE id = 1")
        // Readers of single statements are waited for.
        let result =
          areOurs
          ? try pool.checkpoint(fixture.writer, .restart)
          : try other.checkpoint(.truncate, timeoutMilliseconds: 20_000)
        #expect(!result.isBusy && result.checkpointed >= 0)
      }
      isDone.append(true)
      readers.wait()
    }
  }
}

extension Connection {
  fileprivate func number(_ id: Int64) throws -> Int64? {
    try value("SELECT number FROM t WHERE id = ?", [.integer(id)])?.integer
  }

  /// All rows, for comparing.
  fileprivate func dataState() throws -> [[SQLValue]] {
    try rows("SELECT id, number FROM t ORDER BY id")
  }
}
