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

  /// The errors that a workspace reports to its hook, of any type.
  private final class Heard: Sendable {
    private let errors = Mutex<[any Error]>([])

    init(_ dflat: any Workspace) {
      dflat.errorHandler = { [self] error in errors.withLock { $0.append(error) } }
    }

    func take() -> [WorkspaceError?] {
      errors.withLock { errors in
        defer { errors = [] }
        return errors.map { $0 as? WorkspaceError }
      }
    }
  }

  @Test(
    "A helper that fetches another type makes write throw, and nothing is stored",
    arguments: TestEngine.all)
  func helper(engine: TestEngine) async throws {
    try await withTemporaryWorkspace(engine) { workspace in
      let dflat = workspace.dflat
      let heard = Heard(dflat)
      let helper = Helper(dflat: dflat)
      let missing = WorkspaceError.undeclaredType("Note")
      for attempts in [1, 8] {
        await #expect(throws: missing) {
          try await dflat.write(Post.self, attempts: attempts) { txn in
            try txn.insert(post(1))
            #expect(helper.noteCount() == 0)
          }
        }
      }
      await #expect(throws: missing) {
        try await dflat.write(Post.self) { txn in
          #expect(helper.note(1) == nil)
          // It has already failed: nothing else is carried out.
          #expect(throws: missing) { try txn.insert(post(1)) }
        }
      }
      await #expect(throws: missing) {
        try await dflat.write(Post.self) { _ in
          dflat.fetchWithinASnapshot { #expect(helper.noteCount() == 0) }
        }
      }
      await #expect(throws: missing) {
        try await dflat.write(Post.self) { _ in
          #expect(NoteChangeRequest.changeRequest(Note(key: 1)) == nil)
          #expect(NoteChangeRequest.deletionRequest(Note(key: 1)) == nil)
        }
      }
      #expect(workspace.posts.all().isEmpty)
      #expect(heard.take().isEmpty)
      // Later transactions are not affected.
      try await dflat.write(Post.self, Note.self) { txn in
        try txn.insert(post(1))
        #expect(helper.noteCount() == 0)
      }
      #expect(workspace.posts.all().count == 1)
    }
  }

  @Test(
    "A fetch after the shutdown is empty, and the error hook receives the reason",
    arguments: TestEngine.all)
  func afterShutdown(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      let dflat = workspace.dflat
      try workspace.store([post(1)])
      let heard = Heard(dflat)
      let isInside = DispatchSemaphore(value: 0)
      let mayGoOn = DispatchSemaphore(value: 0)
      let hasEnded = DispatchSemaphore(value: 0)
      let inside = Mutex(0)
      onAnotherThread {
        dflat.performChanges(
          [Post.self],
          changesHandler: { _ in
            isInside.signal()
            mayGoOn.expect("that it may go on")
            inside.withLock { $0 = dflat.fetch(for: Post.self).all().count }
          }, completionHandler: { _ in hasEnded.signal() })
      }
      isInside.expect("that it is inside")
      dflat.shutdown {}
      #expect(workspace.posts.all().isEmpty)
      #expect(workspace.posts.where(Post.site == "s" && Post.number == 1).isEmpty)
      #expect(dflat.find(Post.self, ("s", 1)) == nil)
      #expect(heard.take() == [.shutDown, .shutDown, .shutDown])
      // Reads that began before continue.
      mayGoOn.signal()
      hasEnded.expect("the end of the transaction")
      #expect(inside.withLock { $0 } == 1)
      #expect(heard.take().isEmpty)
    }
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
