// Limits of time that the administrator of a server has set.

import Dflat
import DflatTestSupport
import Platform
import PostgresDflat
import PostgresTestSupport
import Testing

@Suite("The administrator's limits of time", .endsSometime)
struct TimeoutTests {
  private func workspace(
    _ schema: String, _ settings: String,
    _ configure: (inout PostgresWorkspace.Configuration) -> Void = { _ in }
  ) async throws -> PostgresWorkspace {
    var configuration = PostgresWorkspace.Configuration()
    configuration.schema = schema
    configure(&configuration)
    // As if they were set for the role.
    let url = try TestCluster.shared().url.setting(
      "options", to: "-c" + settings.replacing("=", with: "%3D").replacing(" ", with: "%20-c"))
    return try await PostgresWorkspace.open(
      url.setting("application_name", to: schema), configuration: configuration)
  }

  enum Limit: String, CaseIterable {
    case ofStatements = "statement_timeout=300ms"
    case ofLocks = "lock_timeout=300ms"

    var reason: String { self == .ofLocks ? "lock timeout" : "statement timeout" }
  }

  @Test("A statement ends after the shorter limit, and nothing more", arguments: Limit.allCases)
  func statements(limit: Limit) async throws {
    try await withSchema { schema in
      let dflat = try await workspace(schema, limit.rawValue) {
        $0.statementTimeout = .seconds(600)
        $0.lockTimeout = .seconds(600)
      }
      try await increment(1, in: dflat)
      let plain = try PlainConnection()
      try plain.run("BEGIN; LOCK TABLE \"\(schema)\".note IN ACCESS EXCLUSIVE MODE")
      let reading = await #expect(throws: StorageError.self) {
        try await dflat.read { try $0.fetch(for: Note.self).where(Note.text != "").count }
      }
      #expect(reading?.cause == .busy, "\(reading as Any)")
      #expect(reading?.message.contains(limit.reason) == true, "\(reading as Any)")
      let writing = await #expect(throws: StorageError.self) { try await increment(1, in: dflat) }
      #expect(writing?.cause == .busy, "\(writing as Any)")
      try plain.run("ROLLBACK")
      try await increment(1, in: dflat)
      #expect(dflat.fetch(for: Note.self).all().first?.text?.count == 2)
      await dflat.shutdown()
    }
  }

  @Test("The greatest durations are no error")
  func longest() async throws {
    try await withSchema { schema in
      let longest = Duration.seconds(Int64.max)
      let dflat = try await workspace(schema, "lock_timeout=600s") {
        $0.connectTimeout = longest
        $0.lockTimeout = longest
        $0.statementTimeout = longest
        $0.reconnectTimeout = longest
        $0.conflictTimeout = longest
      }
      try await increment(1, in: dflat)
      await dflat.shutdown()
    }
  }

  @Test("What the server has no limit for has that of the workspace")
  func ownLimits() async throws {
    try await withSchema { schema in
      let dflat = try await workspace(schema, "statement_timeout=0 lock_timeout=600s") {
        $0.lockTimeout = .milliseconds(300)
      }
      try await increment(1, in: dflat)
      let plain = try PlainConnection()
      try plain.run("BEGIN; LOCK TABLE \"\(schema)\".note IN ACCESS EXCLUSIVE MODE")
      let error = await #expect(throws: StorageError.self) { try await increment(1, in: dflat) }
      #expect(error?.message.contains("lock timeout") == true, "\(error as Any)")
      try plain.run("ROLLBACK")
      await dflat.shutdown()
    }
  }

  @Test("A transaction that is idle for too long ends, is not stored, and does not run again")
  func idle() async throws {
    try await withSchema { schema in
      let dflat = try await workspace(schema, "idle_in_transaction_session_timeout=300ms")
      try await increment(1, in: dflat)
      let runs = Atomic<Int>(0)
      @Sendable func waitForEnd() throws {
        let idle =
          "SELECT 1 FROM pg_stat_activity WHERE application_name = '\(schema)' "
          + "AND state LIKE 'idle in transaction%'"
        let server = try PlainConnection()
        #expect(try eventually { try server.run(idle).isEmpty })
      }
      let writing = await #expect(throws: StorageError.self) {
        try await dflat.write(Note.self) { txn in
          runs.add(1, ordering: .relaxed)
          try txn.upsert(Note(key: 1, text: "lost"))
          try waitForEnd()
        }
      }
      #expect(writing?.cause == .busy, "\(writing as Any)")
      #expect("\(writing as Any)".contains("idle-in-transaction timeout"), "\(writing as Any)")
      #expect("\(writing as Any)".contains("idle_in_transaction_session_timeout"))
      #expect(runs.load(ordering: .relaxed) == 1)
      let reading = await #expect(throws: StorageError.self) {
        try await dflat.read { snapshot in
          runs.add(1, ordering: .relaxed)
          _ = try snapshot.fetch(for: Note.self).all()
          try waitForEnd()
          _ = try snapshot.fetch(for: Note.self).all()
        }
      }
      #expect(reading?.cause == .busy, "\(reading as Any)")
      #expect(runs.load(ordering: .relaxed) == 2)
      try await increment(1, in: dflat)
      #expect(dflat.fetch(for: Note.self).all().first?.text?.count == 2)
      await dflat.shutdown()
    }
  }

  /// What a closure does that has read before it was idle.
  enum Continuation: CaseIterable {
    case ends, readsByKey, queries, inserts, upserts, copies
  }

  @Test(
    "Neither does a transaction that was idle after its first reads",
    arguments: Continuation.allCases)
  func idleReader(continuation: Continuation) async throws {
    try await withSchema { schema in
      // Creating the table may take longer.
      let first = postgresWorkspace(schema: schema)
      try await increment(1, in: first)
      await first.shutdown()
      let dflat = try await workspace(schema, "idle_in_transaction_session_timeout=300ms")
      let runs = Atomic<Int>(0)
      let error = await #expect(throws: StorageError.self) {
        try await dflat.write(Note.self) { txn in
          runs.add(1, ordering: .relaxed)
          let notes = try txn.fetch(for: Note.self)
          _ = try notes.all()
          let server = try PlainConnection()
          let idle =
            "SELECT 1 FROM pg_stat_activity WHERE application_name = '\(schema)' "
            + "AND state LIKE 'idle in transaction%'"
          #expect(try eventually { try server.run(idle).isEmpty })
          switch continuation {
          case .ends: break
          case .readsByKey: _ = try notes.where(Note.key == 1).first
          case .queries: _ = try notes.all()
          case .inserts: try txn.insert(Note(key: 2))
          case .upserts: try txn.upsert(Note(key: 1, text: "lost"))
          case .copies:
            try txn.insert(contentsOf: (2..<100 as Range<UInt64>).map { Note(key: $0) })
          }
        }
      }
      #expect(error?.cause == .busy, "\(error as Any)")
      #expect("\(error as Any)".contains("idle_in_transaction_session_timeout"))
      #expect(runs.load(ordering: .relaxed) == 1)
      #expect(dflat.fetch(for: Note.self).all().map(\.text) == ["x"])
      await dflat.shutdown()
    }
  }
}
