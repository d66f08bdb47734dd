// Fetching one object by its primary key, in every place where a program may do so.

import Dflat
import DflatTestSupport
import Foundation
import Testing

@Suite("Fetching by key")
struct KeyFetchTests {
  private func found(
    _ workspace: TemporaryWorkspace, _ site: String, _ number: Int32, limit: Limit = .noLimit
  ) -> [Int32] {
    workspace.posts.where(Post.site == site && Post.number == number, limit: limit)
      .map(\.number)
  }

  @Test(
    "Keys are compared byte by byte, whether short or long, empty or not ASCII",
    arguments: TestEngine.all)
  func keys(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      let sites = [
        "", "s", "caf\u{E9}", "cafe\u{301}", String(repeating: "long ", count: 20), "a\0b",
      ]
      try workspace.store(sites.enumerated().map { Post(site: $1, number: Int32($0)) })
      for (number, site) in sites.enumerated() {
        #expect(found(workspace, site, Int32(number)) == [Int32(number)])
        #expect(found(workspace, site, 100).isEmpty)
      }
      #expect(found(workspace, "caf\u{E9}", 3).isEmpty)
      #expect(workspace.takeErrors().isEmpty)
    }
  }

  @Test("It applies the limit and the rest of the condition", arguments: TestEngine.all)
  func limits(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      try workspace.store([post(1, likes: 5)])
      #expect(found(workspace, "s", 1, limit: .limit(1)) == [1])
      #expect(found(workspace, "s", 1, limit: .limit(0)).isEmpty)
      let isKey = Post.site == "s" && Post.number == 1
      #expect(workspace.posts.where(isKey && Post.likes == 5).count == 1)
      #expect(workspace.posts.where(isKey && Post.likes == 6).isEmpty)
      #expect(workspace.posts.where(isKey && Post.number == 2).isEmpty)
    }
  }

  @Test(
    "It sees nothing without a file, a snapshot's state, a transaction's own changes",
    arguments: TestEngine.all)
  func states(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      #expect(found(workspace, "s", 1).isEmpty)
      try workspace.write([Post.self]) { _ in }
      #expect(found(workspace, "s", 1).isEmpty)
      try workspace.write([Post.self]) { txn in
        _ = try txn.insert(Blog.PostChangeRequest.creationRequest(post(1)))
        #expect(found(workspace, "s", 1) == [1])
      }
      let stored = workspace.dflat.fetchWithinASnapshot {
        #expect(found(workspace, "s", 1) == [1])
        let stored = Result { try workspace.store([post(2)]) }
        #expect(found(workspace, "s", 2).isEmpty)
        return stored
      }
      _ = try stored.get()
      #expect(found(workspace, "s", 2) == [2])
      #expect(workspace.takeErrors().isEmpty)
    }
  }

  @Test(
    "A result by a key of one field is a collection like any other, and is watched from its reading on",
    arguments: TestEngine.all)
  func results(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      let dflat = workspace.dflat
      let notes = dflat.fetch(for: Note.self)
      try dflat.write(Note.self) { try $0.insert(Note(key: 1, text: "one")) }
      let (found, missing) = (notes.where(Note.key == 1), notes.where(Note.key == 2))
      #expect(found == notes.all() && found.indices == 0..<1 && missing.isEmpty)
      #expect(found.underlyingArray == [found[0]] && found[0..<1].map(\.text) == ["one"])
      #expect(found == notes.where(Note.key == 1, limit: .limit(1)))
      dflat.fetchWithinASnapshot { #expect(notes.where(Note.key == 1) == found) }
      let log = Log<[String?]>()
      func watch(_ result: FetchedResult<Note>) -> any WorkspaceSubscription {
        dflat.subscribe(fetchedResult: result) { log.add($0.map(\.text)) }
      }
      try dflat.write(Note.self) { try $0.upsert(Note(key: 1, text: "late")) }
      let subscriptions = [watch(found), watch(missing), watch(notes.where(Note.key == 1))]
      try dflat.write(Note.self) { try $0.insert(Note(key: 2, text: "two")) }
      #expect(log.events == [["late"], ["two"]])
      try dflat.write(Note.self) { try $0.delete(found[0]) }
      #expect(log.events == [["late"], ["two"], [], []])
      for subscription in subscriptions { subscription.cancel() }
      #expect(workspace.takeErrors().isEmpty)
    }
  }

  @Test(
    "Among many fetches, each sees all changes before it, by any connection",
    arguments: TestEngine.all)
  func manyFetches(engine: TestEngine) throws {
    try withSeed { random in
      try withTemporaryWorkspace(engine) { workspace in
        let other = workspace.reopened()
        var likes: [Int32: Int32] = [:]
        func check(_ number: Int32) {
          let found = workspace.posts.where(Post.site == "s" && Post.number == number)
          #expect(found.map(\.likes) == likes[number].map { [$0] } ?? [], "post \(number)")
        }
        for step in 1...(isLongRun ? 2000 : 150) as ClosedRange<Int32> {
          for _ in 0..<random.pick([1, 20, 60]) { check(Int32.random(in: 1...20, using: &random)) }
          let number = Int32.random(in: 1...20, using: &random)
          let writer = random.oneIn(5) ? other : workspace
          if likes[number] == nil {
            try writer.store([post(number, likes: step)])
            likes[number] = step
          } else if random.oneIn(4) {
            try writer.remove([number])
            likes[number] = nil
          } else if let free = (1...20).first(where: { likes[$0] == nil }), random.oneIn(4) {
            try writer.change(number) { $0.number = free }
            likes[free] = likes.removeValue(forKey: number)
            check(free)
          } else {
            try writer.change(number) { $0.likes = step }
            likes[number] = step
          }
          check(number)
        }
        for number in 1...20 as ClosedRange<Int32> { check(number) }
        other.dflat.shutdown()
        #expect(workspace.takeErrors().isEmpty && other.takeErrors().isEmpty)
      }
    }
  }
}
