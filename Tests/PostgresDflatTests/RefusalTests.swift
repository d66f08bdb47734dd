// Servers that refuse a connection, do not answer, or have no room.

import Dflat
import DflatTestSupport
import Dispatch
import Foundation
import Platform
import PostgresDflat
import PostgresTestSupport
import Testing

@Suite("A server that refuses")
struct RefusalTests {
  #if os(Linux)
    @Test(
      "Every connection over TCP asks whether the machine is still there, as often as is wished",
      arguments: [nil, 600])
    func keepAlive(seconds: Int?) async throws {
      let port = try TestCluster.freePort()
      let server = try TestCluster.another(
        settings: ["listen_addresses=127.0.0.1", "port=\(port)"])
      defer { server.end() }
      let url = "postgresql://dflat@127.0.0.1:\(port)/postgres"
      let dflat = try await PostgresWorkspace.open(
        seconds.map { url.setting("keepalives_idle", to: "\($0)") } ?? url)
      try await dflat.write(Note.self) { try $0.insert(Note(key: 1)) }
      let live = dflat.subscribe(fetchedResult: dflat.fetch(for: Note.self).all()) { _ in }
      /// The hundredths of a second until the system asks, of each connection; nil for never.
      func waits() throws -> [Int?] {
        let table = try String(contentsOfFile: "/proc/net/tcp", encoding: .utf8)
        let remote =
          "0100007F:" + String(UInt32(port) | 0x10000, radix: 16, uppercase: true).dropFirst()
        return table.split(separator: "\n").compactMap { line in
          let fields = line.split(separator: " ")
          // Only connections that are established.
          guard fields.count > 5, fields[2] == remote, fields[3] == "01" else { return nil }
          // The kind of timer, 02 for this one, and its time.
          return fields[5].hasPrefix("02:") ? Int(fields[5].dropFirst(3), radix: 16) : .some(nil)
        }
      }
      let expected = seconds.map { 100 * $0 - 30_000...100 * $0 } ?? 0...3000
      var waiting: [Int?] = []
      let isAsking = try eventually {
        waiting = try waits()
        return waiting.count >= 3 && waiting.allSatisfy { $0.map(expected.contains) ?? false }
      }
      #expect(isAsking, "\(waiting)")
      live.cancel()
      await dflat.shutdown()
    }
  #endif

