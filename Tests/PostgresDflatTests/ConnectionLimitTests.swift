// The limit of a workspace's connections.

import Dflat
import DflatTestSupport
import Dispatch
import Platform
import PostgresDflat
import PostgresTestSupport
import Testing

@Suite("The limit of connections", .endsSometime)
struct ConnectionLimitTests {
  @Test("Snapshots, queries, transactions and live results together keep the limit")
  func limit() async throws {
    try await withSchema { schema in
      let dflat = postgresWorkspace(schema: schema, application: schema) {
        $0.connectionLimit = 4
        $0.connectTimeout = .seconds(100)
      }
      try await dflat.write(Note.self) { try $0.insert(Note(key: 1, text: "")) }
      let live = dflat.subscribe(fetchedResult: dflat.fetch(for: Note.self).all()) { _ in }
      try waitForListener(schema)
      let sessions = "SELECT count(*) FROM pg_stat_activity WHERE application_name = '\(schema)'"
      let most = Atomic<Int>(0)
      let isOver = Atomic<Bool>(false)
      let watching = onOwnThread {
        let server = try PlainConnection()
        while !isOver.load(ordering: .acquiring) {
          let count = try server.run(sessions)[0][0].flatMap { Int($0) } ?? 0
          if count > most.load(ordering: .relaxed) { most.store(count, ordering: .relaxed) }
        }
      }
      let callers = (0..<12).map { caller in
        onOwnThread {
          for number in 1...10 {
            switch caller % 3 {
            case 0: try dflat.read { _ = try $0.fetch(for: Note.self).all() }
            case 1: #expect(!dflat.fetch(for: Note.self).all().isEmpty)
            default:
              try dflat.write(Note.self, attempts: 1000) { txn in
                _ = try txn.fetch(for: Note.self).all()
                try txn.upsert(Note(key: UInt64(100 * caller + number)))
              }
            }
          }
        }
      }
      for caller in callers { caller.expect("the end of a caller") }
      isOver.store(true, ordering: .releasing)
      watching.expect("the end of the watcher")
      #expect(most.load(ordering: .relaxed) <= 4)
      #expect(most.load(ordering: .relaxed) >= 3)
      #expect(dflat.fetch(for: Note.self).all().count == 41)
      live.cancel()
      await dflat.shutdown()
    }
  }

  @Test("A call for which there is no connection in time says so, and later ones go on")
  func shortage() async throws {
    try await withSchema { schema in
      let dflat = postgresWorkspace(schema: schema) {
        $0.connectionLimit = 4
        $0.connectTimeout = .milliseconds(300)
      }
      try await dflat.write(Note.self) { try $0.insert(Note(key: 1)) }
      let mayEnd = DispatchSemaphore(value: 0)
      let begun = DispatchSemaphore(value: 0)
      // One writes.
      let snapshots = (0..<3).map { _ in
        onOwnThread {
          try dflat.read { snapshot in
            _ = try snapshot.fetch(for: Note.self).all()
            begun.signal()
            mayEnd.expect("the failed call")
          }
        }
      }
      for _ in 0..<3 { begun.expect("a snapshot") }
      let error = #expect(throws: StorageError.self) {
        try dflat.read { _ = try $0.fetch(for: Note.self).all() }
      }
      #expect(error?.cause == .busy, "\(error as Any)")
      #expect("\(error as Any)".contains("connectionLimit"), "\(error as Any)")
      for _ in 0..<3 { mayEnd.signal() }
      for snapshot in snapshots { snapshot.expect("the end of a snapshot") }
      #expect(dflat.fetch(for: Note.self).all().count == 1)
      try await dflat.write(Note.self) { try $0.insert(Note(key: 2)) }
      await dflat.shutdown()
    }
  }
}
