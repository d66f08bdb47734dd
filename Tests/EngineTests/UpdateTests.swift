// What an update keeps: every field that was not set, whichever program wrote it.

import Dflat
import DflatTestSupport
import FlatBuffersRuntime
import Foundation
import Testing

@Suite("Updates")
struct UpdateTests {
  @Test(
    "Fields that are set get new values, all others keep theirs; the rows stay canonical",
    arguments: TestEngine.all)
  func randomUpdates(engine: TestEngine) throws {
    try withSeed { random in
      let seed = random.seed
      try withTemporaryWorkspace(engine) { workspace in
        for _ in 0..<(isLongRun ? 3_000 : 60) {
          var generator = random
          try workspace.write([Kit.Item.self]) { txn in
            let first = try txn.insert(
              Kit.ItemChangeRequest.creationRequest(RandomItems.item(&generator)))
            #expect(isCanonical(first))
            var stored = first
            for _ in 0..<4 { stored = try update(stored, txn, &generator) }
            // A copy is a new object with the same values except for the key.
            let copy = Kit.ItemChangeRequest.creationRequest(stored)
            let other = RandomItems.item(&generator)
            for field in ItemField.all.prefix(2) { field.set(copy, other) }
            copy.badge = nil
            copy.pet = nil
            if let copied = try? txn.insert(copy) {
              for field in ItemField.values {
                #expect(
                  field.isSame(copied, stored) || copied.badge == nil || copied.pet == nil,
                  "DFLAT_SEED=\(seed)")
              }
              #expect(isCanonical(copied), "DFLAT_SEED=\(seed)")
              try txn.submit(try #require(Kit.ItemChangeRequest.deletionRequest(copied)))
            }
            try txn.submit(try #require(Kit.ItemChangeRequest.deletionRequest(stored)))
          }
          random = generator
        }
      }
    }
  }

  /// Sets random fields to random, equal or default values, and compares with a builder.
  private func update(
    _ stored: Kit.Item, _ txn: any TransactionContext, _ random: inout SeededGenerator
  ) throws -> Kit.Item {
    let seed = random.seed
    let request = try #require(Kit.ItemChangeRequest.changeRequest(stored))
    var builder = Kit.ItemBuilder(from: stored)
    let plain = Kit.Item(name: stored.name, serial: stored.serial)
    let count = random.pick([0, 1, 1, 2, 5, 40])
    for _ in 0..<count {
      let field = random.pick(ItemField.values)
      let source = random.pick([plain, stored, RandomItems.item(&random)])
      field.set(request, source)
      field.build(&builder, source)
    }
    let wanted = builder.build()
    for field in ItemField.all {
      #expect(field.reads(request, wanted), "DFLAT_SEED=\(seed)")
    }
    let result = try txn.submit(request)
    for field in ItemField.all {
      #expect(field.reads(request, wanted), "DFLAT_SEED=\(seed)")
    }
    switch result {
    case .identity(let same):
      #expect(same == stored && wanted == stored, "DFLAT_SEED=\(seed)")
      return stored
    case .updated(let new):
      #expect(new == wanted && new != stored, "DFLAT_SEED=\(seed): \(new) is not \(wanted)")
      #expect(new._rowid == stored._rowid)
      #expect(isCanonical(new), "DFLAT_SEED=\(seed): \(new)")
      return new
    default:
      Issue.record("DFLAT_SEED=\(seed): an update gave \(result)")
      return stored
    }
  }

  /// Whether the object's bytes equal those that a builder writes.
  private func isCanonical(_ item: Kit.Item) -> Bool {
    Kit.ItemBuilder(from: item).build().toData() == item.toData()
  }

  @Test(
    "A copy of an object is stored in canonical form, whichever program wrote the object's bytes",
    arguments: TestEngine.all)
  func copies(engine: TestEngine) throws {
    // The status and the number of likes are at their defaults, but stored.
    let spelled = FlatBufferBuilder()
    let site = spelled.string("s")
    spelled.startTable(slotCount: 4)
    spelled.add(site, at: 4)
    spelled.add(Optional(Int32(1)), at: 6)
    spelled.add(Optional(Int32(0)), at: 10)
    spelled.add(Optional(Int8(1)), at: 8)
    spelled.finish(spelled.endTable())
    let foreign = Post.from(data: Data(spelled.bytes))
    #expect(foreign == post(1) && foreign.toData() != post(1).toData())
    try withTemporaryWorkspace(engine) { workspace in
      let stored = try workspace.store([foreign, post(2, likes: 5)])
      #expect(stored[0].toData() == post(1).toData())
      #expect(stored[1].toData() == post(2, likes: 5).toData())
    }
  }

  @Test(
    "Requests that were made before each other's submits change only what was set on them",
    arguments: TestEngine.all)
  func interleaved(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      let stored = try workspace.store([post(1, likes: 1)])[0]
      try workspace.write([Post.self]) { txn in
        let first = try #require(Blog.PostChangeRequest.changeRequest(stored))
        let second = try #require(Blog.PostChangeRequest.changeRequest(stored))
        first.likes = 5
        second.isPinned = true
        try txn.submit(first)
        #expect(second.likes == 1)
        guard case .updated(let post) = try txn.submit(second) else {
          Issue.record("not updated")
          return
        }
        #expect(post.likes == 5 && post.isPinned)

        // One on which nothing was set changes nothing, also if the key has changed meanwhile.
        let idle = try #require(Blog.PostChangeRequest.changeRequest(stored))
        let third = try #require(Blog.PostChangeRequest.changeRequest(stored))
        third.number = 7
        third.likes = 6
        try txn.submit(third)
        try txn.submit(
          Blog.PostChangeRequest.creationRequest(Post(site: stored.site, number: 1, likes: 9)))
        guard case .identity(let post) = try txn.submit(idle) else {
          Issue.record("updated")
          return
        }
        #expect(post.number == 7 && post.likes == 6 && post.isPinned)
      }
      // In a later transaction, too.
      var early: Blog.PostChangeRequest?
      try workspace.write([Post.self]) { _ in
        early = Blog.PostChangeRequest.changeRequest(Post(site: stored.site, number: 7))
      }
      try workspace.write([Post.self]) { txn in
        let other = try #require(
          Blog.PostChangeRequest.changeRequest(Post(site: stored.site, number: 7)))
        other.status = .draft
        try txn.submit(other)
        let early = try #require(early)
        early.isPinned = false
        try txn.submit(early)
      }
      let posts = workspace.posts.all(orderBy: [Post.number.ascending])
      #expect(posts.map(\.likes) == [9, 6] && posts[1].status == .draft && !posts[1].isPinned)
      #expect(try workspace.faults().isEmpty)
    }
  }

  // MARK: Newer schemas

  @Test(
    "However often an older version updates an object, it does not grow", arguments: TestEngine.all)
  func rowsDoNotGrow(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      _ = try workspace.write([Kit.Item.self, KIT.Item.self]) { txn in
        _ = try txn.insert(
          KIT.ItemChangeRequest.creationRequest(
            KIT.Item(
              name: "a", serial: 1, title: "first", tags: ["x"], extra: "kept", extraNumber: 7)))
        var sizes: Set<Int> = []
        for round in 0..<200 {
          let request = try #require(
            Kit.ItemChangeRequest.changeRequest(Kit.Item(name: "a", serial: 1)))
          request.title = round % 2 == 0 ? "one title" : "another one"
          request.plainTitle = "plain"
          request.tags = ["\(round % 10)"]
          guard case .updated(let item) = try txn.submit(request) else {
            Issue.record("not updated")
            return
          }
          sizes.insert(item.toData().count)
        }
        #expect(sizes.count <= 4 && sizes.max() ?? .max < 800, "\(sizes)")
        let stored = workspace.dflat.fetch(for: KIT.Item.self).all()[0]
        #expect(stored.extra == "kept" && stored.extraNumber == 7)
        #expect(stored.title == "another one" && stored.tags == ["9"])
      }
    }
  }
}
