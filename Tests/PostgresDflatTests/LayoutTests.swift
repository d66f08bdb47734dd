// Tables as other programs see them, and plans.

import Dflat
import DflatTestSupport
import Foundation
import Platform
import PostgresDflat
import PostgresTestSupport
import Testing

@Suite("Tables on the server")
struct LayoutTests {
  @Test("Plain SQL finds objects by columns, whose comments name the fields")
  func plainSQL() async throws {
    try await withSchema { schema in
      let dflat = postgresWorkspace(schema: schema)
      try await dflat.write(Post.self) { txn in
        for number in 0..<10 as Range<Int32> {
          try txn.insert(post(number, likes: 10 * number))
        }
      }
      let plain = try PlainConnection()
      let table = "\"\(schema)\".blog__post_v1_0"
      #expect(
        try plain.run(
          "SELECT pk1, convert_from(pk0, 'UTF8') FROM \(table) WHERE f10 > 70 ORDER BY 1")
          == [["8", "s"], ["9", "s"]])
      let comments = try plain.run(
        "SELECT col_description('\(table)'::regclass, attnum) FROM pg_attribute "
          + "WHERE attrelid = '\(table)'::regclass AND attname IN ('pk0', 'f10') ORDER BY attname")
      #expect(comments == [["likes"], ["site"]])
      await dflat.shutdown()
    }
  }

  @Test("The server answers a selective condition by its index, and explain shows it")
  func plans() async throws {
    try await withSchema { schema in
      let dflat = postgresWorkspace(schema: schema)
      try await dflat.write(Post.self) { txn in
        try txn.insert(contentsOf: (0..<3000 as Range<Int32>).map { post($0, likes: $0) })
      }
      try PlainConnection().run("ANALYZE \"\(schema)\".blog__post_v1_0")
      let posts = dflat.fetch(for: Post.self)
      let few = try posts.explain(where: Post.likes == 5)
      #expect(few.indexedFields == ["likes"] && few.rowByRow == nil)
      #expect(few.plan.contains { $0.contains("blog__post_v1_0 f10") }, "\(few.plan)")
      let ordered = try posts.explain(limit: .limit(3), orderBy: [Post.likes.descending])
      #expect(!ordered.isSortedInMemory && ordered.statement?.contains("LIMIT") == true)
      #expect(ordered.plan.contains { $0.contains("Backward") }, "\(ordered.plan)")
      #expect(
        posts.all(limit: .limit(3), orderBy: [Post.likes.descending]).map(\.likes)
          == [2999, 2998, 2997])
      await dflat.shutdown()
    }
  }

  @Test("An index that a new version adds is filled in steps, while the old version writes")
  func addedIndex() async throws {
    try await withSchema { schema in
      let old = postgresWorkspace(schema: schema)
      let new = postgresWorkspace(schema: schema)
      @Sendable func article(_ number: Int) -> Press.Article {
        Press.Article(slug: "s\(number)", rank: 3, code: Int32(number), votes: Int32(number))
      }
      try await old.write(Press.Article.self) { txn in
        try txn.insert(contentsOf: (0..<1500).map(article))
      }
      let writing = Task {
        for number in 1500..<1540 {
          try await old.write(Press.Article.self, attempts: 1000) { txn in
            _ = try txn.insert(article(number))
          }
        }
      }
      let articles = new.fetch(for: PRESS.Article.self)
      for _ in 0..<20 {
        let all = articles.all().count
        let found = articles.where(PRESS.Article.rank == 3 && PRESS.Article.votes >= 0).count
        #expect(all <= found)
      }
      try await writing.value
      #expect(articles.where(PRESS.Article.rank == 3).count == 1540)
      #expect(articles.where(PRESS.Article.rank == 7).isEmpty)
      await old.shutdown()
      await new.shutdown()
    }
  }

  @Test("Names are quoted scalar by scalar: an accent behind a quote hides nothing")
  func quotes() async throws {
    let plain = try PlainConnection()
    let name = newSchema()
    let schema = name + "\"\u{301}'\u{301}\\\u{301}"
    defer {
      let quoted = name + "\"\"\u{301}'\u{301}\\\u{301}"
      _ = try? plain.run("DROP SCHEMA IF EXISTS \"\(quoted)\" CASCADE")
    }
    let dflat = postgresWorkspace(schema: schema)
    try await dflat.write(Note.self) { try $0.insert(Note(key: 1)) }
    #expect(dflat.fetch(for: Note.self).all().count == 1)
    await dflat.shutdown()
  }

  @Test("A unique value is looked up by its index, without reading other objects")
  func uniqueLookup() async throws {
    try await withSchema { schema in
      let errors = Mutex<[any Error]>([])
      let dflat = postgresWorkspace(schema: schema) { configuration in
        configuration.onError = { error in errors.withLock { $0.append(error) } }
      }
      try await dflat.write(Post.self) { txn in
        for number in 0..<5 as Range<Int32> { try txn.insert(post(number, photo: "p\(number)")) }
      }
      // An object that cannot be read is noticed by whatever reads it.
      try PlainConnection().run(
        "UPDATE \"\(schema)\".blog__post_v1_0 SET p = '\\x00' WHERE pk1 = 3")
      try await dflat.write(Post.self) { txn in
        try txn.insert(post(7, photo: "p7"))
        let refusal = #expect(throws: StorageError.self) {
          try txn.insert(post(8, photo: "p4"))
        }
        #expect(refusal?.cause == .alreadyExists)
      }
      #expect(errors.withLock { $0 }.isEmpty)
      await dflat.shutdown()
    }
  }

  @Test("An index that is missing over columns that are there is created")
  func missingIndex() async throws {
    try await withSchema { schema in
      let plain = try PlainConnection()
      let first = postgresWorkspace(schema: schema)
      try await first.write(Post.self) { _ = try $0.insert(post(1)) }
      await first.shutdown()
      try plain.run("DROP INDEX \"\(schema)\".\"blog__post_v1_0 f10\"")
      let second = postgresWorkspace(schema: schema)
      try await second.indexesReady(for: Post.self)
      let names = try plain.run(
        "SELECT 1 FROM pg_indexes WHERE schemaname = '\(schema)' "
          + "AND indexname = 'blog__post_v1_0 f10'")
      #expect(names.count == 1)
      await second.shutdown()
    }
  }

  @Test("No index is without a page of entries, in which PostgreSQL notes who reads it")
  func pagesOfEntries() async throws {
    try await withSchema { schema in
      let plain = try PlainConnection()
      // An index without entries has one page, which says so.
      let empty = """
        SELECT indexrelid::regclass FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid \
        WHERE relnamespace = '"\(schema)"'::regnamespace AND relname NOT LIKE '\\_dflat%' \
        AND pg_relation_size(indexrelid) < 2 * current_setting('block_size')::int
        """
      let first = postgresWorkspace(schema: schema)
      try await first.write(Post.self, Note.self) { txn in
        #expect(try txn.fetch(for: Post.self).all().isEmpty)
        #expect(try txn.fetch(for: Note.self).all().isEmpty)
        try txn.delete(txn.insert(Note(key: 1)))
      }
      await first.shutdown()
      #expect(try plain.run(empty) == [])
      try plain.run("DROP INDEX \"\(schema)\".\"blog__post_v1_0 f10\"")
      let second = postgresWorkspace(schema: schema)
      await #expect(throws: CancellationError.self) {
        try await second.write(Post.self) { txn in
          _ = try txn.insert(post(1))
          throw CancellationError()
        }
      }
      try await second.indexesReady(for: Post.self)
      await second.shutdown()
      #expect(try plain.run("SELECT count(*) FROM \"\(schema)\".blog__post_v1_0") == [["0"]])
      #expect(try plain.run(empty) == [])
    }
  }

  @Test("Any timeout is one that the server knows")
  func timeouts() async throws {
    try await withSchema { schema in
      for timeout in [Duration.zero, .seconds(100_000_000)] {
        let dflat = postgresWorkspace(schema: schema) {
          $0.lockTimeout = timeout
          $0.statementTimeout = max(timeout, .seconds(10))
        }
        do { try await dflat.write(Note.self) { _ = try $0.upsert(Note(key: 1)) } } catch let error
          as StorageError where timeout == .zero && error.cause == .busy
        {
          // The server waits for a millisecond, which may be over.
        }
        await dflat.shutdown()
      }
    }
  }
}
