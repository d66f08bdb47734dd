// How much of a long queue is read, and that what is remembered of it is right.

import Dflat
import DflatTestSupport
import Empire
@testable import EmpireSilo
import Foundation
import MemoryDflat
import Platform
@testable import Silo
import SQLiteDflat
import Testing

private struct Numbered: Upload {
  let orderingKey: String
  let number: Int
}

private struct Offline: Error {}

/// A workspace whose stores count the uploads that are read from them.
private final class CountingDomain: StoreDomain {
  let base: any StoreDomain
  let reads = Atomic(0)

  init() { base = WorkspaceValueStore<Tag>(MemoryWorkspace()).domain }

  var isShared: Bool { base.isShared }

  func store<V: Persistable>(of type: V.Type) -> any ValueStore<V> {
    CountingStore(base: base.store(of: type), counts: self)
  }

  func write<R: Sendable>(
    _ types: [any Persistable.Type],
    _ body: @escaping @Sendable (any StoreTransaction) throws -> R
  ) async throws -> R { try await base.write(types, body) }
}

private struct CountingStore<Value: Persistable>: ValueStore {
  let base: any ValueStore<Value>
  let counts: CountingDomain

  var domain: any StoreDomain { counts }

  private func counted(_ values: [Value]) -> [Value] {
    counts.reads.add(values.count, ordering: .relaxed)
    return values
  }

  func load(_ ids: [Value.ID]) async throws -> [Value] { counted(try await base.load(ids)) }
  func values(_ query: ValueQuery<Value>) async throws -> [Value] {
    counted(try await base.values(query))
  }
  func count(_ query: ValueQuery<Value>) async throws -> Int { try await base.count(query) }
  func changes(_ query: ValueQuery<Value>) -> ValueChanges<Value> { base.changes(query) }
  func subscribe(
    changedIDs handler: @escaping @Sendable ([Value.ID]?) -> Void
  ) -> ValueSubscription { base.subscribe(changedIDs: handler) }
  func migrate(step: Int) async throws { try await base.migrate(step: step) }
}

/// Fails at random, before or after it has noted an upload.
private final class Server: Sendable {
  private struct State {
    var random: SeededGenerator
    var received: [(number: Int, key: UUID, orderingKey: String)] = []
  }

  private let state: Mutex<State>

  init(seed: UInt64) { state = Mutex(State(random: SeededGenerator(seed: seed))) }

  var received: [(number: Int, key: UUID, orderingKey: String)] { state.withLock(\.received) }

  func receive(_ upload: Numbered, _ key: UUID) throws {
    try state.withLock { state in
      if Int.random(in: 0..<4, using: &state.random) == 0 { throw Offline() }
      state.received.append((upload.number, key, upload.orderingKey))
      if Int.random(in: 0..<6, using: &state.random) == 0 { throw Offline() }
    }
  }
}

@Suite("Long queues")
struct UploadBacklogTests {
  private let retry = UploadRetry.exponential(from: .milliseconds(1), to: .milliseconds(4))

  @Test(
    "Pages of a queue are read by its index, in order", arguments: [TestEngine.sqlite, .memory])
  func plan(engine: TestEngine) async throws {
    try await withTemporaryWorkspace(engine) { temporary in
      let workspace = temporary.workspace
      let silos = Silos(in: workspace)
      for number in 0..<20 {
        try await silos.write { txn in
          try txn.enqueue(Numbered(orderingKey: "a", number: number))
          try txn.enqueue(Sent(number: number))
        }
      }
      try await workspace.indexesReady(for: Canonical<StoredUpload>.self)
      let page = workspace.query(Canonical<StoredUpload>.self)
        .where(StoredUpload.queue == "Numbered" && StoredUpload.id >= 7)
        .orderBy(StoredUpload.id.ascending).limit(3)
      let plan = try page.explain()
      #expect(!plan.isSortedInMemory && plan.rowByRow == nil, "\(plan)")
      #expect(plan.indexes.count == 1, "\(plan)")
      #expect(try page.fetch().map { $0.id } == [7, 9, 11])
    }
  }

  @Test("Each upload is read a few times, however many wait, also behind busy and parked ones")
  func reads() async throws {
    let domain = CountingDomain()
    let silos = Silos(CountingStore<Tag>(base: domain.base.store(of: Tag.self), counts: domain))
    let count = 800
    let keys = ["a", "b", "c", "d", "stuck"]
    for number in 0..<count {
      try await silos.write { txn in
        try txn.enqueue(Numbered(orderingKey: keys[number % 5], number: number))
      }
    }
    let received = Mutex<[Int]>([])
    let queue = UploadQueue<Numbered>(in: silos, retry: retry, onFailure: { _, _, _ in .park })
    // More at once than there are keys, so that each look goes to the end.
    try await queue.run(concurrency: 8, until: .idle) { upload, _ in
      if upload.orderingKey == "stuck" { throw Offline() }
      received.withLock { $0.append(upload.number) }
    }
    #expect(received.withLock { $0.count } == count / 5 * 4)
    let reads = domain.reads.load(ordering: .relaxed)
    #expect(reads < count * 8, "\(reads) for \(count)")
  }

