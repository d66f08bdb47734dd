// Transactions that use dictionaries only.

import Dflat
import DflatTestSupport
import Dispatch
import Testing

@Suite("Writing dictionaries only")
struct DictionaryWriteTests {
  private struct Refusal: Error {}

  @Test(
    "Without entity types, all assignments are committed together or not at all",
    arguments: TestEngine.all)
  func together(engine: TestEngine) async throws {
    try await withTemporaryWorkspace(engine) { workspace in
      let dflat = workspace.dflat
      try await dflat.write { txn in
        txn.dictionary["volume"] = 7
        var settings = txn.dictionary(namespace: "settings")
        settings["theme"] = "dark"
      }
      await #expect(throws: Refusal.self) {
        try await dflat.write { txn in
          txn.dictionary["volume"] = 8
          throw Refusal()
        }
      }
      try await beyondTasks {
        try dflat.write { txn in
          let volume = txn.dictionary["volume", Int.self] ?? 0
          txn.dictionary["louder"] = volume + 1
        }
      }
      let second = workspace.reopened()
      #expect(second.dflat.dictionary["volume", Int.self] == 7)
      #expect(second.dflat.dictionary["louder", Int.self] == 8)
      #expect(
        second.dflat.dictionary(namespace: "settings")["theme", default: "light"] == "dark")
      await second.dflat.shutdown()
    }
  }

  @Test(
    "Without entity types, fetching or changing objects is an error, and so is doing nothing",
    arguments: TestEngine.all)
  func misuse(engine: TestEngine) async throws {
    try await withTemporaryWorkspace(engine) { workspace in
      let dflat = workspace.dflat
      await #expect(throws: WorkspaceError.undeclaredType("Post")) {
        try await dflat.write { txn in
          txn.dictionary["volume"] = 7
          try txn.insert(post(1))
        }
      }
      await #expect(throws: WorkspaceError.undeclaredType("Post")) {
        try await dflat.write { txn in
          txn.dictionary["volume"] = 7
          _ = dflat.fetch(for: Post.self).all()
        }
      }
      await #expect(throws: WorkspaceError.noTypes) { try await dflat.write { _ in } }
      #expect(dflat.dictionary["volume", Int.self] == nil)
    }
  }

  @Test(
    "Assignments of earlier transactions stay older, even if the transactions end later",
    arguments: TestEngine.all)
  func olderToldLater(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      let dflat = workspace.dflat
      try workspace.store([post(1)])
      let mayGoOn = DispatchSemaphore(value: 0)
      let isInside = DispatchSemaphore(value: 0)
      let hasEnded = DispatchSemaphore(value: 0)
      let subscription = dflat.subscribe(fetchedResult: workspace.posts.all()) { posts in
        if posts.count == 2 { mayGoOn.expect("that it may go on") }
      }
      // The ends of all later transactions over posts wait for that handler.
      dflat.performChanges([Post.self]) { txn in
        txn.try(submit: Blog.PostChangeRequest.creationRequest(post(2)))
      }
      dflat.performChanges(
        [Post.self],
        changesHandler: { txn in
          txn.dictionary["sum", Int.self, default: 0] += 1
          isInside.signal()
        }, completionHandler: { _ in hasEnded.signal() })
      isInside.expect("that it has set the value")
      for sum in 2...4 {
        try dflat.write { $0.dictionary["sum", Int.self, default: 0] += 1 }
        #expect(dflat.dictionary["sum", Int.self] == sum)
      }
      mayGoOn.signal()
      hasEnded.expect("the end of the first transaction")
      #expect(dflat.dictionary["sum", Int.self] == 4)
      subscription.cancel()
    }
  }

  @Test(
    "They run one after another, and in order with transactions of any type",
    arguments: TestEngine.all)
  func order(engine: TestEngine) async throws {
    try await withTemporaryWorkspace(engine) { workspace in
      let dflat = workspace.dflat
      try await withThrowingTaskGroup(of: Void.self) { group in
        for number in 0..<40 {
          group.addTask {
            if number % 2 == 0 {
              try await dflat.write { $0.dictionary["sum", Int.self, default: 0] += 1 }
            } else {
              try await dflat.write(Post.self) { txn in
                try txn.insert(post(Int32(number)))
                txn.dictionary["sum", Int.self, default: 0] += 1
              }
            }
          }
        }
        try await group.waitForAll()
      }
      #expect(dflat.dictionary["sum", Int.self] == 40)
    }
  }
}

extension WorkspaceDictionary {
  fileprivate subscript(key: String, type: Int.Type, default value: Int) -> Int {
    get { self[key, type] ?? value }
    set { self[key, type] = newValue }
  }
}
