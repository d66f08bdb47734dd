// Two versions of a schema in one workspace, as a program has them that brings its data from one to
// the other while both are used.

import Dflat
import DflatTestSupport
import Testing

@Suite("Two versions of a schema in one workspace", .endsSometime)
struct VersionsTogetherTests {
  private typealias Old = Press.Article
  private typealias New = PRESS.Article

  @Test(
    "Transactions of both run one after another, so that no update is lost",
    arguments: TestEngine.all)
  func updates(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      let dflat = workspace.dflat
      try workspace.write([Old.self]) { txn in
        try txn.submit(Press.ArticleChangeRequest.creationRequest(Old(slug: "a")))
      }
      let count = 200
      let results = Log<Bool>()
      for _ in 0..<count {
        dflat.performChanges([Old.self]) { txn in
          guard let article = dflat.fetch(for: Old.self).where(Old.slug == "a").first,
            let request = Press.ArticleChangeRequest.changeRequest(article)
          else { return }
          request.code += 1
          txn.try(submit: request)
        } completionHandler: {
          results.add($0)
        }
        dflat.performChanges([New.self]) { txn in
          guard let article = dflat.fetch(for: New.self).where(New.slug == "a").first,
            let request = PRESS.ArticleChangeRequest.changeRequest(article)
          else { return }
          request.code += 1
          txn.try(submit: request)
        } completionHandler: {
          results.add($0)
        }
      }
      results.wait(2 * count)
      #expect(results.events.allSatisfy { $0 })
      #expect(dflat.fetch(for: New.self).all().map(\.code) == [Int32(2 * count)])
    }
  }

  @Test(
    "A transaction may name both, and is not in its own way", arguments: TestEngine.all)
  func bothInOne(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      try workspace.write([Old.self, New.self]) { txn in
        try txn.submit(Press.ArticleChangeRequest.creationRequest(Old(slug: "a", votes: 1)))
        try txn.submit(PRESS.ArticleChangeRequest.creationRequest(New(slug: "b", votes: 2)))
      }
      #expect(workspace.dflat.fetch(for: Old.self).all().map(\.slug) == ["a", "b"])
      #expect(workspace.dflat.fetch(for: New.self).all().map(\.slug) == ["a", "b"])
    }
  }

  @Test("Observers of each hear of what the other one changes", arguments: TestEngine.all)
  func observers(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      let dflat = workspace.dflat
      let old = Log<[String?]>()
      let new = Log<[Int32]>()
      let subscriptions = [
        dflat.subscribe(fetchedResult: dflat.fetch(for: Old.self).all()) {
          old.add($0.map(\.title))
        },
        dflat.subscribe(fetchedResult: dflat.fetch(for: New.self).where(New.code > 0)) {
          new.add($0.map(\.code))
        },
      ]
      try workspace.write([Old.self]) { txn in
        try txn.submit(
          Press.ArticleChangeRequest.creationRequest(Old(slug: "a", title: "One", code: 1)))
      }
      #expect(old.events == [["One"]] && new.events == [[1]])
      try workspace.write([New.self]) { txn in
        let article = try #require(dflat.fetch(for: New.self).all().first)
        let request = try #require(PRESS.ArticleChangeRequest.changeRequest(article))
        request.headline = "Two"
        request.code = 2
        try txn.submit(request)
      }
      #expect(old.events == [["One"], ["Two"]] && new.events == [[1], [2]])
      for subscription in subscriptions { subscription.cancel() }
    }
  }
}
