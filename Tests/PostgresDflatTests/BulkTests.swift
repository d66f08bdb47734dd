// Many changes in few messages: arrays that are copied, and updates that are sent without waiting.

import Dflat
import DflatTestSupport
import Foundation
import Platform
import PostgresDflat
import PostgresTestSupport
import Testing

@Suite("Many changes on a server")
struct BulkTests {
  private func notes(_ keys: ClosedRange<UInt64>, text: String = "new") -> [Note] {
    keys.map { Note(key: $0, text: "\(text) \($0)") }
  }

  @Test("An array gets ascending ids, is read in its order, and reaches observers and the log")
  func insertion() async throws {
    try await withSchema { schema in
      let dflat = postgresWorkspace(schema: schema)
      let other = postgresWorkspace(schema: schema)
      try await dflat.write(Note.self) { try $0.insert(Note(key: 5)) }
      let (here, there) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
      let wanted: [UInt64] = [5] + (10...60) + (100...150)
      let subscriptions = [(dflat, here), (other, there)].map { workspace, seen in
        workspace.subscribe(fetchedResult: workspace.fetch(for: Note.self).all()) {
          if $0.map(\.key) == wanted { seen.signal() }
        }
      }
      try await dflat.write(Note.self) { txn in
        try txn.insert(contentsOf: notes(10...60))
        // Fewer than are worth a COPY.
        try txn.insert(contentsOf: notes(100...102))
        try txn.insert(contentsOf: notes(103...150))
        let last = try txn.fetch(for: Note.self).where(Note.key == 150)
        #expect(last.first?.text == "new 150")
      }
      here.expect("the array, in the own process")
      there.expect("the array, in another program")
      let stored = dflat.fetch(for: Note.self).all()
      #expect(stored.map(\.key) == wanted)
      #expect(stored.map(\._rowid) == stored.map(\._rowid).sorted())
      subscriptions.forEach { $0.cancel() }
      await dflat.shutdown()
      await other.shutdown()
    }
  }

  @Test("More rows than one COPY takes, and long and empty texts, arrive as they were")
  func manyRows() async throws {
    try await withSchema { schema in
      let dflat = postgresWorkspace(schema: schema)
      let long = String(repeating: "é\0", count: 100_000)
      try await dflat.write(Note.self) { txn in
        let made = (0..<25_000 as Range<UInt64>).map { key in
          Note(key: key, text: key == 12_345 ? long : key.isMultiple(of: 3) ? nil : "")
        }
        let result = try txn.insert(contentsOf: made)
        #expect(result.inserted == 25_000)
      }
      #expect(dflat.fetch(for: Note.self).all().count == 25_000)
      #expect(dflat.fetch(for: Note.self).where(Note.key == 12_345).first?.text == long)
      #expect(dflat.fetch(for: Note.self).where(Note.text.isNull).count == 8_333)
      await dflat.shutdown()
    }
  }

