// Types that are held in memory as a whole.

import Dflat
import DflatTestSupport
import Foundation
import Testing

@Suite("Types in memory")
struct ResidentTests {
  @Test("Objects are found by key and by field, and follow transactions", arguments: TestEngine.all)
  func lookUps(engine: TestEngine) async throws {
    try await withTemporaryWorkspace(engine) { workspace in
      let dflat = workspace.dflat
      try workspace.store((1...10).map { post($0, likes: $0 % 3, photo: "\($0).jpg") })
      let posts = try await dflat.resident(Post.self)
      #expect(posts.count == 10 && !posts.isEmpty)
      #expect(posts[CompositeKey("s", 4)] == dflat.find(Post.self, ("s", 4)))
      func row(_ number: Int32, site: String = "s") -> Int64? { posts[site, number]?._rowid }
      #expect(row(4) == 4 && row(11) == nil && row(4, site: "t") == nil)
      #expect(posts.all == workspace.posts.all().map(\.self))
      func numbers(_ likes: Int32) -> [Int32] {
        posts.objects(where: Post.likes, is: likes).map(\.number)
      }
      #expect(numbers(1) == [1, 4, 7, 10] && numbers(9).isEmpty)
      let path = Post.attachment.as(Blog.Photo.self).path
      #expect(posts.objects(where: path, is: "7.jpg").map(\.number) == [7])
      try workspace.change(4) { $0.likes = 2 }
      try workspace.change(5) { $0.number = 50 }
      try workspace.change(6) { $0.attachment = nil }
      try workspace.remove([1, 10])
      #expect(numbers(1) == [7] && numbers(2) == [2, 4, 50, 8])
      #expect(row(5) == nil && row(50) == 5 && posts.count == 8)
      #expect(posts.objects(where: path, is: "6.jpg").isEmpty)
      // Two objects exchange their keys.
      try await dflat.write(Post.self) { txn in
        for (from, to) in [(2, 99), (3, 2), (99, 3)] as [(Int32, Int32)] {
          try txn.update(post(from)) { $0.number = to }
        }
      }
      #expect(row(2) == 3 && row(3) == 2 && row(99) == nil)
      #expect(posts.all == workspace.posts.all().map(\.self))
    }
  }

  @Test(
    "Keys are compared by their bytes, and values as conditions compare them",
    arguments: TestEngine.all)
  func values(engine: TestEngine) async throws {
    try await withTemporaryWorkspace(engine) { workspace in
      let dflat = workspace.dflat
      let (composed, decomposed) = ("\u{e9}", "e\u{301}")
      try await dflat.write(Press.Article.self, Note.self) { txn in
        try txn.insert(Press.Article(slug: composed, ratio: 0.0, kind: .opinion))
        try txn.insert(
          Press.Article(slug: "b", ratio: -0.0, author: Press.Person(name: "Ann"), code: 1))
        try txn.insert(Note(key: .max, text: "last"))
      }
      let articles = try await dflat.resident(Press.Article.self)
      #expect(articles[composed] != nil && articles[decomposed] == nil && articles["b"] != nil)
      #expect(articles.objects(where: Press.Article.ratio, is: 0).map(\.slug) == [composed, "b"])
      #expect(articles.objects(where: Press.Article.kind, is: .opinion).map(\.slug) == [composed])
      #expect(articles.objects(where: Press.Article.author.name, is: "Ann").map(\.slug) == ["b"])
      #expect(articles.objects(where: Press.Article.title, is: "").isEmpty)
      let notes = try await dflat.resident(Note.self)
      #expect(notes[.max]?.text == "last" && notes[0] == nil)
    }
  }

  @Test("Random changes and a fresh fetch", arguments: TestEngine.all)
  func random(engine: TestEngine) async throws {
    try await withTemporaryWorkspace(engine) { workspace in
      let dflat = workspace.dflat
      var random = SeededGenerator(seed: 5)
      let posts = try await dflat.resident(Post.self)
      for _ in 0..<(isLongRun ? 1000 : 60) {
        let number = Int32.random(in: 1...12, using: &random)
        let likes = Int32.random(in: 0...3, using: &random)
        try await dflat.write(Post.self) { txn in
          if likes == 0 {
            try txn.delete(post(number))
          } else {
            try txn.upsert(post(number, likes: likes))
          }
        }
        #expect(posts.all == workspace.posts.all().map(\.self))
        let found = posts.objects(where: Post.likes, is: likes)
        #expect(found == workspace.posts.where(Post.likes == likes).map(\.self))
        #expect(posts["s", number] == dflat.find(Post.self, ("s", number)))
      }
    }
  }

  @Test("Look-ups on other threads see whole transactions", arguments: TestEngine.all)
  func threads(engine: TestEngine) async throws {
    try await withTemporaryWorkspace(engine) { workspace in
      let dflat = workspace.dflat
      try workspace.store([post(1), post(2)])
      let posts = try await dflat.resident(Post.self)
      await withTaskGroup(of: Void.self) { group in
        for _ in 0..<3 {
          group.addTask {
            for _ in 0..<40 {
              let all = posts.all
              #expect(all.map(\.likes).reduce(0, +) == 0 && all.count == 2)
              #expect(posts["s", 1] != nil)
              await Task.yield()
            }
          }
        }
        for round in 1...50 as ClosedRange<Int32> {
          _ = try? await dflat.write(Post.self) { txn in
            try txn.update(post(1)) { $0.likes = round }
            try txn.update(post(2)) { $0.likes = -round }
          }
        }
      }
      #expect(posts["s", 1]?.likes == 50)
    }
  }

  @Test(
    "After the shutdown nothing becomes resident; what is resident remains",
    arguments: TestEngine.all)
  func shutdown(engine: TestEngine) async throws {
    try await withTemporaryWorkspace(engine) { workspace in
      try workspace.store([post(1)])
      let posts = try await workspace.dflat.resident(Post.self)
      await workspace.dflat.shutdown()
      await #expect(throws: WorkspaceError.shutDown) {
        _ = try await workspace.dflat.resident(Post.self)
      }
      #expect(posts["s", 1] != nil)
    }
  }
}
