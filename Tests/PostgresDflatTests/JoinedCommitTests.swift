// Transactions that share a commit: what one that joins sees.

import Dflat
import DflatTestSupport
import Dispatch
import PostgresDflat
import PostgresTestSupport
import Testing

@Suite("Joined commits", .endsSometime)
struct JoinedCommitTests {
  /// How a program sees a post while the transaction of the notes is open.
  enum Reading: CaseIterable {
    case byKey, query, snapshot, stream, transaction, observation
  }

  @Test(
    "A transaction joins no commit whose state is older than what its workspace has shown",
    arguments: Reading.allCases)
  func laterState(reading: Reading) async throws {
    try await withSchema { schema in
      let dflat = postgresWorkspace(schema: schema) { $0.sharesCommits = true }
      let other = postgresWorkspace(schema: schema)
      try await dflat.write(Kit.Shelf.self) { try $0.insert(Kit.Shelf(number: 0)) }
      try await dflat.write(Note.self, Post.self) { txn in
        try txn.insert(Note(key: 1, text: "old"))
        try txn.insert(post(1, likes: 0))
      }
      let observed = Log<Int32>()
      let first = try #require(dflat.fetch(for: Post.self).all().first)
      let subscription = dflat.subscribe(object: first) { event in
        if case .updated(let new) = event { observed.add(new.likes) }
      }
      if reading == .observation { try waitForListener(schema) } else { subscription.cancel() }
      // A commit waits for others for some milliseconds only, so one round may be too slow.
      for round in 1...20 as ClosedRange<Int32> {
        // The first one has begun the server's transaction, and waits.
        let (begun, mayEnd) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let ended = Log<Bool>()
        insert(2 * round, dflat, ended) {
          begun.signal()
          mayEnd.expect("the reading")
        }
        begun.expect("the first transaction")
        try await other.write(Note.self, Post.self) { txn in
          try txn.update(Note.self, keys: [1]) { $0.text = "\(round)" }
          try txn.update(where: Post.number == 1) { $0.likes = round }
        }
        if reading == .observation { observed.wait() }
        let likes = try likes(by: reading, dflat) ?? observed.events.last
        #expect(likes == round)
        // The second one follows in the same queue, so it could share the commit.
        insert(2 * round + 1, dflat, ended) {
          #expect(dflat.fetch(for: Note.self).where(Note.key == 1).first?.text == "\(round)")
        }
        mayEnd.signal()
        ended.wait(2)
        #expect(ended.events == [true, true])
      }
      subscription.cancel()
      await dflat.shutdown()
      await other.shutdown()
    }
  }

  @Test("A transaction that joins a commit, and is the first to fill a table, is in order, too")
  func missingTable() async throws {
    for _ in 1...3 {
      try await withSchema { schema in
        let dflat = postgresWorkspace(schema: schema) { $0.sharesCommits = true }
        let other = postgresWorkspace(schema: schema)
        func change(to likes: Int32) async throws {
          try await other.write(Post.self) { txn in
            try txn.update(where: Post.number == 1) { $0.likes = likes }
          }
          // This is behind the update, and before the copy: so is the update.
          try await other.read { snapshot in
            let posts = try snapshot.fetch(for: Post.self).where(Post.number == 1)
            #expect(posts.first?.likes == likes)
            #expect(try snapshot.fetch(for: Note.self).all().isEmpty)
          }
        }
        try await dflat.write(Post.self, Kit.Shelf.self) { txn in
          try txn.insert(post(1, likes: 0))
          try txn.insert(Kit.Shelf(number: 0))
        }
        // The statements are prepared: a commit waits for others for 10 ms only.
        try await change(to: 0)
        let (begun, mayEnd) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let ended = Log<Bool>()
        dflat.performChanges(
          [Kit.Shelf.self, Post.self, Note.self],
          changesHandler: { txn in
            insert(1, txn)
            begun.signal()
            mayEnd.expect("the reading")
          }, completionHandler: { ended.add($0) })
        begun.expect("the first transaction")
        dflat.performChanges(
          [Kit.Shelf.self, Post.self, Note.self],
          changesHandler: { txn in
            insert(2, txn)
            let likes = dflat.fetch(for: Post.self).all().first?.likes ?? -1
            let request = NoteChangeRequest.creationRequest()
            request.key = 1
            request.text = "\(likes)"
            do { try txn.submit(request) } catch { Issue.record(error) }
          }, completionHandler: { ended.add($0) })
        try await change(to: 1)
        mayEnd.signal()
        ended.wait(2)
        // If the second one has joined, their commit may be refused, but not in another order.
        let texts = other.fetch(for: Note.self).all().map(\.text)
        #expect(texts == (ended.events.last == true ? ["1"] : []))
        await dflat.shutdown()
        await other.shutdown()
      }
    }
  }

  /// Queues a transaction that inserts a shelf and then calls `body`.
  private func insert(
    _ number: Int32, _ dflat: PostgresWorkspace, _ ended: Log<Bool>,
    _ body: @escaping @Sendable () -> Void
  ) {
    dflat.performChanges(
      [Kit.Shelf.self, Note.self],
      changesHandler: { txn in
        insert(number, txn)
        body()
      }, completionHandler: { ended.add($0) })
  }

  private func insert(_ number: Int32, _ txn: any TransactionContext) {
    let request = Kit.ShelfChangeRequest.creationRequest()
    request.number = number
    do { try txn.submit(request) } catch { Issue.record(error) }
  }

  /// The likes of the post; nil if that is not asked.
  private func likes(by reading: Reading, _ dflat: PostgresWorkspace) throws -> Int32? {
    let posts = dflat.fetch(for: Post.self)
    switch reading {
    case .byKey: return posts.where(Post.site == "s" && Post.number == 1).first?.likes
    case .query: return posts.where(Post.likes >= 0).first?.likes
    case .snapshot: return dflat.fetchWithinASnapshot { posts.all().first?.likes }
    case .stream:
      for post in try dflat.query(Post.self).stream() { return post.likes }
      return nil
    case .transaction: return try dflat.write(Post.self) { _ in posts.all().first?.likes }
    case .observation: return nil
    }
  }
}
