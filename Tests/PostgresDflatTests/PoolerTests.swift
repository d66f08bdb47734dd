// Connection poolers: one that works by session is fine, and any other one is refused.

import Dflat
import DflatTestSupport
import Dispatch
import PostgresDflat
import PostgresTestSupport
import Testing

@Suite("Connection poolers", .endsSometime, .enabled(if: Pooler.isInstalled, "needs pgbouncer"))
struct PoolerTests {
  private func configuration(_ schema: String) -> PostgresWorkspace.Configuration {
    var configuration = PostgresWorkspace.Configuration()
    configuration.schema = schema
    return configuration
  }

  @Test(
    "A pooler that gives sessions to others is refused, whether it has one session or many",
    arguments: [Pooler.Mode.transaction, .statement], [1, 20])
  func refused(mode: Pooler.Mode, size: Int) async throws {
    try await withSchema { schema in
      let pooler = try Pooler(mode, size: size)
      defer { pooler.end() }
      let error = await #expect(throws: StorageError.self) {
        _ = try await PostgresWorkspace.open(pooler.url, configuration: configuration(schema))
      }
      #expect(error?.cause == .cannotOpen, "\(error as Any)")
      #expect(
        error?.recoverySuggestion?.contains("pool_mode = session") == true, "\(error as Any)")
    }
  }

  @Test("It is refused while other programs use it, too")
  func refusedInUse() async throws {
    try await withSchema { schema in
      let pooler = try Pooler(.transaction)
      defer { pooler.end() }
      let others = try (0..<5).map { _ in try PlainConnection(pooler.url) }
      for _ in 0..<20 {
        for other in others { try other.run("SELECT 1") }
        let error = await #expect(throws: StorageError.self) {
          _ = try await PostgresWorkspace.open(pooler.url, configuration: configuration(schema))
        }
        #expect(error?.cause == .cannotOpen)
      }
    }
  }

  @Test("All connections that a workspace may have can go through a pooler")
  func limit() async throws {
    try await withSchema { schema in
      let pooler = try Pooler(.session, size: 60)
      defer { pooler.end() }
      var configuration = configuration(schema)
      configuration.connectionLimit = 4
      configuration.connectTimeout = .seconds(2)
      let dflat = try await PostgresWorkspace.open(pooler.url, configuration: configuration)
      try await dflat.write(Note.self) { try $0.insert(Note(key: 1)) }
      let (isOpen, mayEnd) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
      let snapshots = (0..<3).map { _ in
        onOwnThread {
          defer { isOpen.signal() }
          let count = try dflat.read { snapshot in
            let count = try snapshot.fetch(for: Note.self).all().count
            isOpen.signal()
            mayEnd.expect("the other snapshots")
            return count
          }
          #expect(count == 1)
        }
      }
      for _ in snapshots { isOpen.expect("a snapshot") }
      #expect(await dflat.metrics().connections == 4)
      for _ in snapshots { mayEnd.signal() }
      for snapshot in snapshots { snapshot.expect("the end of a snapshot") }
      await dflat.shutdown()
    }
  }

  @Test("Through a pooler that works by session everything works")
  func sessions() async throws {
    try await withSchema { schema in
      let pooler = try Pooler(.session, size: 60)
      defer { pooler.end() }
      let first = try await PostgresWorkspace.open(
        pooler.url, configuration: configuration(schema))
      let second = try await PostgresWorkspace.open(
        pooler.url, configuration: configuration(schema))
      try await first.write(Note.self) { try $0.insert(Note(key: 1, text: "")) }
      let (log, subscription) = FollowingTests().watch(
        first.fetch(for: Note.self).all(), in: first)
      try waitForListener(schema)
      try await withThrowingTaskGroup(of: Void.self) { group in
        for dflat in [first, second] {
          group.addTask { for _ in 0..<20 { try await increment(1, in: dflat) } }
        }
        try await group.waitForAll()
      }
      let full = String(repeating: "x", count: 40)
      #expect(await inTime { log.events.last == [full] })
      #expect(second.fetch(for: Note.self).all().map(\.text) == [full])
      subscription.cancel()
      await first.shutdown()
      await second.shutdown()
    }
  }
}
