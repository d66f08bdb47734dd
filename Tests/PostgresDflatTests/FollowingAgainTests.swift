// Reading what other programs have committed fails, and is repeated.

import Dflat
import DflatTestSupport
import Dispatch
import PostgresDflat
import PostgresTestSupport
import Testing

@Suite("Following other programs after errors", .endsSometime)
struct FollowingAgainTests {
  private let support = FollowingTests()

  @Test("A look at the log that fails is repeated, whatever the error is")
  func looks() async throws {
    try await support.withTwo { dflat, other, schema in
      let (log, subscription) = support.watch(dflat.fetch(for: Note.self).all(), in: dflat)
      try waitForListener(schema)
      try await other.write(Note.self) { try $0.insert(Note(key: 1, text: "1")) }
      log.wait()
      // Readers of the log need this table, and writers do not.
      try await withoutTable("_dflat_log_cut", schema, dflat) {
        try await other.write(Note.self) { try $0.insert(Note(key: 2, text: "2")) }
      }
      log.wait()
      #expect(log.events == [["first", "1"], ["first", "1", "2"]])
      subscription.cancel()
    }
  }

  @Test("So is reading the rows of one type that were changed; other types do not wait for it")
  func rows() async throws {
    try await support.withTwo { dflat, other, schema in
      try await dflat.write(Post.self) { try $0.insert(post(1, likes: 0)) }
      let (begun, mayEnd) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
      let log = Log<Int>()
      let notes = dflat.subscribe(fetchedResult: dflat.fetch(for: Note.self).all()) { notes in
        log.add(notes.count)
        if notes.count > 2 { return }
        begun.signal()
        mayEnd.expect("the table to be hidden")
      }
      let counts = Log<Int>()
      let posts = dflat.subscribe(dflat.query(Post.self).where(Post.likes > 0).computing(.count)) {
        counts.add($0)
      }
      counts.wait()
      try waitForListener(schema)
      try await other.write(Note.self) { try $0.insert(Note(key: 1, text: "1")) }
      _ = try await beyondTasks { begun.expect("the first change") }
      // The delivery of the second change waits for the handler.
      try await other.write(Note.self, Post.self) { txn in
        try txn.insert(Note(key: 2, text: "2"))
        try txn.update(where: Post.number == 1) { $0.likes = 1 }
      }
      counts.wait()
      try await withoutTable("note", schema, dflat) { mayEnd.signal() }
      log.wait(2)
      #expect(log.events == [2, 3])
      notes.cancel()
      posts.cancel()
    }
  }

  @Test("After an error that does not pass by itself, the next change brings what was missed")
  func lastingError() async throws {
    try await support.withTwo { dflat, other, schema in
      let (begun, mayEnd) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
      let log = Log<[String?]>()
      let notes = dflat.subscribe(
        fetchedResult: dflat.fetch(for: Note.self).where(Note.key > 0)
      ) { notes in
        log.add(notes.map(\.text))
        if notes.count > 1 { return }
        begun.signal()
        mayEnd.expect("the damage")
      }
      try waitForListener(schema)
      try await other.write(Note.self) { try $0.insert(Note(key: 1, text: "1")) }
      _ = try await beyondTasks { begun.expect("the first change") }
      // The delivery of the second change waits for the handler.
      try await other.write(Note.self) { try $0.insert(Note(key: 2, text: "2")) }
      let plain = try PlainConnection()
      try plain.run(
        """
        SET search_path = "\(schema)"; ALTER TABLE note RENAME TO hidden; \
        CREATE FUNCTION damaged(bytea) RETURNS bytea LANGUAGE plpgsql AS \
        $$ BEGIN RAISE EXCEPTION 'damaged' USING ERRCODE = 'XX001'; END $$; \
        CREATE VIEW note AS SELECT rowid, pk0, damaged(p) AS p FROM hidden
        """)
      let errors = Log<any Error>()
      dflat.errorHandler = { errors.add($0) }
      mayEnd.signal()
      errors.wait()
      #expect((errors.events.first as? StorageError)?.cause == .corruptFile)
      try plain.run("DROP VIEW note; ALTER TABLE hidden RENAME TO note")
      try await other.write(Note.self) { try $0.insert(Note(key: 3, text: "3")) }
      log.wait(2)
      // The listener may have had the second one read alone.
      if log.events.last?.count == 2 { log.wait() }
      #expect(log.events.last == ["1", "2", "3"])
      notes.cancel()
    }
  }

  @Test("A value of the dictionary that a newer program has written keeps no other from following")
  func unknownKind() async throws {
    try await support.withTwo { dflat, other, schema in
      let keys = (0..<12).map { "k\($0)" }
      var theirs = other.dictionary
      for key in keys { theirs[key] = 1 }
      theirs.synchronize()
      #expect(keys.allSatisfy { dflat.dictionary[$0, Int.self] == 1 })
      let errors = Log<any Error>()
      dflat.errorHandler = { errors.add($0) }
      let logs = keys.map { _ in Log<Int>() }
      let subscriptions = zip(keys, logs).map { key, log in
        dflat.dictionary.subscribe(key, of: Int.self) { event in
          if case .updated(let value) = event { log.add(value) }
        }
      }
      try waitForListener(schema)
      try await withoutListener(schema) {
        for key in keys { theirs[key] = 2 }
        theirs.synchronize()
        let plain = try PlainConnection()
        let table = "\"\(schema)\".\"dictitem_v_dflat_internal__\""
        let hex =
          try plain.run("SELECT encode(p, 'hex') FROM \(table) WHERE pk0 = 'k5'")[0][0] ?? ""
        func number(_ place: Int, _ size: Int) -> Int {
          (0..<size).reduce(0) { sum, byte in
            let start = hex.index(hex.startIndex, offsetBy: 2 * (place + byte))
            let end = hex.index(start, offsetBy: 2)
            return sum | (Int(hex[start..<end], radix: 16) ?? 0) << (8 * byte)
          }
        }
        // The kind is the fourth field of the table.
        let object = number(0, 4)
        let fields = object - Int(Int32(truncatingIfNeeded: number(object, 4)))
        let kind = object + number(fields + 10, 2)
        #expect(number(kind, 1) == 1)
        try plain.run("UPDATE \(table) SET p = set_byte(p, \(kind), 99) WHERE pk0 = 'k5'")
      }
      for (key, log) in zip(keys, logs) where key != "k5" {
        try await beyondTasks { log.wait() }
        #expect(log.events == [2])
      }
      try await beyondTasks { errors.wait() }
      #expect((errors.events.first as? StorageError)?.cause == .corruptRow)
      for subscription in subscriptions { subscription.cancel() }
    }
  }

  /// Calls `body` while a table has another name, and waits until an error is reported.
  private func withoutTable(
    _ table: String, _ schema: String, _ dflat: PostgresWorkspace,
    _ body: () async throws -> Void
  ) async throws {
    let errors = Log<any Error>()
    dflat.errorHandler = { errors.add($0) }
    let plain = try PlainConnection()
    try plain.run("ALTER TABLE \"\(schema)\".\(table) RENAME TO hidden")
    try await body()
    errors.wait()
    #expect((errors.events.first as? StorageError)?.cause == .other)
    try plain.run("ALTER TABLE \"\(schema)\".hidden RENAME TO \(table)")
  }
}
