// One file and two versions of a program: article.fbs and article_next.fbs differ in every way that
// the rules allow.

import Dflat
import DflatTestSupport
import Foundation
import Testing

@Suite("Schemas that change")
struct EvolutionTests {
  private typealias Old = Press.Article
  private typealias New = PRESS.Article

  // MARK: Across versions

  @Test(
    "A new version reads what an old version has stored: renamed, appended, deprecated fields",
    arguments: TestEngine.all)
  func oldByNew(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
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
      // Values that equal the new defaults did not equal the old ones, so they are stored.
      #expect(new.rank == 9 && new.ratio == 0.25 && new.label == "fancy")
      let articles = workspace.dflat.fetch(for: New.self)
      #expect(articles.where(New.headline == "Title" && New.writer.years > 30).count == 1)
      #expect(articles.where(New.medium.match(PRESS.Image.self)).count == 1)
      #expect(articles.where(New.writer.email.isNull && New.score.isNull).count == 1)
    }
  }

  @Test(
    "An old version reads what a new version has stored, as far as it knows the fields",
    arguments: TestEngine.all)
  func newByOld(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
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

  @Test(
    "A changed default changes how absent fields are read, and no stored field",
    arguments: TestEngine.all)
  func changedDefaults(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
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
      // A field that is set to its default is not stored.
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

  @Test(
    "Each update by either version keeps the fields that only the other version knows",
    arguments: TestEngine.all)
  func mixedUpdates(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
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

  // MARK: Opening
}
