// Long transactions beside many short ones.

import Dflat
import DflatTestSupport
import Platform
import PostgresDflat
import PostgresTestSupport
import Testing

@Suite("Transactions that lose again and again", .endsSometime)
struct PrecedenceTests {
  /// What the tasks of a mix share.
  private final class Mix: Sendable {
    let isDone = Atomic<Bool>(false)
    let changes = Atomic<Int>(0)
  }

  @Test("A long transaction beside short ones of other programs commits within its attempts")
  func starvingMix() async throws {
    try await withSchema { schema in
      let long = postgresWorkspace(schema: schema)
      let short = (0..<3).map { _ in postgresWorkspace(schema: schema) }
      try await long.write(Note.self) { txn in
        try txn.insert(contentsOf: (0..<30 as Range<UInt64>).map { Note(key: $0, text: "") })
      }
      let mix = Mix()
      try await withThrowingTaskGroup(of: Void.self) { group in
        for (number, dflat) in short.enumerated() {
          group.addTask {
            var key = UInt64(number)
            while !mix.isDone.load(ordering: .relaxed) {
              key = (key + 7) % 30
              let chosen = key
              try await dflat.write(Note.self) { txn in
                _ = try txn.update(Note.self, keys: [chosen]) { $0.text = ($0.text ?? "") + "s" }
              }
              mix.changes.add(1, ordering: .relaxed)
            }
          }
        }
        defer { mix.isDone.store(true, ordering: .relaxed) }
        for _ in 0..<15 {
          // With the fifth run it has precedence.
          try await long.write(Note.self, attempts: 8) { txn in
            _ = try txn.update(where: Note.key < 30) { $0.text = ($0.text ?? "") + "l" }
          }
        }
        mix.isDone.store(true, ordering: .relaxed)
        try await group.waitForAll()
      }
      let texts = long.fetch(for: Note.self).all().compactMap(\.text)
      #expect(texts.allSatisfy { text in text.count { $0 == "l" } == 15 })
      let total = texts.reduce(0) { sum, text in sum + text.count { $0 == "s" } }
      #expect(total == mix.changes.load(ordering: .relaxed))
      for dflat in short + [long] { await dflat.shutdown() }
    }
  }

