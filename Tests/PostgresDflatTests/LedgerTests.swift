// The ledger: how many versions its rows have, and which of them stay.

import Dflat
import DflatTestSupport
import PostgresTestSupport
import Testing

@testable import PostgresDflat

@Suite("The ledger of commits")
struct LedgerTests {
  /// The server keeps each version while an old snapshot is open, and looks at all of them.
  @Test("No row of the ledger is written by many transactions, and few rows stay")
  func versions() async throws {
    try await withSchema { schema in
      let dflat = postgresWorkspace(schema: schema)
      try await dflat.write(Note.self) { try $0.insert(Note(key: 0)) }
      let server = try PlainConnection()
      let table = "\"\(schema)\"._dflat_commits"
      try server.run(
        """
        CREATE TABLE "\(schema)".versions (name text); \
        CREATE FUNCTION "\(schema)".note() RETURNS trigger LANGUAGE plpgsql AS \
        'BEGIN INSERT INTO "\(schema)".versions VALUES (NEW.workspace); RETURN NULL; END'; \
        CREATE TRIGGER note AFTER INSERT OR UPDATE ON \(table) \
        FOR EACH ROW EXECUTE FUNCTION "\(schema)".note()
        """)
      for key in 1...200 as ClosedRange<UInt64> {
        try await dflat.write(Note.self) { try $0.insert(Note(key: key)) }
      }
      let most = try server.run(
        "SELECT count(*) FROM \"\(schema)\".versions GROUP BY name ORDER BY 1 DESC LIMIT 1")
      #expect(Int(most[0][0] ?? "") == Int(CommitLedger.transactionsPerRow))
      #expect(try server.run("SELECT count(*) FROM \(table)") == [["1"]])
      await dflat.shutdown()
    }
  }

  /// Such a transaction commits on the connection of its snapshot, which otherwise only reads.
  @Test("The ledger and the log are trimmed after transactions that read before they write")
  func readingFirst() async throws {
    try await withSchema { schema in
      let dflat = postgresWorkspace(schema: schema) { $0.changeLogLength = 256 }
      try await dflat.write(Note.self) { try $0.insert(Note(key: 0)) }
      for key in 1...600 as ClosedRange<UInt64> {
        try await dflat.write(Note.self) { transaction in
          #expect(try transaction.fetch(for: Note.self).where(Note.key == 0).first != nil)
          try transaction.insert(Note(key: key))
        }
      }
      let server = try PlainConnection()
      let rows = try server.run("SELECT count(*) FROM \"\(schema)\"._dflat_commits")
      #expect(rows == [["1"]])
      let entries = try server.run("SELECT count(*) FROM \"\(schema)\"._dflat_log")
      #expect(Int(entries[0][0] ?? "") ?? .max <= 256 + 64)
      await dflat.shutdown()
    }
  }

  /// A transaction that comes late would insert the row otherwise, and be committed.
  @Test("A row that was asked for stays")
  func fenced() async throws {
    try await withSchema { schema in
      let dflat = postgresWorkspace(schema: schema)
      try await dflat.write(Note.self) { try $0.insert(Note(key: 0)) }
      await dflat.shutdown()
      let server = try PlainConnection()
      let ledger = CommitLedger("lost", writer: 1, SystemSQL(schema: schema))
      for fence in [0, 1] {
        try server.run(
          "INSERT INTO \"\(schema)\"._dflat_commits VALUES ('lost.1.\(fence)', 0, \(fence))")
      }
      #expect(ledger.removal(of: 1, after: 63) == nil)
      try server.run(try #require(ledger.removal(of: 1, after: 64)))
      try server.run(try #require(ledger.removal(of: 64, after: 130)))
      let rows = try server.run(
        "SELECT workspace FROM \"\(schema)\"._dflat_commits WHERE workspace LIKE 'lost%'")
      #expect(rows == [["lost.1.1"]])
    }
  }
}
