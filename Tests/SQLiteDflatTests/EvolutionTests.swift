// One file and two versions of a program: article.fbs and article_next.fbs differ in everything in which they may.

import Dflat
import DflatTestSupport
import Foundation
import SQLiteAccess
import SQLiteDflat
import Testing

@Suite("Schemas that change")
struct EvolutionTests {
  private typealias Old = Press.Article
  private typealias New = PRESS.Article

  // MARK: Across versions

  @Test("What an old version has stored a new one reads: renamed, appended, deprecated")
  func oldByNew() throws {
    try withTemporaryWorkspace { workspace in
      try workspace.write([Old.self]) { txn in
        try txn.submit(
          Press.ArticleChangeRequest.creationRequest(
            Old(
              slug: "a", title: "Title", rank: 9, isOpen: true, ratio: 0.25, kind: .opinion,
              label: "fancy", author: Press.Person(name: "Ada", age: 36),
              medium: .picture(Press.Picture(path: "p")),
              media: [
                .sound(Press.Sound(path: "s", seconds: 3)), .picture(Press.Picture(path: "q")),
              ],
              people: [Press.Person(name: "Bo"), Press.Person(name: "Cy", age: 1)], tags: ["x"],
              gone: 77, code: 4, votes: 2)))
      }
      let new = try #require(workspace.dflat.fetch(for: New.self).all().first)
      #expect(new.slug == "a" && new.headline == "Title" && new.tags == ["x"])
      #expect(new.kind == .essay, "an enum value that has another name now")
      #expect(
        new.writer == PRESS.Human(name: "Ada", years: 36), "a type and fields with other names")
      #expect(new.writer?.email == nil, "a field that its table got later")
      #expect(new.medium == .image(PRESS.Image(path: "p")))
      #expect(
        new.media == [.sound(PRESS.Sound(path: "s", seconds: 3)), .image(PRESS.Image(path: "q"))])
      #expect(new.people.map(\.years) == [0, 1])
      #expect(new.footnotes.isEmpty && new.editor == nil && new.score == nil)
      // Values that are a default now were none then, and are stored.
      #expect(new.rank == 9 && new.ratio == 0.25 && new.label == "fancy")
      let articles = workspace.dflat.fetch(for: New.self)
      #expect(articles.where(New.headline == "Title" && New.writer.years > 30).count == 1)
      #expect(articles.where(New.medium.match(PRESS.Image.self)).count == 1)
      #expect(articles.where(New.writer.email.isNull && New.score.isNull).count == 1)
    }
  }

  @Test("What a new version has stored an old one reads as far as it knows it")
  func newByOld() throws {
    try withTemporaryWorkspace { workspace in
      try workspace.write([New.self]) { txn in
        try txn.submit(
          PRESS.ArticleChangeRequest.creationRequest(
            New(
              slug: "a", headline: "Title", rank: 9, isOpen: true, ratio: 0.5, kind: .essay,
              label: "plain", writer: PRESS.Human(name: "Ada", years: 36, email: "@"),
              medium: .image(PRESS.Image(path: "p", width: 3)),
              media: [
                .film(PRESS.Film(path: "f")), .image(PRESS.Image(path: "q", width: 1)),
              ], people: [PRESS.Human(name: "Bo", email: "b")], tags: ["x"], code: 4, votes: 2,
              footnotes: [PRESS.Footnote(text: "n")], editor: PRESS.Human(name: "Ed"), score: 1)))
        try txn.submit(
          PRESS.ArticleChangeRequest.creationRequest(
            New(
              slug: "b", kind: .review, medium: .film(PRESS.Film(path: "f", minutes: 3)), votes: 3))
        )
      }
      let articles = workspace.dflat.fetch(for: Old.self)
      let (first, second) = (articles.all()[0], articles.all()[1])
      #expect(first.title == "Title" && first.rank == 9 && first.isOpen && first.ratio == 0.5)
      #expect(first.label == "plain" && first.author == Press.Person(name: "Ada", age: 36))
      #expect(first.medium == .picture(Press.Picture(path: "p")))
      #expect(first.media == [.picture(Press.Picture(path: "q"))], "unknown members are left out")
      #expect(first.people == [Press.Person(name: "Bo")] && first.code == 4 && first.gone == 0)
      #expect(second.medium == nil && second.kind == .news, "unknown: empty, and the default")
      #expect(first.kind == .news, "the new default is not stored, and reads as the old one")
      #expect(articles.where(Old.medium._type.isNull).map(\.slug) == ["b"])
      #expect(articles.where(Old.kind == .news).map(\.slug) == ["a", "b"])
    }
  }

  @Test("A changed default changes what absent fields read as, and no field that is stored")
  func changedDefaults() throws {
    try withTemporaryWorkspace { workspace in
      try workspace.write([Old.self]) { txn in
        try txn.submit(
          Press.ArticleChangeRequest.creationRequest(Old(slug: "defaults", votes: 1)))
        try txn.submit(
          Press.ArticleChangeRequest.creationRequest(
            Old(
              slug: "the next ones", rank: 7, isOpen: false, ratio: 0.25, kind: .opinion,
              label: "fancy", code: 1, votes: 2)))
      }
      let new = workspace.dflat.fetch(for: New.self).all()
      for article in new {
        #expect(article.rank == 7 && !article.isOpen && article.ratio == 0.25)
        #expect(article.kind == .essay && article.label == "fancy")
      }
      let old = workspace.dflat.fetch(for: Old.self).all()
      #expect(old[0].rank == 5 && old[0].isOpen && old[0].label == "plain" && old[0].kind == .news)
      #expect(
        old[1].rank == 7 && !old[1].isOpen && old[1].label == "fancy" && old[1].kind == .opinion)
      // To give a field its default is to leave it out.
      try workspace.write([New.self]) { txn in
        let request = try #require(PRESS.ArticleChangeRequest.changeRequest(new[1]))
        request.rank = 8
        request.label = "plain"
        try txn.submit(request)
        request.rank = 7
      }
      #expect(workspace.dflat.fetch(for: Old.self).where(Old.rank == 8).map(\.label) == ["plain"])
    }
  }

  @Test("Each update by either version keeps what only the other knows")
  func mixedUpdates() throws {
    try withTemporaryWorkspace { workspace in
      try workspace.write([Old.self, New.self]) { txn in
        try txn.submit(
          Press.ArticleChangeRequest.creationRequest(Old(slug: "a", title: "1", gone: 77)))
        for round in 0..<6 {
          if round % 2 == 0 {
            let request = try #require(PRESS.ArticleChangeRequest.changeRequest(New(slug: "a")))
            request.headline = "new \(round)"
            request.footnotes.append(PRESS.Footnote(text: "\(round)"))
            request.editor = PRESS.Human(name: "Ed", email: "\(round)")
            request.medium = .film(PRESS.Film(path: "\(round)"))
            try txn.submit(request)
          } else {
            let request = try #require(Press.ArticleChangeRequest.changeRequest(Old(slug: "a")))
            request.title = "old \(round)"
            request.tags = ["\(round)"]
            try txn.submit(request)
          }
        }
      }
      let new = workspace.dflat.fetch(for: New.self).all()[0]
      let old = workspace.dflat.fetch(for: Old.self).all()[0]
      #expect(new.headline == "old 5" && new.tags == ["5"] && new.footnotes.count == 3)
      #expect(new.editor?.email == "4" && new.medium == .film(PRESS.Film(path: "4")))
      #expect(old.gone == 77, "what is deprecated stays for those who have it")
    }
  }

  // MARK: Indexes

  /// Conditions whose answers depend on defaults, for both versions, beside the dullest way to answer them.
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

  @Test("Both versions write and ask: no answer depends on whose indexes are there")
  func randomVersions() throws {
    try withSeed { random in
      for _ in 0..<(isLongRun ? 60 : 2) {
        var generator = random
        let what = "DFLAT_SEED=\(random.seed)"
        try withTemporaryWorkspace { workspace in
          var number: Int32 = 0
          for round in 0..<8 {
            // A version at a time, each with a workspace of its own as in two processes, or both in one.
            let writing = generator.oneIn(2) ? workspace : workspace.secondWorkspace()
            let isOld = generator.oneIn(2)
            var changes = generator
            try writing.write([Old.self, New.self]) { txn in
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
            // The build that one of the versions has begun.
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

  @Test("What was right for one version is looked at again when the other has written")
  func verifiedBeforeOtherVersion() throws {
    // The default of `rank` is 5 for the old version and 7 for the new one: it is absent where an old object has 5.
    func old(_ number: Int32, _ rank: Int32) -> Old {
      Old(slug: "\(number)", rank: rank, code: number, votes: number)
    }
    try withTemporaryWorkspace { workspace in
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

  @Test("A build makes a version's index its own, and then it answers; a plain index needs none")
  func rebuiltForDefault() async throws {
    try await withTemporaryWorkspace { workspace in
      try workspace.write([Old.self]) { txn in
        for number in 0..<20 as Range<Int32> {
          try txn.submit(
            Press.ArticleChangeRequest.creationRequest(
              Old(slug: "\(number)", rank: number % 2 == 0 ? 5 : 7, code: number, votes: number)))
        }
      }
      func indexes() throws -> [[String]] {
        let old = workspace.dflat.fetch(for: Old.self)
        let new = workspace.dflat.fetch(for: New.self)
        return try [
          old.explain(where: Old.rank == 5).indexes, new.explain(where: New.rank == 7).indexes,
          new.explain(where: New.votes == 3).indexes,
        ]
      }
      let (rank, votes) = ("press__article_v1_0__f8", "press__article_v1_0__f36")
      #expect(try indexes() == [[rank], [], [votes]])
      #expect(workspace.dflat.fetch(for: New.self).where(New.rank == 7).count == 20)
      try await workspace.dflat.indexesReady(for: New.self)
      #expect(
        try unsoundness(of: New._schema, workspace.foreignConnection(), complete: true) == [])
      // The old version asks for a build of its own, which must not come in between.
      let after = workspace.dflat.fetchWithinASnapshot { Result { try indexes() } }
      #expect(try after.get() == [[], [rank], [votes]])
      #expect(workspace.dflat.fetch(for: Old.self).where(Old.rank == 5).count == 10)
      #expect(workspace.dflat.fetch(for: New.self).where(New.rank == 7).count == 20)
    }
  }

  // MARK: Opening

  /// What must be the same before and after: contents and times of everything in a directory.
  private func listing(_ directory: String) throws -> [String: String] {
    var listing: [String: String] = [:]
    for name in try FileManager.default.contentsOfDirectory(atPath: directory) {
      let path = "\(directory)/\(name)"
      let data = try Data(contentsOf: URL(fileURLWithPath: path))
      var info = stat()
      stat(path, &info)
      // SQLite's empty log and what connections share tell nothing.
      if data.isEmpty || name.hasSuffix("-shm") { continue }
      #if canImport(Darwin)
        let time = info.st_mtimespec
      #else
        let time = info.st_mtim
      #endif
      listing[name] = "\(time.tv_sec).\(time.tv_nsec) \(data.count) \(data.hashValue)"
    }
    return listing
  }

  private func storeOld(_ path: String) throws {
    let workspace = TemporaryWorkspace(path: path)
    try workspace.write([Old.self]) { txn in
      for number in 0..<50 as Range<Int32> {
        try txn.submit(
          Press.ArticleChangeRequest.creationRequest(
            Old(slug: "\(number)", title: "t", code: number, votes: number)))
      }
    }
    workspace.dflat.shutdown()
    #expect(workspace.takeErrors().isEmpty)
  }

  private func readNew(_ workspace: TemporaryWorkspace) {
    let articles = workspace.dflat.fetch(for: New.self)
    #expect(articles.all().count == 50)
    #expect(articles.where(New.slug == "7").map(\.rank) == [7])
    #expect(articles.where(New.votes == 3, orderBy: [New.votes.descending]).count == 1)
    #expect(workspace.dflat.fetch(for: Old.self).where(Old.rank == 5).count == 50)
    workspace.dflat.fetchWithinASnapshot { #expect(articles.where(New.isOpen).isEmpty) }
    #expect(workspace.dflat.dictionary["none", Int.self] == nil)
  }

  @Test("Opening and reading with a new version writes nothing")
  func openingWritesNothing() throws {
    let directory = try makeTemporaryDirectory()
    defer { try? FileManager.default.removeItem(atPath: directory) }
    try storeOld("\(directory)/test.db")
    let before = try listing(directory)
    #expect(before.keys.sorted() == ["test.db"])
    for isReadOnly in [false, true] {
      let workspace = TemporaryWorkspace(path: "\(directory)/test.db") {
        $0.isReadOnly = isReadOnly
      }
      readNew(workspace)
      #expect(try listing(directory) == before)
      workspace.dflat.shutdown()
      #expect(workspace.takeErrors().isEmpty)
      #expect(try listing(directory) == before)
    }
  }

  @Test(
    "Where nothing may be written a new version reads everything, by indexes that it has not, too",
    arguments: ReadOnlyTests.Barrier.available)
  func openingBehindBarrier(barrier: ReadOnlyTests.Barrier) throws {
    let directory = try makeTemporaryDirectory()
    defer { try? FileManager.default.removeItem(atPath: directory) }
    try storeOld("\(directory)/test.db")
    let before = try listing(directory)
    let isHeld: Void? = try barrier.hold(directory) { () throws -> Void in
      let workspace = TemporaryWorkspace(path: "\(directory)/test.db") { $0.isReadOnly = true }
      readNew(workspace)
      let articles = workspace.dflat.fetch(for: New.self)
      #expect(articles.where(New.rank == 7).count == 50)
      #expect(articles.where(New.headline == "t" && New.score.isNull).count == 50)
      workspace.dflat.shutdown()
      #expect(workspace.takeErrors().isEmpty)
      #expect(try listing(directory) == before)
    }
    #expect(isHeld != nil)
  }

  // MARK: Versions

  @Test("Another v is another table; the old one stays readable and writable through the old type")
  func versions() throws {
    try withTemporaryWorkspace { workspace in
      #expect(Mail.Dispatch._schema.table == "mail__dispatch_v3_1")
      #expect(MAIL.Dispatch._schema.table == "mail__dispatch_v4")
      #expect(Mail.Dispatch.flatBuffersSchemaVersion == "3.1")
      try workspace.write([Mail.Dispatch.self]) { txn in
        try txn.submit(
          Mail.DispatchChangeRequest.creationRequest(
            Mail.Dispatch(id: "a", sheet: 1, text: "old", words: 1)))
      }
      #expect(workspace.dflat.fetch(for: MAIL.Dispatch.self).all().isEmpty)
      #expect(
        try workspace.sqlite3("SELECT count(*) FROM sqlite_master WHERE name LIKE '%v4%'") == "0",
        "a table comes into being with the first object")
      try workspace.write([MAIL.Dispatch.self]) { txn in
        try txn.submit(
          MAIL.DispatchChangeRequest.creationRequest(MAIL.Dispatch(id: "a", text: "new", words: 2)))
      }
      #expect(workspace.dflat.fetch(for: Mail.Dispatch.self).all().map(\.text) == ["old"])
      #expect(workspace.dflat.fetch(for: MAIL.Dispatch.self).all().map(\.text) == ["new"])
      try workspace.write([Mail.Dispatch.self]) { txn in
        let request = try #require(
          Mail.DispatchChangeRequest.changeRequest(Mail.Dispatch(id: "a", sheet: 1)))
        request.words = 9
        try txn.submit(request)
      }
      let old = workspace.dflat.fetch(for: Mail.Dispatch.self)
      #expect(old.where(Mail.Dispatch.words == 9).count == 1)
      #expect(
        workspace.dflat.fetch(for: MAIL.Dispatch.self).where(MAIL.Dispatch.words == 2).count == 1)
    }
  }
}
