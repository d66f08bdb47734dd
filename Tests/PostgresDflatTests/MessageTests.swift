// How many messages calls take: over a network, each costs the time of a packet there and back.

import Dflat
import DflatTestSupport
import Platform
import PostgresDflat
import PostgresTestSupport
import Testing

@Suite("Messages to a server")
struct MessageTests {
  /// Counts what the server has to answer.
  private final class Counter: ProxyFilter {
    let count = Atomic<Int>(0)
    let commits = Atomic<Int>(0)

    func fromClient(_ message: ProxyMessage, _ connection: ProxyConnection) -> ProxyMessage? {
      // A simple query, or the end of prepared statements that were sent together.
      if [UInt8(ascii: "Q"), UInt8(ascii: "S")].contains(message.type) {
        count.add(1, ordering: .relaxed)
      }
      if message.commit != nil {
        commits.add(1, ordering: .relaxed)
      }
      return message
    }

    /// How many `body` takes.
    func messages(_ body: () async throws -> Void) async rethrows -> Int {
      let before = count.load(ordering: .relaxed)
      try await body()
      return count.load(ordering: .relaxed) - before
    }
  }

  private func withCounter(
    sharesCommits: Bool = false, _ body: (PostgresWorkspace, Counter) async throws -> Void
  ) async throws {
    try await withCounter(sharesCommits: sharesCommits) { dflat, counter, _ in
      try await body(dflat, counter)
    }
  }

  /// The same with the PostgreSQL schema.
  private func withCounter(
    sharesCommits: Bool = false,
    _ body: (PostgresWorkspace, Counter, _ schema: String) async throws -> Void
  ) async throws {
    let counter = Counter()
    let proxy = try ServerProxy { counter }
    defer { proxy.close() }
    try await withSchema { schema in
      let dflat = postgresWorkspace(schema: schema, through: proxy) {
        $0.sharesCommits = sharesCommits
      }
      // Prepares most statements.
      try await dflat.write(Note.self) { txn in
        try txn.insert(contentsOf: (1...20 as ClosedRange<UInt64>).map { Note(key: $0) })
        try txn.upsert(Note(key: 1, text: "first"))
      }
      try await body(dflat, counter, schema)
      await dflat.shutdown()
    }
  }

  @Test("The first transaction of a type in a workspace keeps its schema without another message")
  func firstCommit() async throws {
    try await withCounter { dflat, counter, schema in
      let other = postgresWorkspace(schema: schema)
      try await other.prepare(Post.self, Tale.Story.self)
      await other.shutdown()
      let plain = try PlainConnection()
      let table = "\(schema).dflat_schemas"
      try plain.run("DELETE FROM \(table)")
      func first(_ number: Int32) async throws -> Int {
        try await counter.messages {
          try await dflat.write(Post.self) { try $0.insert(post(number)) }
        }
      }
      func kept() throws -> [[String?]] { try plain.run("SELECT \"table\" FROM \(table)") }
      let firstMessages = try await first(1)
      #expect(try kept() == [[Post._schema.table]])
      _ = try await first(2)
      let laterMessages = try await first(3)
      print("messages of a type's first transaction: \(firstMessages), of later: \(laterMessages)")
      // The first one also prepares its statements.
      #expect(firstMessages <= 6, "\(firstMessages)")
      #expect(laterMessages == 3, "\(laterMessages)")
    }
  }

  @Test("Many objects by their keys take few")
  func keys() async throws {
    try await withCounter { dflat, counter in
      let keys = Array(1...2500 as ClosedRange<UInt64>)
      let calls: [(String, @Sendable (WriteContext) throws -> BulkChange, BulkChange)] = [
        (
          "new ones", { try $0.upsert(contentsOf: keys.map { Note(key: $0, text: "new") }) },
          BulkChange(inserted: 2480, updated: 20)
        ),
        (
          "known ones", { try $0.upsert(contentsOf: keys.map { Note(key: $0, text: "known") }) },
          BulkChange(updated: 2500)
        ),
        (
          "updates", { try $0.update(Note.self, keys: keys + [9999]) { $0.text = "updated" } },
          BulkChange(updated: 2500, missing: 1)
        ),
        (
          "deletions", { try $0.delete(Note.self, keys: keys + [9999]) },
          BulkChange(deleted: 2500, missing: 1)
        ),
      ]
      for (name, call, expected) in calls {
        let messages = try await counter.messages {
          let result = try await dflat.write(Note.self) { try call($0) }
          #expect(result == expected, "\(name)")
        }
        #expect(messages <= 30, "\(name): \(messages)")
      }
      #expect(dflat.fetch(for: Note.self).all().isEmpty)
    }
  }

