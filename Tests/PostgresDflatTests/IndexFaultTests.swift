// Servers that fail while they create an index.

import Dflat
import DflatTestSupport
import Platform
import PostgresDflat
import PostgresTestSupport
import Testing

@Suite("Failing while an index is created", .endsSometime)
struct IndexFaultTests {
  private static let index = "blog__post_v1_0 f10"
  private static let schema = "dflat"

  /// A server of its own with so many posts that creating an index takes time, without the index.
  private func withLargeTable(
    count: Int32, on disk: SmallDisk? = nil,
    _ body: (TestCluster, PostgresWorkspace) async throws -> Void
  ) async throws {
    let server = try TestCluster.another()
    defer { server.end() }
    try disk?.take(tablesOf: server)
    var configuration = PostgresWorkspace.Configuration()
    configuration.schema = Self.schema
    configuration.reconnectTimeout = .seconds(60)
    let first = try await PostgresWorkspace.open(server.url, configuration: configuration)
    try await first.write(Post.self) { try $0.insert(contentsOf: (1...count).map { post($0) }) }
    await first.shutdown()
    try PlainConnection(server.url).run("DROP INDEX \"\(Self.schema)\".\"\(Self.index)\"")
    let dflat = try await PostgresWorkspace.open(server.url, configuration: configuration)
    try await body(server, dflat)
    await dflat.shutdown()
  }

  private func isValid(_ server: TestCluster) throws -> Bool? {
    try PlainConnection(server.url).isValid(index: Self.index, Self.schema)
  }

  /// Whether every post is there once, and found by the index.
  private func expectAll(_ count: Int, _ dflat: PostgresWorkspace) async throws {
    let posts = try await dflat.read { try $0.fetch(for: Post.self).all().map(\.number) }
    #expect(posts.count == count && Set(posts).count == count)
    let found = try await dflat.read { try $0.fetch(for: Post.self).where(Post.likes == 7).count }
    #expect(found == 1)
  }

  @Test("A server that is killed meanwhile loses nothing, and the index is created afterwards")
  func killed() async throws {
    try await withLargeTable(count: 1500) { server, dflat in
      let errors = Log<any Error>()
      dflat.errorHandler = { errors.add($0) }
      // The server waits for this transaction before it creates an index.
      let plain = try PlainConnection(server.url)
      try plain.run("BEGIN; UPDATE \"\(Self.schema)\".blog__post_v1_0 SET p = p WHERE rowid = 1")
      let build = dflat.indexProgress(for: Post.self)
      #expect(
        try eventually { try PlainConnection(server.url).indexCreations(Self.schema) == 1 })
      #expect(try eventually { try isValid(server) == false })
      try await dflat.write(Post.self) { _ = try $0.insert(post(2001, likes: 7)) }
      try server.signal(SIGKILL)
      try await dflat.write(Post.self, attempts: 1000) { _ = try $0.insert(post(2002)) }
      #expect(eventually { (try? isValid(server)) != nil }, "it is up again")
      // The first attempt may end with the error of its connection.
      do { for try await _ in build {} } catch let error as StorageError {
        #expect(error.cause == .conflict || error.cause == .busy, "\(error)")
      }
      try await dflat.indexesReady(for: Post.self)
      #expect(try isValid(server) == true)
      try await expectAll(1502, dflat)
      #expect(errors.events.allSatisfy { $0 is StorageError }, "\(errors.events)")
    }
  }

  @Test(
    "A disk that is full meanwhile loses nothing, programs go on, and the index is created later",
    .enabled(if: SmallDisk.isPossible, "only root may mount a file system, and not everywhere"))
  func fullDisk() async throws {
    let disk = try #require(SmallDisk(megabytes: 256))
    defer { disk.remove() }
    try await withLargeTable(count: 20_000, on: disk) { server, dflat in
      let errors = Log<any Error>()
      dflat.errorHandler = { errors.add($0) }
      // Room for some rows, and not for the index.
      let used = try disk.usedMegabytes
      #expect(disk.grow(toMegabytes: used + 1))
      try disk.fill(leaving: 100_000)
      let build = dflat.indexProgress(for: Post.self)
      var cause: StorageError.Cause?
      do { for try await _ in build {} } catch let error as StorageError { cause = error.cause }
      #expect(
        cause == .diskFull || errors.events.contains { ($0 as? StorageError)?.cause == .diskFull })
      #expect(try isValid(server) != true)
      try await dflat.write(Post.self) { _ = try $0.insert(post(30_001, likes: 7)) }
      try await expectAll(20_001, dflat)
      #expect(disk.grow(toMegabytes: 256))
      try await dflat.indexesReady(for: Post.self)
      #expect(try isValid(server) == true)
      try await expectAll(20_001, dflat)
    }
  }
}
