// The server's indexes for a table that is there are created while programs go on.

import Dflat
import DflatTestSupport
import Platform
import PostgresDflat
import PostgresTestSupport
import Testing

@Suite("Creating indexes", .endsSometime)
struct IndexCreationTests {
  private static let index = "blog__post_v1_0 f10"

  /// A table with so many posts that creating an index takes time, and without one of its indexes.
  private func withLargeTable(
    _ body: (_ schema: String, _ plain: PlainConnection) async throws -> Void
  ) async throws {
    try await withSchema { schema in
      let first = postgresWorkspace(schema: schema)
      try await first.write(Post.self) { try $0.insert(contentsOf: (1...1500).map { post($0) }) }
      await first.shutdown()
      let plain = try PlainConnection()
      try plain.run("DROP INDEX \"\(schema)\".\"\(Self.index)\"")
      try await body(schema, plain)
    }
  }

  private func isValid(_ schema: String, _ plain: PlainConnection) throws -> Bool? {
    try plain.isValid(index: Self.index, schema)
  }

  private func creations(_ schema: String, forAtLeast time: String = "0 s") throws -> Int {
    try PlainConnection().indexCreations(schema, forAtLeast: time)
  }

  /// Begins a transaction for which the server waits before it creates an index.
  private func beginChange(_ schema: String, _ plain: PlainConnection) throws {
    try plain.run("BEGIN; UPDATE \"\(schema)\".blog__post_v1_0 SET p = p WHERE rowid = 1")
  }

  /// The indexes that a build could not make.
  private func blocked(_ build: AsyncThrowingStream<IndexProgress, any Error>) async throws
    -> [String]?
  {
    var last: IndexProgress?
    for try await progress in build { last = progress }
    return last?.blocked
  }

  @Test("While the server creates an index of a large table, all programs write")
  func writing() async throws {
    try await withLargeTable { schema, plain in
      let dflat = postgresWorkspace(schema: schema)
      let other = postgresWorkspace(schema: schema)
      try beginChange(schema, plain)
      let build = dflat.indexProgress(for: Post.self)
      #expect(try eventually { try creations(schema) == 1 })
      try await dflat.write(Post.self) { _ = try $0.insert(post(2001)) }
      try await other.write(Post.self) { _ = try $0.insert(post(2002)) }
      #expect(try creations(schema) == 1)
      try plain.run("COMMIT")
      #expect(try await blocked(build) == [])
      #expect(try isValid(schema, plain) == true)
      #expect(dflat.fetch(for: Post.self).all().count == 1502)
      await dflat.shutdown()
      await other.shutdown()
    }
  }

  @Test("The first write to a table that lacks an index lets it be created, and does not wait")
  func firstWrite() async throws {
    try await withLargeTable { schema, plain in
      let dflat = postgresWorkspace(schema: schema)
      try beginChange(schema, plain)
      try await dflat.write(Post.self) { _ = try $0.insert(post(2001)) }
      #expect(try eventually { try creations(schema) == 1 })
      try await dflat.write(Post.self) { _ = try $0.insert(post(2002)) }
      try plain.run("COMMIT")
      #expect(try eventually { try isValid(schema, plain) == true })
      await dflat.shutdown()
    }
  }

  @Test("An index whose creation was interrupted is created anew")
  func interrupted() async throws {
    try await withLargeTable { schema, plain in
      let errors = Log<any Error>()
      let dflat = postgresWorkspace(schema: schema) { $0.onError = { errors.add($0) } }
      try beginChange(schema, plain)
      let build = dflat.indexProgress(for: Post.self)
      #expect(try eventually { try creations(schema) == 1 })
      #expect(try eventually { try isValid(schema, PlainConnection()) == false })
      // The operator cancels the statement, or the server ends.
      try PlainConnection().run(
        "SELECT pg_cancel_backend(pid) FROM pg_stat_activity "
          + "WHERE query LIKE 'CREATE INDEX CONCURRENTLY%\(schema)%' AND state = 'active'")
      #expect(try await blocked(build) == [Self.index])
      #expect(errors.events.map { ($0 as? StorageError)?.cause } == [.busy])
      try plain.run("COMMIT")
      #expect(try isValid(schema, plain) == false)
      await dflat.shutdown()
      let next = postgresWorkspace(schema: schema)
      try await next.indexesReady(for: Post.self)
      #expect(try isValid(schema, plain) == true)
      await next.shutdown()
    }
  }

  @Test("The workspace's limits of time are not for the creation of an index")
  func timeouts() async throws {
    try await withLargeTable { schema, plain in
      let dflat = postgresWorkspace(schema: schema) {
        $0.lockTimeout = .milliseconds(50)
        $0.statementTimeout = .milliseconds(100)
      }
      try beginChange(schema, plain)
      let build = dflat.indexProgress(for: Post.self)
      #expect(try eventually { try creations(schema, forAtLeast: "300 ms") == 1 })
      try plain.run("COMMIT")
      #expect(try await blocked(build) == [])
      #expect(try isValid(schema, plain) == true)
      await dflat.shutdown()
    }
  }

  @Test("Shutting down does not wait for the creation of an index, and ends it")
  func shutdown() async throws {
    try await withLargeTable { schema, plain in
      let errors = Log<any Error>()
      let dflat = postgresWorkspace(schema: schema) { $0.onError = { errors.add($0) } }
      try beginChange(schema, plain)
      let build = dflat.indexProgress(for: Post.self)
      #expect(try eventually { try creations(schema) == 1 })
      await dflat.shutdown()
      await #expect(throws: WorkspaceError.shutDown) { try await blocked(build) }
      #expect(try eventually { try creations(schema) == 0 })
      #expect(errors.events.isEmpty)
      try plain.run("COMMIT")
    }
  }

  @Test("Programs that need the same index create it once")
  func together() async throws {
    try await withLargeTable { schema, plain in
      let workspaces = (0..<3).map { _ in postgresWorkspace(schema: schema) }
      try beginChange(schema, plain)
      let builds = workspaces.map { $0.indexProgress(for: Post.self) }
      #expect(try eventually { try creations(schema) == 1 })
      try plain.run("COMMIT")
      for build in builds { #expect(try await blocked(build) == []) }
      #expect(try isValid(schema, plain) == true)
      for dflat in workspaces { await dflat.shutdown() }
    }
  }
}
