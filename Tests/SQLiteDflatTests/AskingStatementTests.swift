// Which statements answer questions that need no objects.

import Dflat
import DflatTestSupport
import SQLiteDflat
import Testing

@Suite("Statements of questions without objects")
struct AskingStatementTests {
  private let main = "\"blog__post_v1_0\""
  private let likes = "\"blog__post_v1_0__f10\""

  /// The statements that `body` runs, without those that look after indexes and transactions.
  private func statements(
    _ workspace: TemporaryFile, _ body: (any Workspace) throws -> Void
  ) throws -> [String] {
    _ = workspace.takeEvents()
    try body(workspace.dflat)
    return workspace.takeEvents().compactMap {
      guard case .statement(let sql, _) = $0 else { return nil }
      return sql.contains(" AS m") || sql.contains(" AS s") ? sql : nil
    }
  }

  @Test("An index answers counts, aggregates, and selections of its field, without the objects")
  func byIndex() throws {
    try withTemporaryFile(configure: { $0.tracesStatements = true }) { workspace in
      try workspace.store((1...50).map { post($0, likes: $0 % 7) })
      let found = try statements(workspace) { (dflat: any Workspace) throws -> Void in
        let liked = dflat.query(Post.self).where(Post.likes > 5)
        #expect(try liked.count() == 7)
        #expect(try liked.sum(Post.likes) == 42)
        #expect(try liked.select(Post.likes).count == 7)
        #expect(try liked.distinct(Post.likes) == [6])
        #expect(try dflat.query(Post.self).max(Post.likes) == 6)
        let (number, sum) = try liked.values(.count, .sum(Post.likes))
        #expect(number == 7 && sum == 42)
        let groups = try liked.group(by: Post.likes, .count)
        #expect(groups.count == 1 && groups[0].1 == 7)
      }
      #expect(found.count == 7)
      #expect(found[2].hasPrefix("SELECT s.\"f10\" FROM "), "row ids are not read: \(found[2])")
      #expect(found.allSatisfy { $0.contains(likes) && !$0.contains(main + " ") }, "\(found)")
      let liked = workspace.dflat.query(Post.self).where(Post.likes > 5)
      let covered = try liked.explain(selecting: Post.likes)
      let partly = try liked.explain(selecting: Post.likes, Post.isPinned)
      #expect(covered.isCovering && !partly.isCovering)
      #expect(try !liked.explain().isCovering)
    }
  }

  @Test("The different values of an index are found from value to value, if they are few")
  func fromValueToValue() throws {
    try withTemporaryFile(configure: { $0.tracesStatements = true }) { file in
      let sites = ["a", "b", "ä"]
      try file.write([Post.self]) { txn in
        for number in 1...Int32(600) {
          let post = Post(
            site: sites[Int(number) % 3], number: number,
            likes: number % 3 == 0 ? number : number % 7)
          _ = try txn.insert(Blog.PostChangeRequest.creationRequest(post))
        }
      }
      func distinct<E: QueryExpression>(
        _ query: ObjectQuery<Post>, _ expression: E
      ) throws -> (values: [E.Value], isStepping: Bool, readsAll: Bool)
      where E.Element == Post, E.Value: DflatFriendlyValue {
        _ = file.takeEvents()
        let values = try query.distinct(expression)
        let statements = file.takeEvents().compactMap { event in
          if case .statement(let sql, _) = event { sql } else { nil }
        }
        return (
          values, statements.contains { $0.hasPrefix("WITH RECURSIVE") },
          statements.contains { $0.hasPrefix("SELECT s.") || $0.hasPrefix("SELECT m.") }
        )
      }
      let posts = file.dflat.query(Post.self)
      // Of the key's two fields the first one has few values.
      let keys = try distinct(posts, Post.site)
      #expect(keys.values == sites && keys.isStepping && !keys.readsAll)
      // The index has more different values than are worth a look-up each, and gives them all.
      let likes = try distinct(posts, Post.likes)
      let expected = Set((1...Int32(600)).map { $0 % 3 == 0 ? $0 : $0 % 7 }).sorted()
      #expect(likes.values == expected && likes.readsAll)
      try file.write([Post.self]) { txn in
        for post in file.posts.where(Post.likes > 20) {
          guard let request = Blog.PostChangeRequest.changeRequest(post) else { continue }
          request.likes = 20
          try txn.submit(request)
        }
      }
      let few = try distinct(posts, Post.likes)
      #expect(few.values == expected.filter { $0 <= 18 } + [20])
      #expect(few.isStepping && !few.readsAll)
      let explanation = try posts.explain(distinct: Post.likes)
      #expect(explanation.isCovering && explanation.statement?.hasPrefix("WITH RECURSIVE") == true)
      // Not with a condition, and not for other questions.
      let some = try distinct(posts.where(Post.likes > 10), Post.likes)
      #expect(some.values == expected.filter { $0 > 10 && $0 <= 18 } + [20] && !some.isStepping)
      #expect(try posts.count() == 600)
      #expect(try posts.select(Post.likes).count == 600)
    }
  }