  @Test("In LMDB, what is far behind is not read")
  func damageBehind() async throws {
    let directory = URL.temporaryDirectory.appending(path: "silo-\(UUID())")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: directory) }
    let store = Store(database: try LockingDatabase(url: directory))
    let silos = Silos(EmpireValueStore<Tag>(store))
    for number in 1...40 {
      try await silos.write { txn in
        try txn.enqueue(Numbered(orderingKey: "a", number: number))
      }
    }
    try store.withTransaction { context in
      let table = Canonical<StoredUpload>._schema.table
      let row = try #require(
        try StoredRow.select(in: context, table: table, hash: hash(of: Int64(30))).first)
      try context.insert(
        StoredRow(table: table, hash: row.hash, number: row.number, bytes: Data([1])))
    }
    // The last one is found without it.
    try await silos.write { txn in
      try txn.enqueue(Numbered(orderingKey: "a", number: 41))
    }
    let received = Mutex<[Int]>([])
    let queue = UploadQueue<Numbered>(in: silos, retry: retry)
    await #expect(throws: (any Error).self) {
      try await queue.run(concurrency: 1, until: .idle) { upload, _ in
        received.withLock { $0.append(upload.number) }
      }
    }
    let numbers = received.withLock { $0 }
    #expect(numbers.count > 20 && numbers == Array(1...max(1, numbers.count)), "\(numbers)")
  }

  @Test("Integers are in the order of their ids in LMDB")
  func integerOrder() {
    let numbers: [Int64] = [.min, -300, -1, 0, 1, 255, 256, .max]
    #expect(numbers.map { hash(of: $0) } == numbers.map { hash(of: $0) }.sorted())
    #expect([UInt8.min, 1, 127, 128, .max].map { hash(of: $0) } == [0, 1, 127, 128, 255])
    #expect(hash(of: Int8(-1)) == hash(of: -1))
  }

  /// Random uploads, failures, changes by hand and kills of runs.
  @Test("Whatever happens, each key's uploads arrive in order", arguments: TestStores.all)
  func random(stores: TestStores) async throws {
    var random = SeededGenerator(seed: testSeed())
    for _ in 0..<(isLongRun ? 20 : 1) { try await play(stores, random.next(), random.seed) }
  }

  private func play(_ stores: TestStores, _ seed: UInt64, _ root: UInt64) async throws {
    try await stores.withSilos { silos in
      var random = SeededGenerator(seed: seed)
      let server = Server(seed: seed &+ 1)
      let queue = UploadQueue<Numbered>(
        in: silos, retry: retry,
        onFailure: { _, upload, _ in upload.number % 7 == 0 ? .park : .retry })
      var next = 0
      var removed: Set<Int> = []
      func enqueue(_ count: Int, _ random: inout SeededGenerator) async throws {
        for _ in 0..<count {
          let upload = Numbered(
            orderingKey: "\(Int.random(in: 0..<6, using: &random))", number: next)
          next += 1
          try await silos.write { txn in
            try txn[Tag.self].save(Tag(id: upload.orderingKey))
            try txn.enqueue(upload)
          }
        }
      }
      let send: @Sendable (Numbered, UploadContext) async throws -> Void = { upload, context in
        try server.receive(upload, context.key)
      }
      for _ in 0..<3 {
        try await enqueue(25, &random)
        let concurrency = Int.random(in: 1...8, using: &random)
        let run = _Concurrency.Task { @Sendable in
          try await queue.run(concurrency: concurrency, until: .idle, send)
        }
        try await enqueue(10, &random)
        for status in try await queue.statuses() where Int.random(in: 0..<9, using: &random) == 0 {
          if status.state == .parked {
            try await queue.retry(status.id)
          } else if try await queue.remove(status.id), let number = status.upload?.number {
            removed.insert(number)
          }
        }
        if Bool.random(using: &random) { run.cancel() }
        _ = await run.result
      }
      // Parked ones are retried until nothing is left.
      while true {
        try await queue.run(concurrency: 5, until: .idle, send)
        let left = try await queue.statuses()
        if left.isEmpty { break }
        #expect(left.contains { $0.state == .parked })
        for status in left { try await queue.retry(status.id) }
      }
      let all = server.received
      #expect(Set(all.map(\.number)).union(removed) == Set(0..<next))
      for (_, same) in Dictionary(grouping: all, by: \.orderingKey) {
        let numbers = same.map(\.number)
        #expect(numbers == numbers.sorted(), "DFLAT_SEED=\(root)")
      }
      for (_, same) in Dictionary(grouping: all, by: \.number) {
        #expect(Set(same.map(\.key)).count == 1)
      }
    }
  }
}
