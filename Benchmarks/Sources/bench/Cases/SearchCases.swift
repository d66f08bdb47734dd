// Full-text search: the best of 100,000 articles, how many there are, and those that meet another
// condition. Both sides have asked before, on files of their own, with the same full-text table.

import Dflat
import SQLiteDflat

extension Fixture {
  /// A file with this many articles to search. Must not be written.
  fileprivate func pages(_ count: Int) throws -> String {
    try template("pages-\(count)") { store in
      let words = (0..<Words.count).map { Words.common($0) }
      var random = Random(seed: 17)
      for first in stride(from: 0, to: count, by: 50_000) {
        let pages = (first..<min(first + 50_000, count)).map { number in
          Page(
            id: Int64(number), title: Words.text(8...40, words, &random),
            text: Words.text(20...200, words, &random) + " "
              + Words.rare(random.number(0...max(0, count / 100 - 1))), feed: Int32(number % 10))
        }
        try store.workspace.write(Page.self) { try $0.insert(contentsOf: pages) }
      }
    }
  }
}

extension FloorReader {
  fileprivate var pageFeed: Int32 { scalar(10) }
}

extension FloorQuery {
  /// Binds a search: a word is one in the language of FTS5, too.
  fileprivate func bind(_ search: [UInt8]) {
    search.withUnsafeBytes { bind(1, text: FloorBytes(start: $0.baseAddress, count: $0.count)) }
  }
}

extension Case {
  /// The full-text table.
  private static let words = "page__fulltext__unicode61__x__f6__x__f8"
  /// Words that some 2 to 20 % of the articles have, one and two at a time, and a beginning.
  private static let commonTexts =
    (10..<15).map { Words.common($0) }
    + (20..<24).map { Words.common($0) + " " + Words.common($0 - 8) } + ["rare1*"]

  /// A case that asks for each of these.
  /// - Parameters:
  ///   - sql: The floor's statement, with the search as its parameter.
  ///   - ours: Adds an answer to a checksum.
  ///   - floor: Adds the answer of the floor's statement.
  private static func searching(
    _ id: String, _ title: String, goal: Double, sql: String,
    ours: @escaping @Sendable (SQLiteWorkspace, TextSearch<Page>, inout Checksum) throws -> Void,
    floor: @escaping @Sendable (FloorQuery, inout Checksum) throws -> Void
  ) -> Case {
    asking(id, title, goal: goal, rounds: 3, of: { try $0.pages($0.articles) }) {
      workspace, database in
      let select = try FloorQuery(database, sql)
      let literals = commonTexts.map { Array($0.utf8) }
      return (
        ours: {
          var sum = Checksum()
          for text in commonTexts { try ours(workspace, Page.search(text), &sum) }
          return sum
        },
        floor: {
          var sum = Checksum()
          for text in literals {
            select.bind(text)
            try floor(select, &sum)
            select.reset()
          }
          return sum
        }
      )
    }
  }

  static let searchCount = searching(
    "search-count", "how many of 100,000 articles have words, 10 searches", goal: 1.1,
    sql: "SELECT count(*) FROM \(words) WHERE \(words) MATCH ?",
    ours: { workspace, search, sum in
      sum.add(try workspace.query(Page.self).where(search).count())
    },
    floor: { select, sum in
      _ = try select.step()
      sum.add(select.int64(0))
    })

  static let searchAndField = searching(
    "search-and-field", "articles with words and a value of an unindexed field, 10 searches",
    goal: 1.3,
    sql: """
      SELECT m.rowid, m.p FROM \(words) CROSS JOIN page AS m ON m.rowid = \(words).rowid
      WHERE \(words) MATCH ? ORDER BY \(words).rowid
      """,
    ours: { workspace, search, sum in
      for page in workspace.fetch(for: Page.self).where(search && Page.feed == 3) {
        sum.add(page._rowid)
      }
    },
    floor: { select, sum in
      var list = FloorList()
      while try select.step() {
        let row = select.blob(1)
        if FloorReader(row: row.baseAddress!).pageFeed == 3 {
          list.append(FloorRow(id: select.int64(0), row))
        }
      }
      for index in 0..<list.count { sum.add(list[index].id) }
    })

  static let searchRanked = searching(
    "search-ranked", "the best 20 with words and a value of a field, 10 searches", goal: 1.3,
    sql: """
      SELECT m.rowid, m.p FROM (SELECT rowid AS id, bm25(\(words), 10, 1) AS score FROM \(words)
        WHERE \(words) MATCH ? ORDER BY score, id LIMIT -1) AS f
      CROSS JOIN page AS m ON m.rowid = f.id
      """,
    ours: { workspace, search, sum in
      let found = workspace.fetch(for: Page.self).where(
        search && Page.feed == 3, limit: .limit(20), orderBy: [search.rank([Page.title: 10])])
      for page in found { sum.add(page._rowid) }
    },
    floor: { select, sum in
      var list = FloorList()
      while list.count < 20, try select.step() {
        let row = select.blob(1)
        if FloorReader(row: row.baseAddress!).pageFeed == 3 {
          list.append(FloorRow(id: select.int64(0), row))
        }
      }
      for index in 0..<list.count { sum.add(list[index].id) }
    })

  private static func search(
    _ id: String, _ title: String, goal: Double? = nil, rounds: Int,
    pages: @escaping @Sendable (Fixture) -> Int, texts: [String]
  ) -> Case {
    asking(
      id, title, goal: goal, rounds: rounds, of: { try $0.pages(pages($0)) }
    ) { workspace, database in
      let best = try FloorQuery(
        database,
        """
        SELECT m.rowid, m.p FROM (SELECT rowid AS id, bm25(\(words)) AS score FROM \(words)
          WHERE \(words) MATCH ? ORDER BY score, id LIMIT 20) AS f
        CROSS JOIN page AS m ON m.rowid = f.id
        """)
      // The floor's texts are in the language of FTS5, where words are searched for as well.
      let literals = texts.map { Array($0.utf8) }
      return (
        ours: {
          var sum = Checksum()
          for text in texts {
            let search = Page.search(text)
            let found = workspace.fetch(for: Page.self).where(
              search, limit: .limit(20), orderBy: [search.rank])
            for page in found { sum.add(page._rowid) }
          }
          return sum
        },
        floor: {
          var sum = Checksum()
          for text in literals {
            var list = FloorList()
            try text.withUnsafeBytes {
              best.bind(1, text: FloorBytes(start: $0.baseAddress, count: $0.count))
              try best.fetchAll(into: &list)
            }
            for index in 0..<list.count { sum.add(list[index].id) }
          }
          return sum
        }
      )
    }
  }

  static let fullText = search(
    "fulltext", "the best 20 of 100,000 articles by their words, 10 searches", goal: 1.15,
    rounds: 3, pages: { $0.articles }, texts: commonTexts)

  /// Words that about a hundred articles have.
  static func fullText(_ id: String, pages: @escaping @Sendable (Fixture) -> Int) -> Case {
    search(
      id, "the best 20 of 100 articles by a word, 100 searches", rounds: 3, pages: pages,
      texts: (0..<100).map { Words.rare($0) })
  }
}
