// Two programs that would both be right alone, and not together.

import Dflat
import DflatTestSupport
import Dispatch
import Foundation
import Platform
import PostgresDflat
import PostgresTestSupport
import Testing

@Suite("Serializability between programs")
struct SerializabilityTests {
  /// A place where the closures of two programs wait for each other. Runs after the first one do
  /// not wait.
  private final class Meeting: Sendable {
    private let arrived = [DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)]
    private let runs = Mutex([0, 0])

    /// Begins a run of a side's closure.
    /// - Returns: A function that waits for the other side.
    func run(_ side: Int) -> @Sendable () -> Void {
      let isFirst = runs.withLock { runs in
        runs[side] += 1
        return runs[side] == 1
      }
      return { [arrived] in
        guard isFirst else { return }
        arrived[side].signal()
        arrived[1 - side].expect("the other program")
      }
    }

    var runsTogether: Int { runs.withLock { $0[0] + $0[1] } }
  }

  @Test("Increments of a dictionary's value by several programs are all kept")
  func dictionaryIncrements() async throws {
    try await withSchema { schema in
      let workspaces = (0..<3).map { _ in postgresWorkspace(schema: schema) }
      for dflat in workspaces { #expect(dflat.dictionary["sum", Int.self] == nil) }
      try await withThrowingTaskGroup { group in
        for dflat in workspaces {
          group.addTask {
            for _ in 0..<10 {
              try await dflat.write(Note.self, attempts: 1000) { txn in
                txn.dictionary["sum"] = (txn.dictionary["sum", Int.self] ?? 0) + 1
              }
            }
          }
        }
        try await group.waitForAll()
      }
      let reader = postgresWorkspace(schema: schema)
      #expect(reader.dictionary["sum", Int.self] == 30)
      // What another program has removed is gone, also from the keys.
      try await workspaces[0].write { txn in
        var dictionary = txn.dictionary
        dictionary.removeValue(forKey: "sum")
      }
      try await workspaces[1].write { txn in
        #expect(txn.dictionary["sum", Int.self] == nil)
        #expect(txn.dictionary.keys.isEmpty)
        txn.dictionary["other"] = 1
      }
      for dflat in workspaces + [reader] { await dflat.shutdown() }
    }
  }

  enum Ending: CaseIterable {
    case shutdown, synchronize
  }

  @Test(
    "A dictionary's value whose writing meets a conflict is written", arguments: Ending.allCases)
  func dictionaryConflict(ending: Ending) async throws {
    try await withSchema { schema in
      let dflat = postgresWorkspace(schema: schema)
      dflat.dictionary["volume"] = 1
      dflat.dictionary.synchronize()
      let plain = try PlainConnection()
      try plain.run("BEGIN; UPDATE \"\(schema)\".dictitem_v_dflat_internal__ SET p = p")
      dflat.dictionary["volume"] = 2
      // Its writer waits for the row, and is refused when the other program commits.
      let blocked = """
        SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%\(schema)%'
        """
      let watcher = try PlainConnection()
      #expect(try await inTime { try !watcher.run(blocked).isEmpty })
      let isEnded = Task {
        switch ending {
        case .shutdown: await dflat.shutdown()
        case .synchronize: try await beyondTasks { dflat.dictionary.synchronize() }
        }
      }
      try plain.run("COMMIT")
      try await isEnded.value
      let other = postgresWorkspace(schema: schema)
      #expect(other.dictionary["volume", Int.self] == 2)
      await other.shutdown()
      await dflat.shutdown()
    }
  }

  @Test(
    "Each of two transactions finds a table that does not exist empty, and fills the other's",
    arguments: [false, true])
  func missingTables(haveCommitted: Bool) async throws {
    try await withSchema { schema in
      let left = postgresWorkspace(schema: schema)
      let right = postgresWorkspace(schema: schema)
      if haveCommitted {
        try await left.write { $0.dictionary["left"] = 1 }
        try await right.write { $0.dictionary["right"] = 1 }
      }
      let meeting = Meeting()
      async let one: Void = left.write(Note.self, Post.self, attempts: 100) { txn in
        let meet = meeting.run(0)
        let isEmpty = try txn.fetch(for: Post.self).all().isEmpty
        meet()
        if isEmpty { try txn.insert(Note(key: 1)) }
        meet()
      }
      async let other: Void = right.write(Note.self, Post.self, attempts: 100) { txn in
        let meet = meeting.run(1)
        let isEmpty = try txn.fetch(for: Note.self).all().isEmpty
        meet()
        if isEmpty { try txn.insert(post(1)) }
        meet()
      }
      _ = try await (one, other)
      #expect(left.fetch(for: Note.self).all().count + left.fetch(for: Post.self).all().count == 1)
      #expect(meeting.runsTogether > 2)
      await left.shutdown()
      await right.shutdown()
    }
  }

  /// How a transaction is the first to fill a table, which its state does not have.
  enum Filling: CaseIterable {
    case afterReading, afterWriting, inDictionary
  }

  @Test(
    "A program that finds no table yet, and a transaction that fills it, see commits in one order",
    arguments: Filling.allCases)
  func missingTableRead(filling: Filling) async throws {
    try await withSchema { schema in
      let (left, right) = (postgresWorkspace(schema: schema), postgresWorkspace(schema: schema))
      try await left.write(Post.self, Kit.Shelf.self) { txn in
        try txn.insert(post(1, likes: 0))
        try txn.insert(Kit.Shelf(number: 0))
      }
      let meeting = Meeting()
      async let copied: Void = left.write(
        Note.self, Post.self, Kit.Shelf.self, attempts: 9
      ) { txn in
        let meet = meeting.run(0)
        if filling == .afterWriting { try txn.insert(Kit.Shelf(number: 1)) }
        let likes = try #require(txn.fetch(for: Post.self).all().first).likes
        meet()
        meet()
        if filling == .inDictionary {
          txn.dictionary["likes"] = Int(likes)
        } else {
          try txn.insert(Note(key: 1, text: "\(likes)"))
        }
      }
      let meet = meeting.run(1)
      try await beyondTasks { meet() }
      try await right.write(Post.self) { try $0.update(where: Post.number == 1) { $0.likes = 1 } }
      // This is behind the update, and before the copy: so is the update.
      try await right.read { snapshot in
        let posts = try snapshot.fetch(for: Post.self).where(Post.number == 1)
        #expect(posts.first?.likes == 1)
        #expect(try snapshot.fetch(for: Note.self).all().isEmpty)
      }
      #expect(right.dictionary["likes", Int.self] == nil)
      try await beyondTasks { meet() }
      try await copied
      if filling == .inDictionary {
        let reader = postgresWorkspace(schema: schema)
        #expect(reader.dictionary["likes", Int.self] == 1)
        await reader.shutdown()
      } else {
        #expect(right.fetch(for: Note.self).all().map(\.text) == ["1"])
      }
      await left.shutdown()
      await right.shutdown()
    }
  }

  @Test(
    "What a transaction has read before it writes is a part of one transaction of the server",
    arguments: [(false, 4), (true, 4), (true, 1)])
  func readingAndWriting(isOvertaken: Bool, writers: Int) async throws {
    try await withSchema { schema in
      let dflat = postgresWorkspace(schema: schema) { $0.writerLimit = writers }
      try await dflat.write(Post.self) { _ = try $0.insert(post(1)) }
      try await increment(1, in: dflat)
      let runs = Mutex(0)
      @Sendable func sessions(_ mode: String) throws -> [[String?]] {
        try PlainConnection().run(
          "SELECT pid FROM pg_locks WHERE relation = '\"\(schema)\".note'::regclass "
            + "AND mode = '\(mode)'")
      }
      try await dflat.write(Note.self) { txn in
        runs.withLock { $0 += 1 }
        let note = try #require(try txn.fetch(for: Note.self).where(Note.key == 1).first)
        let readers = try sessions("AccessShareLock")
        if isOvertaken {
          // Another transaction of the workspace, with other types.
          let other = onOwnThread {
            try dflat.write(Post.self) { _ = try $0.insert(post(2)) }
          }
          other.expect("the other transaction")
        }
        try txn.update(note) { $0.text = "\($0.text ?? "")x" }
        #expect(readers.count == 1)
        // Another row of the ledger is free, if there is one.
        #expect(try (sessions("RowExclusiveLock") == readers) == (!isOvertaken || writers > 1))
      }
      #expect(runs.withLock { $0 } == 1)
      #expect(dflat.fetch(for: Note.self).all().first?.text == "xx")
      await dflat.shutdown()
    }
  }

  @Test("That a key is taken is something that a transaction has read")
  func takenKeys() async throws {
    try await withSchema { schema in
      let left = postgresWorkspace(schema: schema)
      let right = postgresWorkspace(schema: schema)
      try await left.write(Note.self, Post.self) { txn in
        try txn.insert(Note(key: 1))
        try txn.delete(txn.insert(post(9)))
      }
      let meeting = Meeting()
      // If the note is there, a post is made; if there is no post, the note is removed.
      async let one: Void = left.write(Note.self, Post.self, attempts: 100) { txn in
        let meet = meeting.run(0)
        do { try txn.insert(Note(key: 1)) } catch is StorageError { _ = try txn.insert(post(1)) }
        meet()
        meet()
      }
      async let other: Void = right.write(Note.self, Post.self, attempts: 100) { txn in
        let meet = meeting.run(1)
        let posts = try txn.fetch(for: Post.self).all()
        meet()
        if posts.isEmpty {
          for note in try txn.fetch(for: Note.self).where(Note.key == 1) { try txn.delete(note) }
        }
        meet()
      }
      _ = try await (one, other)
      let notes = left.fetch(for: Note.self).all().count
      let posts = left.fetch(for: Post.self).all().count
      #expect(notes == 1, "\(notes) notes, \(posts) posts")
      await left.shutdown()
      await right.shutdown()
    }
  }

  @Test("After a conflict the rest of a transaction fails for the same reason, and it runs again")
  func afterConflict() async throws {
    try await withSchema { schema in
      let dflat = postgresWorkspace(schema: schema)
      let reported = Mutex<[StorageError.Cause?]>([])
      dflat.errorHandler = { error in
        reported.withLock { $0.append((error as? StorageError)?.cause) }
      }
      try await increment(1, in: dflat)
      let runs = Mutex(0)
      let causes = Mutex<[StorageError.Cause?]>([])
      try await dflat.write(Note.self) { txn in
        let run = runs.withLock { runs in
          runs += 1
          return runs
        }
        // The server's transaction begins with the first change.
        try txn.upsert(Note(key: 3))
        let note = try txn.fetch(for: Note.self).where(Note.key == 1).first
        if run == 1 {
          try PlainConnection().run("UPDATE \"\(schema)\".note SET p = p")
          // The answer is read with that of the next statement.
          try txn.upsert(Note(key: 1, text: "conflict"))
          do { _ = try txn.fetch(for: Note.self).all() } catch let error as StorageError {
            causes.withLock { $0.append(error.cause) }
          }
          // Also of a fetch that cannot throw.
          _ = dflat.fetch(for: Note.self).where(Note.key == 2).first
          do { try txn.upsert(Note(key: 1, text: "again")) } catch let error as StorageError {
            causes.withLock { $0.append(error.cause) }
          }
        } else {
          try txn.upsert(Note(key: 1, text: (note?.text ?? "") + "x"))
        }
      }
      #expect(causes.withLock { $0 } == [.conflict, .conflict])
      #expect(runs.withLock { $0 } == 2)
      #expect(reported.withLock { $0 } == [.conflict])
      #expect(dflat.fetch(for: Note.self).where(Note.key == 1).first?.text == "xx")
      await dflat.shutdown()
    }
  }

  @Test("What a read has seen counts after its end")
  func readOnlyAnomaly() async throws {
    try await withSchema { schema in
      let dflat = postgresWorkspace(schema: schema)
      try await dflat.write(Note.self) { txn in
        try txn.insert(Note(key: 1))
        try txn.insert(Note(key: 2))
      }
      let first = try PlainConnection()
      let second = try PlainConnection()
      let table = "\"\(schema)\".note"
      try first.run("BEGIN ISOLATION LEVEL SERIALIZABLE; SELECT * FROM \(table)")
      try second.run(
        "BEGIN ISOLATION LEVEL SERIALIZABLE; UPDATE \(table) SET p = p WHERE pk0 = 2; COMMIT")
      let count = try await dflat.read { try $0.fetch(for: Note.self).all().count }
      #expect(count == 2)
      // The read has seen what the second one did, and must not have been before the first one.
      #expect(throws: StorageError.self) {
        try first.run("UPDATE \(table) SET p = p WHERE pk0 = 1; COMMIT")
      }
      await dflat.shutdown()
    }
  }
}
