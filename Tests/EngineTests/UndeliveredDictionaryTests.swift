// The dictionary between the commit of a transaction and its delivery, and beside a snapshot.

import Dflat
import DflatTestSupport
import Dispatch
import Testing

@Suite("The dictionary before changes are delivered")
struct UndeliveredDictionaryTests {
  @Test(
    "In a transaction, the keys are those that have a value, also before earlier changes are delivered",
    arguments: TestEngine.all)
  func keys(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      let dflat = workspace.dflat
      try workspace.store([post(1)])
      var dictionary = dflat.dictionary
      dictionary["old"] = 1
      dictionary["new"] = 1
      dictionary["new", Int.self] = nil
      dictionary.synchronize()
      let (isCalled, mayGoOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
      let subscription = dflat.subscribe(fetchedResult: workspace.posts.all()) { posts in
        if posts.first?.likes != 1 { return }
        // Later deliveries wait.
        isCalled.signal()
        mayGoOn.expect("the second transaction")
      }
      try workspace.settle()
      let first = DispatchQueue(label: "first")
      first.async { do { try workspace.change(1) { $0.likes = 1 } } catch { Issue.record(error) } }
      isCalled.expect("the handler")
      // Committed, and delivered later.
      let isWritten = DispatchSemaphore(value: 0)
      dflat.performChanges([Post.self]) { txn in
        txn.dictionary["old", Int.self] = nil
        txn.dictionary["new"] = 2
        isWritten.signal()
      }
      isWritten.expect("the first transaction")
      let seen = Log<[String]>()
      dflat.performChanges([Note.self]) { txn in
        let values = ["old", "new"].filter { txn.dictionary[$0, Int.self] != nil }
        seen.add(values)
        seen.add(txn.dictionary.keys.sorted())
      }
      seen.wait(2)
      #expect(seen.events == [["new"], ["new"]])
      mayGoOn.signal()
      first.sync {}
      try workspace.settle()
      #expect(dflat.dictionary.keys == ["new"])
      subscription.cancel()
    }
  }

  @Test(
    "A subscription that begins in a snapshot begins with the present value",
    arguments: TestEngine.all)
  func subscribingInSnapshot(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      let dflat = workspace.dflat
      var dictionary = dflat.dictionary
      dictionary["k"] = 1
      dictionary["l"] = 1
      dictionary.synchronize()
      let events = Log<SubscribedDictionaryValue<Int>>()
      let subscription = dflat.fetchWithinASnapshot {
        // This begins the snapshot.
        #expect(Set(dictionary.keys) == ["k", "l"])
        dictionary.removeAll()
        dictionary.synchronize()
        return dflat.dictionary.subscribe("k", of: Int.self) { events.add($0) }
      }
      #expect(events.events == [.initial(nil)])
      dictionary["k"] = 2
      #expect(events.events == [.initial(nil), .updated(2)])
      subscription.cancel()
    }
  }
}
