// Swift functions in conditions and orders: unknown arguments, errors, cancellation, and calls of
// the workspace from inside.

import Dflat
import DflatTestSupport
import Dispatch
import Platform
import Testing

@Suite("Functions")
struct FunctionTests {
  private struct Refused: Error {}

  @Test("Unknown arguments, and nil and NaN as results, are unknown", arguments: TestEngine.all)
  func unknown(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      try workspace.store([post(1, likes: 4), post(2, likes: 9)])
      try workspace.change(1) { $0.author = Blog.Author(handle: "a", name: nil) }
      let calls = Atomic<Int>(0)
      let length = Function("length") { (text: String) in
        calls.add(1, ordering: .relaxed)
        return text.utf8.count
      }
      #expect(workspace.posts.where(length(Post.author.handle) == 1).map(\.number) == [1])
      #expect(calls.load(ordering: .relaxed) == 1)
      #expect(workspace.posts.where(length(Post.author.handle).isNull).map(\.number) == [2])
      let orNone = Function("orNone") { (text: String?) in text ?? "none" }
      #expect(workspace.posts.where(orNone(Post.author.handle) == "none").map(\.number) == [2])
      let root = Function("root") { (number: Int32, shift: Double) in
        (Double(number) + shift).squareRoot()
      }
      #expect(workspace.posts.where(root(Post.likes, -5).isNull).map(\.number) == [1])
      #expect(workspace.posts.where(root(Post.likes, 0) == 2).map(\.number) == [1])
      let even = Function("even") { (number: Int32) -> Int32? in number % 2 == 0 ? number : nil }
      let order = [even(Post.likes).descending]
      #expect(workspace.posts.all(orderBy: order).map(\.number) == [1, 2])
      #expect(workspace.posts.where(even(Post.likes).in([4, 9])).map(\.number) == [1])
      #expect(workspace.posts.where(!(even(Post.likes) == 5)).map(\.number) == [1])
      let explained = try workspace.posts.explain(where: root(Post.likes + 1, 0.5) > 2)
      #expect(explained.rowByRow == "root(likes + 1, 0.5) > 2.0")
    }
  }

  @Test("The value of a function is selected, aggregated and grouped", arguments: TestEngine.all)
  func selected(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      try workspace.store((1...6).map { post($0, likes: $0) })
      let half = Function("half") { (number: Int32) -> Int32? in
        number % 2 == 0 ? number / 2 : nil
      }
      let words = Function("words") { (number: Int32) -> String in number > 3 ? "many" : "few" }
      let query = workspace.dflat.query(Post.self)
      let halves: [Int32?] = try query.select(half(Post.likes).optional)
      #expect(halves == [nil, 1, nil, 2, nil, 3])
      let rows = try query.where(Post.likes > 2)
        .select(Post.number.required, words(Post.likes).required, half(Post.likes + 2).optional)
      #expect(rows.map { $0.0 } == [3, 4, 5, 6])
      #expect(rows.map { $0.1 } == ["few", "many", "many", "many"])
      #expect(rows.map { $0.2 } == [nil, 3, nil, 4])
      var seen: [String] = []
      try query.forEach(words(Post.likes).required) { seen.append($0) }
      #expect(seen == ["few", "few", "few", "many", "many", "many"])
      #expect(try query.sum(half(Post.likes)) == 6)
      #expect(try query.max(half(Post.likes)) == 3)
      #expect(try query.distinct(words(Post.likes)) == ["few", "many"])
      let groups = try query.group(by: words(Post.likes), .count, .sum(half(Post.likes)))
      #expect(groups.map { $0.0 } == ["few", "many"])
      #expect(groups.map { $0.2 } == [1, 5])
      #expect(throws: QueryError.self) { try query.select(half(Post.likes).required) }
    }
  }

  @Test("An error ends the query and names the function and the type", arguments: TestEngine.all)
  func errors(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      try workspace.store((1...100).map { post($0, likes: $0) })
      let calls = Atomic<Int>(0)
      let refusing = Function("refusing") { (number: Int32) throws -> Int32 in
        calls.add(1, ordering: .relaxed)
        if number == 7 { throw Refused() }
        return number
      }
      let error = #expect(throws: FunctionError.self) {
        try workspace.dflat.read {
          try $0.fetch(for: Post.self).where(refusing(Post.likes) > 3).count
        }
      }
      #expect(error?.function == "refusing" && error?.underlying is Refused)
      #expect(error?.table == Post._schema.table)
      ErrorText(try #require(error), "refusing", Post._schema.table, "return nil").check()
      #expect(calls.load(ordering: .relaxed) == 7)
      #expect(throws: FunctionError.self) {
        try workspace.dflat.read {
          try $0.fetch(for: Post.self).all(orderBy: [refusing(Post.likes).ascending]).count
        }
      }
      // A false condition hides the error of one row, but not from the query.
      #expect(throws: FunctionError.self) {
        try workspace.dflat.read {
          try $0.fetch(for: Post.self).where(refusing(Post.likes) > 3 && Post.isPinned).count
        }
      }
      #expect(workspace.errors.takeAll().isEmpty)
      #expect(workspace.posts.where(refusing(Post.likes) > 3).isEmpty)
      let reported = workspace.errors.takeAll()
      #expect(reported.count == 1 && reported.first is FunctionError, "\(reported)")
      // The result is complete if no row makes the function fail.
      #expect(workspace.posts.where(Post.likes > 90 && refusing(Post.likes) > 98).count == 2)
      #expect(throws: FunctionError.self) {
        try workspace.dflat.write(Post.self) { txn in
          _ = try txn.fetch(for: Post.self).where(refusing(Post.likes) > 3)
        }
      }
    }
  }

  @Test("A function that uses the workspace gets an error", arguments: TestEngine.all)
  func reentrancy(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      try workspace.store([post(1, likes: 1)])
      let dflat = workspace.dflat
      let reading = Function("reading") { (number: Int32) throws -> Int32 in
        try dflat.read { Int32(try $0.fetch(for: Post.self).all().count) } + number
      }
      let writing = Function("writing") { (number: Int32) throws -> Int32 in
        try dflat.write(Post.self) { _ in number }
      }
      for function in [reading, writing] {
        let error = #expect(throws: FunctionError.self) {
          try dflat.read { try $0.fetch(for: Post.self).where(function(Post.likes) == 1).count }
        }
        #expect(error?.underlying as? WorkspaceError == .calledByFunction)
        let inside = #expect(throws: FunctionError.self) {
          try dflat.write(Post.self) { txn in
            try txn.fetch(for: Post.self).where(function(Post.likes) == 1).count
          }
        }
        #expect(inside?.underlying as? WorkspaceError == .calledByFunction)
      }
      #expect(try dflat.read { try $0.fetch(for: Post.self).all().count } == 1)
    }
  }

  @Test("A live result leaves out rows for which a function fails", arguments: TestEngine.all)
  func liveErrors(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      try workspace.store([post(1, likes: 1), post(2, likes: 2)])
      let refusing = Function("refusing") { (number: Int32) throws -> Bool in
        if number == 7 { throw Refused() }
        return number > 0
      }
      let log = Log<[Int32]>()
      let subscription = workspace.watch(workspace.posts.where(refusing(Post.likes)), log)
      try workspace.store([post(3, likes: 3)])
      #expect(log.events.last == [1, 2, 3])
      #expect(workspace.errors.takeAll().isEmpty)
      try workspace.change(2) { $0.likes = 7 }
      #expect(log.events.last == [1, 3])
      // Once for each reading: on a server the result is read anew when the workspace begins to
      // follow other programs, and that may be only now.
      let reported = workspace.errors.takeAll()
      #expect(!reported.isEmpty && reported.allSatisfy { $0 is FunctionError }, "\(reported)")
      try workspace.change(2) { $0.likes = 8 }
      #expect(log.events.last == [1, 2, 3])
      _ = workspace.errors.takeAll()
      subscription.cancel()
    }
  }

  @Test(
    "A result with a function that is not deterministic is read again after each change",
    arguments: TestEngine.all)
  func unstable(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      try workspace.store((1...4).map { post($0, likes: $0) })
      let limit = Atomic<Int>(2)
      let below = Function("below", isDeterministic: false) { (number: Int32) in
        number <= limit.load(ordering: .relaxed)
      }
      let log = Log<[Int32]>()
      let subscription = workspace.watch(workspace.posts.where(below(Post.likes)), log)
      limit.store(3, ordering: .relaxed)
      // This object does not match, before or after.
      try workspace.change(4) { $0.likes = 40 }
      #expect(log.events.last == [1, 2, 3])
      subscription.cancel()
    }
  }

  @Test("A cancelled read ends its query between two rows", arguments: TestEngine.all)
  func cancellation(engine: TestEngine) async throws {
    try await withTemporaryWorkspace(engine) { workspace in
      try workspace.store((1...200).map { post($0, likes: $0) })
      let calls = Atomic<Int>(0)
      let goesOn = DispatchSemaphore(value: 0)
      let (began, beginning) = AsyncStream.makeStream(of: Void.self)
      let slow = Function("slow") { (number: Int32) in
        if calls.add(1, ordering: .relaxed).newValue == 3 {
          beginning.finish()
          goesOn.expect("the cancellation")
        }
        return number > 0
      }
      let dflat = workspace.dflat
      let task = Task {
        try await dflat.read { try $0.fetch(for: Post.self).where(slow(Post.likes)).count }
      }
      // The third call.
      for await _ in began {}
      task.cancel()
      goesOn.signal()
      await #expect(throws: CancellationError.self) { try await task.value }
      #expect(calls.load(ordering: .relaxed) == 3)
      // The error is not lost if the closure goes on with an empty result.
      let other = Task {
        withUnsafeCurrentTask { $0?.cancel() }
        return try await dflat.read { _ in dflat.fetch(for: Post.self).all().count }
      }
      await #expect(throws: CancellationError.self) { try await other.value }
      #expect(try await dflat.read { try $0.fetch(for: Post.self).all().count } == 200)
    }
  }
}
