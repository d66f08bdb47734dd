// The articles that queries and bulk changes are measured with. They depend only on their number.
//
//  - A hundred feeds, in no particular order; scores from 1 to 1,000.
//  - Titles of 8 to 40 bytes, texts of 20 to 200.
//  - All articles of the first ten feeds are unread, and two of three of the others.

import Dflat
import Foundation
import SQLiteDflat

struct ArticleSample: Sendable {
  static let feeds = 100
  /// Articles of feeds up to this one are unread.
  static let lastUnreadFeed: Int32 = 10
  /// Dates are in seconds from here on, for 100,000,000 seconds.
  static let firstDate: Int64 = 1_600_000_000

  let id: Int64
  let feed: Int32
  let title: String
  let text: String
  let isRead: Bool
  let date: Int64
  let score: Int32

  init(_ number: Int64) {
    var random = Random(seed: UInt64(bitPattern: number) &* 0x2545_F491_4F6C_DD1D)
    id = number
    feed = Int32(random.number(1...Self.feeds))
    title = random.text(8...40)
    text = random.text(20...200)
    isRead = number % 3 == 0 && feed > Self.lastUnreadFeed
    date = Self.firstDate + Int64(random.number(0...100_000_000))
    score = Int32(random.number(1...1000))
  }

  static func make(_ numbers: Range<Int64>) -> [ArticleSample] { numbers.map { .init($0) } }

  var object: Article {
    Article(
      id: id, feed: feed, title: title, text: text, isRead: isRead, date: date, score: score)
  }
}

extension Fixture {
  /// The number of articles of most cases.
  var articles: Int { few * 10 }

  /// A file with this many articles, numbered from 1: created by Dflat, filled by the floor. Must
  /// not be written.
  func articleTemplate(_ count: Int) throws -> String {
    let path = path("articles-\(count).db")
    if FileManager.default.fileExists(atPath: path) { return path }
    let store = Store(path)
    try store.workspace.write(Article.self) {
      try $0.insert(contentsOf: [ArticleSample(0).object])
    }
    try store.check()
    store.close()
    let writer = try FloorArticleWriter(path)
    try writer.transaction { try writer.delete(id: 1) }
    var next: Int64 = 1
    while next <= count {
      let end = min(next + 50_000, Int64(count) + 1)
      let articles = FloorArticle.encoded(ArticleSample.make(next..<end))
      try writer.transaction { for article in articles { try writer.insert(article) } }
      for article in articles { article.free() }
      next = end
    }
    try writer.database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return path
  }

  /// The numbers of rows and checksums of their content, in the main and in all side tables.
  func articleExtent(_ path: String) throws -> Checksum {
    let query = try FloorQuery(
      try FloorDatabase(path: path),
      """
      SELECT count(*), sum(rowid), sum(length(p)), sum(__pk0),
        (SELECT count(*) FROM article__f6), (SELECT sum(rowid * f6) FROM article__f6),
        (SELECT count(*) FROM article__f8), (SELECT sum(rowid * length(f8)) FROM article__f8),
        (SELECT count(*) FROM article__f12), (SELECT sum(rowid * f12) FROM article__f12),
        (SELECT count(*) FROM article__x__f6__x__f14),
        (SELECT sum(rowid * f6 + f14) FROM article__x__f6__x__f14) FROM article
      """)
    _ = try query.step()
    var sum = Checksum()
    for column in 0..<12 { sum.add(query.int64(Int32(column))) }
    let rows = try FloorQuery(try FloorDatabase(path: path), "SELECT p FROM article ORDER BY rowid")
    while try rows.step() {
      let article = FloorReader(row: rows.blob(0).baseAddress!)
      sum.add(article.articleID)
      sum.add(article.articleTitle.buffer)
      sum.add(article.articleText.buffer)
      sum.add(article.articleIsRead)
      sum.add(article.articleScore)
    }
    return sum
  }
}
