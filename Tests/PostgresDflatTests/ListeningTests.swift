// The connection that listens for what other programs commit: when it begins, when it is lost, and
// what it makes writers do.

import Dflat
import DflatTestSupport
import Platform
import PostgresDflat
import PostgresTestSupport
import Testing

@Suite("Listening for other programs", .endsSometime)
struct ListeningTests {
  private let support = FollowingTests()

  @Test("A transaction that began before the workspace listened is not passed over either")
  func earlierTransaction() async throws {
    // On a server on which no later transaction ends before the workspace listens.
    let server = try TestCluster.another()
    defer { server.end() }
    let dflat = try await PostgresWorkspace.open(server.url)
    let other = try await PostgresWorkspace.open(server.url)
    try await other.write(Note.self) { try $0.insert(Note(key: 0, text: "first")) }
    let slow = try PlainConnection(server.url)
    try slow.run(
      """
      BEGIN; DELETE FROM dflat.note WHERE pk0 = 0; \
      INSERT INTO dflat._dflat_log (workspace, tbl, ids) SELECT 'slow', 'note', '{1}'
      """)
    let (log, subscription) = support.watch(dflat.fetch(for: Note.self).all(), in: dflat)
    try waitForListener("dflat", at: server.url)
    // The listener has looked which transactions are running.
    let looked = """
      SELECT 1 FROM pg_stat_activity WHERE state = 'idle' AND query LIKE 'SELECT pg_snapshot_xmin%'
      """
    #expect(try eventually { try !PlainConnection(server.url).run(looked).isEmpty })
    // It has found no listener, and notifies none.
    try slow.run("COMMIT")
    log.wait()
    #expect(log.events == [[]])
    subscription.cancel()
    await dflat.shutdown()
    await other.shutdown()
  }

  @Test("A workspace whose connection was lost catches up", arguments: [10_000, 8])
  func catchingUp(logLength: Int) async throws {
    try await support.withTwo({ $0.changeLogLength = logLength }) { dflat, other, schema in
      let reported = Mutex<[any Error]>([])
      dflat.errorHandler = { error in reported.withLock { $0.append(error) } }
      let (log, subscription) = support.watch(dflat.fetch(for: Note.self).all(), in: dflat)
      try waitForListener(schema)
      try await other.write(Note.self) { try $0.insert(Note(key: 1, text: "1")) }
      log.wait()
      try await withoutListener(schema) {
        for key in 2...40 as ClosedRange<UInt64> {
          try await other.write(Note.self) { try $0.insert(Note(key: key, text: "\(key)")) }
        }
        try await other.write(Note.self) { try $0.delete(where: Note.key < 40) }
        #expect(log.events.count == 1)
      }
      log.wait()
      #expect(log.events.last == ["40"], "reported: \(reported.withLock { $0 })")
      let cut = try PlainConnection().run("SELECT n > 0 FROM \"\(schema)\"._dflat_log_cut")
      #expect(cut == [[logLength == 8 ? "t" : "f"]])
      subscription.cancel()
    }
  }

