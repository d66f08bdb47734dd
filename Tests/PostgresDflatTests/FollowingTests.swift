// What is observed follows what other programs commit.

import Dflat
import DflatTestSupport
import Foundation
import Platform
import PostgresDflat
import PostgresTestSupport
import Testing

@Suite("Following other programs", .endsSometime)
struct FollowingTests {
  @Test("Each commit of another program is delivered as the difference that it makes, in order")
  func differences() async throws {
    try await withTwo { dflat, other, schema in
      let log = Log<[String]>()
      let all = dflat.fetch(for: Note.self).all()
      let subscription = dflat.subscribe(changesOf: all) { change in
        log.add(
          change.removals.map { "-\($0.element.text ?? "")" }
            + change.insertions.map { "+\($0.element.text ?? "")" }
            + change.updates.map { "~\($0.element.text ?? "")" })
      }
      try waitForListener(schema)
      try await other.write(Note.self) { try $0.insert(Note(key: 1, text: "second")) }
      log.wait()
      try await other.write(Note.self) { txn in
        try txn.update(where: Note.key == 1) { $0.text = "changed" }
      }
      log.wait()
      try await other.write(Note.self) { txn in
        try txn.delete(where: Note.key == 0)
        try txn.insert(Note(key: 2, text: "third"))
      }
      log.wait()
      #expect(log.events == [["+second"], ["~changed"], ["-first", "+third"]])
      subscription.cancel()
    }
  }

  @Test("The keys of changed objects are reported; after a deletion elsewhere any may have changed")
  func changedKeys() async throws {
    try await withTwo { dflat, other, schema in
      let log = Log<[UInt64]?>()
      let subscription = dflat.subscribe(changedKeysOf: Note.self) { log.add($0) }
      log.wait()
      try waitForListener(schema)
      // When the listener begins, any object may have changed.
      var key: UInt64 = 0
      repeat {
        key += 1
        try await other.write(Note.self) { [key] in try $0.insert(Note(key: key, text: "next")) }
        log.wait()
      } while log.events.last != [key] && key < 100
      let known = log.events
      #expect(known.last == [key])
      // The other program has the row no more, and this one has never held it.
      try await other.write(Note.self) { [key] in try $0.delete(where: Note.key == key) }
      #expect(eventually { log.events.count > known.count })
      #expect(log.events == known + [nil])
      subscription.cancel()
    }
  }

  @Test("Objects, aggregates and limited results follow, and what is not concerned is not told")
  func kinds() async throws {
    try await withTwo { dflat, other, schema in
      try await other.write(Post.self) { txn in
        for number in 1...40 as ClosedRange<Int32> {
          try txn.insert(post(number, likes: number))
        }
      }
      let posts = dflat.fetch(for: Post.self)
      let top = Log<[Int32]>()
      let few = Log<[Int32]>()
      let object = Log<Int32?>()
      let deleted = Log<Int32?>()
      let count = Log<Int>()
      func watch(_ result: FetchedResult<Post>, _ log: Log<[Int32]>) -> any WorkspaceSubscription {
        dflat.subscribe(fetchedResult: result) { log.add($0.map(\.number)) }
      }
      func watch(_ number: Int32, _ log: Log<Int32?>) throws -> any WorkspaceSubscription {
        let object = try #require(posts.where(Post.likes == number).first)
        return dflat.subscribe(object: object) { event in
          if case .updated(let post) = event { log.add(post.likes) } else { log.add(nil) }
        }
      }
      let subscriptions = [
        watch(
          posts.where(Post.likes >= 0, limit: .limit(2), orderBy: [Post.likes.descending]), top),
        watch(posts.where(Post.likes < 0), few), try watch(7, object), try watch(8, deleted),
        dflat.subscribe(dflat.query(Post.self).where(Post.likes > 10).computing(.count)) {
          count.add($0)
        },
      ]
      count.wait()
      try waitForListener(schema)
      try await change(7, in: other) { $0.likes = 100 }
      top.wait()
      object.wait()
      count.wait()
      #expect(top.events == [[7, 40]] && object.events == [100] && count.events == [30, 31])
      try await other.write(Post.self) { try $0.delete(where: Post.likes == 8) }
      deleted.wait()
      #expect(deleted.events == [nil])
      // So many leave the result that rows from behind its limit are needed.
      try await other.write(Post.self) { try $0.delete(where: Post.likes >= 20) }
      top.wait()
      count.wait()
      #expect(top.events.last == [19, 18] && count.events.last == 9 && few.events.isEmpty)
      #expect(object.events == [100, nil])
      for subscription in subscriptions { subscription.cancel() }
    }
  }

