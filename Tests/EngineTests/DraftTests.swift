// Drafts: copies that are edited without a workspace and merged later.

import Dflat
import DflatTestSupport
import Foundation
import Testing

@Suite("Drafts")
struct DraftTests {
  private let original = Post(
    site: "s", number: 1, likes: 5, author: Blog.Author(handle: "h", name: "n"), tags: ["a"])

  @Test("Each field is merged by itself", arguments: TestEngine.all)
  func merge(engine: TestEngine) async throws {
    try await withTemporaryWorkspace(engine) { workspace in
      let dflat = workspace.dflat
      try workspace.store([original])
      var draft = try #require(dflat.find(Post.self, ("s", 1))).draft()
      draft.likes = 6
      draft.author?.name = "mine"
      try workspace.change(1) {
        $0.tags = ["theirs"]
        $0.place = Blog.Place(lat: 1, lon: 2)
      }
      let merged = try await dflat.write(Post.self) { [draft] in try $0.merge(draft) }
      let expected = original.with {
        $0.likes = 6
        $0.author?.name = "mine"
        $0.tags = ["theirs"]
        $0.place = Blog.Place(lat: 1, lon: 2)
      }
      #expect(merged == expected && merged?._rowid == 1)
      // A second merge changes nothing, so observers are not notified.
      let changes = Log<[Int32]>()
      let subscription = dflat.subscribe(fetchedResult: workspace.posts.all()) { posts in
        changes.add(posts.map(\.likes))
      }
      let again = try await dflat.write(Post.self) { [draft] in try $0.merge(draft) }
      try await dflat.write(Post.self) { try $0.merge(expected.draft()) }
      #expect(again == expected && workspace.posts.all().map(\.self) == [expected])
      #expect(changes.events.isEmpty)
      withExtendedLifetime(subscription) {}
      #expect(try workspace.faults().isEmpty)
    }
  }

