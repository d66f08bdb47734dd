// Changing many objects in one call.

import Dflat
import DflatTestSupport
import Platform
import PostgresTestSupport
import Testing

@Suite("Changing many objects")
struct BulkChangeTests {
  @Test("Objects are changed by a condition and by keys", arguments: TestEngine.all)
  func updates(engine: TestEngine) async throws {
    try await withTemporaryWorkspace(engine) { workspace in
      try workspace.store((1...20).map { post($0, likes: $0) })
      try await workspace.dflat.write(Post.self) { txn in
        let some = try txn.update(where: Post.likes > 15) { $0.likes = 100 }
        #expect(some.updated == 5 && some.unchanged == 0 && some.count == 5)
        // The draft has the values of each object.
        let all = try txn.update(where: Post.likes <= 15) { $0.likes += $0.number }
        #expect(all.updated == 15)
        let same = try txn.update(where: Post.likes == 100) { $0.likes = 100 }
        #expect(same.updated == 0 && same.unchanged == 5)
        let untouched = try txn.update(where: Post.likes == 100) { _ in }
        #expect(untouched.unchanged == 5)
        let first = txn.query(Post.self).orderBy(Post.number.descending).limit(2)
        #expect(try txn.update(first) { $0.isPinned = true }.updated == 2)
      }
      let posts = workspace.posts.all()
      #expect(posts.map(\.likes) == (1...15).map { $0 * 2 } + [100, 100, 100, 100, 100])
      #expect(posts.filter(\.isPinned).map(\.number) == [19, 20])
      try await workspace.dflat.write(Post.self) { txn in
        let keys = [1, 3, 3, 99, 99, 5].map { CompositeKey("s", Int32($0)) }
        let result = try txn.update(Post.self, keys: keys) { $0.likes = -1 }
        #expect(result.updated == 3 && result.missing == 1)
      }
      #expect(workspace.posts.where(Post.likes == -1).map(\.number) == [1, 3, 5])
      #expect(try workspace.faults(of: Post._schema).isEmpty)
    }
  }

  // More than the parameters that a statement of these may have; others have no such limit.
  @Test("One call with 100,000 keys", arguments: TestEngine.some([.sqlite, .postgres]))
  func manyKeys(engine: TestEngine) async throws {
    try await withTemporaryWorkspace(engine) { workspace in
      let count: Int32 = 100_000
      let dflat = workspace.dflat
      try await dflat.write(Post.self) { txn in
        _ = try txn.insert(contentsOf: (0..<2000).map { post($0 * 50) })
      }
      // Every second object has one of the keys; the first key occurs twice.
      let keys = (0..<count).map { CompositeKey("s", $0 * 100) } + [CompositeKey("s", 0)]
      let numbers = (0..<count).map { $0 * 100 }
      #expect(try dflat.query(Post.self).where(Post.number.in(numbers)).count() == 1000)
      try await dflat.write(Post.self) { txn in
        let changed = try txn.update(Post.self, keys: keys) { $0.likes = 7 }
        #expect(changed.updated == 1000 && changed.missing == 99_000)
      }
      #expect(try dflat.query(Post.self).where(Post.likes == 7).count() == 1000)
      try await dflat.write(Post.self) { txn in
        let gone = try txn.delete(Post.self, keys: keys)
        #expect(gone.deleted == 1000 && gone.missing == 99_000)
      }
      #expect(try dflat.query(Post.self).count() == 1000)
      #expect(try dflat.query(Post.self).where(Post.likes == 7).count() == 0)
    }
  }

  @Test("Objects are deleted by a condition and by keys", arguments: TestEngine.all)
  func deletions(engine: TestEngine) async throws {
    try await withTemporaryWorkspace(engine) { workspace in
      try workspace.store((1...20).map { post($0, likes: $0, photo: "\($0).jpg") })
      for isObserved in [false, true] {
        let all = workspace.posts.all()
        let subscription =
          isObserved ? workspace.dflat.subscribe(fetchedResult: all) { _ in } : nil
        try await workspace.dflat.write(Post.self) { txn in
          let range = isObserved ? 11..<Int32(14) : 1..<Int32(4)
          let gone = try txn.delete(
            where: Post.likes >= range.lowerBound && Post.likes < range.upperBound)
          #expect(gone.deleted == 3 && gone.count == 3)
          let keys = [range.upperBound, range.lowerBound, range.upperBound, 99, 99].map {
            CompositeKey("s", $0)
          }
          let byKey = try txn.delete(Post.self, keys: keys)
          #expect(byKey.deleted == 1 && byKey.missing == 2)
        }
        withExtendedLifetime(subscription) {}
      }
      #expect(workspace.posts.all().map(\.number) == [5, 6, 7, 8, 9, 10, 15, 16, 17, 18, 19, 20])
      // A unique value of a deleted object is free again.
      try workspace.store([post(1, photo: "1.jpg")])
      #expect(try workspace.faults(of: Post._schema).isEmpty)
    }
  }

