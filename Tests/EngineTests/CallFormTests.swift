// The ways in which programs call a workspace.

import Dflat
import DflatTestSupport
import Foundation
import Testing

@Suite("Ways to call a workspace")
struct CallFormTests {
  @Test(
    "Every overload of performChanges and shutdown compiles and works", arguments: TestEngine.all)
  func forms(engine: TestEngine) async throws {
    try await withTemporaryWorkspace(engine) { workspace in
      let dflat: any Workspace = workspace.dflat
      await withCheckedContinuation { done in
        dflat.performChanges(
          [Post.self, Note.self],
          changesHandler: { txn in
            _ = txn.try(submit: NoteChangeRequest.creationRequest(Note(key: 1)))
          }
        ) { success in
          #expect(success)
          done.resume()
        }
      }
      let committed = await dflat.performChanges([Post.self]) { txn in
        do {
          let request = Blog.PostChangeRequest.creationRequest()
          request.site = "notes"
          request.number = 7
          request.attachment = .photo(Blog.Photo(path: "7.jpg", width: 640))
          let result: UpdatedObject = try txn.submit(request)
          switch result {
          case .inserted(let post): #expect(post._rowid == 1)
          case .updated, .identity, .deleted: Issue.record("not inserted")
          }
        } catch { Issue.record(error) }
      }
      #expect(committed)
      await dflat.performChanges([Post.self]) { _ in }
      #expect(dflat.fetch(for: Post.self).all().count == 1)
      #expect(dflat.fetchWithinASnapshot { dflat.fetch(for: Note.self).all().count } == 1)
      let optional: (any Workspace)? = dflat
      await optional?.shutdown()
      await dflat.shutdown(flags: [.vacuum, .truncate])
      await withCheckedContinuation { done in dflat.shutdown { done.resume() } }
      await withCheckedContinuation { done in
        dflat.shutdown(flags: [.vacuum], completion: { done.resume() })
      }
    }
  }

  @Test("The blocking overloads", arguments: TestEngine.all)
  func blocking(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      // In an asynchronous function these two calls choose the overloads that are awaited.
      workspace.dflat.performChanges([Post.self], changesHandler: { txn in txn.abort() })
      workspace.dflat.performChanges([Post.self]) { txn in
        txn.try(submit: Blog.PostChangeRequest.creationRequest(post(1)))
      }
      let optional: (any Workspace)? = workspace.dflat
      optional?.performChanges([Post.self], changesHandler: { _ in }) { _ in }
      workspace.dflat.shutdown(flags: [.truncate])
      optional?.shutdown()
      workspace.dflat.shutdown()
    }
  }
}