  @Test(
    "Fields that both have changed are conflicts, which a policy settles", arguments: TestEngine.all
  )
  func conflicts(engine: TestEngine) async throws {
    try await withTemporaryWorkspace(engine) { workspace in
      let dflat = workspace.dflat
      try workspace.store([original])
      var edited = try #require(dflat.find(Post.self, ("s", 1))).draft()
      edited.likes = 6
      edited.tags = ["a", "mine"]
      edited.isPinned = true
      edited.status = .archived
      let draft = edited
      try workspace.change(1) {
        $0.likes = 7
        $0.tags = ["a", "theirs"]
        $0.isPinned = true
      }
      let before = workspace.posts.all()
      let error = await #expect(throws: DraftConflicts<Post>.self) {
        try await dflat.write(Post.self) { try $0.merge(draft) }
      }
      let conflicts = try #require(error?.conflicts)
      #expect(conflicts.map(\.field) == ["likes", "tags"])
      let likes = conflicts[0]
      #expect(likes.base.likes == 5 && likes.theirs?.likes == 7 && likes.mine.likes == 6)
      let message = """
        the draft of Post site: "s", number: 1 conflicts with what is stored: \
        likes (base 5, stored 7, draft 6), \
        tags (base ["a"], stored ["a", "theirs"], draft ["a", "mine"]); \
        choose with merge(_:_:) whose values are kept, or decide each conflict in a closure
        """
      #expect("\(try #require(error))" == message)
      #expect(workspace.posts.all() == before)

      struct RolledBack: Error {}
      func merged(
        _ body: @escaping @Sendable (WriteContext) throws -> Post?
      ) async throws -> Post? {
        let result = Log<Post?>()
        do {
          try await dflat.write(Post.self) { txn -> Void in
            result.add(try body(txn))
            throw RolledBack()
          }
        } catch is RolledBack {}
        return result.events.last ?? nil
      }
      let mine = try await merged { try $0.merge(draft, .mine) }
      #expect(mine == draft.object)
      let theirs = try await merged { try $0.merge(draft, .theirs) }
      #expect(theirs == before[0].with { $0.status = .archived })
      let chosen = try await merged { txn in
        try txn.merge(draft) { conflict in
          guard conflict.field == "tags", let theirs = conflict.theirs else { return .theirs }
          return .value {
            $0.tags = theirs.tags + ["both"]
            $0.number = 99
          }
        }
      }
      #expect(chosen?.likes == 7 && chosen?.tags == ["a", "theirs", "both"])
      #expect(chosen?.number == 1 && chosen?.status == .archived)
      // A refused merge does not end the transaction.
      try await dflat.write(Post.self) { txn in
        #expect(throws: DraftConflicts<Post>.self) { () throws in _ = try txn.merge(draft) }
        try txn.insert(post(2))
      }
      #expect(workspace.posts.all().count == 2)
    }
  }

  @Test(
    "A deleted object is a conflict; one that was stored again is found", arguments: TestEngine.all)
  func deleted(engine: TestEngine) async throws {
    try await withTemporaryWorkspace(engine) { workspace in
      let dflat = workspace.dflat
      try workspace.store([original])
      let unchanged = try #require(dflat.find(Post.self, ("s", 1))).draft()
      var edited = unchanged
      edited.likes = 6
      let draft = edited
      try workspace.remove([1])
      let error = await #expect(throws: DraftConflicts<Post>.self) {
        try await dflat.write(Post.self) { try $0.merge(draft) }
      }
      #expect(error?.conflicts.map(\.field) == [nil] && error?.conflicts.first?.theirs == nil)
      let none = try await dflat.write(Post.self) { txn in
        [try txn.merge(draft, .theirs), try txn.merge(unchanged)]
      }
      #expect(none == [nil, nil] && workspace.posts.all().isEmpty)
      let again = try await dflat.write(Post.self) { try $0.merge(draft, .mine) }
      #expect(again == draft.object && again?._rowid == 2)
      #expect(workspace.posts.all().map(\.self) == [draft.object])
      try workspace.remove([1])
      try workspace.store([original])
      let found = try await dflat.write(Post.self) { try $0.merge(draft) }
      #expect(found == draft.object)
      #expect(try workspace.faults().isEmpty)
    }
  }

  @Test(
    "A key is merged like any other field, and never replaces another object",
    arguments: TestEngine.all)
  func keys(engine: TestEngine) async throws {
    try await withTemporaryWorkspace(engine) { workspace in
      let dflat = workspace.dflat
      try workspace.store([original, post(2, likes: 2, photo: "2.jpg")])
      let stored = try #require(dflat.find(Post.self, ("s", 1)))
      var renamed = stored.draft()
      renamed.number = 2
      let unfit = renamed
      await #expect(throws: StorageError.self) {
        try await dflat.write(Post.self) { _ = try $0.merge(unfit) }
      }
      renamed.number = 3
      for _ in 1...2 {
        let moved = try await dflat.write(Post.self) { [renamed] in try $0.merge(renamed) }
        #expect(moved?._rowid == 1)
      }
      #expect(workspace.posts.all().map(\.number) == [3, 2])
      var taken = stored.draft()
      taken.attachment = .photo(Blog.Photo(path: "2.jpg"))
      try await dflat.write(Post.self) { [taken] txn in
        #expect(throws: StorageError.self) { () throws in _ = try txn.merge(taken) }
      }
      let other = taken
      await #expect(throws: WorkspaceError.undeclaredType("Post")) {
        try await dflat.write(Note.self) { _ = try $0.merge(other) }
      }
      #expect(workspace.posts.all().map(\.likes) == [5, 2])
    }
  }

  @Test(
    "Values that do not fit are refused; fields of own types are merged and kept in memory",
    arguments: TestEngine.all)
  func ownTypes(engine: TestEngine) async throws {
    try await withTemporaryWorkspace(engine) { workspace in
      let dflat = workspace.dflat
      try Orders.store(in: workspace)
      let orders = try await dflat.resident(Order.self)
      var edited = try #require(orders[Orders.id(3), 3]).draft()
      edited.count = 300
      let unfit = edited
      #expect(throws: EncodingError.self) { try JSONEncoder().encode(unfit) }
      try await dflat.write(Order.self) { txn in
        let error = #expect(throws: StorageError.self) { () throws in _ = try txn.merge(unfit) }
        #expect(error?.cause == .invalidValue)
      }
      edited.discardChanges()
      edited.took = .seconds(77)
      edited.customer.name = "new"
      edited.total = 5
      let draft = edited
      try await dflat.write(Order.self) { txn in
        let change = try txn.update(draft.base) { $0.total = 4 }
        #expect(change.total == 4)
        try txn.merge(draft) { conflict in
          #expect(conflict.field == "total" && conflict.description.contains("stored 4"))
          return .value { $0.total = 9 }
        }
      }
      #expect(orders[Orders.id(3), 3] == draft.object.with { $0.total = 9 })
      #expect(orders.objects(where: Order.took, is: .seconds(77)).map(\.number) == [3])
      #expect(orders.objects(where: Order.state, is: .delivered).count == 5)
    }
  }

  @Test("An encoded draft is merged by its key", arguments: TestEngine.all)
  func coding(engine: TestEngine) async throws {
    try await withTemporaryWorkspace(engine) { workspace in
      let dflat = workspace.dflat
      try workspace.store([post(7), original])
      var draft = try #require(dflat.find(Post.self, ("s", 1))).draft()
      let empty = try JSONDecoder().decode(Draft<Post>.self, from: JSONEncoder().encode(draft))
      #expect(empty == draft)
      draft.likes = 6
      let data = try JSONEncoder().encode(draft)
      let decoded = try JSONDecoder().decode(Draft<Post>.self, from: data)
      #expect(decoded == draft && decoded.changedFields == ["likes"])
      try workspace.change(1) { $0.tags = [] }
      let merged = try await dflat.write(Post.self) { try $0.merge(decoded) }
      #expect(merged?.likes == 6 && merged?.tags == [] && merged?._rowid == 2)
    }
  }

  @Test(
    "An encoded draft that changes the key is merged again without effect",
    arguments: TestEngine.all)
  func codedKey(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      let dflat = workspace.dflat
      try workspace.store([original])
      var draft = try #require(dflat.find(Post.self, ("s", 1))).draft()
      draft.number = 9
      draft.likes = 6
      let decoded = try JSONDecoder().decode(Draft<Post>.self, from: JSONEncoder().encode(draft))
      let merged = try dflat.write(Post.self) { try $0.merge(decoded) }
      #expect(merged?.number == 9 && merged?.likes == 6)
      let again = try dflat.write(Post.self) { try $0.merge(decoded) }
      #expect(again == merged && workspace.posts.all().count == 1)
      // Another object with the new key is none that the draft is about.
      try workspace.change(9) { $0.likes = 7 }
      #expect(throws: DraftConflicts<Post>.self) {
        () throws in _ = try dflat.write(Post.self) { try $0.merge(decoded) }
      }
      #expect(dflat.find(Post.self, ("s", 9))?.likes == 7)
    }
  }

  @Test(
    "A draft of an older schema version keeps what only a newer one knows",
    arguments: TestEngine.all)
  func versions(engine: TestEngine) async throws {
    try await withTemporaryWorkspace(engine) { workspace in
      let dflat = workspace.dflat
      let new = PRESS.Article(
        slug: "a", headline: "old", footnotes: [PRESS.Footnote(text: "note")],
        editor: PRESS.Human(name: "Ed", email: "e@x"), score: 1.5)
      try await dflat.write(PRESS.Article.self) { try $0.insert(new) }
      var draft = try #require(dflat.find(Press.Article.self, "a")).draft()
      draft.title = "mine"
      // Encoded by the old program, decoded by the new one.
      var later = try JSONDecoder().decode(
        Draft<PRESS.Article>.self, from: JSONEncoder().encode(draft))
      #expect(later.changedFields == ["headline"] && later.footnotes == new.footnotes)
      later.editor?.email = "new@x"
      // And the other way round.
      let earlier = try JSONDecoder().decode(
        Draft<Press.Article>.self, from: JSONEncoder().encode(later))
      #expect(earlier.changedFields == ["title"])
      try await dflat.write(PRESS.Article.self) { txn in
        try txn.update(new) { $0.score = 2.5 }
      }
      try await dflat.write(Press.Article.self) { try $0.merge(earlier) }
      var merged = try #require(dflat.find(PRESS.Article.self, "a"))
      #expect(merged.headline == "mine" && merged.score == 2.5 && merged.editor == new.editor)
      try await dflat.write(PRESS.Article.self) { [later] in try $0.merge(later) }
      merged = try #require(dflat.find(PRESS.Article.self, "a"))
      #expect(merged.editor?.email == "new@x" && merged.footnotes == new.footnotes)
    }
  }

  @Test("Random drafts are merged as a model merges them", arguments: TestEngine.all)
  func random(engine: TestEngine) async throws {
    try await withTemporaryWorkspace(engine) { workspace in
      let dflat = workspace.dflat
      var random = SeededGenerator(seed: 17)
      for number in 1...(isLongRun ? 500 : 40) {
        // Few values, so that equal changes occur as well.
        func value() -> Int32 { Int32.random(in: 0...2, using: &random) }
        func changed(_ post: Post) -> Post {
          post.with {
            $0.likes = value()
            $0.tags = (0..<value()).map { "\($0)" }
            $0.author = value() == 0 ? nil : Blog.Author(name: "\(value())")
            $0.isPinned = value() == 0
          }
        }
        let base = changed(post(Int32(number)))
        let (theirs, mine) = (changed(base), changed(base))
        try workspace.store([base])
        var edited = try #require(dflat.find(Post.self, ("s", Int32(number)))).draft()
        edited.change {
          $0.likes = mine.likes
          $0.tags = mine.tags
          $0.author = mine.author
          $0.isPinned = mine.isPinned
        }
        let draft = edited
        try await dflat.write(Post.self) { try $0.upsert(theirs) }
        func merged<V: Equatable>(_ field: KeyPath<Post, V>) -> V {
          mine[keyPath: field] == base[keyPath: field]
            ? theirs[keyPath: field] : mine[keyPath: field]
        }
        func isConflict<V: Equatable>(_ field: KeyPath<Post, V>) -> Bool {
          let values = [base, theirs, mine].map { $0[keyPath: field] }
          return values[0] != values[1] && values[0] != values[2] && values[1] != values[2]
        }
        let conflicts = [
          ("likes", isConflict(\.likes)), ("author", isConflict(\.author)),
          ("tags", isConflict(\.tags)), ("isPinned", isConflict(\.isPinned)),
        ].filter(\.1).map(\.0)
        let found = Log<String?>()
        let result = try await dflat.write(Post.self) { txn in
          try txn.merge(draft) { conflict in
            found.add(conflict.field)
            return .mine
          }
        }
        #expect(found.events == conflicts)
        let expected = base.with {
          $0.likes = merged(\.likes)
          $0.tags = merged(\.tags)
          $0.author = merged(\.author)
          $0.isPinned = merged(\.isPinned)
        }
        #expect(result == expected && dflat.find(Post.self, ("s", Int32(number))) == expected)
      }
      #expect(try workspace.faults().isEmpty)
    }
  }
}