  @Test("Live objects, sets of keys and types in memory follow")
  func held() async throws {
    try await withTwo { dflat, other, schema in
      try await other.write(Post.self) { txn in
        for number in 1...5 as ClosedRange<Int32> { try txn.insert(post(number, likes: number)) }
      }
      let posts = dflat.uniqued(Post.self, on: nil)
      let objects = posts.objects(dflat.fetch(for: Post.self).all())
      let keys = try await dflat.keySet(of: dflat.query(Post.self).where(Post.likes > 2))
      #expect(keys.count == 3)
      try waitForListener(schema)
      try await change(1, in: other) { $0.likes = 10 }
      #expect(eventually { objects[0].likes == 10 && keys.count == 4 })
      try await other.write(Post.self) { try $0.delete(where: Post.likes == 5) }
      #expect(eventually { objects[4].isDeleted && keys.count == 3 })
      #expect(objects[..<4].map(\.likes) == [10, 2, 3, 4])
    }
  }

  @Test("An own transaction may change what another program has changed unnoticed before")
  func lagging() async throws {
    try await withTwo { dflat, other, schema in
      try await other.write(Post.self) { txn in
        for number in 1...20 as ClosedRange<Int32> { try txn.insert(post(number, likes: number)) }
      }
      let posts = dflat.fetch(for: Post.self)
      let top = Log<[Int32]>()
      let many = Log<[Int32]>()
      let subscriptions = [
        dflat.subscribe(
          fetchedResult: posts.where(
            Post.likes >= 0, limit: .limit(3), orderBy: [Post.likes.descending])
        ) { top.add($0.map(\.number)) },
        dflat.subscribe(
          fetchedResult: posts.where(Post.likes > 15, orderBy: [Post.likes.ascending])
        ) { many.add($0.map(\.number)) },
      ]
      try waitForListener(schema)
      try await change(20, in: other) { $0.likes = 21 }
      top.wait()
      many.wait()
      try await withoutListener(schema) {
        try await change(19, in: other) { $0.likes = 1 }
        // The transaction has not found it in either result, which have it still.
        try await change(19, in: dflat) { $0.likes = 100 }
        #expect(top.events.last == [19, 20, 18] && many.events.last == [16, 17, 18, 20, 19])
        try await change(17, in: other) { $0.likes = 200 }
        try await change(17, in: dflat) { $0.likes = 0 }
        #expect(top.events.last == [19, 20, 18] && many.events.last == [16, 18, 20, 19])
      }
      try await change(16, in: other) { $0.likes = 300 }
      #expect(eventually { top.events.last == [16, 19, 20] }, "\(top.events)")
      #expect(eventually { many.events.last == [18, 20, 19, 16] }, "\(many.events)")
      for subscription in subscriptions { subscription.cancel() }
    }
  }

  @Test("What follows makes no transaction of another program fail")
  func noConflicts() async throws {
    try await withTwo { dflat, other, schema in
      let third = postgresWorkspace(schema: schema)
      try await other.write(Note.self) { try $0.insert(Note(key: 1, text: "")) }
      try await third.write(Post.self) { try $0.insert(post(0)) }
      let (log, subscription) = watch(
        dflat.fetch(for: Note.self).where(Note.key == 1), in: dflat)
      try waitForListener(schema)
      for round in 1...5 {
        let runs = Mutex(0)
        let hasRead = DispatchSemaphore(value: 0)
        let mayCommit = DispatchSemaphore(value: 0)
        // It has not seen the change of the note, and is before it in the order of transactions. A
        // serializable reader that has seen the change, and not what this writes, would be refused,
        // or have this refused.
        async let early: Void = third.write(Note.self, Post.self, attempts: 1) { txn in
          runs.withLock { $0 += 1 }
          try txn.insert(post(Int32(round)))
          _ = try txn.fetch(for: Note.self).where(Note.key == 1).first
          hasRead.signal()
          mayCommit.expect("the delivery")
        }
        // The task needs a thread of the pool, whose other threads may block for other tests.
        try await beyondTasks { hasRead.waitForTurn() }
        try await other.write(Note.self) { txn in
          try txn.update(where: Note.key == 1) { $0.text = "\(round)" }
        }
        try await beyondTasks { log.wait() }
        mayCommit.signal()
        try await early
        #expect(runs.withLock { $0 } == 1)
      }
      #expect(log.events == (1...5).map { ["\($0)"] })
      subscription.cancel()
      await third.shutdown()
    }
  }

