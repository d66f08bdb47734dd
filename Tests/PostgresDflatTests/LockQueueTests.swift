// Locks that others wait for: `VACUUM FULL` waits for the transactions that have read a table, and
// those that read it later wait for `VACUUM FULL`.

import Dflat
import DflatTestSupport
import Dispatch
import Platform
import PostgresDflat
import PostgresTestSupport
import Testing

@Suite("Queues for locks of the server", .endsSometime)
struct LockQueueTests {
  /// Begins `VACUUM FULL`, on a thread of its own.
  /// - Returns: Signalled when it has ended. Before this returns, it waits for its lock.
  private func vacuum(_ table: String, of schema: String) throws -> DispatchSemaphore {
    let end = onOwnThread { try PlainConnection().run("VACUUM FULL \"\(schema)\".\(table)") }
    let server = try PlainConnection()
    let waiting =
      "SELECT 1 FROM pg_locks WHERE relation = '\"\(schema)\".\(table)'::regclass "
      + "AND mode = 'AccessExclusiveLock' AND NOT granted"
    #expect(try eventually { try !server.run(waiting).isEmpty })
    return end
  }

  /// Why the state that a closure has read cannot become that of its changes.
  enum Obstacle: CaseIterable {
    /// Another transaction of the workspace is committed meanwhile.
    case otherCommit
    /// The workspace has not written yet.
    case firstWrite
  }

  @Test(
    "A transaction that has read a table does not wait for those who wait for its reads",
    arguments: Obstacle.allCases, [1, 4])
  func reads(obstacle: Obstacle, writers: Int) async throws {
    try await withSchema { schema in
      func workspace() -> PostgresWorkspace {
        postgresWorkspace(schema: schema) {
          $0.writerLimit = writers
          $0.lockTimeout = .seconds(5)
        }
      }
      let first = workspace()
      try await first.write(Note.self, Post.self) { txn in
        try txn.insert(Note(key: 1, text: "x"))
        _ = try txn.insert(post(1))
      }
      let dflat = obstacle == .firstWrite ? workspace() : first
      let runs = Log<DispatchSemaphore>()
      try await dflat.write(Note.self) { txn in
        let note = try txn.fetch(for: Note.self).where(Note.text == "x").first
        if runs.events.isEmpty {
          if obstacle == .otherCommit {
            onOwnThread {
              try dflat.write(Post.self) { txn in
                for number in 2...3 as ClosedRange<Int32> { _ = try txn.insert(post(number)) }
              }
            }.expect("a commit of other types")
          }
          runs.add(try vacuum("note", of: schema))
        }
        try txn.upsert(Note(key: 1, text: (note?.text ?? "") + "y"))
      }
      #expect(runs.events.count == 1)
      runs.events.first?.expect("the vacuum")
      #expect(dflat.fetch(for: Note.self).all().map(\.text) == ["xy"])
      await first.shutdown()
      await dflat.shutdown()
    }
  }

  @Test("What was read before others were waited for is compared with what is stored then")
  func changed() async throws {
    try await withTwoWorkspaces { dflat, other, schema in
      try await dflat.write(Note.self, Post.self) { try $0.insert(Note(key: 1, text: "x")) }
      let runs = Atomic<Int>(0)
      try await dflat.write(Note.self) { txn in
        let note = try txn.fetch(for: Note.self).where(Note.text != "").first
        if runs.add(1, ordering: .relaxed).newValue == 1 {
          onOwnThread {
            try dflat.write(Post.self) { _ = try $0.insert(post(1)) }
            try other.write(Note.self) { try $0.upsert(Note(key: 1, text: "z")) }
          }.expect("the commits of others")
        }
        try txn.upsert(Note(key: 1, text: (note?.text ?? "") + "y"))
      }
      #expect(runs.load(ordering: .relaxed) == 2)
      #expect(dflat.fetch(for: Note.self).all().map(\.text) == ["zy"])
    }
  }

  @Test("Neither does one that waits until another one of its workspace has written")
  func lease() async throws {
    try await withSchema { schema in
      let dflat = postgresWorkspace(schema: schema, application: schema) {
        $0.lockTimeout = .seconds(5)
      }
      try await dflat.write(Note.self, Post.self) { txn in
        try txn.insert(Note(key: 1))
        _ = try txn.insert(post(1))
      }
      let ends = Log<DispatchSemaphore>()
      try await dflat.write(Note.self) { txn in
        _ = try txn.fetch(for: Note.self).all()
        if ends.events.isEmpty {
          ends.add(try vacuum("_dflat_state", of: schema))
          // It has the right to write, and waits behind the vacuum.
          ends.add(
            onOwnThread { try dflat.write(Post.self, attempts: 1) { _ = try $0.insert(post(2)) } })
          let server = try PlainConnection()
          let waiting =
            "SELECT 1 FROM pg_stat_activity WHERE application_name = '\(schema)' "
            + "AND wait_event_type = 'Lock'"
          #expect(try eventually { try !server.run(waiting).isEmpty })
        }
        try txn.upsert(Note(key: 1, text: "new"))
      }
      for end in ends.events { end.expect("the others") }
      #expect(dflat.fetch(for: Post.self).all().count == 2)
      #expect(dflat.fetch(for: Note.self).all().map(\.text) == ["new"])
      await dflat.shutdown()
    }
  }

