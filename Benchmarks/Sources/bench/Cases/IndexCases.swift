// Fetching articles by what indexes can do: an equality with a range and an order, a prefix, pages.

import Dflat
import SQLiteDflat

extension Case {
  /// The hundred oldest articles after a date of each of a hundred feeds.
  static func compoundIndex(
    _ id: String, goal: Double? = nil,
    articles: @escaping @Sendable (Fixture) -> Int = { $0.few * 100 }
  ) -> Case {
    asking(
      id, "fetch 100 of a feed, after a date, in its order, 100 times", goal: goal, rounds: 1,
      of: { try $0.articleTemplate(articles($0)) }
    ) { workspace, database in
      let select = try FloorQuery(
        database,
        """
        SELECT m.rowid, m.p FROM article__x__f6__x__f14 AS s CROSS JOIN article AS m
        ON m.rowid = s.rowid WHERE s.f6 = ? AND s.f14 > ? ORDER BY s.f14, s.rowid LIMIT 100
        """)
      let feeds = Int32(ArticleSample.feeds)
      let date = ArticleSample.firstDate + 10_000_000
      return (
        ours: {
          var sum = Checksum()
          for feed in 1...feeds {
            let found = try workspace.query(Article.self)
              .where(Article.feed == feed && Article.date > date)
              .orderBy(Article.date.ascending).limit(100).fetch()
            for article in found { sum.add(article._rowid) }
          }
          return sum
        },
        floor: {
          var sum = Checksum()
          for feed in 1...feeds {
            var list = FloorList()
            select.bind(1, Int64(feed))
            select.bind(2, date)
            try select.fetchAll(into: &list)
            for index in 0..<list.count { sum.add(list[index].id) }
          }
          return sum
        }
      )
    }
  }

  static let compoundIndex = compoundIndex("compound-index", goal: 1.2)

  /// Two letters: about a hundred articles each.
  static let prefixIndexed = asking(
    "prefix-indexed", "fetch 100 of 100,000 by the prefix of a text, 26 times", goal: 1.2, rounds: 1
  ) { workspace, database in
    let select = try FloorQuery(
      database,
      "SELECT m.rowid, m.p FROM article AS m WHERE m.rowid IN "
        + "(SELECT rowid FROM article__f8 WHERE f8 >= ? AND f8 < ?) ORDER BY m.rowid")
    let letters = Array("abcdefghijklmnopqrstuvwxyz".utf8)
    let prefixes = letters.map { String(decoding: [$0, letters[0]], as: UTF8.self) }
    let bounds = letters.map { letter in
      let bytes = UnsafeMutablePointer<UInt8>.allocate(capacity: 4)
      (bytes[0], bytes[1], bytes[2], bytes[3]) = (letter, letters[0], letter, letters[1])
      return (FloorBytes(start: bytes, count: 2), FloorBytes(start: bytes + 2, count: 2))
    }
    return (
      ours: {
        var sum = Checksum()
        for prefix in prefixes {
          let found = try workspace.query(Article.self).where(Article.title.hasPrefix(prefix))
            .fetch()
          for article in found { sum.add(article._rowid) }
        }
        return sum
      },
      floor: {
        var sum = Checksum()
        for (low, high) in bounds {
          var list = FloorList()
          select.bind(1, text: low)
          select.bind(2, text: high)
          try select.fetchAll(into: &list)
          for index in 0..<list.count { sum.add(list[index].id) }
        }
        return sum
      }
    )
  }

  /// Compares Dflat with itself: the floor is the first page.
  static let keysetPage = Case(
    id: "keyset-page", title: "page 500 of 100 articles, against page 1", goal: 1.1,
    floor: .without
  ) { fixture in
    let size = 100
    let store = Store(try fixture.articleTemplate(fixture.articles))
    let query = store.workspace.query(Article.self).orderBy(
      Article.feed.ascending, Article.date.ascending)
    var cursor: QueryCursor?
    for _ in 1..<min(500, fixture.articles / size) {
      cursor = try query.page(size: size, after: cursor).next
    }
    let last = cursor
    func side(after cursor: QueryCursor?) -> Side {
      {
        let rounds = 20
        var objects: [Article] = []
        let nanoseconds = try time {
          for _ in 0..<rounds { objects = try query.page(size: size, after: cursor).objects }
        }
        try store.check()
        return Outcome(nanoseconds: nanoseconds / UInt64(rounds), checksum: checksum(objects.count))
      }
    }
    return (ours: side(after: last), floor: side(after: nil))
  }
}
