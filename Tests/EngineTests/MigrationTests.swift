// Complete migrations, from end to end.

import Dflat
import DflatTestSupport
import Dispatch
import Platform
import Testing

@Suite("Migrations")
struct MigrationTests {
  private let migration = Letters.toSecond()

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