  @Test("Objects of each group are counted in the order of an index or a key")
  func groupCounts() throws {
    try withTemporaryFile(configure: { $0.tracesStatements = true }) { file in
      try file.store((1...60).map { post($0, likes: $0 % 7) })
      let posts = file.dflat.query(Post.self)
      let liked = posts.where(Post.likes > 4)
      let found = try statements(file) { (_: any Workspace) throws -> Void in
        let few = try liked.group(by: Post.likes, .count)
        let all = try posts.group(by: Post.site, .count)
        let twice = try liked.group(by: Post.likes, .count, .count)
        // The key's second field is no beginning of it, and a limit says which objects count.
        let single = try posts.group(by: Post.number, .count)
        let some = try posts.limit(3).group(by: Post.likes, .count)
        #expect(few.count == 2 && few[0].0 == 5 && few[0].1 == 8 && few[1].1 == 8)
        #expect(all.count == 1 && all[0].1 == 60)
        #expect(twice.count == 2 && twice[1].2 == 8)
        #expect(single.count == 60 && some.count == 3)
      }
      let areGrouped = found.map { $0.contains(", count(*) FROM ") && $0.contains(" GROUP BY ") }
      #expect(areGrouped == [true, true, true, false, false], "\(found)")
      let explanation = try liked.grouped(by: Post.likes, .count).explain()
      #expect(explanation.isCovering && explanation.statement == found[0])
      #expect(!explanation.plan.contains { $0.contains("TEMP B-TREE") }, "\(explanation.plan)")
      let sums = try liked.grouped(by: Post.likes, .sum(Post.likes)).explain()
      #expect(sums.isCovering && sums.statement?.contains("GROUP BY") == false)
    }
  }

  @Test("Groups are counted in the order of an index whose first fields are fixed")
  func groupCountsBehindFixedFields() throws {
    try withTemporaryFile(configure: { $0.tracesStatements = true }) { file in
      try file.dflat.write(Desk.Memo.self) { txn in
        for number in 1...Int32(40) {
          try txn.insert(
            Desk.Memo(number: number, archived: number % 2 == 0, sortDate: Int64(number % 8)))
        }
      }
      let memos = file.dflat.query(Desk.Memo.self)
      let archived = memos.where(Desk.Memo.archived == true).grouped(by: Desk.Memo.sortDate, .count)
      var counts: [String] = []
      for (date, number) in try archived.fetch() { counts.append("\(date ?? -1) \(number)") }
      #expect(counts == ["0 5", "2 5", "4 5", "6 5"])
      let explanation = try archived.explain()
      #expect(explanation.isCovering && explanation.statement?.contains("GROUP BY") == true)
      #expect(!explanation.plan.contains { $0.contains("TEMP B-TREE") }, "\(explanation.plan)")
      // Without the condition, or with several values, the dates are not in order.
      for other in [memos, memos.where(Desk.Memo.archived.in([true, false]))] {
        let groups = other.grouped(by: Desk.Memo.sortDate, .count)
        #expect(try groups.explain().statement?.contains("GROUP BY") != true)
        #expect(try groups.fetch().count == 8)
      }
    }
  }

  @Test("A value of a related object is looked up for each group, and not for each object")
  func relatedGroupCounts() throws {
    typealias Writer = Guild.Writer
    typealias Story = Guild.Story
    try withTemporaryFile(configure: { $0.tracesStatements = true }) { file in
      try file.dflat.write(Writer.self, Story.self) { txn in
        for (handle, name) in [("a", "Ada"), ("b", "Ben"), ("c", "Ada")] {
          try txn.insert(Writer(handle: handle, name: name))
        }
        for number in 1...Int64(20) {
          let writer = number == 20 ? "x" : ["a", "b", "c"][Int(number) % 3]
          try txn.insert(Story(id: number, writer: number == 19 ? nil : writer))
        }
      }
      let names = file.dflat.query(Story.self).grouped(by: Story.writer.name, .count)
      let found = try statements(file) { (dflat: any Workspace) throws -> Void in
        var counts: [String] = []
        for (name, number) in try names.fetch() { counts.append("\(name ?? "-") \(number)") }
        #expect(counts == ["- 2", "Ada 12", "Ben 6"])
        let writers = try dflat.query(Writer.self).select(
          Writer.handle.required, Writer.stories.count.optional)
        var stories: [String] = []
        for (handle, number) in writers { stories.append("\(handle) \(number ?? 0)") }
        #expect(stories == ["a 6", "b 6", "c 6"])
      }
      #expect(found.filter { $0.contains(" GROUP BY ") }.count == 2, "\(found)")
      #expect(try names.explain().statement.map { found.contains($0) } == true)
    }
  }

