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

  @Test("Values, builders and results can be used as the manual says")
  func values() throws {
    let value = Post(site: "s", number: 1, status: nil, likes: nil, tags: nil)
    #expect(value == Post(site: "s", number: 1) && value.status == .published)
    #expect(value.hashValue == Post(site: "s", number: 1).hashValue)
    #expect(Post.from(data: value.toData()) == value)
    var builder = Blog.PostBuilder(from: value)
    builder.tags = ["a"]
    #expect(builder.build().tags == ["a"] && builder.build()._rowid == -1)
    #expect(Post.flatBuffersSchemaVersion == "1.0")
    let result = FetchedResult([value, builder.build()])
    #expect(result[0] == value && result[0...1].count == 2 && result.underlyingArray.count == 2)
    #expect(result == FetchedResult([value, builder.build()]))
    #expect(Post.likes.ascending.name == "f10" && Post.author.handle.descending.name == "f14__f4")
    let key = Post.likes.descending
    #expect(key.sortingOrder == .descending)
    #expect(key.areInSortingOrder(post(1, likes: 1), post(1, likes: 2)) == .ascending)
    #expect(
      [3, 1].firstIndex(of: Post.likes).areInSortingOrder(post(1, likes: 3), post(1, likes: 1))
        == .ascending)
    #expect(value.id == post(1).id || value.site == "s")
  }

  @Test(
    "Data that fails verification gives an object with every field at its default")
  func fromData() {
    for bytes in [[], [0], Array(repeating: 0xFF, count: 64), Array("text".utf8)] as [[UInt8]] {
      let post = Post.from(data: .init(bytes))
      #expect(post == Post(site: "", number: 0))
    }
  }
}
