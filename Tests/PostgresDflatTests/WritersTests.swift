// Several transactions of one workspace write at the same time.

import Dflat
import DflatTestSupport
import Dispatch
import Platform
@testable import PostgresDflat
import PostgresTestSupport
import Testing

@Suite("Several writers in one workspace")
struct WritersTests {
  private func ledger(_ schema: String) throws -> [String] {
    try PlainConnection().run("SELECT workspace FROM \"\(schema)\"._dflat_commits ORDER BY 1")
      .compactMap { $0[0] }
  }

  @Test("Transactions without a type in common write at the same time, on connections of their own")
  func together() async throws {
    try await withSchema { schema in
      let dflat = postgresWorkspace(schema: schema) { $0.writerLimit = 4 }
      try await dflat.write(Note.self, Post.self) { txn in
        try txn.insert(Note(key: 1))
        _ = try txn.insert(post(1))
      }
      #expect(try ledger(schema).count == 1)
      try await dflat.write(Note.self) { txn in
        try txn.insert(Note(key: 2))
        let other = onOwnThread {
          try dflat.write(Post.self) { _ = try $0.insert(post(2)) }
          #expect(dflat.fetch(for: Post.self).all().count == 2)
          #expect(dflat.fetch(for: Note.self).all().count == 1)
        }
        other.expect("a transaction that begins and ends meanwhile")
      }
      #expect(dflat.fetch(for: Note.self).all().count == 2)
      // One connection is enough for transactions that follow each other.
      for key in 3...5 {
        try await dflat.write(Note.self) { try $0.insert(Note(key: UInt64(key))) }
      }
      let names = try ledger(schema)
      let workspace = names[0].prefix { $0 != "." }
      #expect(names == ["\(workspace).0.0", "\(workspace).1.0"])
      await dflat.shutdown()
    }
  }

  @Test("A server's clock that jumps removes no record of a commit that may be asked for")
  func clockJump() async throws {
    try await withSchema { schema in
      let first = postgresWorkspace(schema: schema)
      try await first.write(Note.self) { try $0.insert(Note(key: 1)) }
      let names = try ledger(schema)
      let (server, table) = (try PlainConnection(), "\"\(schema)\"._dflat_commits")
      try server.run("UPDATE \(table) SET at = now() - interval '50 years'")
      // The next program removes what is old.
      let second = postgresWorkspace(schema: schema)
      try await second.write(Note.self) { try $0.insert(Note(key: 2)) }
      #expect(try ledger(schema).count == 2 && ledger(schema).contains(names[0]))
      // Once the server has begun many transactions since.
      try server.run(CommitLedger.pruning(table, distance: -1))
      #expect(try ledger(schema).count == 1 && !ledger(schema).contains(names[0]))
      await first.shutdown()
      await second.shutdown()
    }
  }

  @Test("A workspace does not take its own commits for those of another one")
  func ownCommits() async throws {
    try await withSchema { schema in
      let dflat = postgresWorkspace(schema: schema) { $0.writerLimit = 4 }
      let other = postgresWorkspace(schema: schema)
      let events = Mutex<[Int]>([])
      let everything = DispatchSemaphore(value: 0)
      let subscription = dflat.subscribe(fetchedResult: dflat.fetch(for: Post.self).all()) {
        result in
        events.withLock { $0.append(result.count) }
        if result.count == 3 { everything.signal() }
      }
      let token = try dflat.commitToken()
      try await dflat.write(Note.self) { txn in
        try txn.insert(Note(key: 2))
        let others = onOwnThread {
          try dflat.write(Post.self) { _ = try $0.insert(post(1)) }
          try dflat.write(Post.self) { _ = try $0.insert(post(2)) }
        }
        others.expect("two transactions on another connection")
      }
      #expect(try dflat.commitToken() == token)
      try await other.write(Post.self) { _ = try $0.insert(post(3)) }
      everything.expect("the commit of the other workspace")
      #expect(events.withLock { $0 } == [1, 2, 3])
      subscription.cancel()
      await dflat.shutdown()
      await other.shutdown()
    }
  }

