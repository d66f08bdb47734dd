// Asking without objects: counts, sums, groups, projections and missing keys, over articles. Both
// sides have run the question before, on files of their own.

import Dflat
import SQLiteDflat

extension Case {
  /// A case that asks several times.
  /// - Parameters:
  ///   - file: Makes the file, which both sides read; by default one of articles.
  ///   - sides: Each asks one question and adds its answer to the checksum.
  static func asking(
    _ id: String, _ title: String, goal: Double?, rounds: Int = 10,
    of file: @escaping @Sendable (Fixture) throws -> String = {
      try $0.articleTemplate($0.articles)
    },
    sides:
      @escaping @Sendable (_ ours: SQLiteWorkspace, _ floor: FloorDatabase) throws -> (
        ours: () throws -> Checksum, floor: () throws -> Checksum
      )
  ) -> Case {
    Case(id: id, title: title, goal: goal) { fixture in
      let template = try file(fixture)
      let store = Store(template)
      let database = try FloorDatabase(path: fixture.twin(of: template), readOnly: true)
      let (ours, floor) = try sides(store.workspace, database)
      func side(_ ask: @escaping () throws -> Checksum) -> Side {
        {
          var sum = try ask()
          let nanoseconds = try time { for _ in 0..<rounds { sum = try ask() } }
          try store.check()
          return Outcome(nanoseconds: nanoseconds / UInt64(rounds), checksum: sum)
        }
      }
      return (ours: side(ours), floor: side(floor))
    }
  }

  /// A statement over all rows of the main table, for floors that look at each.
  private static let allRows = "SELECT rowid, p FROM article ORDER BY rowid"

  // MARK: Counting and adding up

  static func countIndexed(
    _ id: String, goal: Double? = nil,
    articles: @escaping @Sendable (Fixture) -> Int = { $0.articles }
  ) -> Case {
    asking(
      id, "count half of the articles by an index", goal: goal,
      of: { try $0.articleTemplate(articles($0)) }
    ) {
      workspace, database in
      let select = try FloorQuery(database, "SELECT count(*) FROM article__f6 WHERE f6 <= ?")
      let query = workspace.query(Article.self).where(Article.feed <= 50)
      return (
        ours: { checksum(try query.count()) },
        floor: {
          select.bind(1, 50)
          _ = try select.step()
          defer { select.reset() }
          return checksum(select.int64(0))
        }
      )
    }
  }

  static let countIndexed = countIndexed("count-indexed", goal: 1.1)

  static let countScan = asking(
    "count-scan", "count half of 100,000 by an unindexed field", goal: 1.15
  ) { workspace, database in
    let select = try FloorQuery(database, allRows)
    let query = workspace.query(Article.self).where(Article.score > 500)
    return (
      ours: { checksum(try query.count()) },
      floor: {
        var count = 0
        while try select.step() {
          if FloorReader(row: select.blob(1).baseAddress!).articleScore > 500 { count += 1 }
        }
        select.reset()
        return checksum(count)
      }
    )
  }

  static let sumScan = asking(
    "sum-scan", "sum of an unindexed field of 100,000", goal: 1.15
  ) { workspace, database in
    let select = try FloorQuery(database, allRows)
    let query = workspace.query(Article.self)
    return (
      ours: { checksum(try query.sum(Article.score) ?? 0) },
      floor: {
        var sum: Int64 = 0
        while try select.step() {
          sum += Int64(FloorReader(row: select.blob(1).baseAddress!).articleScore)
        }
        select.reset()
        return checksum(sum)
      }
    )
  }

  /// The floor has a table of all groups, found by the feed itself.
  static let groupScan = asking(
    "group-scan", "count and sum for each of 100 feeds, of 100,000", goal: 1.3
  ) { workspace, database in
    let select = try FloorQuery(database, allRows)
    let query = workspace.query(Article.self)
    return (
      ours: {
        var sum = Checksum()
        for (feed, count, score) in try query.group(by: Article.feed, .count, .sum(Article.score)) {
          sum.add(feed ?? 0)
          sum.add(count)
          sum.add(score ?? 0)
        }
        return sum
      },
      floor: {
        var groups = [(count: Int, score: Int64)](
          repeating: (0, 0), count: ArticleSample.feeds + 1)
        while try select.step() {
          let article = FloorReader(row: select.blob(1).baseAddress!)
          let feed = Int(article.articleFeed)
          groups[feed].count += 1
          groups[feed].score += Int64(article.articleScore)
        }
        select.reset()
        var sum = Checksum()
        for (feed, group) in groups.enumerated() where group.count > 0 {
          sum.add(feed)
          sum.add(group.count)
          sum.add(group.score)
        }
        return sum
      }
    )
  }