  @Test("A listening connection that was replaced receives later notifications")
  func hearingAgain() async throws {
    // On a server without other transactions it has caught up at once. Over TCP, the end of a
    // connection is one event, and its socket's number is free before the event was handled.
    let port = try TestCluster.freePort()
    let server = try TestCluster.another(settings: ["listen_addresses=127.0.0.1", "port=\(port)"])
    defer { server.end() }
    let url = "postgresql://dflat@127.0.0.1:\(port)/postgres"
    let dflat = try await PostgresWorkspace.open(url)
    let other = try await PostgresWorkspace.open(url)
    try await other.write(Note.self) { try $0.insert(Note(key: 0, text: "0")) }
    let (log, subscription) = support.watch(dflat.fetch(for: Note.self).all(), in: dflat)
    let settled = """
      SELECT pid FROM pg_stat_activity WHERE state = 'idle' AND query LIKE 'SELECT pg_snapshot%'
      """
    let plain = try PlainConnection(url)
    var seen: Set<String?> = [nil]
    for round in 1...3 as ClosedRange<UInt64> {
      var listener: String?
      #expect(
        try eventually {
          listener = try plain.run(settled).first?[0]
          return !seen.contains(listener)
        })
      seen.insert(listener)
      // The first one may be found by the reader of the log as it catches up.
      for key in [2 * round, 2 * round + 1] {
        try await other.write(Note.self) { try $0.insert(Note(key: key, text: "\(key)")) }
        log.wait()
        #expect(log.events.last?.last == "\(key)")
      }
      try plain.run("SELECT pg_terminate_backend(\(listener ?? "0"))")
    }
    subscription.cancel()
    await dflat.shutdown()
    await other.shutdown()
  }

  @Test("A commit notifies once, and only while a workspace listens")
  func notifications() async throws {
    try await support.withTwo { dflat, other, schema in
      // This one only hears: writers do not know of it.
      let plain = try PlainConnection()
      let channel = "dflat \(schema)"
      try plain.run("LISTEN \"\(channel)\"")
      func writeBoth(_ key: UInt64) async throws {
        try await other.write(Note.self, Post.self) { txn in
          try txn.insert(Note(key: key, text: ""))
          try txn.insert(post(Int32(key)))
        }
      }
      try await writeBoth(1)
      #expect(try plain.notifications(on: channel).isEmpty)
      let (log, subscription) = support.watch(dflat.fetch(for: Note.self).all(), in: dflat)
      try waitForListener(schema)
      try await writeBoth(2)
      log.wait()
      var heard: [String] = []
      #expect(
        try eventually {
          heard += try plain.notifications(on: channel)
          return !heard.isEmpty
        })
      #expect(heard.count == 1)
      // What only reads, or builds indexes, does not notify.
      try await other.write(Note.self) { _ = try $0.fetch(for: Note.self).all() }
      #expect(try plain.notifications(on: channel).isEmpty)
      subscription.cancel()
      await dflat.shutdown()
      #expect(try eventually { try listeners(schema) == 0 })
      try await writeBoth(3)
      #expect(try plain.notifications(on: channel).isEmpty)
    }
  }

  /// Loses the notifications, with their connections.
  private final class Deafness: ProxyFilter {
    let lost = Atomic<Int>(0)
    let inTransactions = Atomic<Int>(0)
    private let prepared = PreparedTexts()

    func fromClient(_ message: ProxyMessage, _ connection: ProxyConnection) -> ProxyMessage? {
      if prepared.statement(runBy: message)?.contains("pg_notify") == true {
        inTransactions.add(1, ordering: .relaxed)
      }
      guard message.statements?.contains("pg_notify") == true else { return message }
      lost.add(1, ordering: .relaxed)
      return nil
    }
  }

  @Test("No transaction notifies by itself, and a commit whose notification is lost is found")
  func lostNotification() async throws {
    try await withSchema { schema in
      let deafness = Deafness()
      let proxy = try ServerProxy { deafness }
      defer { proxy.close() }
      let dflat = postgresWorkspace(schema: schema) { $0.listenerPause = .milliseconds(20) }
      let other = postgresWorkspace(schema: schema, through: proxy)
      try await other.write(Note.self) { try $0.insert(Note(key: 0, text: "0")) }
      let (log, subscription) = support.watch(dflat.fetch(for: Note.self).all(), in: dflat)
      try waitForListener(schema)
      for key in 1...3 as ClosedRange<UInt64> {
        try await other.write(Note.self) { try $0.insert(Note(key: key, text: "\(key)")) }
        log.wait()
        #expect(log.events.last?.last == "\(key)")
      }
      await other.shutdown()
      #expect(deafness.lost.load(ordering: .relaxed) > 0)
      #expect(deafness.inTransactions.load(ordering: .relaxed) == 0)
      subscription.cancel()
      await dflat.shutdown()
    }
  }

  @Test("Nothing follows if the settings say so")
  func off() async throws {
    try await support.withTwo({ $0.followsOtherWriters = false }) { dflat, other, schema in
      let (log, subscription) = support.watch(dflat.fetch(for: Note.self).all(), in: dflat)
      try await other.write(Note.self) { try $0.insert(Note(key: 1, text: "1")) }
      try await dflat.write(Note.self) { _ in }
      #expect(try listeners(schema) == 0 && log.events.isEmpty)
      subscription.cancel()
    }
  }
}
