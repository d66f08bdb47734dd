// Connections that are lost while they are made, or before a transaction has sent anything, or
// while something is read.

import Dflat
import DflatTestSupport
import Platform
import PostgresDflat
import PostgresTestSupport
import Testing

@Suite("Connections that are lost while they are made", .endsSometime)
struct LostConnectionTests {
  /// Ends some connections when they set their session up.
  private final class Losses: ProxyFilter {
    let rest = Mutex(0)
    let lost = Atomic<Int>(0)

    func fromClient(_ message: ProxyMessage, _ connection: ProxyConnection) -> ProxyMessage? {
      guard message.statements?.contains("dflat.session") == true else { return message }
      let isLost = rest.withLock { rest in
        defer { rest = max(0, rest - 1) }
        return rest > 0
      }
      if isLost { lost.add(1, ordering: .relaxed) }
      return isLost ? nil : message
    }
  }

  /// Calls `body` with a workspace that has no connection, and tries no server again by itself.
  private func withLosses(
    isNew: Bool, _ body: (PostgresWorkspace, Losses) async throws -> Void
  ) async throws {
    let losses = Losses()
    let proxy = try ServerProxy { losses }
    defer { proxy.close() }
    try await withSchema { schema in
      let dflat = postgresWorkspace(schema: schema, through: proxy, application: schema) {
        $0.reconnectTimeout = .zero
        $0.followsOtherWriters = false
      }
      if !isNew {
        try await dflat.write(Note.self) { try $0.insert(Note(key: 1)) }
        try PlainConnection().run(
          "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity "
            + "WHERE application_name = '\(schema)'")
      }
      try await body(dflat, losses)
      await dflat.shutdown()
    }
  }

  @Test("write tries again, and stores its objects once", arguments: [false, true])
  func writing(isNew: Bool) async throws {
    try await withLosses(isNew: isNew) { dflat, losses in
      losses.rest.withLock { $0 = 3 }
      let runs = Atomic<Int>(0)
      try await dflat.write(Note.self) { txn in
        runs.add(1, ordering: .relaxed)
        try txn.insert(Note(key: 2))
      }
      #expect(losses.lost.load(ordering: .relaxed) == 3)
      // The closure may begin before the connection is there.
      #expect((1...10).contains(runs.load(ordering: .relaxed)))
      #expect(dflat.fetch(for: Note.self).where(Note.key == 2).count == 1)
    }
  }