  @Test(
    "With a limit of one, or shared commits, or in serial order, one transaction writes at a time",
    arguments: 0..<3)
  func oneWriter(reason: Int) async throws {
    try await withSchema { schema in
      let dflat = postgresWorkspace(schema: schema) { configuration in
        configuration.writerLimit = 4
        switch reason {
        case 0: configuration.writerLimit = 1
        case 1: configuration.sharesCommits = true
        default: configuration.writeConcurrency = .serial
        }
      }
      try await withThrowingTaskGroup { group in
        for number in 0..<20 {
          group.addTask {
            if number.isMultiple(of: 2) {
              try await increment(1, in: dflat)
            } else {
              try await dflat.write(Post.self) { _ = try $0.insert(post(Int32(number))) }
            }
          }
        }
        try await group.waitForAll()
      }
      #expect(try ledger(schema).count == 1)
      #expect(dflat.fetch(for: Note.self).all().first?.text?.count == 10)
      #expect(dflat.fetch(for: Post.self).all().count == 10)
      await dflat.shutdown()
    }
  }

  @Test("Changes of a dictionary in transactions of different types follow each other")
  func dictionary() async throws {
    try await withSchema { schema in
      let dflat = postgresWorkspace(schema: schema) { $0.writerLimit = 4 }
      dflat.dictionary["sum"] = 0
      dflat.dictionary.synchronize()
      try await withThrowingTaskGroup { group in
        for number in 0..<60 {
          group.addTask {
            switch number % 3 {
            case 0:
              try await dflat.write(Note.self, attempts: 1000) { txn in
                try txn.upsert(Note(key: UInt64(number)))
                txn.dictionary["sum"] = (txn.dictionary["sum", Int.self] ?? 0) + 1
              }
            case 1:
              try await dflat.write(Post.self, attempts: 1000) { txn in
                txn.dictionary["sum"] = (txn.dictionary["sum", Int.self] ?? 0) + 1
                _ = try txn.insert(post(Int32(number)))
              }
            default:
              dflat.dictionary["outside"] = number
              dflat.dictionary.synchronize()
            }
          }
        }
        try await group.waitForAll()
      }
      dflat.dictionary["outside"] = -1
      dflat.dictionary.synchronize()
      #expect(dflat.dictionary["sum", Int.self] == 40)
      let reader = postgresWorkspace(schema: schema)
      #expect(reader.dictionary["sum", Int.self] == 40)
      #expect(reader.dictionary["outside", Int.self] == -1)
      await dflat.shutdown()
      await reader.shutdown()
    }
  }

  /// The types of a transaction, as bits.
  private static let mixes = [0b01, 0b10, 0b11]

  /// What a transaction does to a dictionary that another one has changed since it began.
  enum LateChange: CaseIterable {
    case removal, removalOfAll, reading, plainRemoval
  }

  @Test(
    "A transaction that has begun does not write dictionaries in a state that lacks later changes",
    arguments: LateChange.allCases, [false, true])
  func lateChanges(change: LateChange, hasWritten: Bool) async throws {
    try await withSchema { schema in
      let dflat = postgresWorkspace(schema: schema) { $0.writerLimit = 4 }
      try await dflat.write(Note.self, Post.self) { txn in
        try txn.insert(Note(key: 1))
        _ = try txn.insert(post(1))
      }
      let runs = Mutex(0)
      // A conflict with another transaction of the same workspace is no attempt.
      try await dflat.write(Note.self, attempts: hasWritten ? 1 : nil) { txn in
        let run = runs.withLock { runs in
          runs += 1
          return runs
        }
        if hasWritten {
          try txn.upsert(Note(key: 2))
        } else {
          _ = try txn.fetch(for: Note.self).all()
        }
        if run == 1 {
          let other = onOwnThread {
            try dflat.write(Post.self) { txn in
              _ = try txn.insert(post(2))
              txn.dictionary["x"] = 5
            }
          }
          other.expect("the other transaction")
        }
        switch change {
        case .removal: txn.dictionary["x", Int.self] = nil
        case .removalOfAll: txn.dictionary.removeAll()
        case .reading: txn.dictionary["x"] = (txn.dictionary["x", Int.self] ?? 0) + 1
        case .plainRemoval:
          dflat.dictionary["x", Int.self] = nil
          txn.dictionary["y"] = 1
        }
        try txn.upsert(Note(key: 3))
      }
      // If it has only read, it begins to write in the present state.
      #expect(runs.withLock { $0 } == (hasWritten ? 2 : 1))
      dflat.dictionary.synchronize()
      let wanted = change == .reading ? 6 : nil
      #expect(dflat.dictionary["x", Int.self] == wanted)
      let reader = postgresWorkspace(schema: schema)
      #expect(reader.dictionary["x", Int.self] == wanted)
      await dflat.shutdown()
      await reader.shutdown()
    }
  }

  /// A network that fails when a transaction commits: the server gets its COMMIT much later.
  private final class Network: Sendable {
    let losesNextCommit = Atomic<Bool>(false)
    let isDown = Atomic<Bool>(false)
    let isUp = DispatchSemaphore(value: 0)

