// Requests that are changed and never submitted, which debug builds report.

import Dflat
import DflatTestSupport
import Platform
import Testing

#if DEBUG
  @Suite("Change requests that are never submitted")
  struct UnsubmittedRequestTests {
    private typealias Request = Blog.PostChangeRequest

    /// The errors that the error hook gets from a transaction over one stored post.
    private func told(
      _ engine: TestEngine, _ body: @escaping (any TransactionContext) throws -> Void
    ) throws -> [UnsubmittedRequest] {
      try withTemporaryWorkspace(engine) { workspace in
        try workspace.store([post(1)])
        let errors = Mutex<[any Error]>([])
        workspace.dflat.errorHandler = { error in errors.withLock { $0.append(error) } }
        try workspace.write([Post.self]) { try body($0) }
        return errors.withLock { $0.compactMap { $0 as? UnsubmittedRequest } }
      }
    }

    private struct Refusal: Error {}

    @Test("If write throws an error, only that error is reported", arguments: TestEngine.all)
    func thrown(engine: TestEngine) throws {
      try withTemporaryWorkspace(engine) { workspace in
        try workspace.store([post(1)])
        #expect(throws: Refusal.self) {
          try workspace.dflat.write(Post.self) { _ in
            Request.changeRequest(post(1))?.likes = 5
            throw Refusal()
          }
        }
      }
    }

    @Test(
      "A lost change is reported to the error hook, with the name of the type",
      arguments: TestEngine.all)
    func lost(engine: TestEngine) throws {
      let told = try told(engine) { _ in Request.changeRequest(post(1))?.likes = 5 }
      #expect(told == [UnsubmittedRequest(type: "Post")])
      #expect(told.first?.description.contains("submit(_:)") == true)
    }

    @Test(
      "An object that is not created, or not stored over another, is reported as well",
      arguments: TestEngine.all)
    func notCreated(engine: TestEngine) throws {
      let lost = [UnsubmittedRequest(type: "Post", isCreation: true)]
      #expect(try told(engine) { _ in Request.creationRequest().likes = 5 } == lost)
      #expect(try told(engine) { _ in Request.creationRequest(post(2)).likes = 5 } == lost)
      #expect(try told(engine) { _ in Request.upsertRequest(post(2)).likes = 5 } == lost)
      #expect(
        try told(engine) { _ in Request.upsertRequest(post(1)).likes = 5 }
          == [UnsubmittedRequest(type: "Post")])
      #expect(lost[0].description.contains("creation request for Post"))
      // Outside of transactions it is unknown whether it will be submitted.
      let early = Request.creationRequest()
      early.likes = 5
    }

    @Test("In write, too, and when the request outlives its transaction", arguments: TestEngine.all)
    func others(engine: TestEngine) throws {
      try withTemporaryWorkspace(engine) { workspace in
        try workspace.store([post(1)])
        let errors = Mutex<[any Error]>([])
        workspace.dflat.errorHandler = { error in errors.withLock { $0.append(error) } }
        try workspace.dflat.write(Post.self) { _ in Request.changeRequest(post(1))?.likes = 5 }
        #expect(errors.withLock { $0.count } == 1)
        var kept: Request?
        try workspace.dflat.write(Post.self) { _ in
          kept = Request.changeRequest(post(1))
          kept?.likes = 6
        }
        #expect(errors.withLock { $0.count } == 1)
        kept = nil
        #expect(errors.withLock { $0.count } == 2)
      }
    }

    @Test("A request that loses nothing is not reported", arguments: TestEngine.all)
    func harmless(engine: TestEngine) throws {
      // Read only, submitted, rejected, another kind of request, and rolled back.
      #expect(try told(engine) { _ in _ = Request.changeRequest(post(1))?.likes }.isEmpty)
      #expect(
        try told(engine) { txn in
          guard let request = Request.changeRequest(post(1)) else { return }
          request.likes = 5
          try txn.submit(request)
        }.isEmpty)
      #expect(
        try told(engine) { txn in
          try txn.submit(Request.creationRequest(post(2)))
          guard let request = Request.changeRequest(post(1)) else { return }
          request.number = 2
          txn.try(submit: request)
        }.isEmpty)
      #expect(try told(engine) { _ in _ = Request.creationRequest(post(2)) }.isEmpty)
      #expect(try told(engine) { _ in _ = post(2).with { $0.likes = 5 } }.isEmpty)
      #expect(
        try told(engine) { txn in
          let request = Request.creationRequest()
          request.likes = 5
          try txn.submit(request)
        }.isEmpty)
      #expect(try told(engine) { _ in _ = Request.deletionRequest(post(1)) }.isEmpty)
      #expect(
        try told(engine) { txn in
          Request.changeRequest(post(1))?.likes = 5
          txn.abort()
        }.isEmpty)
    }

    @Test("A change that its closure gives up is not reported", arguments: TestEngine.all)
    func givenUp(engine: TestEngine) throws {
      try withTemporaryWorkspace(engine) { workspace in
        try workspace.store([post(1)])
        try workspace.dflat.write(Post.self) { txn in
          #expect(throws: Refusal.self) {
            try txn.update(post(1)) { draft in
              draft.likes = 5
              throw Refusal()
            }
          }
        }
        #expect(workspace.posts.all()[0].likes == 0)
      }
    }

    @Test("Without a hook it goes to the standard error stream", arguments: TestEngine.all)
    func withoutHook(engine: TestEngine) async {
      let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
        [engine] in
        try withTemporaryWorkspace(engine) { workspace in
          workspace.dflat.errorHandler = nil
          try workspace.dflat.write(Post.self) { txn in
            try txn.insert(post(1))
            Blog.PostChangeRequest.changeRequest(post(1))?.likes = 5
          }
        }
      }
      let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
      #expect(
        text.contains("Dflat: ") && text.contains("Post") && text.contains("submit"), "\(text)")
    }
  }
#endif
