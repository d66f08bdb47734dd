// What others do while a silo moves, and while uploads are coalesced, at each place where they can.

import DflatTestSupport
import MemoryDflat
import Platform
@testable import Silo
import Testing

/// The texts that no step can read yet.
private let illegible = Mutex<Set<String>>([])

/// A value whose step fails until the program has what it needs.
@Persistable(version: 2, table: "replies", shape: "id:I text:S")
private struct Reply: Identifiable, Hashable, Sendable {
  var id: Int
  var text: String

  static var migrations: Migrations<Reply> {
    Migrations {
      Migrate(from: V1.self, to: Reply.self) { old in
        if illegible.withLock({ $0.contains(old.code) }) { throw IllegibleText(text: old.code) }
        return Reply(id: old.id, text: old.code)
      }
    }
  }
}

extension Reply {
  @EntityVersion(1, of: Reply.self, shape: "id:I code:S")
  struct V1: Identifiable, Hashable, Sendable {
    var id: Int
    var code: String
  }
}

@Suite("Silos that move while others are at work", .endsSometime)
struct MoveRaceTests {
  /// How often a domain is used during what is tested, at most.
  private static let uses = 0..<10

  private struct Refusal: Error {}

  private func queue(_ silos: Silos) -> UploadQueue<Sent> {
    UploadQueue(
      in: silos, retry: .exponential(from: .seconds(1), to: .seconds(2)),
      coalesce: { Array($0.suffix(1)) }, onFailure: { _, _, _ in .park })
  }

  private func refuseAll(_ silos: Silos) async throws {
    try await queue(silos).run(until: .idle) { _, _ in throw Refusal() }
  }

  /// What a task waits for that meets another one at a silo.
  private func gates<V: Persistable>(_ silo: Silo<V>) -> [WriteGate] {
    [silo.state.gate, silo.silos[StoredUpload.self].state.gate]
  }

  @Test("A value that is migrated during the move moves, too", arguments: uses)
  func migratedMeanwhile(use: Int) async throws {
    let text = "text \(use)"
    illegible.withLock { _ = $0.insert(text) }
    let base = WorkspaceValueStore<Reply>(MemoryWorkspace())
    try await base.domain.store(of: Reply.V1.self).save([Reply.V1(id: 1, code: text)])
    let old = MeddledStore(base)
    let silos = Silos(old)
    silos.errorHandler = { _ in }
    let replies = silos[Reply.self]
    try await replies.save(Reply(id: 2, text: "two"))
    #expect(try await replies.unmigrated.map(\.id) == [1])
    let (aside, gates) = (Aside(), gates(replies))
    old.meddled.meddle(before: use) {
      await aside.begin(gates) {
        illegible.withLock { _ = $0.remove(text) }
        try await replies.retryUnmigrated()
      }
    }
    try await replies.move(to: WorkspaceValueStore<Reply>(MemoryWorkspace()))
    await old.meddled.endMeddling()
    try await aside.end()
    #expect(try await replies.retryUnmigrated().isEmpty)
    let all = [Reply(id: 1, text: text), Reply(id: 2, text: "two")]
    #expect(try await replies.values(orderBy: [Reply.id.ascending]) == all)
    // What the silo has left is as it was then, so that it can come back.
    try await replies.move(to: old)
    #expect(try await replies.values(orderBy: [Reply.id.ascending]) == all)
  }

  /// Silos with a value about which two uploads wait.
  private func waiting(_ store: some ValueStore<Folder>) async throws -> Silos {
    let silos = Silos(store)
    for number in 1...2 {
      try await silos.write { txn in
        try txn[Folder.self].save(Folder(1, name: "\(number)"))
        try txn.enqueue(Sent(number: number))
      }
    }
    return silos
  }

