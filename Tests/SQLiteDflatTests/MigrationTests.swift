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

  @Test("Every object is migrated, in steps; the old ones are removed or kept, as configured")
  func eager() async throws {
    for keepsOld in [false, true] {
      try await withTemporaryFile { workspace in
        try workspace.storeFirst((0..<57).map(Letters.old))
        let steps = Mutex<[MigrationProgress]>([])
        for try await step in workspace.dflat.migrationProgress(
          Letters.toSecond(keepsOld: keepsOld), step: 20)
        {
          steps.withLock { $0.append(step) }
        }
        #expect(steps.withLock { $0.map(\.migrated) } == [20, 20, 17])
        #expect(steps.withLock { $0.map(\.remaining) } == [37, 17, 0])
        #expect(steps.withLock { $0.map(\.completed) } == [20, 40, 57])
        #expect(steps.withLock { $0.map(\.total) } == [57, 57, 57])
        let fractions = [20.0 / 57, 40.0 / 57, 1]
        #expect(steps.withLock { $0.map(\.fractionCompleted) } == fractions)
        #expect(workspace.secondLetters == Letters.converted(0..<57))
        #expect(workspace.secondLetters.allSatisfy { $0._rowid > 0 })
        #expect(workspace.firstLetters == (keepsOld ? (0..<57).map(Letters.old) : []))
        #expect(try faults(workspace) == [])
        // The second time there is nothing to do, whatever has happened to the new objects.
        try await workspace.dflat.write(V2.Letter.self) { txn in
          try txn.delete(V2.Letter(id: "n1"))
          try txn.update(V2.Letter(id: "n2")) { $0.words = 77 }
        }
        try await workspace.dflat.migrate(Letters.toSecond(keepsOld: keepsOld))
        #expect(workspace.secondLetters.count == Letters.converted(0..<57).count - 1)
        #expect(workspace.dflat.fetch(for: V2.Letter.self).where(V2.Letter.words == 77).count == 1)
      }
    }
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
      while events.count < 2 {
        events += workspace.takeEvents().filter { if case .migration = $0 { true } else { false } }
        await Task.yield()
      }
      #expect(
        events == [
          .migration(table: "v2__letter", migrated: 5, remaining: 3),
          .migration(table: "v2__letter", migrated: 3, remaining: 0),
        ])
    }
  }

  // MARK: Migration on first use

  @Test("A transaction of the new type begins when everything is migrated")
  func lazyTransaction() throws {
    try withTemporaryFile { workspace in
      try workspace.storeFirst((0..<1200).map(Letters.old))
      workspace.dflat.migrateWhenUsed(migration)
      let all = Letters.converted(0..<1200)
      let outcome = try workspace.write([V2.Letter.self]) { txn in
        let request = try #require(V2.LetterChangeRequest.changeRequest(V2.Letter(id: "n1197")))
        request.words = 100
        try txn.submit(request)
        #expect(throws: TransactionError.objectAlreadyExists) {
          try txn.submit(V2.LetterChangeRequest.creationRequest(V2.Letter(id: "n1100")))
        }
        #expect(throws: TransactionError.objectAlreadyExists) {
          try txn.submit(
            V2.LetterChangeRequest.creationRequest(V2.Letter(id: "new", slug: "slug 1100")))
        }
        return workspace.secondLetters.count
      }
      #expect(outcome.result == all.count && outcome.isCommitted)
      #expect(workspace.firstLetters.isEmpty)
      #expect(try faults(workspace) == [])
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

  @Test("An object whose function throws stops the migration and is named; nothing is lost")
  func failingFunction() async throws {
    try await withTemporaryFile { workspace in
      try workspace.storeFirst((1...20).map(Letters.old))
      try workspace.write([V1.Letter.self]) { txn in
        let request = try #require(V1.LetterChangeRequest.changeRequest(V1.Letter(number: 8)))
        request.text = "illegible"
        try txn.submit(request)
      }
      let error = await #expect(throws: MigrationError.self) {
        try await workspace.dflat.migrate(migration, step: 5)
      }
      #expect(error?.rowid == 8 && error?.table == "v1__letter" && error?.newTable == "v2__letter")
      guard case .function(let cause)? = error?.cause else {
        Issue.record("another cause: \(String(describing: error))")
        return
      }
      #expect(cause as? Illegible == Illegible(text: "illegible"))
      #expect(workspace.firstLetters.map(\.number) == Array(8...20), "those before it are migrated")
      // Fetches leave it out and report it; writes throw.
      _ = workspace.takeErrors()
      #expect(workspace.secondLetters.count == Letters.converted(1..<21).count - 1)
      #expect(!workspace.takeErrors().isEmpty)
      await #expect(throws: MigrationError.self) {
        try await workspace.dflat.write(V2.Letter.self) { _ = try $0.insert(V2.Letter(id: "x")) }
      }
      #expect(!workspace.takeErrors().isEmpty)
      // The old type is unchanged, and the object can be repaired there.
      try await workspace.dflat.write(V1.Letter.self) { txn in
        _ = try txn.update(V1.Letter(number: 8)) { $0.text = "legible" }
      }
      try await workspace.dflat.migrate(migration)
      #expect(workspace.firstLetters.isEmpty)
      #expect(workspace.secondLetters.contains { $0.text == "legible" })
      #expect(try faults(workspace) == [])
    }
  }

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
