// Indexes built by upstream Dflat, and upstream programs running beside ours, simulated with
// hand-written SQL.

import Dflat
import DflatTestSupport
import Foundation
import SQLiteAccess
import SQLiteDflat
import Testing

@Suite("Indexes of upstream programs")
struct UpstreamIndexTests {
  typealias Article = Press.Article

  /// Runs `body` with a copy of a fixture.
  private func with(_ fixture: String, _ body: (TemporaryFile) throws -> Void) throws {
    let directory = try makeTemporaryDirectory()
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let source = try #require(
      Bundle.module.url(forResource: fixture, withExtension: "db", subdirectory: "Fixtures"))
    let path = "\(directory)/test.db"
    try FileManager.default.copyItem(atPath: source.path, toPath: path)
    let workspace = TemporaryFile(path: path)
    try body(workspace)
    workspace.dflat.shutdown()
    for error in workspace.takeErrors() { Issue.record("\(fixture): \(error)") }
  }

  // MARK: Defaults

  private let articles = "press__article_v1_0"

  private func expectDefaults(_ workspace: TemporaryFile) {
    let articles = workspace.dflat.fetch(for: Article.self)
    let all = articles.all()
    #expect(articles.where(Article.rank == 5).count == all.count { $0.rank == 5 })
    #expect(articles.where(Article.rank == 0).isEmpty)
    #expect(articles.where(Article.label == "plain").count == all.count { $0.label == "plain" })
    #expect(articles.where(Article.votes == 3).count == all.count { $0.votes == 3 })
  }

  /// The result of an upstream query: it trusts a side table if its greatest row id is that of the
  /// main table.
  private func upstreamCount(
    _ workspace: TemporaryFile, _ column: String, _ value: String
  ) throws -> String {
    let side = "\(articles)__\(column)"
    #expect(
      try workspace.sqlite3(
        "SELECT (SELECT max(rowid) FROM \(articles)) = (SELECT max(rowid) FROM \(side))") == "1",
      "\(side) is complete")
    return try workspace.sqlite3(
      "SELECT count(*) FROM \(articles) m JOIN \(side) s ON s.rowid = m.rowid "
        + "WHERE s.\(column) = \(value)")
  }

  @Test("A complete index on a field with a default is trusted once verified, and maintained")
  func defaults() throws {
    try with("defaults") { workspace in
      let fetched = workspace.dflat.fetch(for: Article.self)
      #expect(fetched.where(Article.rank == 5).count == 31)
      #expect(try fetched.explain(where: Article.rank == 5).indexes == ["\(articles)__f8"])
      try workspace.write([Article.self]) { _ in }
      try workspace.write([Article.self]) { txn in
        for number in 100..<110 as Range<Int32> {
          _ = try txn.insert(
            Press.ArticleChangeRequest.creationRequest(Article(slug: "\(number)", code: number)))
        }
        let request = try #require(
          Press.ArticleChangeRequest.changeRequest(Article(slug: "a0")))
        request.rank = 77
        try txn.submit(request)
      }
      expectDefaults(workspace)
      #expect(try upstreamCount(workspace, "f8", "5") == "40")
      #expect(try upstreamCount(workspace, "f16", "'plain'") == "50")
      #expect(
        try unsoundness(of: Article._schema, workspace.foreignConnection(), complete: true) == [])
    }
  }

  @Test("The first change of an upstream file maintains its indexes, even if no query used them")
  func writtenFirst() throws {
    try with("defaults") { workspace in
      try workspace.write([Article.self]) { txn in
        let request = try #require(
          Press.ArticleChangeRequest.changeRequest(Article(slug: "a1")))
        request.rank = 77
        try txn.submit(request)
        _ = try txn.insert(
          Press.ArticleChangeRequest.creationRequest(Article(slug: "new", code: 500)))
      }
      #expect(try upstreamCount(workspace, "f8", "5") == "32")
      #expect(try upstreamCount(workspace, "f8", "77") == "1")
      expectDefaults(workspace)
    }
  }

  @Test("With upstream running beside us, each program always finds all objects")
  func besideUpstream() throws {
    try with("defaults") { workspace in
      let upstream = try workspace.foreignConnection()
      func bytes(_ slug: String, _ code: Int) -> SQLValue {
        .blob([UInt8](Article(slug: slug, code: Int32(code)).toData()))
      }
      let sides = ["f8", "f14", "f16", "f22__type", "f34", "f36"]
      func count() throws -> Int { try Int(upstreamCount(workspace, "f8", "5")) ?? -1 }
      expectDefaults(workspace)
      var expected = 31
      for round in 0..<15 {
        // Upstream stores an object whose fields have their defaults.
        try upstream.execute("BEGIN IMMEDIATE")
        try upstream.execute(
          "INSERT INTO \(articles) (__pk0, p) VALUES (?, ?)",
          [.text("u\(round)"), bytes("u\(round)", 2000 + round)])
        let id = upstream.lastInsertRowID
        let values = ["5", "0", "'plain'", "NULL", "\(2000 + round)", "0"]
        for (side, value) in zip(sides, values) {
          try upstream.execute(
            "INSERT INTO \(articles)__\(side) (rowid, \(side)) VALUES (\(id), \(value))")
        }
        try upstream.execute("COMMIT")
        expected += 1
        #expect(try count() == expected)
        expectDefaults(workspace)
        // Our program stores one.
        try workspace.write([Article.self]) { txn in
          _ = try txn.insert(
            Press.ArticleChangeRequest.creationRequest(
              Article(slug: "w\(round)", code: Int32(1000 + round))))
        }
        expected += 1
        #expect(try count() == expected)
        // Upstream replaces one and removes one.
        try upstream.execute("BEGIN IMMEDIATE")
        let number = 1 + 2 * round
        try upstream.execute(
          "REPLACE INTO \(articles) (rowid, __pk0, p) VALUES (?, ?, ?)",
          [
            .integer(Int64(number + 1)), .text("a\(number)"), bytes("a\(number)", number + 1),
          ])
        for (side, value) in zip(sides, ["5", "0", "'plain'", "NULL", "\(number + 1)", "0"]) {
          try upstream.execute(
            "REPLACE INTO \(articles)__\(side) VALUES (\(number + 1), \(value))")
        }
        try upstream.execute("DELETE FROM \(articles) WHERE rowid = ?", [.integer(id)])
        for side in sides {
          try upstream.execute(
            "DELETE FROM \(articles)__\(side) WHERE rowid = ?", [.integer(id)])
        }
        try upstream.execute("COMMIT")
        // One of the replaced objects had the rank before.
        expected += number == 5 ? 0 : 1
        expected -= 1
        #expect(try count() == expected)
        expectDefaults(workspace)
        try workspace.write([Article.self]) { _ in }
      }
      #expect(try upstream.value("PRAGMA integrity_check") == .text("ok"))
    }
  }

  // MARK: Unions

  @Test("Indexes below a union are verified: values of other members are not trusted")
  func unions() throws {
    try with("unions") { workspace in
      let link = Post.attachment.as(Blog.Link.self).url
      let photo = Post.attachment.as(Blog.Photo.self).path
      #expect(workspace.posts.where(link.isNotNull).count == 10)
      #expect(workspace.posts.where(link == "photo 2").isEmpty)
      #expect(workspace.posts.where(photo == "same 1").isEmpty)
      #expect(workspace.posts.where(photo == "photo 2").count == 1)
      try workspace.write([Post.self]) { _ in }
      #expect(try workspace.faults(complete: true) == [])
      let explanation = try workspace.posts.explain(where: link == "same 1")
      #expect(explanation.indexes == ["blog__post_v1_0__f20__u1__f4"])
    }
  }

  @Test("A value in a unique index that belongs to another member does not refuse an object")
  func falseRefusal() throws {
    try with("unions") { workspace in
      // There is a link with this address, and no photo.
      try workspace.store([post(100, photo: "same 1")])
      #expect(throws: TransactionError.objectAlreadyExists) {
        try workspace.store([post(101, photo: "same 1")])
      }
      #expect(throws: TransactionError.objectAlreadyExists) {
        try workspace.change(3) { $0.attachment = .photo(Blog.Photo(path: "photo 2")) }
      }
      try workspace.change(3) { $0.attachment = .photo(Blog.Photo(path: "same 5")) }
      #expect(
        workspace.posts.where(Post.attachment.as(Blog.Photo.self).path == "same 5").count == 1)
      #expect(workspace.posts.where(Post.attachment.as(Blog.Link.self).url == "same 5").count == 1)
    }
  }
}
