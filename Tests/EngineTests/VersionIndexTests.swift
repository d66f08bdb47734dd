// The indexes of a file that two versions of a program use: their defaults differ, and so do the
// values that each would index.

import Dflat
import DflatTestSupport
import Testing

@Suite("Indexes of two versions of a schema")
struct VersionIndexTests {
  private typealias Old = Press.Article
  private typealias New = PRESS.Article

  /// Conditions whose answers depend on defaults, for both versions, compared with a plain filter.
  private func expectRightAnswers(_ workspace: TemporaryWorkspace, _ what: String) {
    func compare<Element: Atom, C: QueryExpression<Bool, Element>>(
      _ condition: C, _ isIn: (Element) -> Bool, _ line: Int = #line
    ) {
      let articles = workspace.dflat.fetch(for: Element.self)
      let found = articles.where(condition).map(\._rowid)
      let wanted = articles.all().filter(isIn).map(\._rowid)
      #expect(found == wanted, "\(what), the condition in line \(line)")
    }
    for rank in [0, 5, 7, 8] as [Int32] {
      compare(Old.rank == rank) { $0.rank == rank }
      compare(New.rank == rank) { $0.rank == rank }
      compare(New.rank <= rank) { $0.rank <= rank }
    }
    for label in ["plain", "fancy", "other"] {
      compare(Old.label == label) { $0.label == label }
      compare(New.label == label) { $0.label == label }
    }
    compare(Old.kind == .news) { $0.kind == .news }
    compare(New.kind == .essay) { $0.kind == .essay }
    compare(New.kind.in([.news, .poll])) { $0.kind == .news || $0.kind == .poll }
    compare(New.headline.isNull) { $0.headline == nil }
    compare(New.score.isNull) { $0.score == nil }
    compare(New.code == 1) { $0.code == 1 }
    compare(Old.votes == 3) { $0.votes == 3 }
    compare(New.medium.as(PRESS.Film.self).minutes == 2) {
      if case .film(let film)? = $0.medium { film.minutes == 2 } else { false }
    }
  }

  @Test(
    "An index over a field that an older version lacks is used again after it has written",
    arguments: TestEngine.all)
  func olderWriter(engine: TestEngine) async throws {
    try await withTemporaryWorkspace(engine) { workspace in
      let dflat = workspace.dflat
      try await dflat.write(KIT.Item.self) { txn in
        try txn.insert(
          contentsOf: (1...3).map { KIT.Item(name: "new", serial: $0, extra: "x\($0)") })
      }
      try await workspace.dflat.indexesReady(for: KIT.Item.self)
      try await dflat.write(Kit.Item.self) { try $0.insert(Kit.Item(name: "old", serial: 4)) }
      let query = dflat.query(KIT.Item.self).where(KIT.Item.extra == "x2")
      #expect(try query.count() == 1)
      try await workspace.dflat.indexesReady(for: KIT.Item.self)
      #expect(try query.count() == 1)
      let explanation = try query.explain()
      #expect(!explanation.indexes.isEmpty, "\(explanation)")
    }
  }

  private static func randomOld(_ number: Int32, _ random: inout SeededGenerator) -> Old {
    Old(
      slug: "s\(number)", title: random.oneIn(3) ? nil : "t\(number % 5)",
      rank: random.pick([0, 5, 7, 8]), kind: random.pick([.news, .opinion]),
      label: random.pick(["plain", "fancy", "other"]),
      medium: random.pick([nil, .picture(Press.Picture(path: "p"))]), code: number,
      votes: number)
  }

  private static func randomNew(_ number: Int32, _ random: inout SeededGenerator) -> New {
    New(
      slug: "s\(number)", headline: random.oneIn(3) ? nil : "t\(number % 5)",
      rank: random.pick([0, 5, 7, 8]), kind: random.pick([.news, .essay, .poll]),
      label: random.pick(["plain", "fancy", "other"]),
      medium: random.pick([nil, .film(PRESS.Film(path: "f", minutes: random.pick([0, 2])))]),
      code: number, votes: number, score: random.pick([nil, 1]))
  }

