// Connections that die, commits whose answer is lost, and servers that cannot be used.

import Dflat
import DflatTestSupport
import Foundation
import Platform
import PostgresDflat
import PostgresTestSupport
import Testing

@Suite("A server that fails")
struct FaultTests {
  @Test("Connections that the server ends again and again lose nothing and double nothing")
  func terminated() async throws {
    try await withSchema { schema in
      let dflat = postgresWorkspace(schema: schema, application: schema) {
        $0.readerLimit = 3
      }
      try await dflat.write(Note.self) { try $0.insert(Note(key: 0)) }
      let isDone = Atomic<Bool>(false)
      let killed = Atomic<Int>(0)
      let finished = Atomic<Int>(0)
      let killer = Task.detached {
        // On a busy machine a connection takes longer to make. As long as no transaction succeeds,
        // the pauses become longer.
        var (seen, kills) = (0, 0)
        let plain = try PlainConnection()
        let sessions = """
          SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity \
          WHERE application_name = '\(schema)'
          """
        while !isDone.load(ordering: .relaxed) {
          killed.add(Int(try plain.run(sessions)[0][0] ?? "") ?? 0, ordering: .relaxed)
          let now = finished.load(ordering: .relaxed)
          (seen, kills) = (now, now == seen ? kills + 1 : 0)
          try await Task.sleep(for: .milliseconds(Int.random(in: 1...15) * (1 + kills / 10)))
        }
      }
      for number in 1...60 as ClosedRange<UInt64> {
        try await increment(0, in: dflat, attempts: 1000)
        finished.store(Int(number), ordering: .relaxed)
        _ = dflat.fetch(for: Note.self).where(Note.text != "nothing").count
        if number.isMultiple(of: 10) {
          // Not lost, and not doubled, at any time.
          #expect(await length(in: dflat) == Int(number))
        }
      }
      isDone.store(true, ordering: .relaxed)
      try await killer.value
      #expect(killed.load(ordering: .relaxed) > 10)
      #expect(dflat.fetch(for: Note.self).all()[0].text?.count == 60)
      await dflat.shutdown()
    }
  }

  @Test("A transaction whose first question finds a dead connection asks on another one")
  func deadConnection() async throws {
    try await withSchema { schema in
      let dflat = postgresWorkspace(schema: schema, application: schema)
      try await dflat.write(Note.self) { try $0.insert(Note(key: 0)) }
      try await increment(0, in: dflat)
      let plain = try PlainConnection()
      let ended = try plain.run(
        """
        SELECT count(pg_terminate_backend(pid, 60000)) FROM pg_stat_activity \
        WHERE application_name = '\(schema)'
        """)
      #expect(try #require(ended.first?.first ?? nil) != "0")
      let runs = Atomic<Int>(0)
      try await dflat.write(Note.self) { txn in
        runs.add(1, ordering: .relaxed)
        let note = try #require(try txn.fetch(for: Note.self).where(Note.key == 0).first)
        try txn.update(note) { $0.text = ($0.text ?? "") + "x" }
      }
      #expect(runs.load(ordering: .relaxed) == 1)
      #expect(await length(in: dflat) == 2)
      await dflat.shutdown()
    }
  }

  /// The length of the only note's text. A read in one state is not repeated by itself.
  private func length(in dflat: PostgresWorkspace) async -> Int? {
    while true {
      do {
        return try await dflat.read { try $0.fetch(for: Note.self).all()[0].text?.count }
      } catch let error as StorageError where error.cause == .busy {
        continue
      } catch {
        return nil
      }
    }
  }

  enum Loss: CaseIterable {
    /// The server commits, and its answer does not arrive.
    case ofAnswer
    /// The server commits, and its answer does not arrive; nor do the first look-ups of what it has
    /// done.
    case ofAnswerAndLookUps
    /// The same, and no look-up arrives until `CommitProxy.findLookUps`.
    case ofAnswerAndAllLookUps
    /// The statement does not arrive.
    case ofStatement
    /// The connection dies, and the server gets the statement later.
    case delay
  }

  @Test(
    "A commit whose answer is lost is never guessed",
    arguments: Loss.allCases.filter { $0 != .ofAnswerAndAllLookUps })
  func lostCommit(loss: Loss) async throws {
    try await withSchema { schema in
      let proxy = try CommitProxy()
      defer { proxy.close() }
      let dflat = PostgresWorkspace(
        proxy.url,
        configuration: {
          var configuration = PostgresWorkspace.Configuration()
          configuration.schema = schema
          return configuration
        }())
      try await increment(1, in: dflat)
      let isCommitted = loss == .ofAnswer || loss == .ofAnswerAndLookUps
      for round in 2...6 {
        let runs = Mutex(0)
        proxy.loseNextCommit(loss)
        try await dflat.write(Note.self) { txn in
          runs.withLock { $0 += 1 }
          let old = try txn.fetch(for: Note.self).where(Note.key == 1).first
          try txn.upsert(Note(key: 1, text: (old?.text ?? "") + "x"))
        }
        // What was committed did not run again, and everything else did.
        #expect(runs.withLock { $0 } == (isCommitted ? 1 : 2))
        #expect(dflat.fetch(for: Note.self).all()[0].text?.count == round)
      }
      #expect(proxy.lostCommits == 5)
      #expect(proxy.lostLookUps == (loss == .ofAnswerAndLookUps ? 30 : 0))
      await dflat.shutdown()
      let text = try PlainConnection().run("SELECT count(*) FROM \"\(schema)\".note")
      #expect(text == [["1"]])
    }
  }

