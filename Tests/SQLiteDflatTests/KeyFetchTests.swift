// Fetching one object by its primary key, in every context where a program may do so.

import Dflat
import DflatTestSupport
import Foundation
import SQLiteDflat
import Testing

@Suite("Fetching by key")
struct KeyFetchTests {
  private func found(
    _ workspace: TemporaryFile, _ site: String, _ number: Int32, limit: Limit = .noLimit
  ) -> [Int32] {
    workspace.posts.where(Post.site == site && Post.number == number, limit: limit)
      .map(\.number)
  }

  @Test("A damaged object is left out and reported")
  func damaged() throws {
    try withTemporaryFile { workspace in
      try workspace.store([post(1), post(2)])
      try workspace.tamper("UPDATE blog__post_v1_0 SET p = zeroblob(length(p)) WHERE rowid = 2")
      #expect(found(workspace, "s", 1) == [1])
      #expect(found(workspace, "s", 2).isEmpty)
      let errors = workspace.takeErrors()
      #expect(errors.count == 1)
      #expect(
        errors.allSatisfy {
          $0.cause == .corruptRow && $0.table == "blog__post_v1_0" && $0.rowid == 2
        })
      // Each fetch reports it once, also among many fetches.
      for _ in 0..<100 { _ = found(workspace, "s", 1) + found(workspace, "s", 2) }
      #expect(workspace.takeErrors().count == 100)
    }
  }

  @Test(
    "A result by a key follows that key, whatever key the object's bytes have",
    arguments: ["x'FFFFFFFF'", "x'62626262'"])
  func otherKeyInBytes(bytes: String) throws {
    try withTemporaryFile { workspace in
      let dflat = workspace.dflat
      try dflat.write(Press.Article.self) { try $0.insert(Press.Article(slug: "aaaa", code: 1)) }
      let place = "instr(p, x'61616161')"
      try workspace.tamper(
        "UPDATE press__article_v1_0 SET p = CAST(substr(p, 1, \(place) - 1) || \(bytes) "
          + "|| substr(p, \(place) + 4) AS BLOB)")
      let articles = dflat.fetch(for: Press.Article.self)
      let found = articles.where(Press.Article.slug == "aaaa")
      #expect(found.count == 1)
      let log = Log<Int>()
      let subscription = dflat.subscribe(fetchedResult: found) { log.add($0.count) }
      // This would enter a result whose key was read from the bytes.
      try dflat.write(Press.Article.self) { try $0.insert(Press.Article(slug: "bbbb", code: 2)) }
      #expect(log.events == [])
      subscription.cancel()
    }
  }

  @Test(
    "A change by another program's trigger to other rows of a transaction is visible at once")
  func triggers() throws {
    try withTemporaryFile { workspace in
      try workspace.store((1...3).map { post($0, likes: $0) })
      func likes(_ number: Int32) -> [Int32] {
        workspace.posts.where(Post.site == "s" && Post.number == number).map(\.likes)
      }
      try workspace.change(1) { $0.likes = 10 }
      try workspace.tamper(
        "CREATE TRIGGER copy AFTER UPDATE ON blog__post_v1_0 WHEN new.rowid = 1 BEGIN "
          + "UPDATE blog__post_v1_0 SET p = new.p WHERE rowid = 2; END")
      for step in 11...20 as ClosedRange<Int32> {
        for _ in 0..<60 { #expect(likes(2) == [step == 11 ? 2 : step - 1]) }
        try workspace.change(1) { $0.likes = step }
        #expect(likes(2) == [step] && likes(1) == [step] && likes(3) == [3])
      }
    }
  }

  @Test("A program may fetch in the event handler for a fetch's statement")
  func traced() throws {
    let again = Again()
    try withTemporaryFile(configure: {
      $0.tracesStatements = true
      $0.readerCacheSize = 1 << 20
      $0.onEvent = { event in
        // The connection that holds the read lock of a burst is not traced.
        if case .statement(let sql, _) = event, sql.contains("schema_version") { again.fail() }
        again.call()
      }
    }) { workspace in
      try workspace.store([post(1)])
      again.set {
        if workspace.posts.where(Post.site == "s" && Post.number == 1).isEmpty { again.fail() }
      }
      for _ in 0..<200 { #expect(found(workspace, "s", 1) == [1]) }
      again.set(nil)
      workspace.dflat.shutdown()
      #expect(again.counts.calls >= 200 && again.counts.failures == 0)
    }
  }

  /// An action that runs when a statement has run, but not for the statements of the action itself.
  private final class Again: @unchecked Sendable {
    private let lock = NSRecursiveLock()
    private var body: (() -> Void)?
    private var isInside = false
    private(set) var counts = (calls: 0, failures: 0)

    func set(_ body: (() -> Void)?) { lock.withLock { self.body = body } }

    func fail() { lock.withLock { counts.failures += 1 } }

    func call() {
      lock.withLock {
        guard let body, !isInside else { return }
        isInside = true
        defer { isInside = false }
        counts.calls += 1
        body()
      }
    }
  }
}
