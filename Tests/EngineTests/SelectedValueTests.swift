// Calls for all objects of a type, and single values of each.

import Dflat
import DflatTestSupport
import Testing

@Suite("All objects and single values")
struct SelectedValueTests {
  @Test("Bulk calls take .always", arguments: TestEngine.all)
  func always(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      try workspace.store((1...5).map { post($0, likes: $0) })
      let dflat = workspace.dflat
      try dflat.write(Post.self) { txn in
        let all = try txn.update(Post.self, where: .always) { $0.likes += 1 }
        #expect(all.updated == 5)
        let typed = try txn.update(where: .always) { (post: inout Blog.PostChangeRequest) in
          post.likes += 1
        }
        #expect(typed.updated == 5)
        let again = try txn.update(where: Condition<Post>.always) { $0.likes += 1 }
        #expect(again.updated == 5)
        #expect(try txn.query(Post.self).where(.always).count() == 5)
        #expect(try txn.fetch(for: Post.self).where(.always).count == 5)
      }
      #expect(dflat.fetch(for: Post.self).where(.always).map(\.likes) == [4, 5, 6, 7, 8])
      #expect(try dflat.query(Post.self).where(.never).fetch().isEmpty)
      _ = try dflat.fetch(for: Post.self).explain(where: .always)
      let pairs = dflat.join(Post.self, Post.self, on: Post.number, Post.number)
      #expect(try pairs.where(.always).where(second: .always).fetch().count == 5)
      #expect(try pairs.where(second: .never).fetch().isEmpty)
      try dflat.write(Post.self) { txn in
        let gone = try txn.delete(Post.self, where: .always)
        #expect(gone.deleted == 5)
      }
      #expect(dflat.fetch(for: Post.self).all().isEmpty)
    }
  }

  @Test("One selected value is a plain value", arguments: TestEngine.all)
  func selection(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      try workspace.store([3, 1, 2].map { post($0, likes: $0 * 10) })
      let query = workspace.dflat.query(Post.self)
      #expect(try query.select(Post.number.required).sorted() == [1, 2, 3])
      #expect(try Set(query.select(Post.likes.required)) == [10, 20, 30])
      #expect(try query.select(Post.likes).compactMap(\.self).reduce(0, +) == 60)
      #expect(try query.select((Post.likes + 1).optional).first == 31)
      let numbers: [Int32] = try query.select(Post.number.required)
      #expect(numbers == [3, 1, 2])
      for number in try query.select(Post.number.required) { #expect(number > 0) }
      let sites = try query.select(Post.site.required, Post.number.required)
      #expect(sites.map(\.1) == [3, 1, 2])
    }
  }
}
