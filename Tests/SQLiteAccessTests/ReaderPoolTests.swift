import DflatTestSupport
import Foundation
import SQLiteAccess
import Testing

@Suite("Reader pool")
struct ReaderPoolTests {
  @Test("A reader is opened on demand, reused, and cannot write")
  func reuse() throws {
    try withTemporaryFile { path in
      _ = try makeFilledFile(path)
      let pool = ReaderPool(path: path)
      #expect(pool.openCount == 0)
      var seen: Set<ObjectIdentifier> = []
      for _ in 0..<5 {
        try pool.withReader { reader in
          seen.insert(ObjectIdentifier(reader))
          let count = try reader.value("SELECT count(*) FROM t")
          #expect(count == 100)
          let error = #expect(throws: SQLiteError.self) { try reader.execute("DELETE FROM t") }
          #expect(error?.isReadOnly == true)
        }
      }
      #expect(seen.count == 1 && pool.openCount == 1 && pool.idleCount == 1)
    }
  }

  @Test("A missing file is an error at each use, and is read once it exists")
  func missingFile() throws {
    try withTemporaryFile { path in
      let pool = ReaderPool(path: path, limit: 1)
      for _ in 0..<3 {
        let error = #expect(throws: SQLiteError.self) { try pool.withReader { _ in } }
        #expect(error?.isNoSuchFile == true)
        let lease = #expect(throws: SQLiteError.self) { _ = try pool.checkout() }
        #expect(lease?.isNoSuchFile == true)
      }
      #expect(pool.openCount == 0)
      _ = try makeFilledFile(path)
      #expect(try pool.withReader { try $0.value("SELECT count(*) FROM t") } == 100)
    }
  }

  @Test("In writing modes, readers still cannot write")
  func queryOnly() throws {
    try withTemporaryFile { path in
      _ = try makeFilledFile(path)
      let pool = ReaderPool(path: path, mode: .readWrite)
      try pool.withReader { reader in
        let count = try reader.value("SELECT count(*) FROM t")
        #expect(count == 100)
        let error = #expect(throws: SQLiteError.self) { try reader.execute("DELETE FROM t") }
        #expect(error?.isReadOnly == true)
      }
    }
  }

  @Test("Readers are configured once; a failure there is thrown and leaves no connection open")
  func configured() throws {
    try withTemporaryFile { path in
      _ = try makeFilledFile(path)
      let calls = Collected<Int>()
      let pool = ReaderPool(path: path) { reader throws(SQLiteError) in
        calls.append(1)
        if calls.all.count == 1 { throw SQLiteError(code: .error, message: "not yet") }
        try reader.setPragma("cache_size", -123)
      }
      #expect(throws: SQLiteError.self) { try pool.withReader { _ in } }
      #expect(pool.openCount == 0)
      for _ in 0..<2 {
        #expect(try pool.withReader { try $0.pragma("cache_size") } == -123)
      }
      #expect(calls.all.count == 2)
    }
  }

  @Test("Nested use by one thread gets readers of its own, even beyond the limit, and never waits")
  func nested() throws {
    try withTemporaryFile { path in
      _ = try makeFilledFile(path)
      let pool = ReaderPool(path: path, limit: 1)
      try pool.withReader { outer in
        try pool.withReader { inner in
          #expect(inner !== outer)
          #expect(pool.openCount == 2)
          let lease = try pool.checkout()
          #expect(lease.connection !== inner && lease.connection !== outer)
          #expect(try inner.value("SELECT count(*) FROM t") == 100)
        }
      }
      // A reader that was opened beyond the limit is closed again.
      #expect(pool.openCount == 1 && pool.idleCount == 1)
    }
  }

