// What a library that keeps something beside a workspace can ask of it.

import Dflat
import DflatTestSupport
import Platform
import Testing

@Suite("Stored values of dictionaries, and commit tokens")
struct StoredValueTests {
  @Test(
    "A context reads the value that is stored, of the type that is asked for",
    arguments: TestEngine.all)
  func storedValues(engine: TestEngine) async throws {
    try await withTemporaryWorkspace(engine) { temporary in
      let dflat = temporary.dflat
      try await dflat.write(Post.self) { txn in
        var dictionary = txn.dictionary(namespace: "own")
        dictionary["number"] = 7
        dictionary["text"] = "seven"
        let stored = try txn.storedValue("number", as: Int.self, inDictionary: "own")
        #expect(stored == nil)
      }
      let escaped = try lookUp(dflat)
      #expect(throws: WorkspaceError.escapedContext) {
        try escaped.storedValue("number", as: Int.self)
      }
      let found = try await dflat.write(Post.self) { txn in
        // A read inside a transaction is the transaction's.
        let inner = try dflat.read {
          try $0.storedValue("number", as: Int.self, inDictionary: "own")
        }
        return [inner, try txn.storedValue("number", as: Int.self, inDictionary: "own")]
      }
      #expect(found == [7, 7])
    }
  }

  /// Looks values up, and lets the context escape.
  private func lookUp(_ dflat: any Workspace) throws -> ReadContext {
    try dflat.read { context in
      let number = try context.storedValue("number", as: Int.self, inDictionary: "own")
      #expect(number == 7)
      #expect(try context.storedValue("text", as: String.self, inDictionary: "own") == "seven")
      #expect(try context.storedValue("text", as: Int.self, inDictionary: "own") == nil)
      #expect(try context.storedValue("number", as: Int.self) == nil)
      #expect(try context.storedValue("other", as: Bool.self, inDictionary: "own") == nil)
      return context
    }
  }

  @Test(
    "Another connection's commit changes the token, and the workspace's own does not",
    arguments: TestEngine.all)
  func tokens(engine: TestEngine) async throws {
    try await withTemporaryWorkspace(engine) { temporary in
      let dflat = temporary.dflat
      try await dflat.write(Post.self) { _ = try $0.insert(post(1)) }
      let token = try await known(dflat)
      try await dflat.write(Post.self) { _ = try $0.insert(post(2)) }
      #expect(try await known(dflat) == token)
      let other = temporary.reopened().dflat
      guard other.identity != dflat.identity else { return }
      #expect(dflat.isShared && dflat.isWritable)
      try await other.write(Post.self) { _ = try $0.insert(post(3)) }
      #expect(try await known(dflat) != token)
    }
  }

  /// The token, which is unknown for a moment while a transaction ends.
  private func known(_ dflat: any Workspace) async throws -> CommitToken {
    var token: CommitToken?
    _ = try await inTime {
      token = try dflat.commitToken()
      return token != nil
    }
    return try #require(token)
  }
}