  /// Calls `body` with a function that makes each run of a transaction lose: another program
  /// changes what it has read.
  private func withLoser(
    _ configure: (inout PostgresWorkspace.Configuration) -> Void = { _ in },
    _ body: (
      _ dflat: PostgresWorkspace, _ schema: String,
      _ lose: @escaping @Sendable (WriteContext) throws -> Void
    ) async throws -> Void
  ) async throws {
    try await withTwoWorkspaces(configure) { dflat, other, schema in
      try await other.write(Note.self) { try $0.insert(Note(key: 1, text: "")) }
      // One that has committed reads in its write transaction.
      try await dflat.write(Post.self) { _ = try $0.insert(post(1)) }
      try await body(dflat, schema) { txn in
        let note = try #require(try txn.fetch(for: Note.self).where(Note.key == 1).first)
        let isOver = Atomic<Bool>(false)
        Task.detached {
          try await other.write(Note.self) { txn in
            _ = try txn.update(Note.self, keys: [1]) { $0.text = ($0.text ?? "") + "x" }
          }
          isOver.store(true, ordering: .releasing)
        }
        // It commits, or has to wait until this one has ended.
        let waits = """
          SELECT 1 FROM pg_locks WHERE NOT granted \
          AND relation = '"\(schema)"._dflat_precedence'::regclass
          """
        let plain = try PlainConnection()
        #expect(
          try eventually { try isOver.load(ordering: .acquiring) || !plain.run(waits).isEmpty })
        try txn.update(note) { $0.text = "mine" }
      }
    }
  }

  @Test("A transaction that has lost four times keeps others waiting, and commits")
  func precedence() async throws {
    try await withLoser { dflat, _, lose in
      let runs = Atomic<Int>(0)
      try await dflat.write(Note.self) { txn in
        runs.add(1, ordering: .relaxed)
        try lose(txn)
      }
      #expect(runs.load(ordering: .relaxed) == 5)
    }
  }

  @Test("A number of attempts is a limit whatever the time is")
  func attempts() async throws {
    try await withLoser { dflat, _, lose in
      let runs = Atomic<Int>(0)
      let error = await #expect(throws: StorageError.self) {
        try await dflat.write(Note.self, attempts: 2) { txn in
          runs.add(1, ordering: .relaxed)
          try lose(txn)
        }
      }
      #expect(error?.cause == .conflict)
      #expect(runs.load(ordering: .relaxed) == 2)
    }
  }

  @Test("While a transaction takes long, one with precedence is an ordinary one, and none is stuck")
  func longWriter() async throws {
    try await withTwoWorkspaces({ $0.conflictTimeout = .zero }) { dflat, other, schema in
      try await other.write(Note.self) { try $0.insert(Note(key: 1, text: "")) }
      let plain = try PlainConnection()
      try plain.run(
        "BEGIN; LOCK TABLE \"\(schema)\"._dflat_precedence IN ROW SHARE MODE")
      let runs = Atomic<Int>(0)
      let error = await #expect(throws: StorageError.self) {
        try await dflat.write(Note.self) { txn in
          runs.add(1, ordering: .relaxed)
          throw StorageError(.conflict, message: "another one has changed something")
        }
      }
      #expect(error?.cause == .conflict)
      #expect(runs.load(ordering: .relaxed) == 8)
      try plain.run("COMMIT")
      try await increment(1, in: dflat, attempts: 8)
    }
  }

  @Test("As long as a transaction has been open for long, none keeps others waiting for its turn")
  func besideLongWriter() async throws {
    try await withSchema { schema in
      let counter = Counter()
      let proxy = try ServerProxy { counter.ofConnection() }
      defer { proxy.close() }
      let dflat = postgresWorkspace(schema: schema, through: proxy) { $0.conflictTimeout = .zero }
      try await dflat.write(Note.self) { try $0.insert(Note(key: 1, text: "")) }
      let plain = try PlainConnection()
      let watcher = try PlainConnection()
      try plain.run("BEGIN; LOCK TABLE \"\(schema)\"._dflat_precedence IN ROW SHARE MODE")
      let isLong = """
        SELECT 1 FROM pg_locks JOIN pg_stat_activity USING (pid) \
        WHERE relation = '"\(schema)"._dflat_precedence'::regclass \
        AND clock_timestamp() - xact_start > '3 s'
        """
      #expect(try eventually { try !watcher.run(isLong).isEmpty })
      let error = await #expect(throws: StorageError.self) {
        try await dflat.write(Note.self) { txn in
          throw StorageError(.conflict, message: "another one has changed something")
        }
      }
      #expect(error?.cause == .conflict)
      #expect(counter.count.load(ordering: .relaxed) == 0)
      try plain.run("COMMIT")
      await dflat.shutdown()
    }
  }

  /// Counts the transactions that ask for precedence.
  private final class Counter: Sendable {
    let count = Atomic<Int>(0)

    func ofConnection() -> any ProxyFilter { OfConnection(all: self) }

    private struct OfConnection: ProxyFilter {
      let all: Counter
      let prepared = PreparedTexts()

      func fromClient(_ message: ProxyMessage, _ connection: ProxyConnection) -> ProxyMessage? {
        if prepared.statement(runBy: message)?.hasSuffix("IN EXCLUSIVE MODE") == true {
          all.count.add(1, ordering: .relaxed)
        }
        return message
      }
    }
  }

  @Test("A read of one state that the server refuses runs again")
  func reads() async throws {
    try await withSchema { schema in
      let filter = Refusals()
      let proxy = try ServerProxy { filter }
      defer { proxy.close() }
      let dflat = postgresWorkspace(schema: schema, through: proxy)
      try await dflat.write(Note.self) { try $0.insert(Note(key: 1)) }
      let runs = Atomic<Int>(0)
      filter.isRefusing.store(true, ordering: .releasing)
      let count = try await dflat.read { snapshot in
        runs.add(1, ordering: .relaxed)
        return try snapshot.fetch(for: Note.self).all().count
      }
      #expect(count == 1)
      // The last one waits for a state whose reads are not refused.
      #expect(runs.load(ordering: .relaxed) == 3)
      await dflat.shutdown()
    }
  }

  /// A server that refuses the end of each read, unless it was deferrable.
  private final class Refusals: ProxyFilter {
    let isRefusing = Atomic<Bool>(false)
    private let prepared = PreparedTexts()
    private let isSettled = Atomic<Bool>(false)

    func fromClient(_ message: ProxyMessage, _ connection: ProxyConnection) -> ProxyMessage? {
      if let statement = prepared.statement(runBy: message), statement.hasPrefix("BEGIN READ ONLY")
      {
        isSettled.store(statement.hasSuffix("DEFERRABLE"), ordering: .releasing)
      }
      guard message.statements == "COMMIT", isRefusing.load(ordering: .acquiring),
        !isSettled.load(ordering: .acquiring)
      else { return message }
      var message = message
      message.statements =
        "DO $$ BEGIN RAISE SQLSTATE '40001' USING MESSAGE = 'refused by the test'; END $$"
      return message
    }
  }
}