  @Test("An object that the target of a copy cannot store is named")
  func copies() async throws {
    try await withSchema { first in
      try await withSchema { second in
        let (source, target) = (postgresWorkspace(schema: first), postgresWorkspace(schema: second))
        try await target.write(Post.self) { try $0.insert(post(1)) }
        try await target.write(Post.self) { try $0.delete(Post.self, keys: [post(1).id]) }
        try PlainConnection().run(
          "ALTER TABLE \"\(second)\".\"\(Post._schema.table)\" ADD CHECK (pk1 <> 9)")
        try await source.write(Post.self) {
          try $0.insert(contentsOf: [post(1), post(9), post(2)])
        }
        let nine = try #require(source.find(Post.self, post(9).id))
        let error = await #expect(throws: CopyError.self) {
          try await source.copy(Post.self, to: target)
        }
        guard case .refused(Post._schema.table, nine._rowid, let reason)? = error else {
          Issue.record("another error: \(error as Any)")
          return
        }
        #expect((reason.underlying as? PostgresError)?.state == "23514")
        try await source.write(Post.self) { try $0.delete(Post.self, keys: [nine.id]) }
        try await source.copy(Post.self, to: target)
        #expect(target.fetch(for: Post.self).all().map(\.number) == [1, 2])
        await source.shutdown()
        await target.shutdown()
      }
    }
  }

  // MARK: Passwords

  /// How often a server has refused a password.
  private func refusals(_ server: TestCluster) throws -> Int {
    let log = try String(contentsOfFile: "\(server.directory ?? "")/server.log", encoding: .utf8)
    return log.split(separator: "\n").count {
      $0.contains("password authentication failed for user \"guest\"")
    }
  }

  /// A server on which the role `guest` needs a password.
  private func serverWithPasswords() throws -> TestCluster {
    let server = try TestCluster.another()
    let plain = try PlainConnection(server.url)
    try plain.run("CREATE ROLE guest LOGIN SUPERUSER PASSWORD 'right'")
    let rules = "\(server.directory ?? "")/data/pg_hba.conf"
    try "local all guest scram-sha-256\nlocal all all trust\n".write(
      toFile: rules, atomically: false, encoding: .utf8)
    try plain.run("SELECT pg_reload_conf()")
    // The rules are read a moment later.
    let active = "SELECT 1 FROM pg_hba_file_rules WHERE user_name = '{guest}'"
    #expect(try plain.run(active) == [["1"]])
    let guest = server.url.replacing("user=dflat", with: "user=guest")
    #expect(eventually { (try? PlainConnection(guest)) == nil })
    return server
  }

  @Test("A password that is missing or wrong is reported at once, and tried once")
  func authentication() async throws {
    let server = try serverWithPasswords()
    defer { server.end() }
    let guest = server.url.replacing("user=dflat", with: "user=guest")
    let before = try refusals(server)
    let missing = await #expect(throws: StorageError.self) {
      _ = try await PostgresWorkspace.open(guest)
    }
    #expect(missing?.cause == .cannotOpen)
    #expect(missing?.recoverySuggestion?.contains("PGPASSWORD") == true, "\(missing as Any)")
    let wrong = await #expect(throws: StorageError.self) {
      _ = try await PostgresWorkspace.open(guest + "&password=wrong")
    }
    #expect(wrong?.cause == .cannotOpen)
    #expect(wrong?.recoverySuggestion?.contains("password") == true, "\(wrong as Any)")
    #expect(wrong?.message.contains("authentication failed") == true)
    // The client itself notices that it has no password.
    #expect(try refusals(server) == before + 1)
  }

  @Test("A password that has become wrong is no storm of tries, and the new one helps")
  func changedPassword() async throws {
    let server = try serverWithPasswords()
    defer { server.end() }
    let guest = server.url.replacing("user=dflat", with: "user=guest") + "&password=right"
    var configuration = PostgresWorkspace.Configuration()
    // So long a server that does not answer is tried again.
    configuration.reconnectTimeout = .seconds(120)
    let dflat = try await PostgresWorkspace.open(guest, configuration: configuration)
    let errors = Atomic<Int>(0)
    dflat.errorHandler = { _ in errors.add(1, ordering: .relaxed) }
    try await increment(1, in: dflat)
    let subscription = dflat.subscribe(fetchedResult: dflat.fetch(for: Note.self).all()) { _ in }
    let plain = try PlainConnection(server.url)
    let before = try refusals(server)
    let start = ContinuousClock.now
    try plain.run("ALTER ROLE guest PASSWORD 'other'")
    try plain.run(
      "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE usename = 'guest'")
    let (time, error) = try await timeToFail {
      try dflat.write(Note.self, attempts: 1000) { try $0.upsert(Note(key: 1)) }
    }
    #expect(error?.cause == .cannotOpen, "\(error as Any)")
    #expect(time < .seconds(60))
    #expect(dflat.fetch(for: Note.self).all().isEmpty)
    #expect(errors.load(ordering: .relaxed) > 0)
    #expect(try refusals(server) - before <= mostTries(within: ContinuousClock.now - start))
    try plain.run("ALTER ROLE guest PASSWORD 'right'")
    try await increment(1, in: dflat)
    #expect(dflat.fetch(for: Note.self).all().first?.text?.count == 2)
    subscription.cancel()
    await dflat.shutdown()
  }

  // MARK: Versions

  /// Says that the server has another version.
  private struct OldServer: ProxyFilter {
    func fromClient(_ message: ProxyMessage, _ connection: ProxyConnection) -> ProxyMessage? {
      message
    }

    func fromServer(_ message: ProxyMessage) -> ProxyMessage? {
      let name = Array("server_version".utf8) + [0]
      guard message.type == UInt8(ascii: "S"), message.body.starts(with: name) else {
        return message
      }
      var message = message
      message.body = name + Array("12.22".utf8) + [0]
      return message
    }
  }

  @Test("A server that is too old is refused by its version, and nothing is made there")
  func tooOld() async throws {
    let connections = Mutex(0)
    let proxy = try ServerProxy {
      connections.withLock { $0 += 1 }
      return OldServer()
    }
    defer { proxy.close() }
    try await withSchema { schema in
      var configuration = PostgresWorkspace.Configuration()
      configuration.schema = schema
      let error = await #expect(throws: StorageError.self) {
        _ = try await PostgresWorkspace.open(proxy.url, configuration: configuration)
      }
      #expect(error?.cause == .cannotOpen)
      #expect(error?.message == "the server is PostgreSQL 12, and Dflat needs 13 or newer")
      #expect(connections.withLock { $0 } == 1)
      let made = try PlainConnection().run(
        "SELECT 1 FROM pg_namespace WHERE nspname = '\(schema)'")
      #expect(made == [])
    }
  }

  // MARK: Timeouts

  /// Answers nothing until it is let go.
  private struct Silence: ProxyFilter {
    let end: DispatchSemaphore

    func fromClient(_ message: ProxyMessage, _ connection: ProxyConnection) -> ProxyMessage? {
      end.wait()
      end.signal()
      return nil
    }
  }

  @Test("A server that does not answer is given up after the connection's timeout")
  func connectTimeout() async throws {
    let end = DispatchSemaphore(value: 0)
    let proxy = try ServerProxy { Silence(end: end) }
    defer {
      proxy.close()
      end.signal()
    }
    var configuration = PostgresWorkspace.Configuration()
    configuration.connectTimeout = .seconds(2)
    let dflat = PostgresWorkspace(proxy.url, configuration: configuration)
    // Without a timeout this would never end.
    let (time, error) = try await timeToFail {
      try dflat.read { _ = try $0.fetch(for: Note.self).all() }
    }
    #expect(error?.cause == .cannotOpen)
    #expect(error?.message.contains("timeout") == true, "\(error as Any)")
    #expect(time > .seconds(1) && time < .seconds(60))
    await dflat.shutdown()
  }

  /// How long a call takes to fail, on a thread of its own: waiting for a thread does not count.
  private func timeToFail(
    _ call: @escaping @Sendable () throws -> Void
  ) async throws -> (Duration, StorageError?) {
    try await beyondTasks {
      let start = ContinuousClock.now
      do { try call() } catch let error as StorageError {
        return (ContinuousClock.now - start, error)
      }
      return (ContinuousClock.now - start, nil)
    }
  }

  enum Timeout: CaseIterable {
    case ofStatement, ofLock
  }

  @Test(
    "A statement that takes too long is an error, and nothing more", arguments: Timeout.allCases)
  func statementTimeout(timeout: Timeout) async throws {
    try await withSchema { schema in
      let dflat = postgresWorkspace(schema: schema) {
        switch timeout {
        case .ofStatement: $0.statementTimeout = .milliseconds(300)
        case .ofLock: $0.lockTimeout = .milliseconds(300)
        }
      }
      try await increment(1, in: dflat)
      let plain = try PlainConnection()
      try plain.run("BEGIN; LOCK TABLE \"\(schema)\".note IN ACCESS EXCLUSIVE MODE")
      let reading = await #expect(throws: StorageError.self) {
        try await dflat.read { try $0.fetch(for: Note.self).where(Note.text != "").count }
      }
      #expect(reading?.cause == .busy, "\(reading as Any)")
      let reason = timeout == .ofLock ? "lock timeout" : "statement timeout"
      #expect(reading?.message.contains(reason) == true, "\(reading as Any)")
      let writing = await #expect(throws: StorageError.self) { try await increment(1, in: dflat) }
      #expect(writing?.cause == .busy, "\(writing as Any)")
      try plain.run("ROLLBACK")
      // The connections go on.
      try await increment(1, in: dflat)
      #expect(dflat.fetch(for: Note.self).all().first?.text?.count == 2)
      await dflat.shutdown()
    }
  }

  // MARK: A full disk

  @Test(
    "A full disk on the server refuses what has no room, and keeps everything else",
    .enabled(if: SmallDisk.isPossible, "only root may mount a file system, and not everywhere"))
  func fullDisk() async throws {
    let disk = try #require(SmallDisk(megabytes: 12))
    defer { disk.remove() }
    let server = try TestCluster.another()
    defer { server.end() }
    try disk.take(tablesOf: server)
    let dflat = try await PostgresWorkspace.open(server.url)
    try await increment(1, in: dflat)
    // Bytes that the server cannot make smaller.
    @Sendable func note(_ key: UInt64) -> Note {
      Note(
        key: key,
        text: (0..<500).map { _ in String(UInt64.random(in: 0...UInt64.max), radix: 36) }.joined())
    }
    var stored = 0
    let error = await #expect(throws: StorageError.self) {
      for round in 1...100 as ClosedRange<UInt64> {
        try await dflat.write(Note.self) { txn in
          for number in 0..<100 as Range<UInt64> { try txn.insert(note(1000 * round + number)) }
        }
        stored += 100
      }
    }
    #expect(error?.cause == .diskFull, "\(error as Any)")
    #expect(stored > 0)
    // Whole transactions only, and the connections go on.
    #expect(dflat.fetch(for: Note.self).where(Note.key >= 1000).count == stored)
    #expect(disk.grow(toMegabytes: 64))
    try await dflat.write(Note.self) { try $0.insert(note(2)) }
    try await increment(1, in: dflat)
    #expect(dflat.fetch(for: Note.self).where(Note.key == 1).first?.text?.count == 2)
    await dflat.shutdown()
  }
}