  @Test("Objects are read where the index does not have everything")
  func byObject() throws {
    try withTemporaryFile(configure: { $0.tracesStatements = true }) { workspace in
      try workspace.store((1...50).map { post($0, likes: $0 % 7) })
      let found = try statements(workspace) { (dflat: any Workspace) throws -> Void in
        let liked = dflat.query(Post.self).where(Post.likes > 5)
        #expect(try liked.where(!Post.isPinned).count() == 7)
        #expect(try liked.select(Post.likes, Post.isPinned).count == 7)
      }
      #expect(found.count == 2 && found.allSatisfy { $0.contains(main + " ") }, "\(found)")
    }
  }

  @Test("Of groups that are followed, those whose greatest value has left are read again")
  func groupsReadAgain() throws {
    try withTemporaryFile(configure: { $0.tracesStatements = true }) { workspace in
      try workspace.store((1...50).map { post($0, likes: $0 % 7) })
      let log = Log<String>()
      let groups = workspace.dflat.query(Post.self).grouped(by: Post.likes, .max(Post.number))
      let subscription = workspace.dflat.subscribe(groups) { groups in
        log.add("\(groups.compactMap { $0.1 })")
      }
      // After this the groups are delivered.
      try workspace.store([post(0)])
      let inner = try statements(workspace) { _ in try workspace.remove([5, 6]) }
      #expect(inner == [], "no greatest value has left")
      let found = try statements(workspace) { _ in try workspace.remove([49, 50]) }
      #expect(
        log.events == ["[49, 50, 44, 45, 46, 47, 48]", "[42, 43, 44, 45, 46, 47, 48]"])
      // By the index of what makes the groups.
      #expect(found.count == 1 && found.allSatisfy { $0.contains(likes) && $0.contains(" WHERE ") })
      subscription.cancel()
    }
  }

  @Test("A page begins where the last one has ended")
  func pages() throws {
    try withTemporaryFile(configure: { $0.tracesStatements = true }) { workspace in
      try workspace.store((1...90).map { post($0, likes: $0 % 7) })
      let orders: [[OrderBy<Post>]] = [
        [], [Post.likes.ascending], [Post.likes.descending], [Post.site.ascending],
      ]
      for order in orders {
        let found = try statements(workspace) { (dflat: any Workspace) throws -> Void in
          let query = dflat.query(Post.self).orderBy(order)
          let first = try query.page(size: 30)
          _ = try query.page(size: 30, after: first.next)
        }
        let isFound = found.dropFirst().allSatisfy {
          $0.contains("rowid) > (") || $0.contains("rowid > ") || $0.contains(" <= ")
        }
        #expect(found.count >= 2 && isFound, "\(found)")
      }
    }
  }

  @Test("Keys are looked up by their ids alone, wherever it is asked which of them are missing")
  func missingKeys() throws {
    try withTemporaryFile(configure: { $0.tracesStatements = true }) { file in
      let dflat = file.dflat
      try dflat.write(Note.self) { txn in
        for key in 1...UInt64(3) { try txn.insert(Note(key: key)) }
      }
      let keys: [UInt64] = [1, 7, 3, 8]
      func lookUps(_ place: String, _ body: (ObjectQuery<Note>) throws -> [UInt64]) throws {
        _ = file.takeEvents()
        #expect(try body(dflat.query(Note.self)) == [7, 8], "\(place)")
        let selects = file.takeEvents().compactMap { event -> String? in
          guard case .statement(let sql, _) = event, sql.contains("WHERE __pk0") else { return nil }
          return sql
        }
        #expect(selects.count == keys.count, "\(place): \(selects)")
        #expect(selects.allSatisfy { $0.hasPrefix("SELECT rowid FROM ") }, "\(place): \(selects)")
      }
      try lookUps("outside") { try $0.missingKeys(of: keys) }
      try lookUps("in a read") { _ in
        try dflat.read { try $0.query(Note.self).missingKeys(of: keys) }
      }
      try lookUps("in a snapshot") { notes in
        try dflat.fetchWithinASnapshot { Result { try notes.missingKeys(of: keys) } }.get()
      }
      try lookUps("in a transaction") { _ in
        try dflat.write(Note.self) { try $0.query(Note.self).missingKeys(of: keys) }
      }
      try lookUps("in a transaction that has written") { _ in
        try dflat.write(Note.self) { txn in
          try txn.insert(Note(key: 5))
          _ = file.takeEvents()
          return try txn.query(Note.self).missingKeys(of: keys)
        }
      }
    }
  }
}
