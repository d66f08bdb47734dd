// Complete migrations, from end to end.

import Dflat
import DflatTestSupport
import Dispatch
import Platform
import Testing

@Suite("Migrations")
struct MigrationTests {
  private let migration = Letters.toSecond()

  // MARK: In steps

  @Test(
    "Every object is migrated, in steps; the old ones are removed or kept, as configured",
    arguments: TestEngine.all)
  func eager(engine: TestEngine) async throws {
    for keepsOld in [false, true] {
      try await withTemporaryWorkspace(engine) { workspace in
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
        let fractions: [Double] = [20.0 / 57, 40.0 / 57, 1]
        #expect(steps.withLock { $0.map(\.fractionCompleted) } == fractions)
        #expect(workspace.secondLetters == Letters.converted(0..<57))
        #expect(workspace.secondLetters.allSatisfy { $0._rowid > 0 })
        #expect(workspace.firstLetters == (keepsOld ? (0..<57).map(Letters.old) : []))
        #expect(try workspace.faults(of: V2.Letter._schema) == [])
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

  @Test(
    "An object whose function throws stops the migration and is named; nothing is lost",
    arguments: TestEngine.all)
  func failingFunction(engine: TestEngine) async throws {
    try await withTemporaryWorkspace(engine) { workspace in
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
      #expect(try workspace.faults(of: V2.Letter._schema) == [])
    }
  }

  @Test(
    "A transaction of the new type begins when everything is migrated",
    arguments: TestEngine.all)
  func lazyTransaction(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
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
      #expect(try workspace.faults(of: V2.Letter._schema) == [])
    }
  }

  // MARK: When used

  @Test(
    "Fetches find everything from the first moment on, through every call, with any condition",
    arguments: TestEngine.all)
  func lazyFetch(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      try workspace.storeFirst((0..<30).map(Letters.old))
      let hold = DispatchSemaphore(value: 0)
      let dflat = workspace.dflat
      // Nothing can be migrated while this runs: the answers come from old objects.
      dflat.performChanges([V1.Letter.self]) { _ in hold.wait() }
      dflat.migrateWhenUsed(migration)
      let letters = dflat.fetch(for: V2.Letter.self)
      let all = Letters.converted(0..<30)
      #expect(letters.all().underlyingArray == all)
      #expect(letters.all().allSatisfy { $0._rowid == -1 })
      #expect(letters.where(V2.Letter.id == "n3").underlyingArray == all.filter { $0.id == "n3" })
      #expect(letters.where(V2.Letter.words == 3).underlyingArray == all.filter { $0.words == 3 })
      #expect(
        letters.where(
          V2.Letter.words > 2, limit: .limit(4),
          orderBy: [V2.Letter.words.descending, V2.Letter.id.ascending]
        ).underlyingArray
          == Array(
            all.filter { $0.words > 2 }.sorted { ($1.words, $0.id) < ($0.words, $1.id) }.prefix(4)))
      #expect(letters.all(limit: .limit(7)).underlyingArray == Array(all.prefix(7)))
      dflat.fetchWithinASnapshot { #expect(letters.all().underlyingArray == all) }
      let count = try dflat.read { try $0.fetch(for: V2.Letter.self).all().count }
      #expect(count == all.count)
      hold.signal()
      // The fetches have started a migration: a transaction of the old type is queued behind its
      // first step.
      try workspace.write([V1.Letter.self]) { _ in }
      #expect(workspace.firstLetters.isEmpty)
      #expect(letters.all().underlyingArray == all)
      #expect(letters.all().allSatisfy { $0._rowid > 0 })
    }
  }

  @Test(
    "An object that was fetched before it was migrated can be watched, changed and deleted",
    arguments: TestEngine.all)
  func watching(engine: TestEngine) async throws {
    try await withTemporaryWorkspace(engine) { workspace in
      try workspace.storeFirst((0..<10).map(Letters.old))
      let dflat = workspace.dflat
      dflat.migrateWhenUsed(migration)
      let long = dflat.fetch(for: V2.Letter.self).where(V2.Letter.words >= 3)
      let told = Mutex<[[String]]>([])
      let subscription = dflat.subscribe(fetchedResult: long) { letters in
        told.withLock { $0.append(letters.map(\.id)) }
      }
      let first = try #require(long.first)
      try await dflat.write(V2.Letter.self) { txn in _ = try txn.update(first) { $0.words = 1 } }
      try await dflat.write(V2.Letter.self) { txn in _ = try txn.delete(V2.Letter(id: "n5")) }
      #expect(long.map(\.id) == ["n3", "n4", "n5", "n6"])
      #expect(told.withLock { $0 } == [["n4", "n5", "n6"], ["n4", "n6"]])
      subscription.cancel()
    }
  }

  @Test("Several old types become one new type", arguments: TestEngine.all)
  func merging(engine: TestEngine) async throws {
    try await withTemporaryWorkspace(engine) { workspace in
      try workspace.storeFirst([V1.Letter(number: 1, text: "a")])
      try await workspace.dflat.write(MAIL.Dispatch.self) { txn in
        _ = try txn.insert(MAIL.Dispatch(id: "x", text: "b"))
      }
      workspace.dflat.migrateWhenUsed(migration)
      workspace.dflat.migrateWhenUsed(
        Migration(from: MAIL.Dispatch.self, to: V2.Letter.self) {
          V2.Letter(id: $0.id, text: $0.text, slug: $0.id)
        })
      #expect(workspace.secondLetters.compactMap(\.text) == ["a", "b"])
      try await workspace.dflat.write(V2.Letter.self) { txn in
        let rows = try txn.fetch(for: V2.Letter.self).all().map(\._rowid)
        #expect(rows == [1, 2])
      }
    }
  }

  // MARK: Errors

  @Test(
    "If another object has the key, or a unique value, both rows are named, and both stay",
    arguments: TestEngine.all)
  func duplicates(engine: TestEngine) async throws {
    for isKey in [true, false] {
      try await withTemporaryWorkspace(engine) { workspace in
        try workspace.storeFirst((1...4).map { V1.Letter(number: $0, text: "t") })
        try await workspace.dflat.write(V2.Letter.self) { txn in
          try txn.insert(V2.Letter(id: "other", slug: "other"))
          try txn.insert(
            isKey ? V2.Letter(id: "n3", slug: "mine") : V2.Letter(id: "mine", slug: "slug 3"))
        }
        let error = await #expect(throws: MigrationError.self) {
          try await workspace.dflat.migrate(migration)
        }
        #expect(error?.rowid == 3)
        guard case .alreadyExists(let cause, let rows)? = error?.cause else {
          Issue.record("another cause: \(String(describing: error))")
          return
        }
        #expect(cause.cause == .alreadyExists && rows == [2])
        #expect("\(error!)".contains("row 3 of v1__letter") && "\(error!)".contains("row 2 there"))
        #expect(workspace.firstLetters.map(\.number) == [3, 4])
        #expect(workspace.secondLetters.contains { $0.id == (isKey ? "n3" : "mine") })
        _ = workspace.takeErrors()
        // A corrected function replaces the first one.
        try await workspace.dflat.migrate(
          Migration(from: V1.Letter.self, to: V2.Letter.self) {
            V2.Letter(id: "v1-\($0.number)", text: $0.text, slug: "v1-\($0.number)")
          })
        #expect(workspace.firstLetters.isEmpty && workspace.secondLetters.count == 6)
      }
    }
  }
}
