// Indexes of tables that other connections use all the time.

import Dflat
import DflatTestSupport
import Foundation
import Platform
import PostgresDflat
import PostgresTestSupport
import Testing

@Suite("Indexes of a table in use", .endsSometime)
struct IndexInUseTests {
  /// A workspace of a new version of the schema, which has another index, over many objects. They
  /// are so few that the server creates its indexes at once.
  private func withNewVersion(
    count: Int = 900, through proxy: ServerProxy? = nil,
    _ configure: (inout PostgresWorkspace.Configuration) -> Void = { _ in },
    _ body: (PostgresWorkspace, _ schema: String) async throws -> Void
  ) async throws {
    try await withSchema { schema in
      try await fill(postgresWorkspace(schema: schema), count)
      let new = postgresWorkspace(schema: schema, through: proxy, configure)
      try await body(new, schema)
      await new.shutdown()
    }
  }

  /// Stores objects by the old version.
  private func fill(_ old: PostgresWorkspace, _ count: Int) async throws {
    try await old.write(Press.Article.self) { txn in
      try txn.insert(
        contentsOf: (0..<count).map {
          Press.Article(
            slug: "s\($0)", rank: Int32($0 % 3), code: Int32($0), votes: Int32($0))
        })
    }
    await old.shutdown()
  }

  private func table(_ schema: String) throws -> String {
    let name = try PlainConnection().run(
      "SELECT relname FROM pg_class WHERE relnamespace = '\"\(schema)\"'::regnamespace "
        + "AND relkind = 'r' AND relname NOT LIKE '%dflat\\_%'")
    return "\"\(schema)\".\"\(try #require(name.first?[0] ?? nil))\""
  }

  @Test("Queries that follow each other without a gap do not keep an index from being created")
  func scans() async throws {
    let errors = Log<any Error>()
    try await withNewVersion({ $0.onError = { errors.add($0) } }) { dflat, schema in
      let table = try table(schema)
      let isDone = Atomic<Bool>(false)
      let begun = Atomic<Int>(0)
      for number in 0..<3 {
        Thread.detachNewThread {
          guard let plain = try? PlainConnection() else { return }
          // Each one takes longer than a second, and begins before another one ends.
          usleep(useconds_t(number * 500_000))
          while !isDone.load(ordering: .relaxed) {
            _ = try? plain.run("SELECT pg_sleep(1.5) FROM (SELECT 1 FROM \(table) LIMIT 1) AS one")
            begun.add(1, ordering: .relaxed)
          }
        }
      }
      #expect(await inTime { begun.load(ordering: .relaxed) > 2 })
      try await dflat.indexesReady(for: PRESS.Article.self)
      isDone.store(true, ordering: .relaxed)
      let explanation = try dflat.fetch(for: PRESS.Article.self).explain(
        where: PRESS.Article.rank == 1)
      #expect(explanation.indexedFields == ["rank"])
      #expect(errors.events.isEmpty, "\(errors.events)")
    }
  }

  @Test("indexesReady waits for a transaction that uses the table for long, and says so once")
  func longTransaction() async throws {
    let errors = Log<any Error>()
    try await withNewVersion({
      $0.onError = { errors.add($0) }
      $0.lockTimeout = .seconds(2)
    }) { dflat, schema in
      dflat._core.fullDiskPause = .milliseconds(10)
      let plain = try PlainConnection()
      try plain.run("BEGIN; SELECT 1 FROM \(try table(schema)) LIMIT 1")
      let isReady = Atomic<Bool>(false)
      let waiting = Task {
        try await dflat.indexesReady(for: PRESS.Article.self)
        isReady.store(true, ordering: .releasing)
      }
      try await beyondTasks { errors.wait() }
      // The workspace works meanwhile.
      #expect(dflat.fetch(for: PRESS.Article.self).where(PRESS.Article.rank == 1).count == 300)
      let isEarly = isReady.load(ordering: .acquiring)
      #expect(!isEarly)
      try plain.run("COMMIT")
      try await waiting.value
      #expect(errors.events.map { ($0 as? StorageError)?.cause } == [.busy])
      #expect("\(errors.events[0])".contains("pg_stat_activity"))
    }
  }

  @Test("A long transaction of a role whose times are hidden keeps no program waiting")
  func hiddenTransaction() async throws {
    try await withSchema { schema in
      try await withNewRole(of: schema) { url, role in
        try PlainConnection().run("CREATE SCHEMA \"\(schema)\" AUTHORIZATION \(role)")
        var configuration = PostgresWorkspace.Configuration()
        configuration.schema = schema
        try await fill(PostgresWorkspace(url, configuration: configuration), 900)
        let errors = Log<any Error>()
        configuration.onError = { errors.add($0) }
        configuration.lockTimeout = .seconds(2)
        let dflat = PostgresWorkspace(url, configuration: configuration)
        dflat._core.fullDiskPause = .milliseconds(10)
        let table = try table(schema)
        let plain = try PlainConnection()
        try plain.run("BEGIN; SELECT 1 FROM \(table) LIMIT 1")
        let waiting = Task { try await dflat.indexesReady(for: PRESS.Article.self) }
        // Behind a lock that is wanted, all others would wait.
        let wanted = try await beyondTasks {
          let watcher = try PlainConnection()
          let isWanted = """
            SELECT 1 FROM pg_locks WHERE relation = '\(table)'::regclass \
            AND mode = 'AccessExclusiveLock'
            """
          var wanted = false
          while errors.events.isEmpty { wanted = try wanted || !watcher.run(isWanted).isEmpty }
          return wanted
        }
        #expect(!wanted)
        try plain.run("COMMIT")
        try await waiting.value
        #expect(errors.events.map { ($0 as? StorageError)?.cause } == [.busy])
        await dflat.shutdown()
      }
    }
  }

  @Test("Filling takes some messages for many objects")
  func messages() async throws {
    let counter = Counter()
    let proxy = try ServerProxy { counter }
    defer { proxy.close() }
    try await withNewVersion(through: proxy) { dflat, _ in
      let before = counter.count.load(ordering: .relaxed)
      try await dflat.indexesReady(for: PRESS.Article.self)
      let messages = counter.count.load(ordering: .relaxed) - before
      #expect(messages < 150, "\(messages) messages for 900 objects")
      let articles = dflat.fetch(for: PRESS.Article.self)
      #expect(try articles.explain(where: PRESS.Article.rank == 2).indexedFields == ["rank"])
      #expect(articles.where(PRESS.Article.rank == 2).count == 300)
    }
  }

  private final class Counter: ProxyFilter {
    let count = Atomic<Int>(0)

    func fromClient(_ message: ProxyMessage, _ connection: ProxyConnection) -> ProxyMessage? {
      if [UInt8(ascii: "Q"), UInt8(ascii: "S")].contains(message.type) {
        count.add(1, ordering: .relaxed)
      }
      return message
    }
  }
}