  @Test("An array with a key that is taken is refused by that key", arguments: [false, true])
  func takenKey(isTwice: Bool) async throws {
    try await withSchema { schema in
      let dflat = postgresWorkspace(schema: schema)
      try await dflat.write(Note.self) { try $0.insert(Note(key: isTwice ? 1 : 77)) }
      await #expect(
        performing: {
          try await dflat.write(Note.self) { txn in
            try txn.insert(Note(key: 3))
            try txn.insert(contentsOf: notes(50...99) + (isTwice ? [Note(key: 77)] : []))
          }
        },
        throws: { error in
          let error = error as? StorageError
          return error?.cause == .alreadyExists && "\(error as Any)".contains("key: 77")
        })
      #expect(dflat.fetch(for: Note.self).all().map(\.key) == [isTwice ? 1 : 77])
      await dflat.shutdown()
    }
  }

  @Test("A key that another program inserts meanwhile makes the array wait, and run again")
  func concurrentKey() async throws {
    try await withSchema { schema in
      let dflat = postgresWorkspace(schema: schema)
      try await dflat.write(Note.self) { try $0.insert(contentsOf: notes(1...20)) }
      let other = try PlainConnection()
      try other.run(
        "BEGIN ISOLATION LEVEL SERIALIZABLE; "
          + "INSERT INTO \"\(schema)\".note (pk0, p) SELECT 77, p FROM \"\(schema)\".note LIMIT 1")
      let runs = Mutex(0)
      let writing = Task {
        try await dflat.write(Note.self) { txn in
          runs.withLock { $0 += 1 }
          // In the first run this is before the other program's commit.
          _ = try txn.fetch(for: Note.self).where(Note.key == 1).first
          try txn.insert(contentsOf: notes(50...99))
        }
      }
      let watcher = try PlainConnection()
      let isWaiting = try await inTime {
        try !watcher.run(
          "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' "
            + "AND query LIKE '%COPY \"\(schema)\"%'"
        ).isEmpty
      }
      #expect(isWaiting)
      try other.run("COMMIT")
      await #expect(throws: StorageError.self) { try await writing.value }
      #expect(runs.withLock { $0 } == 2)
      #expect(dflat.fetch(for: Note.self).all().count == 21)
      await dflat.shutdown()
    }
  }

  @Test("Updates and deletions that were only sent are read by the same transaction")
  func sent() async throws {
    try await withSchema { schema in
      let dflat = postgresWorkspace(schema: schema)
      try await dflat.write(Note.self) { try $0.insert(contentsOf: notes(1...3000)) }
      try await dflat.write(Note.self) { txn in
        // More than may be unanswered.
        let changed = try txn.update(where: Note.key <= 2500) { $0.text = "changed" }
        #expect(changed.updated == 2500)
        let found = try txn.fetch(for: Note.self).where(Note.text == "changed")
        #expect(found.count == 2500)
        try txn.delete(Note(key: 2))
        let gone = try txn.fetch(for: Note.self).where(Note.key == 2)
        #expect(gone.isEmpty)
        try txn.update(Note(key: 3)) { $0.text = "last" }
      }
      #expect(dflat.fetch(for: Note.self).where(Note.text == "changed").count == 2498)
      #expect(dflat.fetch(for: Note.self).where(Note.key == 3).first?.text == "last")
      await dflat.shutdown()
    }
  }

  @Test("The connection dies while updates are unanswered: the transaction runs again")
  func death() async throws {
    try await withSchema { schema in
      let dflat = postgresWorkspace(schema: schema)
      try await dflat.write(Note.self) { try $0.insert(contentsOf: notes(1...100)) }
      let runs = Mutex(0)
      try await dflat.write(Note.self) { txn in
        let isFirst = runs.withLock { runs in
          runs += 1
          return runs == 1
        }
        try txn.update(where: Note.key <= 100) { $0.text = "changed" }
        if isFirst {
          try PlainConnection().run(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() "
              + "AND application_name = 'dflat' AND query LIKE '%\(schema)%'")
        }
      }
      #expect(runs.withLock { $0 } == 2)
      #expect(dflat.fetch(for: Note.self).where(Note.text == "changed").count == 100)
      await dflat.shutdown()
    }
  }

  @Test(
    "A transaction whose update the server leaves out is not committed",
    arguments: [false, true], [false, true])
  func leftOut(sharesCommits: Bool, catchesErrors: Bool) async throws {
    try await withSchema { schema in
      let dflat = postgresWorkspace(schema: schema) { $0.sharesCommits = sharesCommits }
      try await dflat.write(Note.self) { try $0.insert(contentsOf: notes(1...3)) }
      let plain = try PlainConnection()
      try plain.run(
        "CREATE FUNCTION \"\(schema)\".skip() RETURNS trigger LANGUAGE plpgsql "
          + "AS 'BEGIN RETURN NULL; END'; CREATE TRIGGER skip BEFORE UPDATE ON \"\(schema)\".note "
          + "FOR EACH ROW WHEN (OLD.pk0 = 2) EXECUTE FUNCTION \"\(schema)\".skip()")
      let error = await #expect(throws: StorageError.self) {
        try await dflat.write(Note.self) { txn in
          try txn.update(Note.self, keys: [1, 2]) { $0.text = "changed" }
          // The error arrives here, or at the commit.
          if catchesErrors { _ = try? txn.fetch(for: Note.self).all() }
        }
      }
      #expect(error?.cause == .missing)
      #expect(error?.table == "note")
      #expect(error?.rowid == 2)
      #expect(dflat.fetch(for: Note.self).where(Note.text == "changed").count == 0)
      try await dflat.write(Note.self) { txn in
        try txn.update(Note.self, keys: [3]) { $0.text = "changed" }
      }
      #expect(dflat.fetch(for: Note.self).where(Note.text == "changed").count == 1)
      await dflat.shutdown()
    }
  }

  @Test("Of transactions that share a commit, only the one that waits too long for a lock fails")
  func sharedCommit() async throws {
    try await withSchema { schema in
      let dflat = postgresWorkspace(schema: schema) {
        $0.sharesCommits = true
        $0.lockTimeout = .milliseconds(100)
      }
      try await dflat.write(Note.self) { try $0.insert(contentsOf: notes(1...40)) }
      let other = try PlainConnection()
      try other.run("BEGIN; SELECT 1 FROM \"\(schema)\".note WHERE pk0 = 20 FOR UPDATE")
      let failed: [UInt64] = await withTaskGroup(of: UInt64?.self) { group in
        for key in 1...40 as ClosedRange<UInt64> {
          // The first statement of one of them follows the update whose answer is not awaited.
          for copy in 1...4 as ClosedRange<UInt64> {
            group.addTask {
              do {
                try await dflat.write(Note.self) {
                  try $0.insert(Note(key: 100 * copy + key, text: "new"))
                }
              } catch { Issue.record(error) }
              return nil
            }
          }
          group.addTask {
            do {
              try await dflat.write(Note.self) { txn in
                try txn.update(Note.self, keys: [key]) { $0.text = "changed" }
              }
              return nil
            } catch let error as StorageError {
              #expect(error.cause == .busy)
              return key
            } catch {
              Issue.record(error)
              return nil
            }
          }
        }
        return await group.reduce(into: [UInt64]()) { if let key = $1 { $0.append(key) } }
      }
      try other.run("ROLLBACK")
      #expect(failed == [20])
      #expect(dflat.fetch(for: Note.self).where(Note.text == "changed").count == 39)
      #expect(dflat.fetch(for: Note.self).where(Note.text == "new").count == 160)
      await dflat.shutdown()
    }
  }

  @Test("A damaged object is no reason to take its key for another object's")
  func damaged() async throws {
    try await withSchema { schema in
      let dflat = postgresWorkspace(schema: schema)
      try await dflat.write(Note.self) { try $0.insert(contentsOf: notes(1...40)) }
      try PlainConnection().run("UPDATE \"\(schema)\".note SET p = '\\x00' WHERE pk0 = 25")
      let error = await #expect(throws: StorageError.self) {
        try await dflat.write(Note.self) { try $0.upsert(contentsOf: notes(21...80)) }
      }
      #expect(error?.cause == .corruptRow)
      #expect(error?.rowid == 25)
      #expect(dflat.fetch(for: Note.self).where(Note.key > 40).count == 0)
      await dflat.shutdown()
    }
  }

  @Test("A transaction that is alone in its commit gets its own error")
  func alone() async throws {
    try await withSchema { schema in
      let dflat = postgresWorkspace(schema: schema) {
        $0.sharesCommits = true
        $0.lockTimeout = .milliseconds(100)
      }
      try await dflat.write(Note.self) { try $0.insert(contentsOf: notes(1...2)) }
      let other = try PlainConnection()
      try other.run("BEGIN; SELECT 1 FROM \"\(schema)\".note WHERE pk0 = 2 FOR UPDATE")
      let error = await #expect(throws: StorageError.self) {
        try await dflat.write(Note.self, attempts: 1) { txn in
          try txn.update(Note.self, keys: [2]) { $0.text = "changed" }
        }
      }
      try other.run("ROLLBACK")
      #expect(error?.cause == .busy)
      await dflat.shutdown()
    }
  }

  @Test("An object that others change all the time does not stop those that share its commit")
  func contended() async throws {
    try await withSchema { schema in
      let dflat = postgresWorkspace(schema: schema) { $0.sharesCommits = true }
      try await dflat.write(Note.self) { try $0.insert(contentsOf: notes(1...20)) }
      let other = postgresWorkspace(schema: schema)
      let isOver = Atomic(false)
      let rival = Task {
        while !isOver.load(ordering: .acquiring) {
          try await other.write(Note.self, attempts: 1000) { txn in
            try txn.update(Note.self, keys: [20]) { $0.text = ($0.text ?? "") + "x" }
          }
        }
      }
      // Each is tried as often as usual, but for the one that is in the rival's way.
      try await withThrowingTaskGroup(of: Void.self) { group in
        for round in 0..<10 {
          for key in 1...20 as ClosedRange<UInt64> {
            group.addTask { try await self.note(key, "\(round)", key == 20 ? 1000 : 5, in: dflat) }
          }
        }
        try await group.waitForAll()
      }
      isOver.store(true, ordering: .releasing)
      try await rival.value
      await dflat.shutdown()
      await other.shutdown()
    }
  }

  private func note(
    _ key: UInt64, _ text: String, _ attempts: Int, in dflat: PostgresWorkspace
  ) async throws {
    _ = try await dflat.write(Note.self, attempts: attempts) { txn in
      try txn.update(Note.self, keys: [key]) { $0.text = text }
    }
  }
}
