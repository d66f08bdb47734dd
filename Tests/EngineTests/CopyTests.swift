// Copies from one workspace to another, between any two engines.

import Dflat
import DflatTestSupport
import Foundation
import Platform
import PostgresTestSupport
import Testing

/// Two engines: what is copied comes from one and goes to the other.
struct EnginePair: Sendable, CustomTestStringConvertible {
  let source: TestEngine
  let target: TestEngine

  var testDescription: String { "\(source.testDescription) to \(target.testDescription)" }

  /// Each engine to itself, and to another; in long runs every two. One whose write transactions
  /// are bound to a thread is the source and the target of a few copies.
  static let all =
    unbound.indices.flatMap { source in
      (0..<(isLongRun ? unbound.count : min(2, unbound.count))).map { distance in
        EnginePair(
          source: unbound[source], target: unbound[(source + distance) % unbound.count])
      }
    }
    + unbound.prefix(isLongRun ? 2 : 1).flatMap {
      [EnginePair(source: $0, target: .boundMemory), EnginePair(source: .boundMemory, target: $0)]
    }

  private static let unbound = TestEngine.withServers(TestEngine.embedded)

  /// With targets in every state of their indexes but the usual one.
  static let inEveryIndexState = TestEngine.inEveryIndexState.filter(\.disturbsIndexes).map {
    EnginePair(source: .sqlite, target: $0)
  }
}

/// Runs `body` with two empty workspaces.
func withTwoWorkspaces(
  _ engines: EnginePair, sourceLocation: SourceLocation = #_sourceLocation,
  _ body: (_ source: TemporaryWorkspace, _ target: TemporaryWorkspace) async throws -> Void
) async throws {
  try await withTemporaryWorkspace(engines.source, sourceLocation: sourceLocation) { source in
    try await withTemporaryWorkspace(engines.target, sourceLocation: sourceLocation) { target in
      try await body(source, target)
    }
  }
}

/// Expects that both sides have the same posts, in the same rows, that queries find them, and that
/// there is no trace of the copy.
func expectSamePosts(
  _ source: TemporaryWorkspace, _ target: TemporaryWorkspace,
  sourceLocation: SourceLocation = #_sourceLocation
) async throws {
  let (originals, copies) = (
    source.dflat.fetch(for: Post.self).all(), target.dflat.fetch(for: Post.self).all()
  )
  #expect(originals.map(\._rowid) == copies.map(\._rowid), sourceLocation: sourceLocation)
  #expect(originals.map { $0 } == copies.map { $0 }, sourceLocation: sourceLocation)
  for likes in Set(originals.map(\.likes)).sorted().prefix(5) {
    let wanted = originals.filter { $0.likes == likes }
    let found = target.dflat.fetch(for: Post.self).where(Post.likes == likes).map { $0 }
    #expect(found == wanted, sourceLocation: sourceLocation)
  }
  for post in originals.suffix(3) {
    let found = target.dflat.fetch(for: Post.self)
      .where(Post.site == post.site && Post.number == post.number)
    #expect(found.map { $0 } == [post], sourceLocation: sourceLocation)
  }
  try await target.dflat.indexesReady(for: Post.self)
  #expect(try target.faults(of: Post._schema).isEmpty, sourceLocation: sourceLocation)
  let marks = target.reopened().dflat.dictionary(namespace: "dflat.copy").keys
  #expect(marks.isEmpty, sourceLocation: sourceLocation)
}

@Suite("Copies")
struct CopyTests {
  @Test(
    "Objects arrive with their order and rows, and dictionaries with all values",
    arguments: EnginePair.all)
  func everything(engines: EnginePair) async throws {
    try await withTwoWorkspaces(engines) { source, target in
      try source.store((1...700).map { post($0, likes: $0 % 7, photo: $0 < 9 ? "p\($0)" : nil) })
      try source.remove([3, 500, 700])
      try await source.dflat.write(Note.self) { try $0.insert(Note(key: 8, text: "eight")) }
      var values = source.dflat.dictionary
      values["count"] = 5
      values["name"] = "Ada"
      values["list"] = [1.5, 2]
      // Keys with other bytes are different, also if Swift considers them equal.
      values["\u{F6}"] = 1
      values["o\u{308}"] = 2
      var others = source.dflat.dictionary(namespace: "other")
      others["flag"] = true
      // A key that the target knows to be absent.
      #expect(target.dflat.dictionary["name", String.self] == nil)

      let report = try await source.dflat.copy(Post.self, Note.self, to: target.dflat)

      #expect(report.tables[Post._schema.table]?.count == 697)
      #expect(report.dictionaries.count == 6)
      #expect(report.passes == 2, "a source that rests is copied once, and compared once")
      try await expectSamePosts(source, target)
      #expect(target.dflat.fetch(for: Note.self).all().map(\.text) == ["eight"])
      for dflat in [target.dflat, target.reopened().dflat] {
        #expect(dflat.dictionary["count", Int.self] == 5)
        #expect(dflat.dictionary["name", String.self] == "Ada")
        #expect(dflat.dictionary["list", [Double].self] == [1.5, 2])
        #expect(dflat.dictionary["\u{F6}", Int.self] == 1)
        #expect(dflat.dictionary["o\u{308}", Int.self] == 2)
        #expect(dflat.dictionary(namespace: "other")["flag", Bool.self] == true)
      }
      // New objects come last, after the greatest row that there was.
      let last = try #require(source.dflat.fetch(for: Post.self).all().last)
      let new = try target.store([post(9000)])
      #expect(new[0]._rowid > last._rowid)
      #expect(target.dflat.fetch(for: Post.self).all().last?.number == 9000)
    }
  }