  @Test("A transaction that reads an object by its key and updates it takes three")
  func readAndUpdate() async throws {
    try await withCounter { dflat, counter in
      func change() async throws {
        try await dflat.write(Note.self) { txn in
          let note = try #require(try txn.fetch(for: Note.self).where(Note.key == 7).first)
          try txn.update(note) { $0.text = ($0.text ?? "") + "x" }
        }
      }
      try await change()
      let messages = try await counter.messages { try await change() }
      #expect(messages == 3)
    }
  }

  /// A transaction whose messages are few.
  enum Small: String, CaseIterable {
    case insertion, insertions, increment, firstIncrement
  }

  @Test("Insertions, and changes of a dictionary, take three", arguments: Small.allCases)
  func small(_ kind: Small) async throws {
    try await withCounter { dflat, counter in
      func change(_ round: UInt64) async throws {
        try await dflat.write(Note.self) { txn in
          switch kind {
          case .insertion: try txn.insert(Note(key: 100 * round))
          case .insertions:
            let keys = (1...10).map { 100 * round + $0 }
            #expect(try txn.insert(contentsOf: keys.map { Note(key: $0) }).inserted == 10)
          case .increment: txn.dictionary["count"] = txn.dictionary["count", default: 0] + 1
          case .firstIncrement:
            txn.dictionary["\(round)"] = txn.dictionary["\(round)", default: 0] + 1
          }
        }
      }
      for round in 1...3 as ClosedRange<UInt64> { try await change(round) }
      let messages = try await counter.messages { try await change(4) }
      #expect(messages <= 3, "\(messages)")
      switch kind {
      case .insertion: #expect(dflat.fetch(for: Note.self).all().count == 24)
      case .insertions: #expect(dflat.fetch(for: Note.self).all().count == 60)
      case .increment: #expect(dflat.dictionary["count", default: 0] == 4)
      case .firstIncrement: #expect(dflat.dictionary["4", default: 0] == 1)
      }
    }
  }

  /// How a transaction changes a note.
  enum Change: CaseIterable {
    case byObject, byKey, byReading
  }

  @Test(
    "Transactions of many callers share commits, however they find what they change",
    arguments: Change.allCases)
  func sharing(change: Change) async throws {
    try await withCounter(sharesCommits: true) { dflat, counter in
      let notes = dflat.fetch(for: Note.self).all()
      @Sendable func update(_ note: Note, _ text: String) async throws {
        _ = try await dflat.write(Note.self) { txn in
          switch change {
          case .byObject: try txn.update(note) { $0.text = text }
          case .byKey: _ = try txn.update(Note.self, keys: [note.key]) { $0.text = text }
          case .byReading:
            let found = try #require(
              try txn.fetch(for: Note.self).where(Note.key == note.key).first)
            try txn.update(found) { $0.text = text }
          }
        }
      }
      // A commit waits for others for some milliseconds only, so a round may be too slow.
      var fewest = Int.max
      for round in 1...20 where fewest >= 40 {
        let before = counter.commits.load(ordering: .relaxed)
        try await withThrowingTaskGroup(of: Void.self) { group in
          for caller in 0..<16 {
            group.addTask {
              for number in 1...5 { try await update(notes[caller], "\(round) \(number)") }
            }
          }
          try await group.waitForAll()
        }
        fewest = min(fewest, counter.commits.load(ordering: .relaxed) - before)
        let texts = Set(dflat.fetch(for: Note.self).all().prefix(16).map(\.text))
        #expect(texts == ["\(round) 5"])
      }
      #expect(fewest < 40, "\(fewest) commits of 80 updates")
    }
  }

  @Test("Transactions that share a commit take one each, and three for all of them")
  func sharedCommit() async throws {
    try await withCounter(sharesCommits: true) { dflat, counter in
      @Sendable func change(_ key: UInt64, _ text: String) async throws {
        _ = try await dflat.write(Note.self) { txn in
          try txn.update(Note.self, keys: [key]) { $0.text = text }
        }
      }
      func changeAll() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
          for round in 0..<10 {
            for key in 1...20 as ClosedRange<UInt64> {
              group.addTask { try await change(key, "\(round)") }
            }
          }
          try await group.waitForAll()
        }
      }
      try await changeAll()
      let before = counter.commits.load(ordering: .relaxed)
      let messages = try await counter.messages { try await changeAll() }
      // How many share one depends on how fast they come.
      let commits = counter.commits.load(ordering: .relaxed) - before
      #expect(messages <= 200 + 3 * commits + 10, "\(messages) for \(commits) commits")
    }
  }
}