  @Test("Set fields of objects are changed or inserted by keys", arguments: TestEngine.all)
  func upsertsByKeys(engine: TestEngine) async throws {
    try await withTemporaryWorkspace(engine) { workspace in
      try workspace.store([post(1, likes: 1, photo: "1.jpg"), post(2, likes: 2)])
      let numbers: [Int32] = [2, 3, 1, 4]
      let keys = numbers.map { KeyValues(first: .string("s"), rest: [.integer(Int64($0))]) }
      try await workspace.dflat.write(Post.self) { txn in
        for isAgain in [false, true] {
          let result = try txn.upsert(Post.self, keys: keys) { draft, place in
            draft.site = "s"
            draft.number = numbers[place]
            if place < 2 { draft.likes = 30 }
          }
          #expect(
            result == (isAgain ? .init(unchanged: 4) : .init(inserted: 2, updated: 1, unchanged: 1))
          )
        }
      }
      let posts = workspace.posts.all()
      #expect(posts.map(\.number) == [1, 2, 3, 4] && posts.map(\.likes) == [1, 30, 30, 0])
      #expect(posts[0] == post(1, likes: 1, photo: "1.jpg") && posts[3] == post(4))
      await #expect(throws: StorageError.self) {
        try await workspace.dflat.write(Post.self) { txn in
          try txn.upsert(Post.self, keys: keys) { draft, place in
            draft.site = "s"
            draft.number = numbers[0]
          }
        }
      }
      #expect(workspace.posts.all().underlyingArray == posts.underlyingArray)
      #expect(try workspace.faults(of: Post._schema).isEmpty)
    }
  }

  @Test("Objects are inserted and upserted", arguments: TestEngine.all)
  func insertions(engine: TestEngine) async throws {
    try await withTemporaryWorkspace(engine) { workspace in
      try await workspace.dflat.write(Post.self) { txn in
        #expect(try txn.insert(contentsOf: (1...10).map { post($0, likes: $0) }).inserted == 10)
        let result = try txn.upsert(contentsOf: [post(1, likes: 1), post(2, likes: 7), post(11)])
        #expect(result == .init(inserted: 1, updated: 1, unchanged: 1))
      }
      // Objects that were fetched, and objects of bytes, are written as they are.
      let copies = workspace.posts.all().map { $0.with { $0.number += 100 } }
      let read = try workspace.posts.all().map { try Post(verifying: $0.toData()) }
      try await workspace.dflat.write(Post.self) { txn in
        try txn.insert(contentsOf: copies)
        #expect(try txn.delete(Post.self, keys: read.map(\.id)).deleted == 11)
        try txn.insert(contentsOf: read)
      }
      #expect(workspace.posts.all().count == 22)
      #expect(workspace.posts.where(Post.number < 100).underlyingArray == read)
      #expect(try workspace.faults(of: Post._schema).isEmpty)
    }
  }

  @Test(
    "New and known objects are upserted in one call, in any order, observed or not",
    arguments: TestEngine.all, [false, true])
  func mixedUpserts(engine: TestEngine, isObserved: Bool) async throws {
    try await withTemporaryWorkspace(engine) { workspace in
      try workspace.store([post(2, likes: 2, photo: "2.jpg"), post(4, likes: 4)])
      let fetched = try #require(workspace.posts.where(Post.number == 4).first)
      let seen = Mutex<[Int32]>([])
      let subscription =
        isObserved
        ? workspace.dflat.subscribe(fetchedResult: workspace.posts.all()) { result in
          seen.withLock { $0 = result.map(\.likes) }
        } : nil
      try await workspace.dflat.write(Post.self, Note.self) { txn in
        // The fetched one is found by its row id.
        let result = try txn.upsert(contentsOf: [
          post(1, likes: 1), post(2, likes: 20, photo: "2.jpg"), post(3, likes: 3),
          post(3, likes: 30), post(2, likes: 20, photo: "2.jpg"),
          post(4, likes: 40), fetched,
        ])
        #expect(result == .init(inserted: 2, updated: 4, unchanged: 1))
        // A type without indexes.
        let notes = try txn.upsert(contentsOf: [Note(key: 1), Note(key: 2), Note(key: 1)])
        #expect(notes == .init(inserted: 2, unchanged: 1))
      }
      let posts = workspace.posts.all()
      #expect(posts.map(\.number) == [2, 4, 1, 3])
      #expect(posts.map(\.likes) == [20, 4, 1, 30])
      // A unique value of another object ends everything.
      await #expect(throws: StorageError.self) {
        try await workspace.dflat.write(Post.self) { txn in
          try txn.upsert(contentsOf: [post(9), post(10, photo: "2.jpg")])
        }
      }
      #expect(workspace.posts.all() == posts)
      #expect(try workspace.faults(of: Post._schema).isEmpty)
      #expect(try workspace.dflat.query(Note.self).count() == 2)
      if isObserved {
        #expect(eventually { seen.withLock { $0 } == [20, 4, 1, 30] })
      }
      withExtendedLifetime(subscription) {}
    }
  }

  @Test(
    "What only a newer version knows is kept when objects are inserted", arguments: TestEngine.all)
  func insertionsOfNewerObjects(engine: TestEngine) async throws {
    try await withTemporaryWorkspace(engine) { workspace in
      try await workspace.dflat.write(KIT.Item.self) { txn in
        try txn.insert(contentsOf: [KIT.Item(name: "a", serial: 1, extra: "kept")])
      }
      // Fetched by the older version, deleted, and inserted again.
      let items = workspace.dflat.fetch(for: Kit.Item.self).all()
      try await workspace.dflat.write(Kit.Item.self) { txn in
        try txn.delete(where: Kit.Item.serial == 1)
        try txn.insert(contentsOf: items)
      }
      #expect(workspace.dflat.fetch(for: KIT.Item.self).all().map(\.extra) == ["kept"])
    }
  }

  @Test(
    "A bulk update visits the objects in its query's order, and none that it inserts",
    arguments: TestEngine.all)
  func orderOfUpdates(engine: TestEngine) async throws {
    try await withTemporaryWorkspace(engine) { workspace in
      try workspace.store((1...5).map { post($0, likes: -$0) })
      try await workspace.dflat.write(Post.self) { txn in
        var place: Int32 = 0
        try txn.update(txn.query(Post.self).orderBy(Post.likes.ascending)) {
          place += 1
          $0.likes = place
        }
        var inserted: Int32 = 10
        let result = try txn.update(where: Post.likes > 0) {
          inserted += 1
          try txn.insert(post(inserted, likes: 1))
          $0.isPinned = true
        }
        #expect(result.updated == 5)
      }
      #expect(workspace.posts.where(Post.number <= 5).map(\.likes) == [5, 4, 3, 2, 1])
      #expect(workspace.posts.where(Post.isPinned).count == 5)
    }
  }

  @Test("An error rolls the whole transaction back", arguments: TestEngine.all)
  func errors(engine: TestEngine) async throws {
    struct Refusal: Error {}
    try await withTemporaryWorkspace(engine) { workspace in
      let before = try workspace.store((1...6).map { post($0, photo: "\($0)") })
      await #expect(throws: StorageError.self) {
        try await workspace.dflat.write(Post.self) { txn in
          try? txn.insert(contentsOf: [post(7), post(8), post(3), post(9)])
        }
      }
      await #expect(throws: StorageError.self) {
        try await workspace.dflat.write(Post.self) { txn in
          try txn.update(where: Post.number > 1) { $0.attachment = .photo(Blog.Photo(path: "x")) }
        }
      }
      await #expect(throws: Refusal.self) {
        try await workspace.dflat.write(Post.self) { txn in
          try txn.update(where: Post.number > 1) { draft in
            if draft.number == 4 { throw Refusal() }
            draft.likes = 9
          }
        }
      }
      await #expect(throws: WorkspaceError.self) {
        try await workspace.dflat.write(Note.self) { try $0.delete(where: Post.likes == 0) }
      }
      #expect(workspace.posts.all().underlyingArray == before)
    }
  }

  @Test("Observers are notified once", arguments: TestEngine.all)
  func observation(engine: TestEngine) async throws {
    try await withTemporaryWorkspace(engine) { workspace in
      try workspace.store((1...30).map { post($0, likes: $0) })
      let states = Mutex<[[Int32]]>([])
      let subscription = workspace.dflat.subscribe(
        fetchedResult: workspace.posts.where(Post.likes > 20)
      ) { result in states.withLock { $0.append(result.map(\.number)) } }
      try await workspace.dflat.write(Post.self) { txn in
        try txn.update(where: Post.likes <= 3) { $0.likes += 100 }
        try txn.delete(where: Post.likes > 25 && Post.likes < 100)
        try txn.insert(contentsOf: [post(31, likes: 31), post(32, likes: 0)])
      }
      #expect(states.withLock { $0 } == [[1, 2, 3, 21, 22, 23, 24, 25, 31]])
      subscription.cancel()
    }
  }

  @Test("Portions of rows are changed once each", arguments: [TestEngine.sqlite, .memory])
  func portions(engine: TestEngine) async throws {
    try await withTemporaryWorkspace(engine) { workspace in
      // More objects than are read at a time.
      let count: Int32 = 20_000
      try await workspace.dflat.write(Post.self) { txn in
        try txn.insert(contentsOf: (0..<count).map { post($0, likes: 1) })
        #expect(try txn.update(where: Post.likes >= 1) { $0.likes += 1 }.updated == Int(count))
        // Other changes between them are seen.
        let result = try txn.update(where: Post.number >= 0) { draft in
          if draft.number == 5 {
            try txn.update(Post.self, keys: [CompositeKey("s", 7)]) { $0.likes = 50 }
          }
          draft.isPinned = true
        }
        #expect(result.updated == Int(count))
      }
      #expect(try workspace.dflat.query(Post.self).where(Post.likes == 2).count() == Int(count) - 1)
      #expect(try workspace.dflat.query(Post.self).where(Post.isPinned).count() == Int(count))
      try await workspace.dflat.write(Post.self) { txn in
        let result = try txn.delete(where: Post.likes == 2)
        #expect(result.deleted == Int(count) - 1)
      }
      #expect(workspace.posts.all().map(\.number) == [7])
    }
  }

  @Test("Keys that are not stored are found", arguments: TestEngine.all)
  func missingKeys(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      try workspace.store((1...5).map { post($0, likes: $0) })
      let keys = [9, 2, 7, 9, 5, 1].map { CompositeKey("s", Int32($0)) }
      let query = workspace.dflat.query(Post.self)
      #expect(try query.missingKeys(of: keys).map(\.parts.1) == [9, 7])
      let liked = query.where(Post.likes > 2)
      #expect(try liked.missingKeys(of: keys).map(\.parts.1) == [9, 2, 7, 1])
    }
  }

  @Test("Keys of one number are found, also beyond the signed numbers", arguments: TestEngine.all)
  func numericKeys(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      try workspace.dflat.write(Note.self, Prose.Essay.self) { txn in
        try txn.insert(contentsOf: [0, 5, .max].map { Note(key: $0) })
        try txn.insert(contentsOf: [-1, 5].map { Prose.Essay(id: $0, text: "text") })
      }
      let notes = workspace.dflat.query(Note.self)
      #expect(try notes.missingKeys(of: [7, 5, .max, 7, 0, .max - 1]) == [7, .max - 1])
      let essays = workspace.dflat.query(Prose.Essay.self)
      #expect(try essays.missingKeys(of: [7, 5, -1, -2, 7, 0, .max]) == [7, -2, 0, .max])
      try workspace.dflat.write(Prose.Essay.self) { txn in
        let change = try txn.update(Prose.Essay.self, keys: [5, 8, 5, 8, 9]) { $0.text = "new" }
        #expect(change.updated == 1 && change.missing == 2)
        let deletion = try txn.delete(Prose.Essay.self, keys: [8, -1, -1, 8])
        #expect(deletion.deleted == 1 && deletion.missing == 1)
      }
      #expect(try essays.keys() == [5])
    }
  }
}