  @Test("Neither does one that waits until the dictionary is written")
  func dictionary() async throws {
    try await withSchema { schema in
      let errors = ReportedErrors()
      let dflat = postgresWorkspace(schema: schema) {
        $0.lockTimeout = .seconds(5)
        $0.onError = { errors.add($0) }
      }
      try await dflat.write(Note.self) { try $0.insert(Note(key: 1, text: "x")) }
      dflat.dictionary["count"] = 1
      dflat.dictionary.synchronize()
      let vacuumed = Log<DispatchSemaphore>()
      let ended = Log<Bool>()
      let texts = Log<String?>()
      dflat.performChanges(
        [Note.self],
        changesHandler: { _ in
          texts.add(dflat.fetch(for: Note.self).where(Note.text == "x").first?.text)
          do { vacuumed.add(try vacuum("_dflat_state", of: schema)) } catch { Issue.record(error) }
          var dictionary = dflat.dictionary
          dictionary["count"] = 2
          dictionary.synchronize()
          texts.add(dflat.fetch(for: Note.self).where(Note.text == "x").first?.text)
        }, completionHandler: { ended.add($0) })
      ended.wait()
      #expect(ended.events == [true] && texts.events == ["x", "x"])
      vacuumed.events.first?.expect("the vacuum")
      await dflat.shutdown()
      let other = postgresWorkspace(schema: schema)
      #expect(other.dictionary["count"] == 2)
      await other.shutdown()
      #expect(errors.take().isEmpty)
    }
  }

  @Test("What was read before the dictionary was written must be the same after it")
  func dictionaryAndChange() async throws {
    try await withTwoWorkspaces { dflat, other, _ in
      try await dflat.write(Note.self) { try $0.insert(Note(key: 1, text: "x")) }
      let runs = Atomic<Int>(0)
      let texts = try await dflat.write(Note.self) { txn in
        let isFirst = runs.add(1, ordering: .relaxed).newValue == 1
        let before = try txn.fetch(for: Note.self).where(Note.key == 1).first?.text
        if isFirst {
          try other.write(Note.self) { try $0.upsert(Note(key: 1, text: "z")) }
          var dictionary = dflat.dictionary
          dictionary["count"] = 2
          dictionary.synchronize()
        }
        return [before, try txn.fetch(for: Note.self).where(Note.key == 1).first?.text]
      }
      #expect(texts == ["z", "z"] && runs.load(ordering: .relaxed) == 2)
    }
  }

  @Test("One that creates a table runs again if others hold it up and wait for it themselves")
  func creation() async throws {
    try await withSchema { schema in
      let dflat = postgresWorkspace(schema: schema) { $0.lockTimeout = .seconds(5) }
      try await dflat.write(Note.self) { try $0.insert(Note(key: 1)) }
      let vacuumed = Log<DispatchSemaphore>()
      try await dflat.write(Note.self, Post.self) { txn in
        try txn.upsert(Note(key: 1, text: "new"))
        if vacuumed.events.isEmpty { vacuumed.add(try vacuum("_dflat_state", of: schema)) }
        _ = try txn.insert(post(1))
      }
      vacuumed.events.first?.expect("the vacuum")
      #expect(dflat.fetch(for: Post.self).all().count == 1)
      #expect(dflat.fetch(for: Note.self).all().map(\.text) == ["new"])
      await dflat.shutdown()
    }
  }

  @Test("One that creates a table runs again if whoever changes the layout waits for it")
  func layoutLock() async throws {
    try await withSchema { schema in
      let dflat = postgresWorkspace(schema: schema) { $0.lockTimeout = .seconds(3600) }
      try await dflat.write(Note.self) { try $0.insert(Note(key: 1)) }
      // Used by one thread at a time.
      nonisolated(unsafe) let other = try PlainConnection()
      try other.run(
        """
        BEGIN; SELECT pg_advisory_xact_lock(hashtext('dflat "\(schema)"'))
        """)
      let runs = Atomic<Int>(0)
      try await dflat.write(Note.self, Post.self) { txn in
        try txn.upsert(Note(key: 1, text: "new"))
        // It would end only after this transaction.
        if runs.add(1, ordering: .relaxed).newValue == 2 { try other.run("COMMIT") }
        _ = try txn.insert(post(1))
      }
      #expect(runs.load(ordering: .relaxed) == 2)
      #expect(dflat.fetch(for: Post.self).all().count == 1)
      await dflat.shutdown()
    }
  }
}
