// Fetches that cannot be answered and cannot throw: of a type that a transaction does not name, and
// after the shutdown.

import Dflat
import DflatTestSupport
import Dispatch
import Platform
import Testing

@Suite("Fetches of types that are not in the list, and after shutdown")
struct UnlistedFetchTests {
  /// Code in another part of a program: it uses the workspace and knows of no transaction.
  private struct Helper {
    let dflat: any Workspace

    func noteCount() -> Int { dflat.fetch(for: Note.self).all().count }
    func note(_ key: UInt64) -> Note? { dflat.find(Note.self, key) }
  }

  @Test(
    "A synchronous write fails if code that it calls fetches a type that is not in its list",
    arguments: TestEngine.all)
  func synchronous(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      let dflat = workspace.dflat
      let helper = Helper(dflat: dflat)
      #expect(throws: WorkspaceError.undeclaredType("Note")) {
        try dflat.write(Post.self) { txn in
          try txn.insert(post(1))
          _ = helper.noteCount()
        }
      }
      #expect(workspace.posts.all().isEmpty)
    }
  }

  @Test(
    "Where the fetch can throw it throws at once, and the closure may continue",
    arguments: TestEngine.all)
  func throwing(engine: TestEngine) async throws {
    try await withTemporaryWorkspace(engine) { workspace in
      let dflat = workspace.dflat
      try await dflat.write(Post.self) { txn in
        let missing = WorkspaceError.undeclaredType("Note")
        #expect(throws: missing) { try txn.fetch(for: Note.self) }
        #expect(throws: missing) { try txn.find(Note.self, 1) }
        #expect(throws: missing) {
          try dflat.read { try $0.fetch(for: Note.self).all().count }
        }
        try txn.insert(post(1))
      }
      #expect(workspace.posts.all().count == 1)
    }
  }

  @Test(
    "A dictionary is read in a transaction of any type, even inside a snapshot",
    arguments: TestEngine.all)
  func dictionaryInside(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      let first = workspace.dflat
      try first.write { $0.dictionary["volume"] = 7 }
      let second = workspace.reopened()
      let outcome = second.dflat.fetchWithinASnapshot {
        Result {
          try second.dflat.write(Post.self) { _ in second.dflat.dictionary["volume", Int.self] }
        }
      }
      #expect(try outcome.get() == 7)
      second.dflat.shutdown()
      #expect(second.takeErrors().isEmpty)
    }
  }
}
