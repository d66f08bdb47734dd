// Connections that are lost while they are made, or before a transaction has sent anything.

import Dflat
import DflatTestSupport
import Platform
import PostgresDflat
import PostgresTestSupport
import Testing

@Suite("Connections that are lost while they are made", .endsSometime)
struct LostConnectionTests {
  /// Ends some connections when they set their session up.
  private final class Losses: ProxyFilter {
    let rest = Mutex(0)
    let lost = Atomic<Int>(0)

    func fromClient(_ message: ProxyMessage, _ connection: ProxyConnection) -> ProxyMessage? {
      guard message.statements?.contains("dflat.session") == true else { return message }
      let isLost = rest.withLock { rest in
        defer { rest = max(0, rest - 1) }
        return rest > 0
      }
      if isLost { lost.add(1, ordering: .relaxed) }
      return isLost ? nil : message
    }
  }

  /// Calls `body` with a workspace that has no connection, and tries no server again by itself.
  private func withLosses(
    isNew: Bool, _ body: (PostgresWorkspace, Losses) async throws -> Void
  ) async throws {
    let losses = Losses()
    let proxy = try ServerProxy { losses }
    defer { proxy.close() }
    try await withSchema { schema in
      let dflat = postgresWorkspace(schema: schema, through: proxy, application: schema) {
        $0.reconnectTimeout = .zero
        $0.followsOtherWriters = false
      }
      if !isNew {
        try await dflat.write(Note.self) { try $0.insert(Note(key: 1)) }
        try PlainConnection().run(
          "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity "
            + "WHERE application_name = '\(schema)'")
      }
      try await body(dflat, losses)
      await dflat.shutdown()
    }
  }

  @Test("write tries again, and stores its objects once", arguments: [false, true])
  func writing(isNew: Bool) async throws {
    try await withLosses(isNew: isNew) { dflat, losses in
      losses.rest.withLock { $0 = 3 }
      let runs = Atomic<Int>(0)
      try await dflat.write(Note.self) { txn in
        runs.add(1, ordering: .relaxed)
        try txn.insert(Note(key: 2))
      }
      #expect(losses.lost.load(ordering: .relaxed) == 3)
      // The closure may begin before the connection is there.
      #expect((1...10).contains(runs.load(ordering: .relaxed)))
      #expect(dflat.fetch(for: Note.self).where(Note.key == 2).count == 1)
    }
  }

  @Test("If it lasts, the error is that of a conflict, and nothing is stored")
  func lasting() async throws {
    try await withLosses(isNew: false) { dflat, losses in
      losses.rest.withLock { $0 = 10 }
      let error = await #expect(throws: StorageError.self) {
        try await dflat.write(Note.self, attempts: 3) { try $0.insert(Note(key: 2)) }
      }
      #expect(error?.cause == .conflict && "\(error!)".contains("nothing of the transaction"))
      #expect((1...3).contains(losses.lost.load(ordering: .relaxed)))
      losses.rest.withLock { $0 = 0 }
      #expect(dflat.fetch(for: Note.self).all().map(\.key) == [1])
    }
  }
}
