// The lifetime of readers: leases, idle readers, and the end of a pool.

import DflatTestSupport
import Foundation
import SQLiteAccess
import Testing

@Suite("The lifetime of readers")
struct ReaderPoolLifetimeTests {
  @Test("A lease can move to another thread, and ends when it is released")
  func leaseMoves() throws {
    try withTemporaryFile { path in
      _ = try makeFilledFile(path)
      let pool = ReaderPool(path: path, limit: 1)
      let counts = Collected<SQLValue?>()
      let done = DispatchSemaphore(value: 0)
      let lease = LeaseBox(try pool.checkout())
      startThread {
        counts.append(try? lease.take()?.connection.value("SELECT count(*) FROM t"))
        done.signal()
      }
      done.wait()
      #expect(counts.all == [100])
      #expect(pool.idleCount == 1)
    }
  }

  @Test("Idle readers are closed after their lifetime, or on request")
  func aging() throws {
    try withTemporaryFile { path in
      _ = try makeFilledFile(path)
      let pool = ReaderPool(path: path, limit: 8, idleLifetime: .milliseconds(60))
      func burst() throws {
        let leases = try (0..<8).map { _ in try pool.checkout() }
        for lease in leases { lease.end() }
      }
      try burst()
      #expect(pool.openCount == 8 && pool.idleCount == 8)
      // One reader is used continuously and stays open; the others are idle for too long and are
      // closed.
      var used: Set<ObjectIdentifier> = []
      #expect(
        eventually {
          #expect(throws: Never.self) {
            try pool.withReader { _ = used.insert(ObjectIdentifier($0)) }
          }
          return pool.openCount == 1
        })
      #expect(used.count == 1)
      // When it is no longer used, it is closed, too; the same happens after a second burst.
      #expect(eventually { pool.openCount == 0 })
      try burst()
      #expect(eventually { pool.openCount == 0 })

      let lasting = ReaderPool(path: path, limit: 8)
      let leases = try (0..<8).map { _ in try lasting.checkout() }
      for lease in leases { lease.end() }
      #expect(lasting.closeIdle(olderThan: .seconds(3600)) == 0)
      #expect(lasting.closeIdle() == 8)
      #expect(lasting.openCount == 0)
    }
  }

  @Test("Closing refuses new use, ends waits, and returns when every reader is back")
  func close() throws {
    try withTemporaryFile { path in
      _ = try makeFilledFile(path)
      let pool = ReaderPool(path: path, limit: 1)
      let events = Collected<String>()
      let isInside = DispatchSemaphore(value: 0)
      let mayLeave = DispatchSemaphore(value: 0)
      let done = DispatchGroup()
      done.enter()
      startThread {
        do {
          try pool.withReader { reader in
            isInside.signal()
            mayLeave.wait()
            // Closing does not affect running calls.
            if try reader.value("SELECT count(*) FROM t") == 100 { events.append("read") }
          }
        } catch {
          events.append("\(error)")
        }
        done.leave()
      }
      isInside.wait()
      done.enter()
      startThread {
        do {
          try pool.withReader { _ in events.append("wrong") }
        } catch {
          events.append((error as? SQLiteError)?.isClosed == true ? "refused" : "\(error)")
        }
        done.leave()
      }
      #expect(eventually { pool.waitingCount == 1 })
      done.enter()
      startThread {
        pool.close()
        events.append("closed")
        done.leave()
      }
      #expect(eventually { events.all == ["refused"] })
      let late = #expect(throws: SQLiteError.self) { try pool.withReader { _ in } }
      #expect(late?.isClosed == true)
      mayLeave.signal()
      done.wait()
      #expect(events.all == ["refused", "read", "closed"])
      #expect(pool.openCount == 0)
      pool.close()
    }
  }

  @Test("A released pool closes its readers; a lease retains it")
  func lettingGo() throws {
    try withTemporaryFile { path in
      let writer = try makeFilledFile(path)
      weak var watched: ReaderPool?
      weak var reader: Connection?
      do {
        let pool = ReaderPool(path: path)
        watched = pool
        try pool.withReader { reader = $0 }
        let lease = try pool.checkout()
        #expect(lease.connection === reader)
      }
      #expect(watched == nil && reader == nil)
      try writer.close()
      #expect(!FileManager.default.fileExists(atPath: path + "-wal"))
    }
  }
}

/// Passes a lease to another thread.
private final class LeaseBox: @unchecked Sendable {
  // Unchecked: written before the thread starts, and from then on used by that thread only.
  private var lease: ReaderLease?

  init(_ lease: ReaderLease) { self.lease = lease }

  func take() -> ReaderLease? {
    defer { lease = nil }
    return lease
  }
}
