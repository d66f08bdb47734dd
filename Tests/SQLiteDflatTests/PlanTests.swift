// How queries are executed: by which index, in which order, and how much is read.

import Dflat
import DflatTestSupport
import SQLiteDflat
import Testing

@Suite("Plans")
struct PlanTests {
  private typealias Item = Kit.Item

  private let likes = "blog__post_v1_0__f10"

  @Test(
    "An incomplete index is not used",
    arguments: [IndexState.missing, .emptied, .partial])
  func incomplete(state: IndexState) throws {
    try withTemporaryFile { workspace in
      try workspace.store((0..<50).map { post($0, likes: $0 % 7) })
      var random = SeededGenerator(seed: 2)
      try state.impose(on: Post._schema, workspace.foreignConnection(), using: &random)
      #expect(try workspace.posts.explain(where: Post.likes > 5).indexes.isEmpty)
    }
  }

  @Test("Reading stops when enough objects are found")
  func readingStops() throws {
    try withTemporaryFile { workspace in
      try workspace.store((1...50).map { post($0, likes: $0) })
      // Reading one of these rows reports an error.
      try workspace.tamper("UPDATE blog__post_v1_0 SET p = x'00' WHERE rowid BETWEEN 11 AND 40")
      #expect(workspace.posts.all(limit: .limit(10)).count == 10)
      #expect(workspace.posts.where(Post.site == "s", limit: .limit(10)).count == 10)
      #expect(workspace.posts.where(!Post.isPinned, limit: .limit(10)).count == 10)
      #expect(workspace.posts.all(limit: .limit(10), orderBy: [Post.likes.ascending]).count == 10)
      #expect(workspace.posts.all(limit: .limit(10), orderBy: [Post.likes.descending]).count == 10)
      #expect(workspace.posts.all(limit: .limit(0)).isEmpty)
      #expect(workspace.takeErrors().isEmpty)
      #expect(workspace.posts.all(limit: .limit(11)).count == 11)
      #expect(workspace.takeErrors().count == 30)
    }
  }

  @Test("A condition on an index is answered by the index alone")
  func byIndex() throws {
    try withTemporaryFile { workspace in
      try workspace.store((0..<50).map { post($0, likes: $0 % 7) })
      let plan = try workspace.posts.explain(where: Post.likes > 5)
      #expect(plan.indexes == [likes])
      #expect(plan.rowByRow == nil)
      #expect(plan.plan.contains { $0.contains("index__\(likes)") })
      // Other conditions are checked row by row.
      let both = try workspace.posts.explain(where: Post.likes > 5 && Post.isPinned)
      #expect(both.indexes == [likes] && both.rowByRow == "is_pinned")
      let either = try workspace.posts.explain(where: Post.likes > 5 || Post.isPinned)
      #expect(either.indexes.isEmpty)
    }
  }

  @Test("The key is used for its fields, whatever the state of the side tables")
  func byKey() throws {
    try withTemporaryFile { workspace in
      try workspace.store((0..<50).map { post($0) })
      let plan = try workspace.posts.explain(where: Post.site == "s" && Post.number == 3)
      #expect(plan.indexes == ["__pk0", "__pk1"] && plan.rowByRow == nil)
      #expect(plan.plan.contains { $0.contains("sqlite_autoindex_blog__post_v1_0_1") })
    }
  }

  @Test("With a limit the index provides the order")
  func orderByIndex() throws {
    try withTemporaryFile { workspace in
      try workspace.store((0..<50).map { post($0, likes: $0 % 7) })
      let plan = try workspace.posts.explain(limit: .limit(3), orderBy: [Post.likes.descending])
      #expect(!plan.isSortedInMemory && plan.indexes == [likes])
      #expect(
        workspace.posts.all(limit: .limit(3), orderBy: [Post.likes.descending]).map(\.number)
          == [6, 13, 20])
    }
  }

  @Test("Plans use the index for a prefix, and explanations show the operators")
  func operators() throws {
    try withTemporaryFile { workspace in
      try workspace.write([Item.self]) { txn in
        _ = try txn.insert(Kit.ItemChangeRequest.creationRequest(Item(name: "n", serial: 1)))
      }
      func explain(_ condition: Condition<Item>) throws -> QueryExplanation {
        try workspace.dflat.fetch(for: Item.self).explain(where: condition)
      }
      let prefix = try explain(Item.title.hasPrefix("ab"))
      #expect(prefix.rowByRow == nil && prefix.indexes.count == 1)
      #expect(try explain(Item.name.hasPrefix("ab")).indexes == ["__pk0"])
      #expect(try explain(Item.title.hasPrefix("")).indexes == [])
      #expect(try explain(!Item.title.hasPrefix("ab")).indexes == [])
      let edge = try explain(Item.title.hasPrefix("a\u{7F}"))
      #expect(edge.rowByRow != nil && edge.indexes.count == 1)
      let like = try explain(Item.title.like("ab%c"))
      #expect(like.rowByRow == #"title.like("ab%c")"# && like.indexes.count == 1)
      #expect(try explain(Item.title.like("ab%")).rowByRow == nil)
      #expect(try explain(Item.number.between(1, 5)).rowByRow == nil)
      func rows(_ condition: Condition<Item>) throws -> String? { try explain(condition).rowByRow }
      #expect(try rows(Item.title.hasSuffix("x")) == #"title.hasSuffix("x")"#)
      #expect(
        try rows(Item.title.caseInsensitive.contains("X"))
          == #"title.caseInsensitive.contains("x")"#)
      #expect(
        try rows(Item.word.like("a!%", escape: "!")) == #"word.like("a!%", escape: "!")"#)
      let product = -(Item.number + 1) * 2 / (3 * Item.plainNumber)
      #expect(
        try rows(product > abs(Item.number - 1))
          == "-(number + 1) * 2 / (3 * plain_number) > abs(number - 1)")
      #expect(
        try rows(Item.leaves.any { $0.rank > 3 && $0.label == Item.title })
          == "leaves.any { $0.rank > 3 && $0.label == title }")
      #expect(
        try rows(Item.leaves.all { leaf in Item.tags.any { $0 == leaf.label } })
          == "leaves.all { tags.any { $1 == $0.label } }")
      #expect(try rows(Item.tags.count > 2) == "tags.count > 2")
    }
  }
}