  @Test("An open transaction is rolled back, and the error of body is thrown")
  func leftTransaction() throws {
    struct Refusal: Error {}
    try withTemporaryFile { path in
      let writer = try makeFilledFile(path)
      let pool = ReaderPool(path: path, limit: 1)
      #expect(throws: Refusal.self) {
        try pool.withReader { reader in
          try reader.begin()
          _ = try reader.value("SELECT count(*) FROM t")
          throw Refusal()
        }
      }
      #expect(pool.idleCount == 1)
      try writer.execute("DELETE FROM t")
      #expect(try pool.withReader { try $0.value("SELECT count(*) FROM t") } == 0)
      #expect(try !writer.checkpoint(.truncate, timeoutMilliseconds: 0).isBusy)
    }
  }

  @Test("A reader with a kept statement is not reused")
  func keptStatement() throws {
    try withTemporaryFile { path in
      _ = try makeFilledFile(path)
      let pool = ReaderPool(path: path, limit: 1)
      let kept = try pool.withReader { try $0.statement("SELECT id FROM t") }
      #expect(pool.openCount == 0)
      try pool.withReader { #expect($0 !== kept.connection) }
      #expect(try kept.step())
    }
  }

  @Test("When all readers are in use, callers wait in the order of their calls")
  func waitsInOrder() throws {
    try withTemporaryFile { path in
      _ = try makeFilledFile(path)
      let pool = ReaderPool(path: path, limit: 2)
      let first = try pool.checkout()
      let second = try pool.checkout()
      let order = Collected<Int>()
      let done = DispatchGroup()
      for number in 0..<8 {
        done.enter()
        startThread {
          do {
            try pool.withReader { _ in order.append(number) }
          } catch {
            order.append(-1)
          }
          done.leave()
        }
        #expect(eventually { pool.waitingCount == number + 1 })
      }
      #expect(pool.openCount == 2 && order.all == [])
      first.end()
      first.end()
      done.wait()
      #expect(order.all == Array(0..<8))
      #expect(pool.openCount == 2 && pool.idleCount == 1)
      second.end()
    }
  }

  @Test("A checkout waits no longer than its timeout, and then leaves the queue")
  func timeout() throws {
    try withTemporaryFile { path in
      _ = try makeFilledFile(path)
      let pool = ReaderPool(path: path, limit: 1)
      let lease = try pool.checkout(timeout: .zero)
      let time = ContinuousClock().measure {
        let error = #expect(throws: SQLiteError.self) {
          _ = try pool.checkout(timeout: .milliseconds(50))
        }
        #expect(error?.code == .timedOut)
      }
      #expect(time >= .milliseconds(50) && time < .seconds(200))
      #expect(pool.waitingCount == 0)
      lease.end()
      #expect(try pool.checkout(timeout: .zero).connection.value("SELECT 1") == 1)
    }
  }

  @Test("A place that becomes free because opening failed goes to the head of the queue")
  func failedOpening() throws {
    try withTemporaryFile { path in
      _ = try makeFilledFile(path)
      let isOpening = DispatchSemaphore(value: 0)
      let mayGoOn = DispatchSemaphore(value: 0)
      let calls = Collected<Int>()
      let pool = ReaderPool(path: path, limit: 1) { _ throws(SQLiteError) in
        calls.append(1)
        guard calls.all.count == 1 else { return }
        isOpening.signal()
        mayGoOn.wait()
        throw SQLiteError(code: .error, message: "not this one")
      }
      let results = Collected<String>()
      let done = DispatchGroup()
      for number in 0..<2 {
        done.enter()
        startThread {
          do {
            try pool.withReader { _ in results.append("read") }
          } catch {
            results.append("failed")
          }
          done.leave()
        }
        if number == 0 { isOpening.wait() } else { #expect(eventually { pool.waitingCount == 1 }) }
      }
      mayGoOn.signal()
      done.wait()
      #expect(results.all.sorted() == ["failed", "read"])
    }
  }

  @Test("Many threads read consistent states while one writes, within the limit")
  func concurrently() throws {
    try withTemporaryFile { path in
      let writer = try makeFilledFile(path)
      let pool = ReaderPool(path: path, limit: 3, idleLifetime: .zero)
      let problems = Collected<String>()
      let done = DispatchGroup()
      for thread in 0..<8 {
        done.enter()
        startThread {
          for round in 0..<150 {
            do {
              if (thread + round).isMultiple(of: 5) {
                let lease = try pool.checkout(timeout: .seconds(60))
                try Self.readTwice(lease.connection, problems)
              } else {
                try pool.withReader { outer in
                  try Self.readTwice(outer, problems)
                  if round.isMultiple(of: 10) {
                    try pool.withReader { try Self.readTwice($0, problems) }
                  }
                }
              }
              if round.isMultiple(of: 25) { pool.closeIdle() }
              // Each of the eight may have one nested reader beyond the limit.
              if pool.openCount > 3 + 8 { problems.append("\(pool.openCount) readers") }
            } catch {
              problems.append("\(error)")
            }
          }
          done.leave()
        }
      }
      for round in 0..<60 {
        // Every state has a hundred rows with equal texts.
        try writer.execute("UPDATE t SET text = ?", [.text("round \(round)")])
        if round.isMultiple(of: 10) { try writer.checkpoint(.truncate, timeoutMilliseconds: 1) }
      }
      done.wait()
      pool.close()
      #expect(problems.all == [])
      #expect(pool.openCount == 0 && pool.waitingCount == 0)
    }
  }

  private static func readTwice(_ reader: Connection, _ problems: Collected<String>) throws {
    try reader.begin()
    let sql = "SELECT count(*), count(DISTINCT text), min(text) FROM t"
    let first = try reader.rows(sql)
    let second = try reader.rows(sql)
    try reader.commit()
    if first != second || first.first?.prefix(2) != [100, 1] {
      problems.append("\(first) and then \(second)")
    }
  }
}
