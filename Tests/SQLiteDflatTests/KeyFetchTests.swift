// Fetching one object by its primary key, wherever a program may do so.

import Dflat
import DflatTestSupport
import Foundation
import SQLiteDflat
import Testing

@Suite("Fetching by key")
struct KeyFetchTests {
  private func found(
    _ workspace: TemporaryWorkspace, _ site: String, _ number: Int32, limit: Limit = .noLimit
  ) -> [Int32] {
    workspace.posts.where(Post.site == site && Post.number == number, limit: limit)
      .map(\.number)
  }

  @Test("Keys are compared byte by byte, short and long, empty and not ASCII")
  func keys() throws {
    try withTemporaryWorkspace { workspace in
      let sites = [
        "", "s", "caf\u{E9}", "cafe\u{301}", String(repeating: "long ", count: 20), "a\0b",
      ]
      try workspace.store(sites.enumerated().map { Post(site: $1, number: Int32($0)) })
      for (number, site) in sites.enumerated() {
        #expect(found(workspace, site, Int32(number)) == [Int32(number)])
        #expect(found(workspace, site, 100).isEmpty)
      }
      #expect(found(workspace, "caf\u{E9}", 3).isEmpty)
      #expect(workspace.takeErrors().isEmpty)
    }
  }

  @Test("It counts objects by the limit, and minds the rest of a condition")
  func limits() throws {
    try withTemporaryWorkspace { workspace in
      try workspace.store([post(1, likes: 5)])
      #expect(found(workspace, "s", 1, limit: .limit(1)) == [1])
      #expect(found(workspace, "s", 1, limit: .limit(0)).isEmpty)
      #expect(found(workspace, "s", 1, limit: .limit(-1)).isEmpty)
      let isKey = Post.site == "s" && Post.number == 1
      #expect(workspace.posts.where(isKey && Post.likes == 5).count == 1)
      #expect(workspace.posts.where(isKey && Post.likes == 6).isEmpty)
      #expect(workspace.posts.where(isKey && Post.number == 2).isEmpty)
    }
  }

  @Test("It sees nothing without a file, a snapshot's state, a transaction's own changes")
  func states() throws {
    try withTemporaryWorkspace { workspace in
      #expect(found(workspace, "s", 1).isEmpty)
      try workspace.write([Post.self]) { _ in }
      #expect(found(workspace, "s", 1).isEmpty)
      try workspace.write([Post.self]) { txn in
        _ = try txn.insert(Blog.PostChangeRequest.creationRequest(post(1)))
        #expect(found(workspace, "s", 1) == [1])
      }
      let stored = workspace.dflat.fetchWithinASnapshot {
        #expect(found(workspace, "s", 1) == [1])
        let stored = Result { try workspace.store([post(2)]) }
        #expect(found(workspace, "s", 2).isEmpty)
        return stored
      }
      _ = try stored.get()
      #expect(found(workspace, "s", 2) == [2])
      #expect(workspace.takeErrors().isEmpty)
    }
  }

  @Test("A damaged object is left out and reported")
  func damaged() throws {
    try withTemporaryWorkspace { workspace in
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
      // Each fetch tells it once, also in the midst of many.
      for _ in 0..<100 { _ = found(workspace, "s", 1) + found(workspace, "s", 2) }
      #expect(workspace.takeErrors().count == 100)
    }
  }

  @Test("In the midst of many fetches, each sees what was changed before it, by whomever")
  func manyFetches() throws {
    try withSeed { random in
      try withTemporaryWorkspace { workspace in
        let other = workspace.secondWorkspace()
        var likes: [Int32: Int32] = [:]
        func check(_ number: Int32) {
          let found = workspace.posts.where(Post.site == "s" && Post.number == number)
          #expect(found.map(\.likes) == likes[number].map { [$0] } ?? [], "post \(number)")
        }
        for step in 1...(isLongRun ? 2000 : 150) as ClosedRange<Int32> {
          for _ in 0..<random.pick([1, 20, 60]) { check(Int32.random(in: 1...20, using: &random)) }
          let number = Int32.random(in: 1...20, using: &random)
          let writer = random.oneIn(5) ? other : workspace
          if likes[number] == nil {
            try writer.store([post(number, likes: step)])
            likes[number] = step
          } else if random.oneIn(4) {
            try writer.remove([number])
            likes[number] = nil
          } else if let free = (1...20).first(where: { likes[$0] == nil }), random.oneIn(4) {
            try writer.change(number) { $0.number = free }
            likes[free] = likes.removeValue(forKey: number)
            check(free)
          } else {
            try writer.change(number) { $0.likes = step }
            likes[number] = step
          }
          check(number)
        }
        for number in 1...20 as ClosedRange<Int32> { check(number) }
        other.dflat.shutdown()
        #expect(workspace.takeErrors().isEmpty && other.takeErrors().isEmpty)
      }
    }
  }

  @Test(
    "What a trigger that others have made changes beside a transaction's own rows is seen at once")
  func triggers() throws {
    try withTemporaryWorkspace { workspace in
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

  @Test("A program may fetch while it is told of a fetch's statement")
  func traced() throws {
    let again = Again()
    try withTemporaryWorkspace(configure: {
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

  /// Something that is done when a statement has run, and not again for the statements of that.
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
