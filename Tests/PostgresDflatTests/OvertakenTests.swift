// Rows that another program changes after a change of the own workspace which is not delivered yet.

import DflatTestSupport
import Dispatch
import Platform
import PostgresDflat
import PostgresTestSupport
import Testing

@testable import Dflat

@Suite("Rows that others have changed before own changes are delivered", .endsSometime)
struct OvertakenTests {
  /// How what others have changed is read.
  enum Reading: CaseIterable {
    case log, refresh, subscription
  }

  @Test("On a server, observers end with what is stored", arguments: Reading.allCases)
  func server(reading: Reading) async throws {
    try await withSchema { schema in
      let dflat = postgresWorkspace(schema: schema) { $0.followsOtherWriters = reading == .log }
      let other = postgresWorkspace(schema: schema)
      try await check(dflat, other, reading) { try waitForListener(schema) }
      await dflat.shutdown()
      await other.shutdown()
    }
  }

  private func check(
    _ dflat: any Workspace, _ other: any Workspace, _ reading: Reading, _ listens: () throws -> Void
  ) async throws {
    try await dflat.write(Note.self) { txn in
      try txn.insert(contentsOf: (1...4).map { Note(key: $0, text: "old") })
    }
    let notes = dflat.fetch(for: Note.self).all()
    // Its handler keeps all later deliveries waiting.
    let (isCalled, mayGoOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let isFirst = Atomic<Bool>(true)
    let slow = dflat.subscribe(object: notes[0]) { _ in
      if isFirst.exchange(false, ordering: .acquiringAndReleasing) {
        isCalled.signal()
        mayGoOn.expect("the end of the handler")
      }
    }
    let texts = Mutex<[String?]>([])
    let watched = dflat.subscribe(fetchedResult: notes) { result in
      texts.withLock { $0 = result.map(\.text) }
    }
    if reading == .log { try listens() }
    change(1, to: "own", dflat)
    isCalled.expect("the first change")
    // From here on nothing is delivered. A reading is enqueued.
    let isRefreshed = DispatchSemaphore(value: 0)
    let late = Mutex<[String?]>([])
    var subscription: (any WorkspaceSubscription)?
    let type = dflat._core.observers.of(Note._schema)
    switch reading {
    case .log:
      let last = type.lastChange
      try await other.write(Note.self) { txn in
        try txn.update(Note.self, keys: [4]) { $0.text = "foreign" }
      }
      #expect(eventually { type.lastChange > last })
    case .refresh: dflat._core.refresh { _ in isRefreshed.signal() }
    case .subscription:
      // What the caller has is out of date, so the data are read.
      type.markPossiblyChanged(at: dflat._core.clock.advance())
      subscription = dflat.subscribe(fetchedResult: notes) { result in
        late.withLock { $0 = result.map(\.text) }
      }
    }
    // Changes of the own workspace behind it, whose deliveries wait, and what others make of these.
    change(2, to: "own", dflat)
    change(3, to: nil, dflat)
    #expect(eventually { other.fetch(for: Note.self).where(Note.text == "own").count == 2 })
    #expect(eventually { other.fetch(for: Note.self).where(Note.key == 3).isEmpty })
    try await other.write(Note.self) { txn in
      try txn.update(Note.self, keys: [2]) { $0.text = "foreign" }
      try txn.insert(Note(key: 3, text: "again"))
    }
    mayGoOn.signal()
    let stored = other.fetch(for: Note.self).all().map(\.text)
    #expect(stored.contains("foreign") && stored.contains("again"))
    if reading != .subscription {
      #expect(eventually { texts.withLock { $0 } == stored }, "\(texts.withLock { $0 })")
    } else {
      #expect(eventually { late.withLock { $0 } == stored }, "\(late.withLock { $0 })")
    }
    subscription?.cancel()
    watched.cancel()
    slow.cancel()
  }

  /// Changes or removes a note, without waiting for the delivery.
  private func change(_ key: UInt64, to text: String?, _ dflat: any Workspace) {
    dflat.performChanges(
      [Note.self],
      changesHandler: { txn in
        let note = dflat.fetch(for: Note.self).where(Note.key == key).first
        let request = note.flatMap {
          text == nil ? NoteChangeRequest.deletionRequest($0) : NoteChangeRequest.changeRequest($0)
        }
        guard let request else {
          Issue.record("note \(key) is missing")
          return
        }
        if let text { request.text = text }
        do { try txn.submit(request) } catch { Issue.record(error) }
      })
  }
}
