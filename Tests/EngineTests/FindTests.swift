// One object by its primary key.

import Dflat
import DflatTestSupport
import Testing

@Suite("Finding by primary key")
struct FindTests {
  @Test(
    "In the workspace, in read and in write, by one field or by several", arguments: TestEngine.all)
  func everywhere(engine: TestEngine) async throws {
    try await withTemporaryWorkspace(engine) { workspace in
      let dflat = workspace.dflat
      #expect(dflat.find(Note.self, 7) == nil)
      try await dflat.write(Post.self, Note.self) { txn in
        try txn.insert(Note(key: 7))
        try txn.insert(post(1, likes: 5))
        #expect(try txn.find(Note.self, 7)?._rowid == 1)
        #expect(try txn.find(Post.self, ("s", 1))?.likes == 5)
        #expect(try txn.find(Post.self, ("s", 2)) == nil)
      }
      #expect(dflat.find(Note.self, 7) == Note(key: 7))
      #expect(dflat.find(Note.self, 8) == nil)
      #expect(dflat.find(Post.self, ("s", 1))?.likes == 5)
      #expect(dflat.find(Post.self, (site: "s", number: 1))?._rowid == 1)
      #expect(dflat.find(Post.self, post(1).id)?.likes == 5)
      #expect(dflat.find(Post.self, CompositeKey("s", 2)) == nil)
      let (found, none) = try await dflat.read { context in
        try (context.find(Post.self, ("s", 1)), context.find(Note.self, 9))
      }
      #expect(found?.likes == 5 && none == nil)
      let any: any Workspace = dflat
      #expect(any.find(Note.self, 7) != nil)
    }
  }

  /// Generic code that names the key by its type.
  private func find<Element: Atom>(_ object: Element, in dflat: some Workspace) -> Element? {
    dflat.find(Element.self, object.id)
  }

  @Test(
    "Keys of every type are found: numbers, strings, enums, large unsigned ones",
    arguments: TestEngine.all)
  func types(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      let slots = [
        Kit.Slot(row: 1, level: 0.5, side: .left, isOpen: true, page: .max),
        Kit.Slot(row: .max, level: -1, side: .right, isOpen: false, page: 0),
      ]
      let item = Kit.Item(name: "a\0b", serial: .max)
      try workspace.dflat.write(Kit.Slot.self, Kit.Item.self) { txn in
        for slot in slots { try txn.insert(slot) }
        try txn.insert(item)
      }
      for slot in slots { #expect(find(slot, in: workspace.dflat) == slot) }
      #expect(find(item, in: workspace.dflat)?.serial == .max)
      #expect(workspace.dflat.find(Kit.Item.self, ("a", .max)) == nil)
      #expect(workspace.dflat.find(Kit.Slot.self, (1, .nan, .left, true, .max)) == nil)
    }
  }

  @Test(
    "It reads a snapshot's state, and its result can be subscribed to", arguments: TestEngine.all)
  func views(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      let dflat = workspace.dflat
      try workspace.store([post(1)])
      let change = dflat.fetchWithinASnapshot {
        #expect(dflat.find(Post.self, ("s", 1))?.likes == 0)
        let change = Result { try workspace.change(1) { $0.likes = 3 } }
        #expect(dflat.find(Post.self, ("s", 1))?.likes == 0)
        return change
      }
      _ = try change.get()
      let found = try #require(dflat.find(Post.self, ("s", 1)))
      #expect(found.likes == 3 && found._changesTimestamp > 0)
    }
  }

  @Test("A limit is written as a number", arguments: TestEngine.all)
  func limits(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      try workspace.store((1...5).map { post($0) })
      #expect(workspace.posts.all(limit: 2).count == 2)
      #expect(workspace.posts.where(Post.number > 1, limit: 3).map(\.number) == [2, 3, 4])
      #expect(workspace.posts.all(limit: 0).isEmpty)
      #expect(try workspace.dflat.read { try $0.fetch(for: Post.self).all(limit: 1).count } == 1)
    }
  }

  @Test("A closure whose last line is an insert gives no warning", arguments: TestEngine.all)
  func discarded(engine: TestEngine) async throws {
    // The build treats warnings as errors; here it is enough that the call compiles.
    try await withTemporaryWorkspace(engine) { workspace in
      try await workspace.dflat.write(Post.self) { txn in try txn.insert(post(1)) }
      _ = try await beyondTasks { try workspace.dflat.write(Post.self) { try $0.insert(post(2)) } }
      #expect(workspace.posts.all().count == 2)
    }
  }
}
