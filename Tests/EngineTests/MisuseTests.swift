// Programmer errors stop the program, with a message that names the call.

import Dflat
import DflatTestSupport
import Dispatch
import Foundation
import Testing

@Suite("Misuse")
struct MisuseTests {
  /// Each case takes a process. Dflat notices the mistakes, before an engine is asked.
  private static let engines = TestEngine.some([.sqlite, .boundMemory])

  @Test("An empty list of types", arguments: engines)
  func emptyList(engine: TestEngine) async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [engine] in
      try withTemporaryWorkspace(engine) { $0.dflat.performChanges([], changesHandler: { _ in }) }
    }
    expectMessage(result, "performChanges", "without any type")
  }

  @Test("Watching a result that the program built itself", arguments: engines)
  func watchedByHand(engine: TestEngine) async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [engine] in
      try withTemporaryWorkspace(engine) { workspace in
        _ = workspace.dflat.subscribe(fetchedResult: FetchedResult<Post>([])) { _ in }
      }
    }
    expectMessage(result, "subscribe(fetchedResult:)", "made by hand")
  }

  @Test("Waiting for the shutdown inside a callback", arguments: engines)
  func shutdownInCallback(engine: TestEngine) async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [engine] in
      try withTemporaryWorkspace(engine) { workspace in
        let subscription = workspace.dflat.subscribe(fetchedResult: workspace.posts.all()) { _ in
          workspace.dflat.shutdown()
        }
        try workspace.store([post(1)])
        subscription.cancel()
      }
    }
    expectMessage(result, "shutdown()", "callback")
  }

  @Test("A type that is not an entity type", arguments: engines)
  func noEntity(engine: TestEngine) async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [engine] in
      try withTemporaryWorkspace(engine) {
        $0.dflat.performChanges([Blog.Photo.self], changesHandler: { _ in })
      }
    }
    expectMessage(result, "performChanges", "Photo", "not an entity type")
  }

  @Test("Submitting a used request again", arguments: engines)
  func spent(engine: TestEngine) async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [engine] in
      try withTemporaryWorkspace(engine) { workspace in
        _ = try workspace.write([Post.self]) { txn in
          let request = Blog.PostChangeRequest.creationRequest(Post(site: "", number: 1))
          try txn.submit(request)
          try txn.submit(request)
        }
      }
    }
    expectMessage(result, "submit", "succeeded")
  }

  @Test("try(submit:) stops no program, and reports what is wrong", arguments: TestEngine.all)
  func tries(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      var escaped: (any TransactionContext)?
      let outcome = try workspace.write([Post.self]) { txn in
        escaped = txn
        let request = Blog.PostChangeRequest.creationRequest(post(1))
        #expect(txn.try(submit: request) != nil)
        #expect(workspace.takeErrors().isEmpty)
        #expect(txn.try(submit: request) == nil)
        #expect(txn.try(submit: NoteChangeRequest.creationRequest()) == nil)
      }
      #expect(escaped?.try(submit: Blog.PostChangeRequest.creationRequest(post(2))) == nil)
      let errors = workspace.takeErrors().map(\.message)
      #expect(errors.count == 3, "\(errors)")
      for (error, words) in zip(errors, ["had succeeded", "Note was used", "had returned"]) {
        #expect(error.contains(words), "\(errors)")
      }
      #expect(outcome.isCommitted && workspace.posts.all().count == 1)
    }
  }

  @Test(
    "Submitting, looking up or fetching a type that is not in the list", arguments: engines)
  func notListed(engine: TestEngine) async {
    let submitted = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [engine] in
      try withTemporaryWorkspace(engine) { workspace in
        _ = try workspace.write([Note.self]) {
          try $0.submit(Blog.PostChangeRequest.creationRequest())
        }
      }
    }
    expectMessage(submitted, "submit", "add Post.self to it: performChanges([Post.self, …])")
    let fetched = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [engine] in
      try withTemporaryWorkspace(engine) { workspace in
        _ = try workspace.write([Note.self]) { _ in workspace.posts.all() }
      }
    }
    expectMessage(fetched, "fetch", "Post", "list")
  }

  @Test(
    "A blocking shutdown inside a transaction, a snapshot or a completion handler",
    arguments: engines)
  func blockingShutdown(engine: TestEngine) async {
    let inTransaction = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [engine] in
      try withTemporaryWorkspace(engine) { workspace in
        _ = try workspace.write([Note.self]) { _ in workspace.dflat.shutdown() }
      }
    }
    expectMessage(inTransaction, "shutdown()", "transaction")
    let inSnapshot = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [engine] in
      try withTemporaryWorkspace(engine) { workspace in
        workspace.dflat.fetchWithinASnapshot { workspace.dflat.shutdown() }
      }
    }
    expectMessage(inSnapshot, "shutdown()", "snapshot")
    let inCompletion = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [engine] in
      try withTemporaryWorkspace(engine) { workspace in
        let never = DispatchSemaphore(value: 0)
        workspace.dflat.performChanges(
          [Note.self], changesHandler: { _ in },
          completionHandler: { _ in
            workspace.dflat.shutdown()
            never.signal()
          })
        // Without the check the call returns or deadlocks: either way the program ends without a
        // failure.
        _ = never.wait(timeout: .now() + 20)
        exit(EXIT_SUCCESS)
      }
    }
    expectMessage(inCompletion, "shutdown()", "completion handler")
  }
}
