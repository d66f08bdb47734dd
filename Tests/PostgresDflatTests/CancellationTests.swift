// Writes whose task is cancelled while the server keeps them waiting.

import Dflat
import DflatTestSupport
import PostgresDflat
import PostgresTestSupport
import Testing

@Suite("Cancelled writes over a server", .endsSometime)
struct CancellationTests {
  /// How a transaction comes to wait for another program.
  enum Waiting: CaseIterable {
    /// In its closure, for an answer.
    case inClosure
    /// At its end, since the change was sent without waiting for the answer.
    case atEnd
  }

  @Test(
    "One that waits for a lock is rolled back when it gets it",
    arguments: Waiting.allCases, [false, true])
  func lock(waiting: Waiting, sharesCommits: Bool) async throws {
    try await withSchema { schema in
      let errors = ReportedErrors()
      let dflat = postgresWorkspace(schema: schema, application: schema) {
        $0.sharesCommits = sharesCommits
        $0.onError = { errors.add($0) }
      }
      try await dflat.write(Note.self) { txn in
        for key in 1...2 as ClosedRange<UInt64> { try txn.insert(Note(key: key, text: "old")) }
      }
      let plain = try PlainConnection()
      try plain.run("BEGIN; SELECT 1 FROM \"\(schema)\".note WHERE pk0 = 1 FOR UPDATE")
      let task = Task {
        try await dflat.write(Note.self) { txn in
          let notes = try txn.fetch(for: Note.self).all()
          try txn.update(notes[0]) { $0.text = "new" }
          if waiting == .inClosure { _ = try txn.fetch(for: Note.self).where(Note.key == 2).first }
        }
      }
      let server = try PlainConnection()
      let sessions =
        "SELECT 1 FROM pg_stat_activity WHERE application_name = '\(schema)' "
        + "AND wait_event_type = 'Lock'"
      #expect(try await inTime { try !server.run(sessions).isEmpty })
      task.cancel()
      try plain.run("COMMIT")
      await #expect(throws: CancellationError.self) { try await task.value }
      #expect(dflat.fetch(for: Note.self).all().map(\.text) == ["old", "old"])
      try await increment(2, in: dflat)
      #expect(dflat.fetch(for: Note.self).all().map(\.text) == ["old", "oldx"])
      await dflat.shutdown()
      #expect(errors.take().isEmpty)
    }
  }

  @Test("A transaction that shares the commit of a cancelled one is stored, and both are")
  func shared() async throws {
    try await withSchema { schema in
      let dflat = postgresWorkspace(schema: schema, application: schema) { $0.sharesCommits = true }
      try await dflat.write(Note.self, Post.self) { try $0.insert(Note(key: 1, text: "old")) }
      let plain = try PlainConnection()
      try plain.run("BEGIN; SELECT 1 FROM \"\(schema)\".note WHERE pk0 = 1 FOR UPDATE")
      let tasks = (1...2 as ClosedRange<Int32>).map { number in
        Task {
          try await dflat.write(Note.self, Post.self) { txn in
            _ = try txn.insert(post(number))
            try txn.update(Note.self, keys: [1]) { $0.text = "\(number)" }
          }
        }
      }
      let server = try PlainConnection()
      let sessions =
        "SELECT 1 FROM pg_stat_activity WHERE application_name = '\(schema)' "
        + "AND wait_event_type = 'Lock'"
      #expect(try await inTime { try !server.run(sessions).isEmpty })
      tasks[0].cancel()
      try plain.run("COMMIT")
      var stored: [Int32] = []
      for (number, task) in tasks.enumerated() {
        do {
          try await task.value
          stored.append(Int32(number + 1))
        } catch is CancellationError {
          #expect(number == 0)
        }
      }
      #expect(dflat.fetch(for: Post.self).all().map(\.number).sorted() == stored)
      #expect(stored.contains(2))
      await dflat.shutdown()
    }
  }
}
