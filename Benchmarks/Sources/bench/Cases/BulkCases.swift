// Bulk changes: many articles in one call, in one transaction, until its commit. No checkpoint is
// in either clock.

import Dflat
import SQLiteDflat

extension Store {
  /// Opens the writer and prepares its statements: an article is updated, one is inserted and
  /// deleted.
  func warmUpArticles() throws {
    try workspace.write(Article.self) { transaction in
      try transaction.update(Article.self, keys: [1]) { $0.isRead = true }
      try transaction.insert(contentsOf: [ArticleSample(.max).object])
      try transaction.delete(Article.self, keys: [.max])
    }
  }
}

extension Case {
  /// A case that changes a copy of a file with articles, in one transaction.
  private static func bulk(
    _ id: String, _ title: String, goal: Double?,
    articles: @escaping @Sendable (Fixture) -> Int = { $0.articles },
    sides:
      @escaping @Sendable (Fixture) throws -> (
        ours: (WriteContext) throws -> BulkChange, floor: (FloorArticleWriter) throws -> Void
      )
  ) -> Case {
    Case(id: id, title: title, goal: goal) { fixture in
      let template = try fixture.articleTemplate(articles(fixture))
      let (change, floorChange) = try sides(fixture)
      return (
        ours: {
          let path = try fixture.copy(of: template)
          defer { fixture.discard(path) }
          let store = Store(path, walLimit: Store.noCheckpoints)
          try store.warmUpArticles()
          let nanoseconds = try time {
            let result = try store.workspace.write(Article.self, body: change)
            if result.count == 0 { throw Disagreement(description: "\(id): nothing was changed") }
          }
          try store.check()
          store.close()
          return Outcome(nanoseconds: nanoseconds, checksum: try fixture.articleExtent(path))
        },
        floor: {
          let path = try fixture.copy(of: template)
          defer { fixture.discard(path) }
          let writer = try FloorArticleWriter(path)
          try writer.warmUp()
          let nanoseconds = try time { try writer.transaction { try floorChange(writer) } }
          return Outcome(nanoseconds: nanoseconds, checksum: try fixture.articleExtent(path))
        }
      )
    }
  }

  /// The ids of `fixture.few` unread articles, in random order.
  static func bulkUpdateIDs(
    _ id: String, goal: Double? = nil,
    articles: @escaping @Sendable (Fixture) -> Int = { $0.articles }
  ) -> Case {
    bulk(id, "mark 10,000 articles as read, by ids", goal: goal, articles: articles) { fixture in
      var ids = ArticleSample.make(2..<Int64(articles(fixture)) + 1).filter { !$0.isRead }.map(\.id)
      var random = Random(seed: 4)
      random.shuffle(&ids)
      let chosen = Array(ids.prefix(fixture.few))
      return (
        ours: { try $0.update(Article.self, keys: chosen) { $0.isRead = true } },
        floor: { for id in chosen { try $0.markAsRead(key: id) } }
      )
    }
  }

  static let bulkUpdateIDs = bulkUpdateIDs("bulk-update-ids", goal: 1.2)

  /// The articles of ten feeds of a hundred.
  static let bulkUpdateWhere = bulk(
    "bulk-update-where", "mark 10,000 articles as read, by an indexed condition", goal: 1.2
  ) { _ in
    let feed = ArticleSample.lastUnreadFeed
    return (
      ours: { try $0.update(where: Article.feed <= feed) { $0.isRead = true } },
      floor: { try $0.markAsRead(feedsUpTo: feed) }
    )
  }

  /// The articles of five feeds of a hundred; the floor has one statement for each table.
  static let bulkDelete = bulk(
    "bulk-delete", "delete 5,000 articles by an indexed condition", goal: 1.3
  ) { _ in
    (
      ours: { try $0.delete(where: Article.feed <= 5) },
      floor: { try $0.delete(feedsUpTo: 5) }
    )
  }

  /// Both sides have an array of finished rows: Dflat's objects are encoded when they are made.
  static let bulkInsert = bulk(
    "bulk-insert", "insert an array of 10,000 articles", goal: 1.15
  ) { fixture in
    let first = Int64(fixture.articles) + 1
    let samples = ArticleSample.make(first..<first + Int64(fixture.few))
    let objects = samples.map(\.object)
    let rows = FloorArticle.encoded(samples)
    return (
      ours: { try $0.insert(contentsOf: objects) },
      floor: { writer in for row in rows { try writer.insert(row) } }
    )
  }
}
