// Complete migrations.

import Dflat
import DflatTestSupport
import Dispatch
import SQLiteAccess
import SQLiteDflat
import Platform
import Testing

@Suite("Migrations")
struct MigrationTests {
  private let migration = Letters.toSecond()

  private func faults(_ workspace: TemporaryFile) throws -> [String] {
    try unsoundness(of: V2.Letter._schema, workspace.foreignConnection(), complete: true)
  }

  @Test("A migration is tested without a workspace, on objects and on bytes of a fixture")
  func withoutWorkspace() throws {
    #expect(
      try migration.migrate(V1.Letter(number: 7, text: "two words"))
        == V2.Letter(id: "n7", text: "two words", words: 2, slug: "slug 7"))
    #expect(try migration.migrate(V1.Letter(number: 7)) == nil)
    #expect(throws: Illegible(text: "illegible")) {
      try migration.migrate(V1.Letter(number: 7, text: "illegible"))
    }
    let bytes = V1.Letter(number: 8, text: "bytes").toData()
    let chain = migration.then(Letters.toThird())
    #expect(
      try chain.migrate(V1.Letter(verifying: bytes))
        == Mail.Dispatch(id: "n8", sheet: 1, text: "bytes", words: 1))
    #expect(try chain.migrate(V1.Letter(number: 7)) == nil)
  }

  @Test("If there is nothing to migrate, nothing is written, not even a file")
  func nothing() async throws {
    try await withTemporaryFile { workspace in
      workspace.dflat.migrateWhenUsed(migration)
      #expect(workspace.secondLetters.isEmpty)
      try await workspace.dflat.migrate(migration)
      #expect(!workspace.fileExists())
    }
  }

  @Test("The event hook receives each step")
  func events() async throws {
    try await withTemporaryFile { workspace in
      try workspace.storeFirst((0..<8).map(Letters.old))
      try await workspace.dflat.migrate(migration, step: 5)
      await workspace.dflat.shutdown()
      var events: [SQLiteWorkspace.Event] = []
      let areComplete = await inTime {
        events += workspace.takeEvents().filter { if case .migration = $0 { true } else { false } }
        return events.count >= 2
      }
      #expect(areComplete)
      #expect(
        events == [
          .migration(table: "v2__letter", migrated: 5, remaining: 3),
          .migration(table: "v2__letter", migrated: 3, remaining: 0),
        ])
    }
  }

  // MARK: Migration on first use

  @Test("What another program stores as old objects after a migration is migrated, too")
  func otherProgram() throws {
    try withTemporaryFile { workspace in
      try workspace.storeFirst((0..<30).map(Letters.old))
      workspace.dflat.migrateWhenUsed(migration)
      try workspace.write([V2.Letter.self]) { _ in }
      #expect(workspace.firstLetters.isEmpty)
      // Another program with the older version continues.
      let other = workspace.secondWorkspace()
      try other.storeFirst([V1.Letter(number: 5000, text: "late")])
      #expect(workspace.secondLetters.last?.text == "late")
      try workspace.write([V2.Letter.self]) { txn in
        #expect(workspace.secondLetters.last.map { $0._rowid > 0 } == true)
      }
      other.dflat.shutdown()
    }
  }

  @Test("Where nothing can be written, the old objects are read as new ones")
  func readOnly() throws {
    try withTemporaryFile(.file) { workspace in
      try workspace.storeFirst((0..<30).map(Letters.old))
      workspace.dflat.shutdown()
      let reading = TemporaryFile(path: workspace.path) { $0.isReadOnly = true }
      reading.dflat.migrateWhenUsed(migration)
      #expect(reading.secondLetters == Letters.converted(0..<30))
      #expect(reading.dflat.fetch(for: V2.Letter.self).where(V2.Letter.words == 3).count == 4)
      reading.dflat.shutdown()
      #expect(reading.takeErrors().isEmpty)
      #expect(try workspace.sqlite3("SELECT count(*) FROM v1__letter") == "30")
    }
  }

  // MARK: Failures

  @Test("A damaged old object stays where it is, and does not stop the others")
  func damaged() async throws {
    try await withTemporaryFile { workspace in
      try workspace.storeFirst((1...5).map(Letters.old))
      try workspace.tamper("UPDATE v1__letter SET p = x'0102' WHERE rowid = 3")
      try await workspace.dflat.migrate(migration)
      #expect(workspace.secondLetters.map(\.id) == ["n1", "n2", "n4", "n5"])
      let errors = workspace.takeErrors()
      #expect(errors.map(\.cause) == [.corruptRow] && errors[0].rowid == 3)
      #expect(try workspace.sqlite3("SELECT rowid FROM v1__letter") == "3")
    }
  }

  /// The queue is blocked until the shutdown is enqueued behind the first step.
  private func beginAndShutDown(
    _ dflat: SQLiteWorkspace
  ) -> AsyncThrowingStream<MigrationProgress, any Error> {
    let hold = DispatchSemaphore(value: 0)
    dflat.performChanges([V1.Letter.self]) { _ in hold.wait() }
    let steps = dflat.migrationProgress(migration, step: 10)
    dflat.performChanges([V1.Letter.self]) { _ in dflat.shutdown {} }
    hold.signal()
    return steps
  }

  @Test("A shutdown ends a migration between two steps; it continues later")
  func shutdownWhileRunning() async throws {
    try await withTemporaryFile { workspace in
      try workspace.storeFirst((0..<100).map(Letters.old))
      let dflat = workspace.dflat
      let steps = beginAndShutDown(dflat)
      let error = await #expect(throws: WorkspaceError.self) { for try await _ in steps {} }
      #expect(error == .shutDown)
      await dflat.shutdown()
      let again = workspace.secondWorkspace()
      try await again.dflat.migrate(migration)
      #expect(again.secondLetters == Letters.converted(0..<100))
      await again.dflat.shutdown()
    }
  }
}