  /// Checks that the value is managed until its uploads are done.
  private func expectManaged(_ count: Int, _ silos: Silos) async throws {
    let folders = silos[Folder.self]
    #expect(try await queue(silos).statuses().count == count)
    #expect(try await folders.isManaged(1))
    try await UploadQueue<RecordedUpload>(
      in: silos, retry: .exponential(from: .seconds(1), to: .seconds(2))
    ).run(until: .idle) { _, _ in }
    #expect(try await folders.isManaged(1))
    for status in try await queue(silos).statuses() { try await queue(silos).retry(status.id) }
    try await queue(silos).run(until: .idle) { _, _ in }
    #expect(try await !folders.isManaged(1))
    for domain in silos.domains {
      #expect(try await domain.store(of: StoredHold.self).count(ValueQuery()) == 0)
    }
  }

  @Test("A value stays managed if its uploads are coalesced during the move", arguments: uses)
  func coalescedMeanwhile(use: Int) async throws {
    let old = MeddledStore(WorkspaceValueStore<Folder>(MemoryWorkspace()))
    let new = MeddledStore(WorkspaceValueStore<Folder>(MemoryWorkspace()))
    for meddled in [old.meddled, new.meddled] {
      let silos = try await waiting(old)
      let (aside, gates) = (Aside(), gates(silos[Folder.self]))
      meddled.meddle(before: use) { await aside.begin(gates) { try await refuseAll(silos) } }
      try await silos[Folder.self].move(to: new)
      await meddled.endMeddling()
      try await aside.end()
      try await expectManaged(1, silos)
      try await silos[Folder.self].remove(1)
      try await silos[Folder.self].move(to: old)
    }
  }

  @Test("A value stays managed if its uploads are moved during the move", arguments: uses)
  func uploadsMovedMeanwhile(use: Int) async throws {
    let old = MeddledStore(WorkspaceValueStore<Folder>(MemoryWorkspace()))
    let silos = try await waiting(old)
    let target = WorkspaceValueStore<Folder>(MemoryWorkspace()).domain
    let (aside, gates) = (Aside(), gates(silos[Folder.self]))
    old.meddled.meddle(before: use) {
      await aside.begin(gates) { try await silos.moveUploads(to: target) }
    }
    try await silos[Folder.self].move(to: WorkspaceValueStore<Folder>(MemoryWorkspace()))
    await old.meddled.endMeddling()
    try await aside.end()
    try await expectManaged(2, silos)
  }

  @Test(
    "A value that has moved stays managed if another queue begins while uploads are coalesced",
    arguments: uses)
  func otherQueue(use: Int) async throws {
    let silos = try await waiting(WorkspaceValueStore<Folder>(MemoryWorkspace()))
    let new = MeddledStore(WorkspaceValueStore<Folder>(MemoryWorkspace()))
    try await silos[Folder.self].move(to: new)
    let (aside, gates) = (Aside(), gates(silos[Folder.self]))
    let other = UploadQueue<RecordedUpload>(
      in: silos, retry: .exponential(from: .seconds(1), to: .seconds(2)))
    new.meddled.meddle(before: use) {
      await aside.begin(gates) { try await other.run(until: .idle) { _, _ in } }
    }
    try await refuseAll(silos)
    await new.meddled.endMeddling()
    try await aside.end()
    try await expectManaged(1, silos)
  }

  @Test("Holds of uploads in whose place nothing comes end with them")
  func coalescedToNothing() async throws {
    let silos = try await waiting(WorkspaceValueStore<Folder>(MemoryWorkspace()))
    try await silos[Folder.self].move(to: WorkspaceValueStore<Folder>(MemoryWorkspace()))
    #expect(try await silos[Folder.self].isManaged(1))
    let queue = UploadQueue<Sent>(
      in: silos, retry: .exponential(from: .seconds(1), to: .seconds(2)), coalesce: { _ in [] })
    try await queue.run(until: .idle) { _, _ in Issue.record("an upload was sent") }
    #expect(try await !silos[Folder.self].isManaged(1))
  }
}