    struct Filter: ProxyFilter {
      let network: Network

      func fromClient(_ message: ProxyMessage, _ connection: ProxyConnection) -> ProxyMessage? {
        if message.type == 0, network.isDown.load(ordering: .acquiring) { return nil }
        guard message.commit != nil,
          network.losesNextCommit.exchange(false, ordering: .acquiringAndReleasing)
        else { return message }
        network.isDown.store(true, ordering: .releasing)
        connection.loseClient()
        return network.isUp.expect("the end of the failure") ? message : nil
      }
    }
  }

  @Test("A commit of unknown outcome cannot come after a transaction on another connection")
  func unknownCommit() async throws {
    try await withSchema { schema in
      let network = Network()
      let proxy = try ServerProxy { Network.Filter(network: network) }
      defer { proxy.close() }
      let dflat = postgresWorkspace(schema: schema, through: proxy) {
        $0.writerLimit = 2
        $0.reconnectTimeout = .zero
      }
      try await dflat.write(Note.self, Post.self) { txn in
        try txn.insert(Note(key: 1))
        _ = try txn.insert(post(1))
      }
      // The first connection is in use while a transaction on the second one is lost.
      try await dflat.write(Post.self) { txn in
        _ = try txn.insert(post(2))
        let lost = onOwnThread {
          network.losesNextCommit.store(true, ordering: .releasing)
          let error = #expect(throws: StorageError.self) {
            try dflat.write(Note.self) { _ = try $0.insert(Note(key: 2)) }
          }
          #expect(error?.message.contains("not known") == true)
        }
        lost.expect("the lost transaction")
      }
      network.isDown.store(false, ordering: .releasing)
      // As the error advises.
      try await dflat.write(Note.self) { txn in
        let isStored = try !txn.fetch(for: Note.self).where(Note.key == 2).isEmpty
        if !isStored { try txn.insert(Note(key: 3)) }
      }
      network.isUp.signal()
      // Its transaction ends, one way or the other.
      let active = {
        try PlainConnection().run(
          "SELECT count(*) FROM pg_locks WHERE relation = '\"\(schema)\".note'::regclass")
      }
      #expect(try eventually { try active() == [["0"]] })
      #expect(dflat.fetch(for: Note.self).all().map(\.key) == [1, 3])
      await dflat.shutdown()
    }
  }

  @Test("Live results of several types follow many writers, in the order of each type's commits")
  func liveResults() async throws {
    try await withSchema { schema in
      let dflat = postgresWorkspace(schema: schema) { $0.writerLimit = 3 }
      let seen = Mutex<[[Int]]>([[], []])
      let whole = [DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)]
      let wanted = 40
      @Sendable func see(_ type: Int, _ count: Int) {
        seen.withLock { $0[type].append(count) }
        if count == wanted { whole[type].signal() }
      }
      let notes = dflat.subscribe(fetchedResult: dflat.fetch(for: Note.self).all()) {
        see(0, $0.count)
      }
      let posts = dflat.subscribe(fetchedResult: dflat.fetch(for: Post.self).all()) {
        see(1, $0.count)
      }
      try await withThrowingTaskGroup { group in
        for number in 0..<60 {
          group.addTask {
            let mix = Self.mixes[number % 3]
            if mix == 0b01 {
              try await dflat.write(Note.self) { try $0.insert(Note(key: UInt64(number))) }
            } else if mix == 0b10 {
              try await dflat.write(Post.self) { _ = try $0.insert(post(Int32(number))) }
            } else {
              try await dflat.write(Note.self, Post.self) { txn in
                try txn.insert(Note(key: UInt64(number)))
                _ = try txn.insert(post(Int32(number)))
              }
            }
            // Begins while others commit: it must neither miss a change nor see one twice.
            let late = Mutex<[Int]>([])
            let late1 = dflat.subscribe(fetchedResult: dflat.fetch(for: Note.self).all()) {
              result in
              late.withLock { $0.append(result.count) }
            }
            late1.cancel()
            #expect(late.withLock { $0 == $0.sorted() && Set($0).count == $0.count })
          }
        }
        try await group.waitForAll()
      }
      for type in 0..<2 { whole[type].expect("all objects of type \(type)") }
      for counts in seen.withLock({ $0 }) {
        #expect(counts == counts.sorted() && Set(counts).count == counts.count)
      }
      notes.cancel()
      posts.cancel()
      #expect(dflat.fetch(for: Note.self).all().count == wanted)
      await dflat.shutdown()
    }
  }
}