  @Test("What only a newer schema knows is kept", arguments: EnginePair.all)
  func newerSchema(engines: EnginePair) async throws {
    try await withTwoWorkspaces(engines) { source, target in
      let article = PRESS.Article(
        slug: "a", headline: "Title", media: [.film(PRESS.Film(path: "f", minutes: 3))],
        footnotes: [PRESS.Footnote(text: "n")], editor: PRESS.Human(name: "Ed", email: "@"),
        score: 7)
      try await source.dflat.write(PRESS.Article.self) { try $0.insert(article) }
      try await source.dflat.copy(Press.Article.self, to: target.dflat)
      #expect(target.dflat.fetch(for: PRESS.Article.self).all().map { $0 } == [article])
      #expect(target.dflat.fetch(for: Press.Article.self).all().first?.title == "Title")
    }
  }

  @Test(
    "Words are found in the target, also of objects that were stored late",
    arguments: EnginePair.all + EnginePair.inEveryIndexState)
  func words(engines: EnginePair) async throws {
    try await withTwoWorkspaces(engines) { source, target in
      @Sendable func essay(_ id: Int32, _ text: String) -> Prose.Essay {
        Prose.Essay(id: id, text: text)
      }
      try await source.dflat.write(Prose.Essay.self) { txn in
        try txn.insert(contentsOf: (1...20).map { essay($0, "walking \($0)") })
      }
      let hasChanged = Atomic(false)
      let dflat = source.dflat
      try await dflat.copy(Prose.Essay.self, to: target.dflat) { progress in
        if progress.stage != .verifying || hasChanged.exchange(true, ordering: .relaxed) { return }
        var random = SeededGenerator(seed: 1)
        do {
          try target.disturbIndexes(of: Prose.Essay._schema, using: &random)
          try dflat.write(Prose.Essay.self) { txn in
            try txn.update(essay(3, "")) { $0.text = "running 3" }
            try txn.delete(essay(4, ""))
            try txn.insert(essay(21, "walked"))
          }
        } catch { Issue.record(error) }
      }
      let found = target.dflat.fetch(for: Prose.Essay.self)
      func expectFound(_ what: String) {
        let walking = found.where(Prose.Essay.search("walk")).map(\.id)
        #expect(walking.sorted() == [1, 2] + Array(5...21), "\(what)")
        #expect(found.where(Prose.Essay.search("run")).map(\.id) == [3], "\(what)")
      }
      expectFound("before the index is built")
      try await target.dflat.indexesReady(for: Prose.Essay.self)
      expectFound("by the index")
      #expect(try target.faults(of: Prose.Essay._schema).isEmpty)
    }
  }

  @Test("Nothing at all is copied, and then more than nothing", arguments: EnginePair.all)
  func empty(engines: EnginePair) async throws {
    try await withTwoWorkspaces(engines) { source, target in
      let report = try await source.dflat.copy(types: [Post.self], to: target.dflat)
      #expect(report.tables.values.map(\.count) == [0])
      #expect(target.dflat.fetch(for: Post.self).all().isEmpty)
      try source.store([post(1)])
      try await source.dflat.copy(types: [Post.self], to: target.dflat)
      try await expectSamePosts(source, target)
    }
  }

  @Test("The source is not changed", arguments: TestEngine.all)
  func source(engine: TestEngine) async throws {
    try await withTwoWorkspaces(EnginePair(source: engine, target: .memory)) { source, target in
      let stored = try source.store([post(1), post(2, photo: "p")])
      try await source.dflat.copy(Post.self, to: target.dflat)
      let again = source.reopened()
      #expect(again.dflat.fetch(for: Post.self).all().map { $0 } == stored)
      #expect(again.dflat.dictionary(namespace: "dflat.copy").keys.isEmpty)
      #expect(again.dflat.dictionary.keys.isEmpty)
    }
  }

  @Test("Observers of the target are notified", arguments: TestEngine.all)
  func observers(engine: TestEngine) async throws {
    try await withTwoWorkspaces(EnginePair(source: .memory, target: engine)) { source, target in
      try source.store((1...3).map { post($0) })
      let seen = Log<Int>()
      let subscription = target.dflat.subscribe(
        fetchedResult: target.dflat.fetch(for: Post.self).all()
      ) { seen.add($0.count) }
      try await source.dflat.copy(Post.self, to: target.dflat)
      #expect(seen.events.last == 3)
      withExtendedLifetime(subscription) {}
    }
  }

  @Test("A transaction says when the target has everything", arguments: EnginePair.all)
  func switchOver(engines: EnginePair) async throws {
    try await withTwoWorkspaces(engines) { source, target in
      try source.store([post(1)])
      let seen = Log<[Int32]>()
      let other = target.dflat
      let report = try await source.dflat.copy(
        Post.self, to: target.dflat,
        switchOver: { seen.add(other.fetch(for: Post.self).all().map(\.number)) })
      #expect(seen.events == [[1]])
      #expect(report.pause > .zero)
    }
  }
}
