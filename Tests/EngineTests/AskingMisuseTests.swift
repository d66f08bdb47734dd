// Questions with functions that fail, queries of other workspaces, and iterations that outlive what
// they were made for.

import Dflat
import DflatTestSupport
import Foundation
import Platform
import Testing

@Suite("Questions that cannot be answered")
struct AskingMisuseTests {
  private struct Refused: Error {}

  private let refusing = Function("refusing") { (number: Int32) throws -> Int32 in
    if number == 3 { throw Refused() }
    return number
  }

  @Test("The error of a selected function comes before its row", arguments: TestEngine.all)
  func selections(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      try workspace.store((1...6).map { post($0, likes: $0) })
      let query = workspace.dflat.query(Post.self)
      #expect(throws: FunctionError.self) { _ = try query.select(refusing(Post.likes).required) }
      var seen: [Int32] = []
      #expect(throws: FunctionError.self) {
        try query.forEach(Post.number.required, refusing(Post.likes).optional) { number, _ in
          seen.append(number)
        }
      }
      #expect(seen == [1, 2])
      #expect(throws: FunctionError.self) { _ = try query.sum(refusing(Post.likes)) }
      #expect(throws: FunctionError.self) {
        _ = try query.orderBy(refusing(Post.likes).ascending).page(size: 2)
      }
    }
  }

  @Test("A function that asks the workspace a question gets an error", arguments: TestEngine.all)
  func questionsInside(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      try workspace.store((1...3).map { post($0, likes: $0) })
      let dflat = workspace.dflat
      let counting = Function("counting") { (number: Int32) throws -> Int32 in
        Int32(try dflat.query(Post.self).count()) + number
      }
      let streaming = Function("streaming") { (number: Int32) throws -> Int32 in
        let stream = try dflat.query(Post.self).stream()
        for _ in stream {}
        if let failure = stream.failure { throw failure }
        return number
      }
      for function in [counting, streaming] {
        try dflat.write(Post.self) { txn in
          try txn.update(where: Post.number == 1) { $0.likes += 1 }
          let error = #expect(throws: FunctionError.self) {
            _ = try txn.query(Post.self).where(function(Post.likes) > 0).count()
          }
          #expect(error?.underlying as? WorkspaceError == .calledByFunction)
        }
      }
      // So does the closure that gets the values of each object.
      try dflat.write(Post.self) { txn in
        try txn.update(where: Post.number == 1) { $0.likes += 1 }
        #expect(throws: WorkspaceError.calledByFunction) {
          try txn.query(Post.self).forEach(Post.number.required) { number in
            try txn.delete(where: Post.number == number)
          }
        }
      }
      _ = workspace.errors.takeAll()
    }
  }

  @Test(
    "A function that uses a dictionary reads and changes nothing, which is reported",
    arguments: TestEngine.all)
  func dictionariesInside(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      try workspace.store((1...3).map { post($0, likes: $0) })
      let dflat = workspace.dflat
      dflat.dictionary["bonus"] = 5
      let reading = Function("reading") { (number: Int32) -> Int32 in
        let bonus: Int? = dflat.dictionary["bonus"]
        return number + Int32(bonus ?? 0) + Int32(dflat.dictionary.keys.count)
      }
      let writing = Function("writing") { (number: Int32) -> Int32 in
        dflat.dictionary["bonus"] = 7
        var all = dflat.dictionary(namespace: "")
        all.removeValue(forKey: "bonus")
        all.removeAll()
        all.synchronize()
        return number
      }
      let watching = Function("watching") { (number: Int32) -> Int32 in
        let subscription = dflat.dictionary.subscribe("bonus", of: Int.self) { _ in
          Issue.record("it was called")
        }
        return withExtendedLifetime(subscription) { number }
      }
      func expectRefused(_ calls: Int) {
        let errors = workspace.errors.takeAll()
        #expect(errors.count >= calls)
        #expect(errors.allSatisfy { $0 as? WorkspaceError == .calledByFunction }, "\(errors)")
      }
      let query = dflat.query(Post.self)
      #expect(try query.sum(reading(Post.likes)) == 6)
      expectRefused(6)
      #expect(try query.where(writing(Post.likes) > 0).count() == 3)
      expectRefused(12)
      #expect(try query.where(watching(Post.likes) > 0).count() == 3)
      expectRefused(3)
      // A transaction's own dictionary would take the write lease in the middle of a query.
      try dflat.write(Post.self) { txn in
        let own = Function("own") { [dictionary = txn.dictionary] (number: Int32) -> Int32 in
          number + Int32(dictionary["bonus", default: 0])
        }
        let sum = try txn.query(Post.self).sum(own(Post.likes))
        #expect(sum == 6)
        expectRefused(3)
        #expect(txn.dictionary["bonus", default: 0] == 5)
      }
      #expect(dflat.dictionary["bonus", default: 0] == 5)
    }
  }

  @Test("A function that fails for one observer concerns no other one", arguments: TestEngine.all)
  func observers(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      try workspace.store((1...6).map { post($0, likes: $0) })
      let query = workspace.dflat.query(Post.self)
      let counts = Log<Int>()
      let counting = workspace.dflat.subscribe(
        query.where(refusing(Post.likes) > 0).computing(.count)
      ) {
        counts.add($0)
      }
      let sums = Log<Int64?>()
      let summing = workspace.dflat.subscribe(query.computing(.sum(refusing(Post.likes)))) {
        sums.add($0)
      }
      let log = Log<[Int32]>()
      let watching = workspace.watch(
        try query.orderBy(Post.likes.descending).limit(2).fetch(), log)
      try workspace.remove([6])
      #expect(log.events.last == [5, 4])
      try workspace.remove([5])
      #expect(log.events.last == [4, 3])
      // The row for which it fails does not count, and has no value.
      #expect(counts.events.last == 3)
      #expect(sums.events.last == 7)
      for subscription in [counting, summing, watching] { subscription.cancel() }
      // An answer may be made once more than its last event shows.
      workspace.dflat.shutdown()
      #expect(workspace.errors.takeAll().allSatisfy { $0 is FunctionError })
    }
  }

  @Test("A query of another workspace is refused", arguments: TestEngine.all)
  func foreignQueries(engine: TestEngine) async throws {
    try await withTemporaryWorkspace(engine) { workspace in
      try await withTemporaryWorkspace(engine) { other in
        try workspace.store([post(1)])
        try other.store([post(1)])
        let foreign = other.dflat.query(Post.self)
        try await workspace.dflat.write(Post.self) { txn in
          let deleting = #expect(throws: QueryError.self) { try txn.delete(foreign) }
          #expect(deleting?.cause == .foreignWorkspace)
          #expect(throws: QueryError.self) { try txn.update(foreign) { $0.likes = 9 } }
          // The transaction goes on.
          try txn.update(where: Post.number == 1) { $0.likes = 5 }
        }
        await #expect(throws: QueryError.self) { try await workspace.dflat.keySet(of: foreign) }
        #expect(workspace.posts.all().map(\.likes) == [5])
      }
    }
  }

  @Test("A shutdown ends an iteration that is open", arguments: TestEngine.all)
  func shutdownInLoop(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      try workspace.store((1...6).map { post($0) })
      let stream = try workspace.dflat.query(Post.self).stream(portion: 2)
      var seen: [Int32] = []
      for object in stream {
        seen.append(object.number)
        if seen.count == 1 { workspace.dflat.shutdown() }
      }
      #expect(seen == [1, 2])
      #expect(stream.failure as? WorkspaceError == .shutDown)
      _ = workspace.errors.takeAll()
    }
  }

  @Test(
    "An iteration in a transaction visits what there was at its beginning",
    arguments: TestEngine.all)
  func iterationsWithChanges(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      try workspace.store((1...6).map { post($0, likes: $0) })
      try workspace.dflat.write(Post.self) { txn in
        var seen: [Int32] = []
        let query = txn.query(Post.self).where(Post.likes > 0).orderBy(Post.likes.ascending)
        for object in try query.stream(portion: 2) {
          seen.append(object.number)
          try txn.update(object) { $0.likes += 100 }
        }
        #expect(seen == [1, 2, 3, 4, 5, 6])
      }
    }
  }

  @Test("Other queries run while an iteration pauses", arguments: TestEngine.all)
  func queriesInLoops(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      try workspace.store((1...3).map { post($0) })
      // More iterations than a storage has readers.
      let iterators = try (0..<40).map { _ in
        try workspace.dflat.query(Post.self).stream(portion: 1).makeIterator()
      }
      for place in iterators.indices {
        #expect(iterators[place].next()?.number == 1)
        #expect(workspace.posts.all().count == 3)
      }
    }
  }

  @Test(
    "A transaction that fails because a function has used its workspace reports that once",
    arguments: TestEngine.all, [false, true])
  func failedByFunction(engine: TestEngine, fetches: Bool) throws {
    try withTemporaryWorkspace(engine) { workspace in
      try workspace.store((1...3).map { post($0, likes: $0) })
      let asking = Function("asking") { (number: Int32) -> Int32 in
        if fetches {
          #expect(workspace.posts.all().isEmpty)
        } else {
          #expect(Blog.PostChangeRequest.changeRequest(post(1)) == nil)
        }
        return number
      }
      let outcome = try workspace.write([Post.self]) { _ in
        #expect(workspace.posts.where(asking(Post.likes) > 0).count == 3)
      }
      #expect(!outcome.isCommitted)
      let errors = workspace.errors.takeAll()
      #expect(errors.map { $0 as? WorkspaceError } == [.calledByFunction])
    }
  }
}