  static let groupCount = asking(
    "group-count", "number of articles in each of 100 feeds, by an index", goal: 1.3
  ) { workspace, database in
    let select = try FloorQuery(database, "SELECT f6, count(*) FROM article__f6 GROUP BY f6")
    let query = workspace.query(Article.self)
    return (
      ours: {
        var sum = Checksum()
        for (feed, count) in try query.group(by: Article.feed, .count) {
          sum.add(feed ?? 0)
          sum.add(count)
        }
        return sum
      },
      floor: {
        var sum = Checksum()
        while try select.step() {
          sum.add(select.int64(0))
          sum.add(select.int64(1))
        }
        select.reset()
        return sum
      }
    )
  }

  static let functionScan = asking(
    "function-scan", "count half of 100,000 by a Swift function of a field", goal: nil
  ) { workspace, database in
    let select = try FloorQuery(database, allRows)
    let isHigh: @Sendable (Int32) -> Bool = { $0 > 500 }
    let query = workspace.query(Article.self)
      .where(Function("isHigh") { (score: Int32) in isHigh(score) }(Article.score))
    return (
      ours: { checksum(try query.count()) },
      floor: {
        var count = 0
        while try select.step() {
          if isHigh(FloorReader(row: select.blob(1).baseAddress!).articleScore) { count += 1 }
        }
        select.reset()
        return checksum(count)
      }
    )
  }

  // MARK: Values

  static let projectTwo = asking(
    "project-two", "title and score of 100,000 as tuples", goal: 1.2, rounds: 3
  ) { workspace, database in
    let select = try FloorQuery(database, allRows)
    let query = workspace.query(Article.self)
    func sum(_ rows: [(String?, Int32?)]) -> Checksum {
      var sum = checksum(rows.count)
      for index in stride(from: 0, to: rows.count, by: 1000) {
        sum.add(rows[index].0)
        sum.add(rows[index].1 ?? 0)
      }
      return sum
    }
    return (
      ours: { sum(try query.select(Article.title, Article.score)) },
      floor: {
        var rows: [(String?, Int32?)] = []
        while try select.step() {
          let article = FloorReader(row: select.blob(1).baseAddress!)
          rows.append((article.articleTitle.string, article.articleScore))
        }
        select.reset()
        return sum(rows)
      }
    )
  }

  static let projectCovered = asking(
    "project-covered", "feed and date of 100,000 as tuples, from an index", goal: 1.2, rounds: 3
  ) { workspace, database in
    let select = try FloorQuery(
      database, "SELECT f6, f14 FROM article__x__f6__x__f14 ORDER BY rowid")
    let query = workspace.query(Article.self)
    func sum(_ rows: [(Int32?, Int64?)]) -> Checksum {
      var sum = checksum(rows.count)
      for index in stride(from: 0, to: rows.count, by: 1000) {
        sum.add(rows[index].0 ?? 0)
        sum.add(rows[index].1 ?? 0)
      }
      return sum
    }
    return (
      ours: { sum(try query.select(Article.feed, Article.date)) },
      floor: {
        var rows: [(Int32?, Int64?)] = []
        while try select.step() {
          rows.append((Int32(truncatingIfNeeded: select.int64(0)), select.int64(1)))
        }
        select.reset()
        return sum(rows)
      }
    )
  }

  /// Every second key is stored. The keys come in random order.
  static let missingKeys = asking(
    "missing-keys", "which of 10,000 ids are not stored", goal: 1.15, rounds: 3
  ) { workspace, database in
    let select = try FloorQuery(database, "SELECT rowid FROM article WHERE __pk0 = ?")
    let stored = Int64(try workspace.query(Article.self).count())
    var random = Random(seed: 5)
    var keys = (0..<stored / 10).map { number in
      number % 2 == 0 ? Int64(random.number(1...Int(stored))) : stored + 1 + number
    }
    random.shuffle(&keys)
    let asked = keys
    func sum(_ missing: [Int64]) -> Checksum {
      var sum = Checksum()
      for id in missing { sum.add(id) }
      return sum
    }
    return (
      ours: { sum(try workspace.query(Article.self).missingKeys(of: asked)) },
      floor: {
        var missing: [Int64] = []
        // In one state, as ours.
        try database.execute("BEGIN")
        for key in asked {
          select.bind(1, key)
          if try !select.step() { missing.append(key) }
          select.reset()
        }
        try database.execute("COMMIT")
        return sum(missing)
      }
    )
  }
}

func checksum<I: BinaryInteger>(_ number: I) -> Checksum {
  var sum = Checksum()
  sum.add(number)
  return sum
}
