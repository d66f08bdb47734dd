// The read lock that a pool holds during reads in quick succession.

import DflatTestSupport
import Foundation
import SQLiteAccess
import Platform
import Testing

@Suite("Shared read lock")
struct SharedReadLockTests {
  /// Reads until the pool holds the lock, which shows when the log cannot restart.
  private func hold(_ pool: ReaderPool, _ writer: Connection) throws {
    try #expect(
      eventually {
        try insert(writer)
        for _ in 0..<100 { _ = try count(pool) }
        return try writer.checkpoint(.restart, timeoutMilliseconds: 0).isBusy
      }, "the lock is not kept")
  }

  private func count(_ pool: ReaderPool) throws -> Int64? {
    try pool.withReader { reader in
      let count = try reader.value("SELECT count(*) FROM t")
      return if case .integer(let count) = count { count } else { nil }
    }
  }

  private func insert(_ writer: Connection) throws {
    try writer.execute("INSERT INTO t (text) VALUES ('another')")
  }

  @Test("It is held during a burst, released soon after, and does not delay our own checkpoints")
  func burst() throws {
    try withTemporaryFile { path in
      let writer = try makeFilledFile(path)
      let pool = ReaderPool(path: path)
      for _ in 0..<3 {
        try hold(pool, writer)
        #expect(pool.openCount == 1 && pool.idleCount == 1)
        let result = try pool.checkpoint(writer, .restart, timeoutMilliseconds: 0)
        #expect(!result.isBusy)
        // Nor those of other connections once the reads have ended.
        try hold(pool, writer)
        #expect(try eventually { try !writer.checkpoint(.truncate, timeoutMilliseconds: 0).isBusy })
      }
      // Two reads per second are not a burst.
      _ = try count(pool)
      #expect(try !writer.checkpoint(.truncate, timeoutMilliseconds: 0).isBusy)
    }
  }

  @Test("During a long burst, other writers can restart the log")
  func others() throws {
    try withTemporaryFile { path in
      let writer = try makeFilledFile(path)
      let pool = ReaderPool(path: path)
      try hold(pool, writer)
      // A lock on a state before the last commit would prevent that every time.
      #expect(
        try eventually {
          for _ in 0..<50 { _ = try count(pool) }
          try insert(writer)
          return try !writer.checkpoint(.truncate, timeoutMilliseconds: 0).isBusy
        })
    }
  }

  @Test(
    "Checkpoints by this program and by others finish during a continuous burst of reads",
    arguments: [true, false])
  func checkpoints(areOurs: Bool) throws {
    try withTemporaryFile { path in
      let writer = try makeFilledFile(path)
      let pool = ReaderPool(path: path)
      let other = try Connection(path: path)
      // A connection that has read nothing has nothing to checkpoint.
      _ = try other.value("SELECT count(*) FROM t")
      let isDone = Collected<Bool>()
      let reads = Atomic(0)
      let readers = DispatchGroup()
      onOwnThread(in: readers) {
        while isDone.all.isEmpty {
          if (try? count(pool)) != nil { reads.add(1, ordering: .relaxed) }
        }
      }
      for _ in 0..<5 {
        try insert(writer)
        // Enough reads to take the lock in the latest state.
        let before = reads.load(ordering: .relaxed)
        #expect(eventually { reads.load(ordering: .relaxed) > before + 100 })
        try insert(writer)
        let result =
          areOurs
          ? try pool.checkpoint(writer, .restart)
          : try other.checkpoint(.truncate, timeoutMilliseconds: 20_000)
        #expect(!result.isBusy && result.checkpointed >= 0)
      }
      isDone.append(true)
      readers.wait()
    }
  }

  @Test("Each read sees all earlier commits, from any connection")
  func newest() throws {
    try withTemporaryFile { path in
      let writer = try makeFilledFile(path)
      let pool = ReaderPool(path: path)
      let readers = DispatchGroup()
      let isDone = Collected<Bool>()
      for _ in 0..<2 {
        onOwnThread(in: readers) {
          while isDone.all.isEmpty { _ = try? count(pool) }
        }
      }
      for number in 1...500 as ClosedRange<Int64> {
        try insert(writer)
        if number.isMultiple(of: 50) {
          _ = try pool.checkpoint(writer, .restart)
        }
        for _ in 0..<number % 40 { #expect(try count(pool) == 100 + number) }
      }
      isDone.append(true)
      readers.wait()
    }
  }

  @Test("It is not held with a rollback journal, where it would block writers")
  func rollbackJournal() throws {
    try withTemporaryFile { path in
      let writer = try Connection(path: path, busyTimeoutMilliseconds: 0)
      try writer.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, text TEXT)")
      let pool = ReaderPool(path: path)
      for number in 1...50 as ClosedRange<Int64> {
        for _ in 0..<50 { #expect(try count(pool) == number - 1) }
        try insert(writer)
      }
    }
  }

  @Test("A pool that is closed, released, or has closed its readers has no connection left")
  func closed() throws {
    for end in 0..<3 {
      try withTemporaryFile { path in
        let writer = try makeFilledFile(path)
        var pool: ReaderPool? = ReaderPool(path: path)
        try hold(pool!, writer)
        switch end {
        case 0: pool?.close()
        case 1: pool = nil
        default: pool?.closeIdle()
        }
        // The last connection removes the log.
        try writer.close()
        #expect(!FileManager.default.fileExists(atPath: path + "-wal"), "end \(end)")
        if end == 2 { #expect(try count(pool!) != nil) }
      }
    }
  }

  @Test("A missing or exclusively locked file delays no reader")
  func failures() throws {
    try withTemporaryFile { path in
      let pool = ReaderPool(path: path, busyTimeoutMilliseconds: 0)
      for _ in 0..<100 { #expect(throws: SQLiteError.self) { try count(pool) } }
      let writer = try makeFilledFile(path)
      #expect(try count(pool) == 100)
      try hold(pool, writer)
    }
  }
}
