// Programs that begin on a standby, while it is about to become the primary.

import Dflat
import DflatTestSupport
import Foundation
import Platform
import PostgresDflat
import PostgresTestSupport
import Testing

@Suite("Beginning on a standby", .endsSometime)
struct StandbyTests {
  /// Counts connections.
  private struct Counter: ProxyFilter {
    let count: Log<Void>

    func fromClient(_ message: ProxyMessage, _ connection: ProxyConnection) -> ProxyMessage? {
      if message.type == 0 { count.add(()) }
      return message
    }
  }

  /// A server without tables, which is a standby.
  private func standby() throws -> TestCluster {
    let server = try TestCluster.another()
    let signal = "\(server.directory ?? "")/data/standby.signal"
    #expect(FileManager.default.createFile(atPath: signal, contents: nil))
    try server.crash()
    let isStandby = "SELECT pg_is_in_recovery()"
    #expect(eventually { (try? PlainConnection(server.url).run(isStandby)) == [["t"]] })
    return server
  }

  @Test("A first connection waits for a promotion for some time, and then says what is wrong")
  func promotion() async throws {
    let server = try standby()
    defer { server.end() }
    var configuration = PostgresWorkspace.Configuration()
    configuration.reconnectTimeout = .milliseconds(100)
    let hasty = configuration
    let error = await #expect(throws: StorageError.self) {
      _ = try await PostgresWorkspace.open(server.url, configuration: hasty)
    }
    #expect(error?.cause == .readOnly, "\(error as Any)")
    #expect(error?.recoverySuggestion?.contains("target_session_attrs") == true)
    configuration.reconnectTimeout = .seconds(120)
    let connections = Log<Void>()
    let proxy = try ServerProxy(to: server.url) { Counter(count: connections) }
    defer { proxy.close() }
    let patient = configuration
    let opening = Task {
      try await PostgresWorkspace.open(proxy.url, configuration: patient)
    }
    // The first one is to look for tables.
    #expect(await inTime { connections.events.count >= 3 })
    let promoted = try PlainConnection(server.url).run("SELECT pg_promote(true, 120)")
    #expect(promoted == [["t"]])
    let dflat = try await opening.value
    try await increment(1, in: dflat)
    #expect(dflat.fetch(for: Note.self).all().count == 1)
    await dflat.shutdown()
  }
}
