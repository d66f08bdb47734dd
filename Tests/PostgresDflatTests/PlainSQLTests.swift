// Live results that follow what plain SQL changes.

import Dflat
import DflatTestSupport
import Platform
import PostgresDflat
import PostgresTestSupport
import Testing

@Suite("Plain SQL that is logged", .endsSometime)
struct PlainSQLTests {
  private func withLogged(
    _ body: (_ dflat: PostgresWorkspace, _ plain: PlainConnection, _ schema: String) async throws
      -> Void
  ) async throws {
    try await withSchema { schema in
      let dflat = postgresWorkspace(schema: schema)
      try await dflat.logPlainSQL(of: Note.self)
      // Again, as each deployment does.
      try await dflat.logPlainSQL(of: Note.self)
      try await dflat.write(Note.self) { txn in
        try txn.insert(contentsOf: (1...20 as ClosedRange<UInt64>).map { Note(key: $0) })
      }
      try await body(dflat, PlainConnection(), schema)
      await dflat.shutdown()
    }
  }

  /// The entries of plain SQL in the log.
  private func entries(_ plain: PlainConnection, _ schema: String) throws -> [[String?]] {
    try plain.run(
      "SELECT tbl, ids FROM \(schema)._dflat_log WHERE workspace = 'plain SQL' ORDER BY n")
  }

  @Test("Deletions, insertions and changed bytes arrive in live results")
  func followed() async throws {
    try await withLogged { dflat, plain, schema in
      let seen = Log<[UInt64]>()
      let subscription = dflat.subscribe(fetchedResult: dflat.fetch(for: Note.self).all()) {
        seen.add($0.map(\.key))
      }
      try waitForListener(schema)
      try plain.run("DELETE FROM \(schema).note WHERE pk0 > 3")
      #expect(await inTime { seen.events.last == [1, 2, 3] })
      // The bytes of another object: what a program does that knows how.
      try plain.run(
        """
        BEGIN; CREATE TEMP TABLE kept AS SELECT * FROM \(schema).note WHERE pk0 = 2; \
        DELETE FROM \(schema).note WHERE pk0 = 2; COMMIT
        """)
      #expect(await inTime { seen.events.last == [1, 3] })
      try plain.run("INSERT INTO \(schema).note OVERRIDING SYSTEM VALUE SELECT * FROM kept")
      #expect(await inTime { seen.events.last == [1, 2, 3] })
      try plain.run(
        """
        UPDATE \(schema).note SET p = (SELECT p FROM kept) WHERE pk0 = 1
        """)
      #expect(await inTime { seen.events.last == [2, 2, 3] })
      // What does not change an object is none, and neither is what is rolled back.
      let count = try entries(plain, schema).count
      try plain.run("UPDATE \(schema).note SET p = p")
      try plain.run("BEGIN; DELETE FROM \(schema).note; ROLLBACK")
      #expect(try entries(plain, schema).count == count)
      try plain.run("TRUNCATE \(schema).note")
      #expect(await inTime { seen.events.last == [] })
      subscription.cancel()
    }
  }

  @Test("A dictionary's values in memory follow, too")
  func dictionary() async throws {
    try await withLogged { dflat, plain, schema in
      try await dflat.write(Note.self) { $0.dictionary["count"] = 1 }
      let subscription = dflat.dictionary.subscribe("count", of: Int.self) { _ in }
      try waitForListener(schema)
      #expect(dflat.dictionary["count", default: 0] == 1)
      let table = try entriesTable(plain, schema)
      try plain.run("DELETE FROM \(schema).\"\(table)\"")
      #expect(await inTime { dflat.dictionary["count", default: 0] == 0 })
      subscription.cancel()
    }
  }

  private func entriesTable(_ plain: PlainConnection, _ schema: String) throws -> String {
    let rows = try plain.run(
      """
      SELECT relname FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid \
      WHERE relnamespace = '\(schema)'::regnamespace AND tgname = '_dflat_plain_rows' \
      AND relname <> 'note'
      """)
    return try #require(rows.first?.first ?? nil)
  }

  @Test("Many rows are few entries, and transactions of Dflat make none")
  func entries() async throws {
    try await withLogged { dflat, plain, schema in
      try await dflat.write(Note.self) { txn in
        try txn.insert(contentsOf: (100..<3100 as Range<UInt64>).map { Note(key: $0) })
        try txn.update(where: Note.key == 1) { $0.text = "changed" }
        try txn.delete(where: Note.key == 2)
        txn.dictionary["count"] = 1
      }
      #expect(try entries(plain, schema).isEmpty)
      try plain.run("DELETE FROM \(schema).note WHERE pk0 >= 100")
      let found = try entries(plain, schema)
      #expect(found.count == 1001)
      #expect(found.last == ["note", nil])
      #expect(found.dropLast().allSatisfy { $0[1] != nil })
      // Each transaction begins to count.
      try plain.run("DELETE FROM \(schema).note WHERE pk0 = 3")
      #expect(try entries(plain, schema).count == 1002)
    }
  }

  @Test("A role that may change a table needs no right on the log")
  func rights() async throws {
    try await withLogged { dflat, plain, schema in
      let role = "plain_\(schema)"
      try plain.run(
        "CREATE ROLE \(role); GRANT USAGE ON SCHEMA \(schema) TO \(role); "
          + "GRANT SELECT, DELETE ON \(schema).note TO \(role); SET ROLE \(role)")
      try plain.run("DELETE FROM \(schema).note WHERE pk0 = 1")
      try plain.run("RESET ROLE")
      #expect(try entries(plain, schema).count == 1)
      try plain.run("DROP OWNED BY \(role); DROP ROLE \(role)")
    }
  }
}
