// Changed copies of objects, without a workspace.

import Dflat
import DflatTestSupport
import SQLiteDflat
import Testing

/// A protocol of the program, for entities and other types.
private protocol Likable {
  var likes: Int32 { get }
  func liked() -> Self
}

extension Blog.Post: Likable {
  fileprivate func liked() -> Self { with { $0.likes += 1 } }
}

@Suite("Copies with other values")
struct CopyTests {
  private let original = Blog.Post(
    site: "s", number: 1, likes: 5, author: Blog.Author(handle: "h", name: "n"), tags: ["a"],
    attachment: .link(Blog.Link(url: "u")), isPinned: true)

  @Test("A copy has the values that were set, and the original's values otherwise")
  func values() {
    let copy = original.with {
      $0.likes += 1
      $0.tags.append("b")
      $0.author = nil
    }
    #expect(
      copy
        == Blog.Post(
          site: "s", number: 1, likes: 6, tags: ["a", "b"],
          attachment: .link(Blog.Link(url: "u")), isPinned: true))
    #expect(original.likes == 5 && original.author?.handle == "h")
    #expect(original.with { _ in } == original)
    #expect(original.with { $0.likes = 5 } == original)
    #expect(original.with { $0.isPinned = false }.isPinned == false)
    #expect(original.with { $0.number = 2 }.id == CompositeKey("s", 2))
    #expect(Blog.Post.from(data: copy.toData()) == copy)
    struct Refusal: Error {}
    #expect(throws: Refusal.self) { try original.with { _ in throw Refusal() } }
  }

  @Test("Entities can conform to the program's own protocols")
  func protocols() {
    func twice<T: Likable>(_ value: T) -> T { value.liked().liked() }
    #expect(twice(original).likes == 7)
  }

  @Test("Every field can be changed, in objects of every kind")
  func random() {
    var random = SeededGenerator(seed: 11)
    for _ in 0..<(isLongRun ? 5000 : 300) {
      let from = RandomItems.item(&random)
      let to = RandomItems.item(&random)
      var builder = Kit.ItemBuilder(from: from)
      let other = Kit.ItemBuilder(from: to)
      let copy = from.with { draft in
        draft.flag = other.flag
        draft.number = other.number
        draft.title = other.title
        draft.branch = other.branch
        draft.pet = other.pet
        draft.maybeReal = other.maybeReal
        draft.tags = other.tags
      }
      builder.flag = other.flag
      builder.number = other.number
      builder.title = other.title
      builder.branch = other.branch
      builder.pet = other.pet
      builder.maybeReal = other.maybeReal
      builder.tags = other.tags
      #expect(copy == builder.build())
    }
  }

  @Test("A copy keeps content that only a newer version of the schema knows")
  func newer() {
    let new = PRESS.Article(
      slug: "a", headline: "old", footnotes: [PRESS.Footnote(text: "note")],
      editor: PRESS.Human(name: "Ed", email: "e@x"), score: 1.5)
    let old = Press.Article.from(data: new.toData())
    let copy = old.with { $0.title = "new" }
    #expect(copy.title == "new")
    let again = PRESS.Article.from(data: copy.toData())
    #expect(again.headline == "new" && again.footnotes == new.footnotes)
    #expect(again.editor == new.editor && again.score == 1.5)
  }

  @Test("A copy is not stored; it is identified with the stored object that has its key")
  func stored() throws {
    try withTemporaryWorkspace { workspace in
      let dflat = workspace.dflat
      try dflat.write(Blog.Post.self) { try $0.insert(original) }
      let stored = try #require(dflat.find(Blog.Post.self, ("s", 1)))
      let copy = stored.with { $0.likes = 9 }
      #expect(stored._rowid == 1 && copy._rowid == -1 && copy._changesTimestamp == -1)
      let rows = try dflat.write(Blog.Post.self) { txn in
        try [txn.upsert(copy), txn.upsert(stored.with { $0.number = 2 })].map(\._rowid)
      }
      #expect(rows == [1, 2])
      #expect(dflat.fetch(for: Blog.Post.self).all().map(\.likes) == [9, 5])
    }
  }
}