  /// Runs a transaction until it is committed: over a server, a build of the other version's
  /// indexes may be in conflict with it.
  private static func write(
    in workspace: TemporaryWorkspace, _ body: @escaping (any TransactionContext) throws -> Void
  ) throws {
    while true {
      do {
        if try workspace.write([Old.self, New.self], body).isCommitted { return }
      } catch TransactionError.others {}
      let errors = workspace.takeErrors()
      if errors.isEmpty || errors.contains(where: { $0.cause != .conflict }) {
        throw NotCommitted(errors: errors)
      }
    }
  }

  @Test(
    "Both versions write and query: no answer depends on which version's indexes exist",
    arguments: TestEngine.all)
  func randomVersions(engine: TestEngine) throws {
    try withSeed { random in
      for _ in 0..<(isLongRun ? 60 : 2) {
        var generator = random
        let what = "DFLAT_SEED=\(random.seed)"
        try withTemporaryWorkspace(engine) { workspace in
          var number: Int32 = 0
          for round in 0..<8 {
            // One version at a time, each with a workspace of its own as in two processes, or both
            // in one.
            let writing = generator.oneIn(2) ? workspace : workspace.reopened()
            let isOld = generator.oneIn(2)
            let (first, start) = (number, generator)
            var changes = generator
            try Self.write(in: writing) { txn in
              (number, changes) = (first, start)
              for _ in 0..<20 {
                number += 1
                if isOld {
                  try txn.submit(
                    Press.ArticleChangeRequest.creationRequest(Self.randomOld(number, &changes)))
                } else {
                  try txn.submit(
                    PRESS.ArticleChangeRequest.creationRequest(Self.randomNew(number, &changes)))
                }
                let other = "s\(Int32.random(in: 1...number, using: &changes))"
                if isOld, let request = Press.ArticleChangeRequest.changeRequest(Old(slug: other)) {
                  request.rank = changes.pick([0, 5, 7, 8])
                  request.label = changes.pick(["plain", "fancy"])
                  try txn.submit(request)
                } else if let request = PRESS.ArticleChangeRequest.changeRequest(New(slug: other)) {
                  request.rank = changes.pick([0, 5, 7, 8])
                  request.kind = changes.pick([.news, .essay])
                  try txn.submit(request)
                }
                let third = "s\(Int32.random(in: 1...number, using: &changes))"
                if changes.oneIn(6),
                  let request = PRESS.ArticleChangeRequest.deletionRequest(New(slug: third))
                {
                  try txn.submit(request)
                }
              }
            }
            generator = changes
            expectRightAnswers(workspace, "\(what), round \(round)")
            // Waits for the build that one of the versions has started.
            try workspace.write([generator.oneIn(2) ? Old.self : New.self]) { _ in }
            expectRightAnswers(workspace, "\(what), round \(round) after a build")
            if writing !== workspace {
              writing.dflat.shutdown()
              #expect(writing.takeErrors().isEmpty, "\(what)")
            }
          }
        }
        random = generator
      }
    }
  }

  @Test(
    "An index that was verified for one version is verified again after the other has written",
    arguments: TestEngine.all)
  func verifiedBeforeOtherVersion(engine: TestEngine) throws {
    // The default of `rank` is 5 for the old version and 7 for the new one: an old object with 5
    // does not store it.
    func old(_ number: Int32, _ rank: Int32) -> Old {
      Old(slug: "\(number)", rank: rank, code: number, votes: number)
    }
    try withTemporaryWorkspace(engine) { workspace in
      let news = workspace.dflat.fetch(for: New.self)
      func insert(_ object: Old) throws {
        let outcome = try workspace.write([Old.self]) { txn in
          try txn.submit(Press.ArticleChangeRequest.creationRequest(object))
        }
        #expect(outcome.isCommitted)
      }
      try insert(old(0, 3))
      for number in 1...20 as ClosedRange<Int32> {
        #expect(news.where(New.rank == 7).count == Int(number) - 1)
        try insert(old(number, 5))
        #expect(news.where(New.rank == 7).count == Int(number))
        #expect(news.where(New.rank == 5).isEmpty)
        try workspace.write([Old.self, New.self]) { txn in
          for more in 1...3 as ClosedRange<Int32> {
            try txn.submit(
              Press.ArticleChangeRequest.creationRequest(old(1000 * more + number, 5)))
            #expect(news.where(New.rank == 7).count == Int(number + more))
            #expect(news.where(New.rank == 5).isEmpty)
          }
          txn.abort()
        }
      }
    }
  }
}
