// Transactions that share a commit: a savepoint is only sent if something needs its answer.

import Dflat
import DflatTestSupport
import Dispatch
import Platform
import PostgresDflat
import PostgresTestSupport
import Testing

@Suite("Statements that are held back")
struct HeldStatementTests {
  /// Notes the statements that run on a connection.
  private final class Statements: ProxyFilter {
    private let prepared = PreparedTexts()
    private let log: Log<String>

    init(_ log: Log<String>) { self.log = log }

    func fromClient(_ message: ProxyMessage, _ connection: ProxyConnection) -> ProxyMessage? {
      if let text = prepared.statement(runBy: message) ?? message.statements { log.add(text) }
      return message
    }
  }

  /// What the second of two transactions that share a commit does after its change.
  enum Ending: CaseIterable {
    case nothing, abort, question, questionAndAbort

    var asks: Bool { self == .question || self == .questionAndAbort }
    var aborts: Bool { self == .abort || self == .questionAndAbort }
  }

  @Test(
    "A transaction that joins a commit is rolled back alone, with a savepoint only if it asks",
    arguments: Ending.allCases)
  func joining(ending: Ending) async throws {
    let log = Log<String>()
    let proxy = try ServerProxy { Statements(log) }
    defer { proxy.close() }
    try await withSchema { schema in
      let dflat = postgresWorkspace(schema: schema, through: proxy) { $0.sharesCommits = true }
      try await dflat.write(Note.self) { txn in
        for key in 1...2 as ClosedRange<UInt64> { try txn.insert(Note(key: key, text: "old")) }
      }
      func notes() -> [Note] { dflat.fetch(for: Note.self).all().sorted { $0.key < $1.key } }
      // A commit waits for others for some milliseconds only, so one round may be too slow.
      for round in 1...20 {
        let before = log.events.count
        try await change(to: "\(round)", ending, dflat)
        let statements = log.events.dropFirst(before)
        func count(_ text: String) -> Int { statements.filter { $0.contains(text) }.count }
        let texts = notes().map(\.text)
        #expect(texts == ["\(round)", ending.aborts ? texts[1] : "\(round)"])
        #expect(!ending.aborts || texts[1] == "old")
        // Both are in one transaction of the server.
        if count("BEGIN ISOLATION LEVEL SERIALIZABLE") != 1 { continue }
        #expect(count("SAVEPOINT member") == (ending.asks ? 1 : 0))
        let updates = count("UPDATE \"\(schema)\".\"note\"")
        #expect(updates == (ending == .abort ? 1 : 2), "\(statements)")
        await dflat.shutdown()
        return
      }
      Issue.record("the transactions did not share a commit")
      await dflat.shutdown()
    }
  }

  private struct GivenUp: Error {}

  /// Changes the text of both notes, each in a transaction.
  private func change(
    to text: String, _ ending: Ending, _ dflat: PostgresWorkspace
  ) async throws {
    let (begun, isQueued) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let first = onOwnThread {
      try dflat.write(Note.self) { txn in
        try txn.update(Note.self, keys: [1]) { $0.text = text }
        begun.signal()
        isQueued.expect("the second transaction")
      }
    }
    begun.expect("the first transaction")
    let second = onOwnThread {
      isQueued.signal()
      do {
        try dflat.write(Note.self) { txn in
          try txn.update(Note.self, keys: [2]) { $0.text = text }
          if ending.asks { #expect(try txn.fetch(for: Note.self).all().count == 2) }
          if ending.aborts { throw GivenUp() }
        }
      } catch is GivenUp where ending.aborts {}
    }
    first.expect("the end of the first transaction")
    second.expect("the end of the second transaction")
  }
}
