import Foundation
import SQLiteAccess
import Testing

@Suite("Checkpoints")
struct CheckpointTests {
  @Test("No connection checkpoints automatically, and the log's length is known")
  func notAutomatic() throws {
    try withTemporaryFile { path in
      let connection = try Connection(path: path)
      #expect(try connection.pragma("wal_autocheckpoint") == 0)
      try connection.prepareDatabaseFile()
      try connection.execute("CREATE TABLE t (a)")
      let before = connection.walPagesAfterLastCommit
      #expect(before > 0)
      for _ in 0..<1500 { try connection.execute("INSERT INTO t VALUES (1)") }
      // Twice the thousand pages at which SQLite would have checkpointed.
      #expect(connection.walPagesAfterLastCommit >= before + 1500)
      #expect(connection.walFileSize > 1500 * 4096)
    }
  }

  @Test(
    "A checkpoint moves everything; then the next commit restarts the log, or its file is empty")
  func complete() throws {
    try withTemporaryFile { path in
      let connection = try makeFilledFile(path, rows: 1000)
      let pages = connection.walPagesAfterLastCommit
      let restart = try connection.checkpoint(.restart)
      #expect(restart == CheckpointResult(walPages: pages, checkpointed: pages, isBusy: false))
      #expect(connection.walFileSize > 0 && connection.walPagesAfterLastCommit == 0)
      try connection.execute("DELETE FROM t WHERE id = 1")
      #expect((1..<pages).contains(connection.walPagesAfterLastCommit))
      let truncate = try connection.checkpoint(.truncate)
      #expect(truncate == CheckpointResult(walPages: 0, checkpointed: 0, isBusy: false))
      #expect(connection.walFileSize == 0 && connection.walPagesAfterLastCommit == 0)
    }
  }

  @Test("A reader keeps the log from restarting, without harm to it", arguments: [0, 60])
  func reader(timeout: Int) throws {
    try withTemporaryFile { path in
      let writer = try makeFilledFile(path)
      let reader = try Connection(path: path, mode: .readOnly)
      try reader.begin()
      #expect(try reader.value("SELECT count(*) FROM t") == 100)
      try writer.execute("DELETE FROM t WHERE id > 50")
      var result = CheckpointResult?.none
      let time = try ContinuousClock().measure {
        result = try writer.checkpoint(.truncate, timeoutMilliseconds: timeout)
      }
      #expect(result?.isBusy == true)
      #expect(time >= .milliseconds(timeout) && time < .seconds(200))
      #expect(try reader.value("SELECT count(*) FROM t") == 100)
      // Neither statements nor the busy timeout are affected.
      #expect(try writer.value("SELECT count(*) FROM t") == 50)
      #expect(try writer.pragma("busy_timeout") == 30_000)
      try reader.commit()
      #expect(try !writer.checkpoint(.truncate, timeoutMilliseconds: timeout).isBusy)
      #expect(try reader.value("SELECT count(*) FROM t") == 50)
    }
  }

  @Test("A reader of the last commit lets everything be copied, but the log cannot restart")
  func currentReader() throws {
    try withTemporaryFile { path in
      let writer = try makeFilledFile(path)
      let reader = try Connection(path: path, mode: .readOnly)
      try reader.begin()
      _ = try reader.value("SELECT count(*) FROM t")
      let pages = writer.walPagesAfterLastCommit
      let result = try writer.checkpoint(.restart, timeoutMilliseconds: 0)
      #expect(result == CheckpointResult(walPages: pages, checkpointed: pages, isBusy: true))
      #expect(try writer.value("SELECT count(*) FROM t") == 100)
    }
  }

  @Test(
    "While another connection writes, no page is copied", arguments: [0, 60],
    [Connection.CheckpointMode.restart, .truncate])
  func neverWithoutWriteLock(timeout: Int, mode: Connection.CheckpointMode) throws {
    try withTemporaryFile { path in
      let first = try makeFilledFile(path, rows: 1000)
      let size = try fileSize(path)
      let second = try Connection(path: path)
      try second.begin(.immediate)
      try second.execute("DELETE FROM t WHERE id = 1")
      let result = try first.checkpoint(mode, timeoutMilliseconds: timeout)
      #expect(result.isBusy && result.checkpointed <= 0)
      #expect(try fileSize(path) == size)
      try second.commit()
      let after = try first.checkpoint(mode, timeoutMilliseconds: timeout)
      #expect(!after.isBusy)
      #expect(try fileSize(path) > size)
      #expect(try first.value("SELECT count(*) FROM t") == 999)
    }
  }

  @Test("A checkpoint waits for a writer that ends in time")
  func waits() throws {
    try withTemporaryFile { path in
      let first = try makeFilledFile(path)
      let isHeld = DispatchSemaphore(value: 0)
      let errors = Collected<String>()
      startThread {
        do {
          let second = try Connection(path: path)
          try second.begin(.immediate)
          isHeld.signal()
          Thread.sleep(forTimeInterval: 0.1)
          try second.commit()
        } catch {
          errors.append("\(error)")
          isHeld.signal()
        }
      }
      isHeld.wait()
      #expect(try !first.checkpoint(.truncate).isBusy)
      #expect(errors.all == [])
    }
  }

  @Test("It is refused inside a transaction, or while a statement is running")
  func insideTransaction() throws {
    try withTemporaryFile { path in
      let connection = try makeFilledFile(path)
      try connection.begin(.immediate)
      let error = #expect(throws: SQLiteError.self) { try connection.checkpoint(.restart) }
      #expect(error?.isLocked == true)
      try connection.rollback()
      let query = try connection.statement("SELECT * FROM t")
      #expect(try query.step())
      #expect(throws: SQLiteError.self) { try connection.checkpoint(.restart) }
      #expect(try query.step(), "the running statement goes on")
      query.reset()
      #expect(try !connection.checkpoint(.restart).isBusy)
    }
  }

  @Test("It does not fail because the idle connection was interrupted before")
  func interruptedBefore() throws {
    try withTemporaryFile { path in
      let connection = try makeFilledFile(path)
      for mode in [Connection.CheckpointMode.restart, .truncate] {
        try connection.execute("UPDATE t SET text = 'y'")
        connection.interrupt()
        let result = try connection.checkpoint(mode)
        #expect(!result.isBusy && result.walPages == result.checkpointed)
      }
      #expect(connection.walFileSize == 0)
    }
  }

  @Test("Outside WAL mode there is nothing to do")
  func noWAL() throws {
    try withTemporaryFile { path in
      let connection = try Connection(path: path)
      try connection.execute("CREATE TABLE t (a)")
      #expect(try !connection.checkpoint(.truncate).isBusy)
      #expect(connection.walFileSize == 0 && connection.walPagesAfterLastCommit == 0)
    }
  }

  private func fileSize(_ path: String) throws -> Int {
    try #require(try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int)
  }
}