  @Test("A transaction that commits late is not passed over")
  func horizon() async throws {
    try await withTwo { dflat, other, schema in
      let (log, subscription) = watch(dflat.fetch(for: Note.self).all(), in: dflat)
      try waitForListener(schema)
      let slow = try PlainConnection()
      // Its entry has a lower number, and its transaction began earlier, than those that follow.
      try slow.run(
        """
        BEGIN; SELECT pg_current_xact_id(); DELETE FROM "\(schema)".note WHERE pk0 = 0; \
        INSERT INTO "\(schema)"._dflat_log (workspace, tbl, ids) SELECT 'slow', 'note', '{1}'
        """)
      for key in 1...3 as ClosedRange<UInt64> {
        try await other.write(Note.self) { try $0.insert(Note(key: key, text: "\(key)")) }
        log.wait()
      }
      #expect(log.events.last == ["first", "1", "2", "3"])
      try slow.run("NOTIFY \"dflat \(schema)\", 'slow'; COMMIT")
      log.wait()
      #expect(log.events.last == ["1", "2", "3"])
      subscription.cancel()
    }
  }

  @Test(
    "The log keeps a limited number of entries, whichever program commits",
    arguments: [false, true])
  func bounds(readsFirst: Bool) async throws {
    try await withTwo({ $0.changeLogLength = 12 }) { dflat, other, schema in
      let plain = try PlainConnection()
      @Sendable func insert(_ key: UInt64, _ txn: WriteContext) throws {
        // Then the connection that writes is one of those for reading.
        if readsFirst { #expect(try txn.fetch(for: Note.self).where(Note.key == key).isEmpty) }
        try txn.insert(Note(key: key, text: ""))
      }
      for round in 1...40 as ClosedRange<UInt64> {
        try await dflat.write(Note.self) { try insert(2 * round, $0) }
        try await other.write(Note.self) { try insert(2 * round + 1, $0) }
        let rows = try plain.run("SELECT count(*) FROM \"\(schema)\"._dflat_log")
        #expect(Int(rows[0][0] ?? "") ?? .max <= 12 + 6)
      }
    }
  }

  @Test("Watchers of dictionaries, and what dictionaries remember, follow")
  func dictionary() async throws {
    try await withTwo { dflat, other, schema in
      var theirs = other.dictionary
      var named = other.dictionary(namespace: "named")
      theirs["a"] = "one"
      theirs["list"] = [1, 2]
      theirs.synchronize()
      #expect(dflat.dictionary["list", [Int].self] == [1, 2])
      let log = Log<String?>()
      let namedLog = Log<Int?>()
      @Sendable func text(_ event: SubscribedDictionaryValue<String>) -> String? {
        switch event {
        case .initial(let value): value
        case .updated(let value): value
        case .deleted: nil
        }
      }
      let subscription = dflat.dictionary.subscribe("a", of: String.self) { log.add(text($0)) }
      let other2 = dflat.dictionary(namespace: "named").subscribe("a", of: Int.self) { event in
        if case .updated(let value) = event { namedLog.add(value) }
      }
      try waitForListener(schema)
      theirs["a"] = "two"
      theirs["list"] = [3]
      theirs.synchronize()
      log.wait(2)
      #expect(eventually { dflat.dictionary["list", [Int].self] == [3] })
      theirs.removeValue(forKey: "a")
      theirs.synchronize()
      log.wait()
      // In a transaction, and in another namespace.
      try await other.write { txn in
        var dictionary = txn.dictionary
        dictionary["a"] = "three"
      }
      log.wait()
      named["a"] = 5
      named.synchronize()
      namedLog.wait()
      // Own values are told once, and stay.
      var mine = dflat.dictionary
      mine["a"] = "mine"
      mine.synchronize()
      log.wait()
      #expect(log.events == ["one", "two", nil, "three", "mine"] && namedLog.events == [5])
      #expect(dflat.dictionary["a", String.self] == "mine")
      subscription.cancel()
      other2.cancel()
    }
  }
}
