// What a program has read counts only once the server knows that it was read.

import Dflat
import DflatTestSupport
import Dispatch
import Platform
import PostgresDflat
import PostgresTestSupport
import Testing

@Suite("Reads whose end is lost")
struct ConfirmationTests {
  /// Ends the connection instead of the end of a transaction that has only read.
  private final class Filter: ProxyFilter {
    let isLosing = Atomic<Bool>(false)

    func fromClient(_ message: ProxyMessage, _ connection: ProxyConnection) -> ProxyMessage? {
      guard message.statements == "COMMIT" else { return message }
      return isLosing.exchange(false, ordering: .acquiringAndReleasing) ? nil : message
    }
  }

  private func withLosses(
    _ body: (PostgresWorkspace, _ loseNext: () -> Void) async throws -> Void
  ) async throws {
    let filter = Filter()
    let proxy = try ServerProxy { filter }
    defer { proxy.close() }
    try await withSchema { schema in
      let dflat = postgresWorkspace(schema: schema, through: proxy)
      try await dflat.write(Note.self) { try $0.insert(Note(key: 1)) }
      try await body(dflat) { filter.isLosing.store(true, ordering: .releasing) }
      let isStillLosing = filter.isLosing.load(ordering: .acquiring)
      #expect(!isStillLosing, "no end was lost")
      await dflat.shutdown()
    }
  }

  @Test("What the server may have forgotten is read again")
  func snapshots() async throws {
    try await withLosses { dflat, loseNext in
      loseNext()
      let runs = Atomic<Int>(0)
      let count = try await dflat.read { context in
        runs.add(1, ordering: .relaxed)
        return try context.fetch(for: Note.self).all().count
      }
      #expect(count == 1)
      #expect(runs.load(ordering: .relaxed) == 2)
    }
  }

  /// Calls `body` with a workspace whose next read of notes the server cancels.
  private func withCancelledRead(_ body: (PostgresWorkspace) async throws -> Void) async throws {
    try await withSchema { schema in
      let dflat = postgresWorkspace(schema: schema, application: schema)
      try await dflat.write(Note.self, Post.self) { txn in
        try txn.insert(Note(key: 1))
        try txn.insert(post(1))
      }
      let isLocked = DispatchSemaphore(value: 0)
      let cancelling = onOwnThread {
        let holder = try PlainConnection()
        try holder.run("BEGIN; LOCK TABLE \"\(schema)\".note")
        isLocked.signal()
        let plain = try PlainConnection()
        let cancel = """
          SELECT count(pg_cancel_backend(pid)) FROM pg_stat_activity \
          WHERE application_name = '\(schema)' AND wait_event_type = 'Lock'
          """
        #expect(try eventually { try plain.run(cancel)[0][0] != "0" })
        try holder.run("COMMIT")
      }
      _ = try await beyondTasks { isLocked.expect("the lock") }
      try await body(dflat)
      _ = try await beyondTasks { cancelling.expect("the cancellation") }
      await dflat.shutdown()
    }
  }

  @Test("A snapshot whose read has failed on the server is an error, though the closure goes on")
  func failedReads() async throws {
    try await withCancelledRead { dflat in
      let failures = Atomic<Int>(0)
      await #expect(throws: StorageError.self) {
        try await dflat.read { snapshot in
          let posts = try snapshot.fetch(for: Post.self).all().count
          do { return posts + (try snapshot.fetch(for: Note.self).all().count) } catch {
            failures.add(1, ordering: .relaxed)
            return posts
          }
        }
      }
      let count = failures.load(ordering: .relaxed)
      #expect(count == 1)
    }
  }

  @Test(
    "A transaction that goes on after a failed read throws the error of the read",
    arguments: [false, true])
  func failedTransactions(writes: Bool) async throws {
    try await withCancelledRead { dflat in
      let error = await #expect(throws: StorageError.self) {
        try await dflat.write(Note.self, Post.self) { txn in
          if writes { try txn.insert(post(2)) }
          let posts = try txn.fetch(for: Post.self).all().count
          #expect(posts == (writes ? 2 : 1))
          #expect(throws: StorageError.self) { try txn.fetch(for: Note.self).all() }
        }
      }
      #expect((error?.underlying as? PostgresError)?.state == "57014")
      #expect(dflat.fetch(for: Post.self).all().count == 1)
    }
  }

  @Test("A transaction that ends with a failed read reports it once")
  func reportedOnce() async throws {
    try await withCancelledRead { dflat in
      let reported = Log<any Error>()
      dflat.errorHandler = { reported.add($0) }
      let ended = Log<Bool>()
      dflat.performChanges(
        [Note.self, Post.self],
        changesHandler: { _ in
          #expect(dflat.fetch(for: Post.self).all().count == 1)
          #expect(dflat.fetch(for: Note.self).all().isEmpty)
        }, completionHandler: { ended.add($0) })
      try await beyondTasks { ended.wait() }
      #expect(ended.events == [false])
      let states = reported.events.map {
        (($0 as? StorageError)?.underlying as? PostgresError)?.state
      }
      #expect(states == ["57014"])
    }
  }

  @Test("A transaction that has only read runs again")
  func transactions() async throws {
    try await withLosses { dflat, loseNext in
      let runs = Atomic<Int>(0)
      loseNext()
      let count = try await dflat.write(Note.self) { txn in
        runs.add(1, ordering: .relaxed)
        return try txn.fetch(for: Note.self).all().count
      }
      #expect(count == 1)
      #expect(runs.load(ordering: .relaxed) == 2)
    }
  }

  @Test("A stream ends with an error")
  func streams() async throws {
    try await withLosses { dflat, loseNext in
      let stream = try dflat.query(Note.self).stream()
      loseNext()
      #expect(stream.map(\.key) == [1])
      #expect(stream.failure is StorageError)
    }
  }
}
