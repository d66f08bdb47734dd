// Fetches that can neither succeed nor throw: of a type that a transaction does not name, and after
// the shutdown.

import Dflat
import DflatTestSupport
import Dispatch
import SQLiteDflat
import Platform
import Testing

@Suite("Fetches of unlisted types, and after shutdown")
struct UnlistedFetchTests {
  /// Helper code in another part of a program, which uses the workspace and does not know about the
  /// transaction.
  private struct Helper {
    let dflat: any Workspace

    func noteCount() -> Int { dflat.fetch(for: Note.self).all().count }
    func note(_ key: UInt64) -> Note? { dflat.find(Note.self, key) }
  }

  /// The errors that a workspace reports to its hook, of any type.
  private final class Heard: Sendable {
    private let errors = Mutex<[any Error]>([])

    init(_ dflat: SQLiteWorkspace) {
      dflat.errorHandler = { [self] error in errors.withLock { $0.append(error) } }
    }

    func take() -> [WorkspaceError?] {
      errors.withLock { errors in
        defer { errors = [] }
        return errors.map { $0 as? WorkspaceError }
      }
    }
  }

  @Test("A helper that fetches another type makes write throw, and nothing is stored")
  func helper() async throws {
    try await withTemporaryFile { workspace in
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

  @Test("A fetch after the shutdown is empty, and the error hook receives the reason")
  func afterShutdown() throws {
    try withTemporaryFile { workspace in
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
}
