// Uploads that wait in stores which a silo has left.

import DflatTestSupport
import Empire
import EmpireSilo
import Foundation
import MemoryDflat
import Platform
@testable import Silo
import SQLiteDflat
import Testing

/// A hold as a newer release of the library has it, with an appended property.
private struct NewHold: Bookkeeping, Identifiable {
  var id: UUID
  var subjects: [String]
  var uploads: Int
  var note: String?

  static let _canonical = CanonicalSchema(
    "silo_holds", version: 1, type: "StoredHold", id: UUID.self,
    [
      CanonicalProperty("id", UUID.self),
      CanonicalProperty("subjects", [String].self, index: .elements),
      CanonicalProperty("uploads", Int.self),
      CanonicalProperty("note", String?.self),
    ])

  func _write(to writer: inout CanonicalWriter) {
    writer.write(id: id)
    writer.write(subjects)
    writer.write(uploads)
    writer.write(note)
  }

  init(_reading reader: CanonicalReader) throws {
    id = try reader.read(id: 0)
    subjects = try reader.read(1)
    uploads = try reader.read(2)
    note = try reader.read(3)
  }
}

@Suite("Uploads in stores that a silo has left", .endsSometime)
struct MovedUploadTests {
  @Test("What only a newer release knows of a hold stays when it is counted and moved")
  func newerHold() async throws {
    let silos = Silos(in: MemoryWorkspace())
    let first = silos[Folder.self].store.domain
    try await silos.write { txn in
      try txn[Folder.self].save(Folder(0))
      for number in 0..<3 { try txn.enqueue(Sent(number: number)) }
    }
    func note(_ domain: any StoreDomain) async throws -> [String?] {
      try await domain.store(of: NewHold.self).values(ValueQuery()).map(\.note)
    }
    var hold = try #require(
      try await first.store(of: NewHold.self).values(ValueQuery()).first)
    hold.note = "new"
    try await first.store(of: NewHold.self).save(hold)
    let queue = UploadQueue<Sent>(
      in: silos, retry: .exponential(from: .seconds(1), to: .seconds(2)))
    #expect(try await queue.remove(try #require(try await queue.statuses().first).id))
    #expect(try await note(first) == ["new"])
    let second = WorkspaceValueStore<Folder>(MemoryWorkspace())
    try await silos[Folder.self].move(to: second)
    try await silos.moveUploads(to: second.domain)
    // Beside it are those of the uploads that waited elsewhere when the value was moved.
    #expect(try await note(second.domain).contains("new"))
    #expect(try await silos[Folder.self].isManaged(0))
  }

  enum Middle: CaseIterable {
    case memory, cached, workspace, empire

    func store(in directory: URL) throws -> any ValueStore<Folder> {
      switch self {
      case .memory: MemoryValueStore<Folder>()
      case .cached: CachedValueStore(of: MemoryValueStore<Folder>(), limit: 2)
      case .workspace: WorkspaceValueStore<Folder>(MemoryWorkspace())
      case .empire:
        EmpireValueStore<Folder>(Store(database: try LockingDatabase(url: directory)))
      }
    }
  }

  /// Calls `body` with silos that have moved some times, with an upload in each store.
  private func withMoved(
    _ middle: Middle, times: Int,
    _ body: (Silos, _ domains: [any StoreDomain]) async throws -> Void
  ) async throws {
    let root = URL.temporaryDirectory.appending(path: "silo-\(UUID())")
    defer { try? FileManager.default.removeItem(at: root) }
    let silos = Silos(in: MemoryWorkspace())
    let folders = silos[Folder.self]
    var domains: [any StoreDomain] = [folders.store.domain]
    try await put(0, in: silos)
    for number in 1...times {
      let directory = root.appending(path: "\(number)")
      try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
      let store = try middle.store(in: directory)
      domains.append(store.domain)
      try await move(folders, to: store)
      try await put(number, in: silos)
    }
    try await body(silos, domains)
  }

  private func move(_ folders: Silo<Folder>, to store: some ValueStore<Folder>) async throws {
    try await folders.move(to: store)
  }

  private func put(_ number: Int, in silos: Silos) async throws {
    try await silos.write { txn in
      try txn[Folder.self].save(Folder(number))
      try txn.enqueue(Sent(number: number))
    }
  }

  private func queue(_ silos: Silos) -> UploadQueue<Sent> {
    UploadQueue(in: silos, retry: .exponential(from: .seconds(1), to: .seconds(2)))
  }

  @Test(
    "They are listed and sent in the order of their transactions, and keep their values managed",
    arguments: Middle.allCases, [2, 3])
  func sending(middle: Middle, times: Int) async throws {
    try await withMoved(middle, times: times) { silos, domains in
      let all = Array(0...times)
      #expect(try await queue(silos).statuses().map(\.upload?.number) == all)
      for id in all { #expect(try await silos[Folder.self].isManaged(id), "\(id)") }
      let sent = Mutex<[Int]>([])
      try await queue(silos).run(until: .idle) { upload, _ in
        sent.withLock { $0.append(upload.number) }
      }
      #expect(sent.withLock(\.self) == all)
      #expect(try await silos[Folder.self].evict(all) == all.count)
      // The stores that nothing waits in are let go.
      try await queue(silos).run(until: .idle) { _, _ in }
      #expect(silos.domains.count == 2)
    }
  }

  @Test("They can be retried, and removed", arguments: Middle.allCases)
  func byHand(middle: Middle) async throws {
    try await withMoved(middle, times: 2) { silos, _ in
      struct Refusal: Error {}
      let parking = UploadQueue<Sent>(
        in: silos, retry: .exponential(from: .seconds(1), to: .seconds(1)),
        onFailure: { _, _, _ in .park })
      try await parking.run(until: .idle) { upload, _ in if upload.number > 0 { throw Refusal() } }
      let parked = try #require(try await parking.statuses().first)
      #expect(parked.state == .parked && parked.upload?.number == 1)
      #expect(try await parking.retry(parked.id))
      #expect(try await parking.remove(parked.id))
      #expect(try await parking.statuses().map(\.upload?.number) == [2])
    }
  }

  /// Moves uploads while their queue runs, and expects that they are sent in their order.
  private func expectOrder(runner: Silos, mover: Silos) async throws {
    struct Offline: Error {}
    let target = mover[Folder.self].store.domain
    let hasMoved = Mutex(false)
    let sent = Mutex<[Int]>([])
    let (attempts, attempt) = AsyncStream.makeStream(of: Int.self)
    let queue = UploadQueue<Sent>(
      in: runner, retry: .exponential(from: .milliseconds(400), to: .milliseconds(400)),
      onFailure: { _, upload, _ in upload.number == 2 ? .park : .retry })
    queue.runs.lease.patience = .milliseconds(600)
    func put<V: Persistable>(_ value: V, _ number: Int, _ key: String) async throws {
      try await mover.write { txn in
        try txn[V.self].save(value)
        try txn.enqueue(Sent(orderingKey: key, number: number))
      }
    }
    try await put(Tag(id: "a"), 1, "key")
    // It stays where it is, so that the others have lower ids.
    try await put(Folder(1), 2, "parked")
    let run = _Concurrency.Task { @Sendable in
      try await queue.run { upload, _ in
        defer { attempt.yield(upload.number) }
        guard upload.number != 2, hasMoved.withLock(\.self) else { throw Offline() }
        sent.withLock { $0.append(upload.number) }
      }
    }
    var seen: Set<Int> = []
    for await number in attempts {
      seen.insert(number)
      if seen == [1, 2] { break }
    }
    while try await !queue.statuses().allSatisfy(\.isAtRest) { await _Concurrency.Task.yield() }
    try await mover.moveUploads(to: target)
    hasMoved.withLock { $0 = true }
    try await put(Folder(2), 3, "key")
    for await number in attempts where number == 3 { break }
    run.cancel()
    _ = await run.result
    #expect(sent.withLock(\.self) == [1, 3])
    #expect(try await queue.statuses().map(\.upload?.number) == [2])
  }

  @Test("Uploads that are moved while their queue runs are sent, in their order")
  func movedWhileRunning() async throws {
    let silos = Silos(MemoryValueStore<Tag>(), MemoryValueStore<Folder>())
    try await expectOrder(runner: silos, mover: silos)
  }

  @Test("The same, if another process sends them")
  func movedByOther() async throws {
    try await withTemporaryFile(.file) { tags in
      try await withTemporaryFile(.file) { folders in
        let others = [tags, folders].map { SQLiteWorkspace(filePath: $0.path) }
        try await expectOrder(
          runner: Silos(
            WorkspaceValueStore<Tag>(others[0]), WorkspaceValueStore<Folder>(others[1])),
          mover: Silos(
            WorkspaceValueStore<Tag>(tags.workspace),
            WorkspaceValueStore<Folder>(folders.workspace)))
        for other in others { await other.shutdown(flags: []) }
      }
    }
  }

  @Test(
    "Values stay managed or deleted when a silo moves, whatever their ids begin with",
    arguments: ["abc", "\u{301}abc"])
  func idsWithMarks(id: String) async throws {
    let silos = Silos(in: MemoryWorkspace())
    let tags = silos[Tag.self]
    try await silos.write { txn in
      try txn[Tag.self].save(Tag(id: id))
      try txn.enqueue(Sent())
    }
    try await tags.move(to: WorkspaceValueStore<Tag>(MemoryWorkspace()))
    #expect(try await tags.isManaged(id))
    try await silos.write { txn in
      try txn[Tag.self].delete(id)
      try txn.enqueue(Sent())
    }
    #expect(try await tags.isDeleted(id))
    try await tags.move(to: WorkspaceValueStore<Tag>(MemoryWorkspace()))
    #expect(try await tags.isDeleted(id))
    try await queue(silos).run(until: .idle) { _, _ in }
    #expect(try await !tags.isDeleted(id))
  }

  @Test("moveUploads moves those of all of them", arguments: Middle.allCases, [2, 3])
  func movingUploads(middle: Middle, times: Int) async throws {
    try await withMoved(middle, times: times) { silos, domains in
      let last = try #require(domains.last)
      try await silos.moveUploads(to: last)
      for domain in domains.dropLast() {
        #expect(try await domain.store(of: StoredUpload.self).count(ValueQuery()) == 0)
      }
      let all = Array(0...times)
      #expect(try await queue(silos).statuses().map(\.upload?.number) == all)
      for id in all { #expect(try await silos[Folder.self].isManaged(id), "\(id)") }
      let sent = Mutex<[Int]>([])
      try await queue(silos).run(until: .idle) { upload, _ in
        sent.withLock { $0.append(upload.number) }
      }
      #expect(sent.withLock(\.self) == all)
      for id in all { #expect(try await !silos[Folder.self].isManaged(id), "\(id)") }
      // Nothing is left in the stores, and they are let go.
      try await queue(silos).run(until: .idle) { _, _ in }
      for domain in domains {
        #expect(try await domain.store(of: StoredHold.self).count(ValueQuery()) == 0)
      }
      #expect(silos.domains.count == 2)
    }
  }
}

extension UploadStatus {
  /// Whether it is parked, or pauses.
  fileprivate var isAtRest: Bool {
    switch state {
    case .parked, .pausing: true
    case .waiting, .running: false
    }
  }
}
