// Conditions with very many parts, as programs build them in loops: SQLite bounds how deep an
// expression is and how many SELECTs stand together, and no answer may depend on it.

import Dflat
import DflatTestSupport
import SQLiteDflat
import Testing

private typealias Post = Blog.Post

@Suite("Conditions with very many parts")
struct ManyPartsTests {
  private func store(_ count: Int32, _ workspace: TemporaryWorkspace) throws {
    try workspace.dflat.write(Post.self) { txn in
      try txn.insert(
        contentsOf: (0..<count).map { number in
          Post(
            site: "s\(number % 7)", number: number, likes: number,
            attachment: .link(Blog.Link(url: "u\(number)")))
        })
    }
  }

  private func any(
    _ numbers: some Sequence<Int32>, _ part: (Int32) -> Condition<Post>
  ) -> Condition<Post> {
    numbers.reduce(.never) { $0 || part($1) }
  }

  /// Compares what a condition finds with what should be found, in all ways to ask.
  private func check(
    _ condition: Condition<Post>, _ workspace: TemporaryWorkspace, byIndex: Bool,
    _ isWanted: (Int32) -> Bool, _ name: String
  ) throws {
    let query = workspace.dflat.query(Post.self).where(condition)
    let all = workspace.dflat.fetch(for: Post.self).all().map(\.number)
    let wanted = all.filter(isWanted)
    #expect(try query.fetch().map(\.number) == wanted, "\(name)")
    #expect(try query.count() == wanted.count, "\(name)")
    #expect(
      try query.orderBy(Post.likes.descending).limit(3).fetch().map(\.number)
        == wanted.suffix(3).reversed(), "\(name)")
    #expect(try query.explain().rowByRow == nil || !byIndex, "\(name)")
    #expect(workspace.errors.takeAll().isEmpty, "\(name)")
  }

  @Test(
    "Hundreds of comparisons of one field are answered by its index",
    arguments: [65, 490, 499, 500] as [Int32])
  func comparisons(count: Int32) throws {
    try withTemporaryWorkspace(.sqlite) { workspace in
      try store(100, workspace)
      let numbers = (0..<count).map { $0 + 60 }
      try check(any(numbers) { Post.likes > $0 }, workspace, byIndex: true, { $0 > 60 }, "or")
      let all = numbers.reduce(.always) { $0 && Post.likes < $1 } as Condition<Post>
      try check(all, workspace, byIndex: true, { $0 < 60 }, "and")
    }
  }

  @Test("More parts than SQLite takes in a row are answered by keys and indexes of a large table")
  func pairs() throws {
    try withTemporaryWorkspace(.sqlite) { workspace in
      try store(9000, workspace)
      let few = (0..<540).map { $0 * 3 } as [Int32]
      let set = Set(few)
      // Texts of a key are compared once more.
      try check(
        any(few) { (Post.site == "s\($0 % 7)") && (Post.number == $0) }, workspace, byIndex: false,
        set.contains, "pairs")
      let url = Post.attachment.as(Blog.Link.self).url
      try check(
        any(few) { (Post.likes == $0) && (url == "u\($0)") }, workspace, byIndex: true,
        set.contains, "two indexes")
      try check(
        any(few) { (Post.likes > $0 - 1) && (Post.likes < $0 + 1) }, workspace, byIndex: true,
        set.contains, "ranges")
    }
  }

  @Test("More comparisons than SQLite prepares in good time are made on each object")
  func most() throws {
    try withTemporaryWorkspace(.sqlite) { workspace in
      try store(40, workspace)
      let many = (0..<2500).map { $0 * 3 } as [Int32]
      let set = Set(many)
      try check(
        any(many) { (Post.likes > $0 - 1) && (Post.likes < $0 + 1) }, workspace, byIndex: false,
        set.contains, "ranges")
    }
  }
}
