// Changes with a way back: what is put back, what stays, and what the report says.

import Dflat
import DflatTestSupport
import Testing

private typealias Writer = Guild.Writer
private typealias Story = Guild.Story
private typealias Label = Guild.Label

@Suite("Changes that are taken back")
struct RevertTests {
  private let original = Post(
    site: "s", number: 1, likes: 5, author: Blog.Author(handle: "h", name: "n"), tags: ["a"])

  @Test(
    "A field goes back if nobody has changed it since; the others stay", arguments: TestEngine.all)
  func fields(engine: TestEngine) async throws {
    try await withTemporaryWorkspace(engine) { workspace in
      let dflat = workspace.dflat
      try workspace.store([original])
      let changes = try await dflat.write(Post.self) { txn in
        try txn.revertible {
          try txn.update(post(1)) {
            $0.likes += 1
            $0.author?.name = "mine"
            $0.status = .archived
            $0.tags = ["mine"]
          }
        }
      }
      #expect(changes.count == 1 && !changes.isEmpty)
      try workspace.change(1) {
        $0.tags = ["theirs"]
        $0.author?.handle = "theirs"
        $0.isPinned = true
      }
      let reversal = try await dflat.write(Post.self) { try $0.revert(changes) }
      let expected = original.with {
        $0.author?.handle = "theirs"
        $0.tags = ["theirs"]
        $0.isPinned = true
      }
      #expect(workspace.posts.all() == FetchedResult([expected]))
      #expect(reversal.reverted == 0 && !reversal.isComplete)
      #expect(
        reversal.description
          == "0 objects reverted; Post (site: \"s\", number: 1): tags: changed since; "
          + "status, likes, author.name reverted")
      #expect(
        reversal.remainders.map(\.revertedFields) == [["status", "likes", "author.name"]])
      // What is as before already is not written, so observers are not notified.
      let seen = Log<Int>()
      let subscription = dflat.subscribe(fetchedResult: workspace.posts.all()) {
        seen.add($0.count)
      }
      let again = try await dflat.write(Post.self) { try $0.revert(changes) }
      #expect(again.remainders.map(\.fields) == [["tags"]] && seen.events.isEmpty)
      #expect(again.remainders.map(\.revertedFields) == [[]])
      withExtendedLifetime(subscription) {}
      #expect(try workspace.faults().isEmpty)
    }
  }

  @Test(
    "Inserted objects are deleted and deleted ones come back, in one change for observers",
    arguments: TestEngine.all)
  func objects(engine: TestEngine) async throws {
    try await withTemporaryWorkspace(engine) { workspace in
      let dflat = workspace.dflat
      try workspace.store([original, post(2, photo: "p"), post(3)])
      let changes = try await dflat.write(Post.self) { txn in
        try txn.revertible {
          try txn.delete(post(2))
          // It takes the unique value of the deleted object.
          try txn.insert(post(4, photo: "p"))
          try txn.insert(contentsOf: [post(5), post(6)])
          try txn.update(where: Post.number < 4) { $0.likes = 9 }
          try txn.delete(where: Post.number == 3)
          try txn.delete(post(6))
        }
      }
      #expect(changes.count == 5)
      let seen = Log<[Int32]>()
      let subscription = dflat.subscribe(
        fetchedResult: workspace.posts.all(orderBy: [Post.number.ascending])
      ) { seen.add($0.map(\.number)) }
      let reversal = try await dflat.write(Post.self) { try $0.revert(changes) }
      #expect(reversal.reverted == 5 && reversal.isComplete, "\(reversal)")
      #expect(seen.events == [[1, 2, 3]])
      withExtendedLifetime(subscription) {}
      #expect(
        workspace.posts.all(orderBy: [Post.number.ascending])
          == FetchedResult([original, post(2, photo: "p"), post(3)]))
      #expect(try workspace.faults().isEmpty)
    }
  }

  @Test("What others have done to the objects stays", arguments: TestEngine.all)
  func remainders(engine: TestEngine) async throws {
    try await withTemporaryWorkspace(engine) { workspace in
      let dflat = workspace.dflat
      try workspace.store([original, post(2), post(3), post(4, photo: "p")])
      let changes = try await dflat.write(Post.self) { txn in
        try txn.revertible {
          try txn.update(post(1)) { $0.likes = 6 }
          try txn.delete(post(2))
          try txn.delete(post(3))
          try txn.update(post(4)) { $0.attachment = nil }
          try txn.insert(post(5))
          try txn.insert(post(6))
        }
      }
      try workspace.remove([1, 6])
      try workspace.store([post(2, likes: 1), post(3), post(7, photo: "p")])
      try workspace.change(5) { $0.likes = 1 }
      let before = workspace.posts.all()
      let reversal = try await dflat.write(Post.self) { try $0.revert(changes) }
      #expect(workspace.posts.all() == before)
      // 3 is stored again as it was, and 6 is gone already.
      #expect(reversal.reverted == 2)
      let texts = reversal.remainders.map { "\($0.key) \($0.fields)" }
      #expect(
        texts == [
          "site: \"s\", number: 1 []", "site: \"s\", number: 5 [\"likes\"]",
          "site: \"s\", number: 4 [\"attachment\"]", "site: \"s\", number: 2 []",
        ])
      guard case .deleted = reversal.remainders[0].reason,
        case .changed = reversal.remainders[1].reason,
        case .refused(let error as StorageError) = reversal.remainders[2].reason,
        case .replaced = reversal.remainders[3].reason
      else {
        Issue.record("\(reversal)")
        return
      }
      #expect(error.cause == .alreadyExists)
      // A refusal does not end the transaction.
      try await dflat.write(Post.self) { txn in
        try txn.revert(changes)
        try txn.insert(post(8))
      }
      #expect(dflat.find(Post.self, ("s", 8)) != nil)
      #expect(try workspace.faults().isEmpty)
    }
  }

  @Test("A changed key goes back", arguments: TestEngine.all)
  func keys(engine: TestEngine) async throws {
    try await withTemporaryWorkspace(engine) { workspace in
      let dflat = workspace.dflat
      try workspace.store([original])
      let changes = try await dflat.write(Post.self) { txn in
        try txn.revertible {
          try txn.update(post(1)) { $0.number = 9 }
        }
      }
      try workspace.change(9) { $0.likes = 7 }
      let reversal = try await dflat.write(Post.self) { try $0.revert(changes) }
      #expect(reversal.isComplete)
      #expect(workspace.posts.all() == FetchedResult([original.with { $0.likes = 7 }]))
      #expect(try workspace.faults().isEmpty)
    }
  }

  @Test("Objects that have exchanged keys or unique values go back", arguments: TestEngine.all)
  func exchanged(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      let dflat = workspace.dflat
      let before = [post(1, photo: "a"), post(2, photo: "b"), post(3, photo: "c"), post(4)]
      try workspace.store(before)
      func photo(_ path: String) -> Blog.Attachment { .photo(Blog.Photo(path: path)) }
      let values = try dflat.write(Post.self) { txn in
        try txn.revertible {
          try txn.update(post(1)) { $0.attachment = nil }
          try txn.update(post(2)) { $0.attachment = photo("a") }
          try txn.update(post(3)) { $0.attachment = photo("b") }
          try txn.update(post(1)) {
            $0.attachment = photo("c")
            $0.likes = 6
          }
        }
      }
      let keys = try dflat.write(Post.self) { txn in
        try txn.revertible {
          try txn.update(post(1)) { $0.number = 9 }
          try txn.update(post(2)) { $0.number = 1 }
          try txn.update(post(9)) { $0.number = 2 }
        }
      }
      let seen = Log<Int>()
      let subscription = dflat.subscribe(fetchedResult: workspace.posts.all()) {
        seen.add($0.count)
      }
      let (redo, first) = try dflat.write(Post.self) { txn in
        var reversal = Reversal?.none
        let redo = try txn.revertible { reversal = try txn.revert(keys) }
        return (redo, try #require(reversal))
      }
      #expect(first.isComplete && first.reverted == 2, "\(first)")
      #expect(seen.events == [4])
      let (redone, undone) = try dflat.write(Post.self) { txn in
        (try txn.revert(redo), try txn.revert(keys))
      }
      #expect(redone.isComplete && undone.isComplete && undone.reverted == 2)
      let second = try dflat.write(Post.self) { try $0.revert(values) }
      #expect(second.isComplete && second.reverted == 3, "\(second)")
      withExtendedLifetime(subscription) {}
      #expect(
        workspace.posts.all(orderBy: [Post.number.ascending]) == FetchedResult(before))
      #expect(try workspace.faults().isEmpty)
    }
  }

  @Test(
    "Where a unique value is taken by now, the other fields and objects go back",
    arguments: TestEngine.all)
  func partlyTaken(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      let dflat = workspace.dflat
      try workspace.store([post(1, photo: "a"), post(2, photo: "b"), post(3, photo: "c")])
      func photo(_ path: String) -> Blog.Attachment { .photo(Blog.Photo(path: path)) }
      let changes = try dflat.write(Post.self) { txn in
        try txn.revertible {
          try txn.update(post(3)) {
            $0.attachment = nil
            $0.likes = 6
          }
          try txn.update(post(1)) { $0.attachment = nil }
          try txn.update(post(2)) { $0.attachment = photo("a") }
          try txn.update(post(1)) { $0.attachment = photo("b") }
        }
      }
      try workspace.store([post(4, photo: "c")])
      let reversal = try dflat.write(Post.self) { try $0.revert(changes) }
      #expect(reversal.reverted == 2 && reversal.remainders.count == 1, "\(reversal)")
      #expect(reversal.remainders.first?.fields == ["attachment"])
      #expect(reversal.remainders.first?.revertedFields == ["likes"])
      #expect(
        workspace.posts.all(orderBy: [Post.number.ascending])
          == FetchedResult([
            post(1, photo: "a"), post(2, photo: "b"), post(3), post(4, photo: "c"),
          ]))
      #expect(try workspace.faults().isEmpty)
    }
  }

  @Test("The effects of a deletion on other objects come back, too", arguments: TestEngine.all)
  func deletionRules(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      let dflat = workspace.dflat
      let stories = [
        Story(id: 1, writer: "ada"), Story(id: 2, writer: "ben", editor: "ada"),
        Story(id: 3, writer: "ben", parent: 1),
      ]
      try dflat.write(Writer.self, Story.self) { txn in
        try txn.insert(contentsOf: [Writer(handle: "ada"), Writer(handle: "ben", mentor: "ada")])
        try txn.insert(contentsOf: stories)
      }
      let changes = try dflat.write(Writer.self) { txn in
        try txn.revertible { try txn.delete(Writer(handle: "ada")) }
      }
      #expect(dflat.fetch(for: Story.self).all().map(\.id) == [2])
      // The report would be about types that the transaction may not change.
      #expect(throws: WorkspaceError.undeclaredType("Story")) {
        () throws in _ = try dflat.write(Label.self, Writer.self) { try $0.revert(changes) }
      }
      let reversal = try dflat.write(Writer.self, Story.self) { try $0.revert(changes) }
      #expect(reversal.isComplete && reversal.reverted == 5, "\(reversal)")
      #expect(
        dflat.fetch(for: Story.self).all(orderBy: [Story.id.ascending]) == FetchedResult(stories))
      #expect(dflat.find(Writer.self, "ben")?.mentor == "ada")
    }
  }

  @Test(
    "Taking back is a change that can be taken back, and scopes nest", arguments: TestEngine.all)
  func nested(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      let dflat = workspace.dflat
      try workspace.store([original])
      struct Refused: Error {}
      let (outer, inner) = try dflat.write(Post.self) { txn in
        var inner = try txn.revertible {}
        try txn.update(post(1)) { $0.isPinned = true }
        let outer = try txn.revertible {
          try txn.update(post(1)) { $0.likes = 6 }
          inner = try txn.revertible {
            try txn.update(post(1)) { $0.likes = 7 }
            try txn.insert(post(2))
          }
          // What is thrown ends the inner scope only.
          #expect(throws: Refused.self) {
            () throws in
            _ = try txn.revertible {
              try txn.insert(post(3))
              throw Refused()
            }
          }
        }
        try txn.insert(post(4))
        return (outer, inner)
      }
      #expect(inner.count == 2 && outer.count == 3)
      let redo = try dflat.write(Post.self) { txn in
        try txn.revertible { try txn.revert(inner) }
      }
      let pinned = original.with { $0.isPinned = true }
      #expect(
        workspace.posts.all().map(\.self)
          == [pinned.with { $0.likes = 6 }, post(3), post(4)])
      try dflat.write(Post.self) { try $0.revert(redo) }
      #expect(dflat.find(Post.self, ("s", 1))?.likes == 7)
      #expect(dflat.find(Post.self, ("s", 2)) != nil)
      let reversal = try dflat.write(Post.self) { try $0.revert(outer) }
      #expect(reversal.isComplete, "\(reversal)")
      #expect(workspace.posts.all().map(\.self) == [pinned, post(4)])
    }
  }

  @Test("What only a newer version of the schema knows is kept", arguments: TestEngine.all)
  func newerContent(engine: TestEngine) throws {
    typealias Old = Press.Article
    typealias New = PRESS.Article
    try withTemporaryWorkspace(engine) { workspace in
      let dflat = workspace.dflat
      let first = New(
        slug: "a", code: 1, votes: 1, editor: PRESS.Human(name: "e", email: "m"), score: 1.5)
      let second = New(slug: "b", kind: .review, code: 2, votes: 3, footnotes: [.init(text: "f")])
      try dflat.write(New.self) { try $0.insert(contentsOf: [first, second]) }
      let changes = try dflat.write(Old.self) { txn in
        try txn.revertible {
          try txn.update(Old(slug: "a")) { $0.votes = 2 }
          try txn.delete(Old(slug: "b"))
        }
      }
      #expect(dflat.find(New.self, "a") == first.with { $0.votes = 2 })
      let reversal = try dflat.write(Old.self) { try $0.revert(changes) }
      #expect(reversal.isComplete && reversal.reverted == 2, "\(reversal)")
      #expect(
        dflat.fetch(for: New.self).all(orderBy: [New.slug.ascending])
          == FetchedResult([first, second]))
    }
  }

  /// Lets a context escape from its closure, as a program in an older language mode can.
  private final class Escape: @unchecked Sendable {
    var context: WriteContext?
  }

  @Test("An escaped context records and takes back nothing")
  func escaped() throws {
    try withTemporaryWorkspace { workspace in
      let escape = Escape()
      let none = try workspace.dflat.write(Post.self) { txn in
        escape.context = txn
        return try txn.revertible {}
      }
      #expect(none.isEmpty)
      #expect(throws: WorkspaceError.escapedContext) { _ = try escape.context?.revertible {} }
      #expect(throws: WorkspaceError.escapedContext) { _ = try escape.context?.revert(none) }
    }
  }
}