  @Test("If it lasts, the error is that of a conflict, and nothing is stored")
  func lasting() async throws {
    try await withLosses(isNew: false) { dflat, losses in
      losses.rest.withLock { $0 = 10 }
      let error = await #expect(throws: StorageError.self) {
        try await dflat.write(Note.self, attempts: 3) { try $0.insert(Note(key: 2)) }
      }
      #expect(error?.cause == .conflict && "\(error!)".contains("nothing of the transaction"))
      #expect((1...3).contains(losses.lost.load(ordering: .relaxed)))
      losses.rest.withLock { $0 = 0 }
      #expect(dflat.fetch(for: Note.self).all().map(\.key) == [1])
    }
  }

  // MARK: Ended by the server

  /// Ends the sessions of an application, as an operator or the end of the server does.
  private func endSessions(_ application: String) throws {
    try PlainConnection().run(
      "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity "
        + "WHERE application_name = '\(application)'")
  }

  private func withWorkspace(
    _ configure: (inout PostgresWorkspace.Configuration) -> Void = { _ in },
    _ body: (_ dflat: PostgresWorkspace, _ application: String) async throws -> Void
  ) async throws {
    try await withSchema { schema in
      let dflat = postgresWorkspace(schema: schema, application: schema) {
        $0.followsOtherWriters = false
        configure(&$0)
      }
      try await dflat.write(Note.self) { txn in
        for key in 1...3 as ClosedRange<UInt64> { try txn.insert(Note(key: key)) }
      }
      try await body(dflat, schema)
      await dflat.shutdown()
    }
  }

  @Test("A transaction that runs only once is stored if its idle connection has ended before")
  func idle() async throws {
    let errors = ReportedErrors()
    try await withWorkspace({ $0.onError = { errors.add($0) } }) { dflat, application in
      for (number, reads) in [false, true].enumerated() {
        let key = UInt64(10 + number)
        _ = dflat.fetch(for: Note.self).all()
        try endSessions(application)
        let ended = Log<Bool>()
        dflat.performChanges(
          [Note.self],
          changesHandler: { txn in
            if reads { #expect(dflat.fetch(for: Note.self).all().count > 3) }
            let request = NoteChangeRequest.creationRequest()
            request.key = key
            do { try txn.submit(request) } catch { Issue.record(error) }
          }, completionHandler: { ended.add($0) })
        ended.wait()
        #expect(ended.events == [true])
        try endSessions(application)
        try await dflat.write(Note.self, attempts: 1) { try $0.insert(Note(key: key + 10)) }
      }
      #expect(dflat.fetch(for: Note.self).all().count == 7)
    }
    #expect(errors.take().isEmpty)
  }

  /// Ends connections when they begin to write.
  private final class LostBeginnings: Sendable {
    let rest = Mutex(0)
    let lost = Atomic<Int>(0)

    /// The filter of one connection.
    final class OfConnection: ProxyFilter {
      private let all: LostBeginnings
      private let prepared = PreparedTexts()

      init(_ all: LostBeginnings) { self.all = all }

      func fromClient(_ message: ProxyMessage, _ connection: ProxyConnection) -> ProxyMessage? {
        guard
          prepared.statement(runBy: message)?.hasPrefix("BEGIN ISOLATION LEVEL SERIALIZABLE")
            == true
        else { return message }
        let isLost = all.rest.withLock { rest in
          defer { rest = max(0, rest - 1) }
          return rest > 0
        }
        if isLost { all.lost.add(1, ordering: .relaxed) }
        return isLost ? nil : message
      }
    }
  }

  @Test("A transaction begins on another connection if its own is lost when it begins")
  func beginning() async throws {
    let losses = LostBeginnings()
    let proxy = try ServerProxy { LostBeginnings.OfConnection(losses) }
    defer { proxy.close() }
    let errors = ReportedErrors()
    try await withSchema { schema in
      let dflat = postgresWorkspace(schema: schema, through: proxy, application: schema) {
        $0.followsOtherWriters = false
        $0.onError = { errors.add($0) }
      }
      try await dflat.write(Note.self) { try $0.insert(Note(key: 1)) }
      func perform(_ body: @escaping @Sendable (any TransactionContext) throws -> Void) -> Bool {
        let ended = Log<Bool>()
        losses.rest.withLock { $0 = 1 }
        dflat.performChanges(
          [Note.self],
          changesHandler: { txn in
            do { try body(txn) } catch { Issue.record(error) }
          }, completionHandler: { ended.add($0) })
        ended.wait()
        return ended.events == [true]
      }
      #expect(
        perform { txn in
          let request = NoteChangeRequest.creationRequest()
          request.key = 2
          try txn.submit(request)
        })
      #expect(
        perform { txn in
          let request = NoteChangeRequest.upsertRequest(Note(key: 2, text: "new"))
          try txn.submit(request)
        })
      losses.rest.withLock { $0 = 1 }
      try await dflat.write(Note.self, attempts: 1) { txn in
        try txn.upsert(contentsOf: (1...3 as ClosedRange<UInt64>).map { Note(key: $0, text: "u") })
      }
      losses.rest.withLock { $0 = 1 }
      try await dflat.write(Note.self, attempts: 1) { txn in
        try txn.update(where: Note.key == 3) { $0.text = "w" }
      }
      #expect(losses.lost.load(ordering: .relaxed) == 4)
      #expect(
        dflat.fetch(for: Note.self).all().sorted { $0.key < $1.key }.map(\.text)
          == ["u", "u", "w"])
      // If each connection is lost, the transaction fails as before, after one more.
      losses.rest.withLock { $0 = 100 }
      await #expect(throws: StorageError.self) {
        try await dflat.write(Note.self, attempts: 1) { try $0.insert(Note(key: 9)) }
      }
      #expect(losses.lost.load(ordering: .relaxed) == 6)
      losses.rest.withLock { $0 = 0 }
      #expect(dflat.fetch(for: Note.self).all().count == 3)
      await dflat.shutdown()
    }
    #expect(errors.take().isEmpty)
  }

  @Test("read runs again if its connection is lost, as often as write, and sees one state")
  func reading() async throws {
    try await withWorkspace({ $0.conflictTimeout = .zero }) { dflat, application in
      let runs = Atomic<Int>(0)
      let texts = try await dflat.read { context in
        let isFirst = runs.add(1, ordering: .relaxed).newValue == 1
        let before = try context.fetch(for: Note.self).where(Note.key == 1).first?.text
        if isFirst {
          try endSessions(application)
          onOwnThread {
            try dflat.write(Note.self) { try $0.upsert(Note(key: 1, text: "new")) }
          }.expect("a change")
        }
        return [before, try context.fetch(for: Note.self).where(Note.key == 1).first?.text]
      }
      #expect(texts == ["new", "new"])
      #expect(runs.load(ordering: .relaxed) == 2)
      let error = await #expect(throws: StorageError.self) {
        try await dflat.read { context in
          runs.add(1, ordering: .relaxed)
          _ = try context.fetch(for: Note.self).all()
          try endSessions(application)
          _ = try context.fetch(for: Note.self).all()
        }
      }
      #expect(error?.cause == .busy)
      #expect(runs.load(ordering: .relaxed) == 10)
    }
  }

  @Test("The errors of an ended snapshot tell why it has ended, and nothing that follows from it")
  func snapshot() async throws {
    let errors = ReportedErrors()
    try await withWorkspace({ $0.onError = { errors.add($0) } }) { dflat, application in
      dflat.fetchWithinASnapshot {
        let notes = dflat.fetch(for: Note.self)
        #expect(notes.all().count == 3)
        do { try endSessions(application) } catch { Issue.record(error) }
        #expect(notes.all().isEmpty)
        #expect(notes.where(Note.key == 1).first == nil)
        #expect(notes.all(limit: .limit(2)).isEmpty)
      }
      let texts = errors.take().map { "\($0)" }
      #expect(texts.count >= 3)
      for text in texts {
        #expect(text.contains("terminating connection due to administrator command"), "\(text)")
        #expect(!text.contains("pipeline") && !text.contains("unexpectedly"), "\(text)")
      }
    }
  }
}
