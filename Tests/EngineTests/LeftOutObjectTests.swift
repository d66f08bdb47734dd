// Migrations that go on without the objects that cannot be migrated.

import Dflat
import DflatTestSupport
import Testing

@Suite("Objects that a migration leaves out")
struct LeftOutObjectTests {
  private func makeIllegible(_ number: Int32, in workspace: TemporaryWorkspace) throws {
    try workspace.write([V1.Letter.self]) { txn in
      let request = try #require(V1.LetterChangeRequest.changeRequest(V1.Letter(number: number)))
      request.text = "illegible"
      try txn.submit(request)
    }
  }

  @Test(
    "The others are migrated, reads and writes go on, and the object is tried again on demand",
    arguments: TestEngine.all)
  func leftOut(engine: TestEngine) async throws {
    try await withTemporaryWorkspace(engine) { workspace in
      let dflat = workspace.dflat
      try workspace.storeFirst((1...20).map(Letters.old))
      try makeIllegible(8, in: workspace)
      let leftOut = LeftOutObjects()
      let migration = Letters.toSecond().leavingOut(leftOut)
      try await dflat.migrate(migration, step: 5)
      #expect(leftOut.errors.map(\.rowid) == [8])
      guard case .function(let cause)? = leftOut.errors.first?.cause else {
        Issue.record("another cause: \(leftOut.errors)")
        return
      }
      #expect(cause as? Illegible == Illegible(text: "illegible"))
      #expect(!workspace.takeErrors().isEmpty, "it is reported")
      #expect(workspace.firstLetters.map(\.number) == [8])
      #expect(workspace.secondLetters.count == Letters.converted(1..<21).count - 1)
      try await dflat.write(V2.Letter.self) { _ = try $0.insert(V2.Letter(id: "x")) }

      try await dflat.write(V1.Letter.self) { txn in
        _ = try txn.update(V1.Letter(number: 8)) { $0.text = "legible" }
      }
      leftOut.removeAll()
      try await dflat.migrate(migration)
      #expect(workspace.firstLetters.isEmpty && leftOut.errors.isEmpty)
      #expect(workspace.secondLetters.contains { $0.text == "legible" })
      #expect(try workspace.faults(of: V2.Letter._schema) == [])
    }
  }

  @Test("A chain tells the objects of its versions apart", arguments: TestEngine.all)
  func chain(engine: TestEngine) async throws {
    try await withTemporaryWorkspace(engine) { workspace in
      try workspace.storeFirst((1...3).map(Letters.old))
      try makeIllegible(2, in: workspace)
      let leftOut = LeftOutObjects()
      let chain = Letters.toSecond().then(Letters.toThird()).leavingOut(leftOut)
      try await workspace.dflat.migrate(chain)
      // An older program stores these later.
      try await workspace.dflat.write(V2.Letter.self) { txn in
        for number in 1...3 {
          try txn.insert(V2.Letter(id: "own \(number)", slug: "own \(number)"))
        }
      }
      try await workspace.dflat.migrate(chain)
      #expect(leftOut.errors.map(\.table) == ["v1__letter"])
      #expect(leftOut.errors.map(\.rowid) == [2])
      #expect(workspace.firstLetters.map(\.number) == [2] && workspace.secondLetters.isEmpty)
      #expect(Set(workspace.dispatches.map(\.id)) == ["n1", "n3", "own 1", "own 2", "own 3"])
      _ = workspace.takeErrors()
    }
  }

  /// Migrations as the next release of the program has them.
  private var mended: Migration<V1.Letter, V2.Letter> {
    Migration(from: V1.Letter.self, to: V2.Letter.self) { old in
      V2.Letter(id: "n\(old.number)", text: old.text, words: -1, slug: "mended \(old.number)")
    }
  }

  @Test(
    "What is decided about the successors of objects that are left out stays decided",
    arguments: TestEngine.all)
  func decisions(engine: TestEngine) async throws {
    try await withTemporaryWorkspace(engine) { workspace in
      let dflat = workspace.dflat
      try workspace.storeFirst((1...8).map(Letters.old))
      for number in 3...8 { try makeIllegible(Int32(number), in: workspace) }
      try await dflat.migrate(Letters.toSecond().leavingOut(LeftOutObjects()))
      _ = workspace.takeErrors()
      try await dflat.write(V2.Letter.self) { txn in
        try txn.insert(V2.Letter(id: "n3", text: "fresh", slug: "3"))
        try txn.upsert(V2.Letter(id: "n4", text: "gone", slug: "4"))
        try txn.upsert(contentsOf: [V2.Letter(id: "n5", text: "all", slug: "5")])
        _ = try txn.delete(V2.Letter.self, keys: ["n6"])
      }
      try workspace.storeFirst([V1.Letter(number: 9, text: "illegible")])
      try await dflat.write(V2.Letter.self) { txn in
        let existed = try txn.delete(V2.Letter(id: "n9"))
        #expect(!existed)
      }
      _ = workspace.takeErrors()
      try await dflat.write(V2.Letter.self) { txn in
        _ = try txn.delete(V2.Letter.self, keys: ["n4"])
        try txn.insert(V2.Letter(id: "n7", text: "short", slug: "7"))
        _ = try txn.delete(V2.Letter.self, keys: ["n7"])
      }
      let expected = ["n1 ", "n2 ", "n3 fresh", "n5 all", "n8 illegible"]
      func letters() -> [String] {
        workspace.secondLetters.map { $0.id + " " + ($0.text ?? "").prefix(9).filter { $0 != "w" } }
          .map { $0.hasPrefix("n1") || $0.hasPrefix("n2") ? String($0.prefix(3)) : $0 }.sorted()
      }
      dflat.migrateWhenUsed(mended)
      for _ in 0..<20 { #expect(letters() == expected) }
      try await dflat.migrate(mended)
      #expect(letters() == expected)
      #expect(workspace.firstLetters.isEmpty)
      #expect(try workspace.faults(of: V2.Letter._schema) == [])
    }
  }

  @Test("What may not be left out stops the migration", arguments: TestEngine.all)
  func refused(engine: TestEngine) async throws {
    try await withTemporaryWorkspace(engine) { workspace in
      try workspace.storeFirst((1...9).map(Letters.old))
      try makeIllegible(4, in: workspace)
      let leftOut = LeftOutObjects { $0.rowid != 4 }
      await #expect(throws: MigrationError.self) {
        try await workspace.dflat.migrate(Letters.toSecond().leavingOut(leftOut))
      }
      #expect(leftOut.errors.isEmpty && workspace.firstLetters.map(\.number) == Array(4...9))
      _ = workspace.takeErrors()
    }
  }
}