  enum Ending: Int32, CaseIterable {
    /// The server ends all connections, and writes what it has.
    case restart = 2
    /// All of its processes end at once.
    case crash = 3
    /// Only its first process ends; the others notice that.
    case kill = 9
  }

  @Test(
    "A server that ends again and again loses nothing and doubles nothing",
    arguments: Ending.allCases)
  func endings(ending: Ending) async throws {
    let server = try TestCluster.another()
    defer { server.end() }
    var configuration = PostgresWorkspace.Configuration()
    configuration.reconnectTimeout = .seconds(60)
    let dflat = try await PostgresWorkspace.open(server.url, configuration: configuration)
    let done = Atomic<Int>(0)
    let crashing = Task.detached {
      for round in 1...4 {
        // Each crash comes in the middle of transactions.
        #expect(await inTime { done.load(ordering: .relaxed) >= 8 * round })
        try server.signal(ending.rawValue)
      }
    }
    for number in 1...40 {
      try await increment(1, in: dflat, attempts: 1000)
      done.store(number, ordering: .relaxed)
    }
    try await crashing.value
    #expect(await length(in: dflat) == 40)
    await dflat.shutdown()
  }

  @Test("Why there is no connection is said at once")
  func noConnection() async throws {
    func failure(_ url: String) async -> StorageError? {
      await #expect(throws: StorageError.self) { _ = try await PostgresWorkspace.open(url) }
    }
    let none = await failure("postgresql:///postgres?host=/tmp/dflat-no-such-server")
    #expect(none?.cause == .cannotOpen)
    #expect(none?.recoverySuggestion?.contains("start the server") == true, "\(none as Any)")
    let url = try TestCluster.shared().url
    let database = await failure(url.setting("dbname", to: "nowhere"))
    #expect(database?.cause == .cannotOpen)
    #expect(database?.recoverySuggestion?.hasPrefix("create it with createdb,") == true)
    let role = await failure(url.setting("user", to: "nobody_at_all"))
    #expect(role?.recoverySuggestion?.hasPrefix("create it with createuser,") == true)
    let broken = await failure("postgresql://[")
    #expect(broken?.cause == .cannotOpen)
    for text in [
      "/tmp/app.db", "sqlite:///tmp/app.db", "app.sqlite", "./app", "sqlite:///app?mode=rw",
      "file:app?cache=shared",
    ] {
      let other = await failure(text)
      #expect(other?.cause == .cannotOpen)
      #expect(other?.message == "\"\(text)\" is no connection string of PostgreSQL")
      #expect(other?.recoverySuggestion?.contains("SQLiteWorkspace") == true)
    }
  }

  @Test("A standby, which has no serializable transactions, can be read")
  func standby() async throws {
    let server = try TestCluster.another()
    defer { server.end() }
    let dflat = try await PostgresWorkspace.open(server.url)
    try await dflat.write(Note.self) { try $0.insert(Note(key: 1)) }
    await dflat.shutdown()
    let signal = "\(server.directory ?? "")/data/standby.signal"
    #expect(FileManager.default.createFile(atPath: signal, contents: nil))
    try server.crash()
    #expect(
      eventually {
        (try? PlainConnection(server.url).run("SELECT pg_is_in_recovery()")) == [["t"]]
      })
    var configuration = PostgresWorkspace.Configuration()
    configuration.isReadOnly = true
    let reader = try await PostgresWorkspace.open(server.url, configuration: configuration)
    let count = try await reader.read { try $0.fetch(for: Note.self).all().count }
    #expect(count == 1)
    #expect(reader.fetch(for: Note.self).where(Note.key == 1).count == 1)
    await reader.shutdown()
    // Without the setting it can be read, too, and a write says what is wrong.
    configuration.isReadOnly = false
    configuration.reconnectTimeout = .milliseconds(100)
    let writer = try await PostgresWorkspace.open(server.url, configuration: configuration)
    #expect(writer.fetch(for: Note.self).all().count == 1)
    let error = await #expect(throws: StorageError.self) {
      try await writer.write(Note.self) { try $0.insert(Note(key: 2)) }
    }
    #expect(error?.cause == .readOnly, "\(error as Any)")
    #expect(error?.recoverySuggestion?.contains("target_session_attrs") == true)
    await writer.shutdown()
  }

  @Test("A role that may not write gets an error, and can read")
  func readOnly() async throws {
    try await withSchema { schema in
      let dflat = postgresWorkspace(schema: schema)
      try await dflat.write(Note.self) { try $0.insert(Note(key: 1)) }
      let reader = postgresWorkspace(schema: schema) { $0.isReadOnly = true }
      #expect(reader.fetch(for: Note.self).all().count == 1)
      let error = await #expect(throws: StorageError.self) {
        try await reader.write(Note.self) { try $0.insert(Note(key: 2)) }
      }
      #expect(error?.cause == .readOnly)
      await reader.shutdown()
      await dflat.shutdown()
    }
  }
}
