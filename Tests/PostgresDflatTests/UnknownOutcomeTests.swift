// Commits whose outcome cannot be found out.

import Dflat
import DflatTestSupport
import Platform
import PostgresDflat
import PostgresTestSupport
import Testing

@Suite("A commit whose outcome cannot be looked up", .endsSometime)
struct UnknownOutcomeTests {
  private func withLostAnswers(
    reconnecting timeout: Duration = .milliseconds(100),
    _ body: (PostgresWorkspace, CommitProxy, _ schema: String) async throws -> Void
  ) async throws {
    try await withSchema { schema in
      let proxy = try CommitProxy()
      defer { proxy.close() }
      var configuration = PostgresWorkspace.Configuration()
      configuration.schema = schema
      configuration.reconnectTimeout = timeout
      let dflat = PostgresWorkspace(proxy.url, configuration: configuration)
      try await dflat.write(Note.self) { try $0.insert(Note(key: 0)) }
      try await body(dflat, proxy, schema)
      await dflat.shutdown()
    }
  }

  @Test("write throws an error of its own, and does not run again")
  func write() async throws {
    try await withLostAnswers { dflat, proxy, _ in
      dflat.errorHandler = { _ in }
      let runs = Atomic<Int>(0)
      proxy.loseNextCommit(.ofAnswerAndAllLookUps)
      let error = await #expect(throws: StorageError.self) {
        try await dflat.write(Note.self) { txn in
          runs.add(1, ordering: .relaxed)
          try txn.insert(Note(key: 1))
        }
      }
      #expect(error?.cause == .unknownOutcome, "\(error as Any)")
      #expect(error?.recoverySuggestion?.contains("only if that is missing") == true)
      #expect(runs.load(ordering: .relaxed) == 1)
      proxy.findLookUps()
      // It was stored, and what follows is not doubled.
      try await dflat.write(Note.self) { try $0.insert(Note(key: 2)) }
      #expect(dflat.fetch(for: Note.self).all().map(\.key) == [0, 1, 2])
    }
  }

  @Test("performChanges reports it before its completion handler gets false")
  func performChanges() async throws {
    try await withLostAnswers { dflat, proxy, _ in
      let events = Log<String>()
      dflat.errorHandler = { events.add("\(($0 as? StorageError)?.cause as Any)") }
      proxy.loseNextCommit(.ofAnswerAndAllLookUps)
      dflat.performChanges(
        [Note.self],
        changesHandler: { txn in
          let request = NoteChangeRequest.creationRequest()
          request.key = 1
          do { try txn.submit(request) } catch { Issue.record(error) }
        }, completionHandler: { events.add("\($0)") })
      try await beyondTasks { events.wait(2) }
      #expect(events.events == ["\(Optional(StorageError.Cause.unknownOutcome) as Any)", "false"])
      proxy.findLookUps()
      #expect(dflat.fetch(for: Note.self).all().map(\.key) == [0, 1])
    }
  }

  @Test("Live results and values of the dictionary in memory follow it if it was stored")
  func following() async throws {
    try await withLostAnswers { dflat, proxy, _ in
      dflat.errorHandler = { _ in }
      var dictionary = dflat.dictionary
      dictionary["name"] = "old"
      dictionary.synchronize()
      let log = Log<[UInt64]>()
      let subscription = dflat.subscribe(
        fetchedResult: dflat.fetch(for: Note.self).all()
      ) { log.add($0.map(\.key)) }
      proxy.loseNextCommit(.ofAnswerAndAllLookUps)
      let error = await #expect(throws: StorageError.self) {
        try await dflat.write(Note.self) { txn in
          try txn.insert(Note(key: 1))
          var dictionary = txn.dictionary
          dictionary["name"] = "new"
        }
      }
      #expect(error?.cause == .unknownOutcome, "\(error as Any)")
      proxy.findLookUps()
      // It finds out that the one before was stored.
      try await dflat.write(Note.self) { try $0.insert(Note(key: 2)) }
      try await beyondTasks {
        #expect(eventually { log.events.last == [0, 1, 2] }, "\(log.events)")
        #expect(eventually { dflat.dictionary["name", String.self] == "new" })
      }
      withExtendedLifetime(subscription) {}
    }
  }

  @Test("Live results follow it if other changes were delivered while it was looked up")
  func followingBesideOthers() async throws {
    try await withLostAnswers(reconnecting: .seconds(3)) { dflat, proxy, schema in
      dflat.errorHandler = { _ in }
      let log = Log<[UInt64]>()
      let subscription = dflat.subscribe(
        fetchedResult: dflat.fetch(for: Note.self).all()
      ) { log.add($0.map(\.key)) }
      proxy.loseNextCommit(.ofAnswerAndAllLookUps)
      let writing = _Concurrency.Task {
        try await dflat.write(Note.self) { try $0.insert(Note(key: 1)) }
      }
      try await beyondTasks { #expect(eventually { proxy.lostLookUps > 0 }) }
      let other = postgresWorkspace(schema: schema)
      try await other.write(Note.self) { try $0.insert(Note(key: 5)) }
      try await beyondTasks { #expect(eventually { log.events.last?.contains(5) == true }) }
      let error = await #expect(throws: StorageError.self) { try await writing.value }
      #expect(error?.cause == .unknownOutcome, "\(error as Any)")
      proxy.findLookUps()
      try await dflat.write(Note.self) { try $0.insert(Note(key: 2)) }
      try await beyondTasks {
        #expect(eventually { log.events.last?.sorted() == [0, 1, 2, 5] }, "\(log.events)")
      }
      await other.shutdown()
      withExtendedLifetime(subscription) {}
    }
  }
}
