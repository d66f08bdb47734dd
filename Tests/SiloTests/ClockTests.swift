// Clocks that jump: what is stored with a wrong time of day, or read with one.

import DflatTestSupport
import Foundation
import Platform
@testable import Silo
import Testing

private struct Offline: Error {}

/// The time of day of some silos, which may be wrong.
private final class TestClock: Sendable {
  private let offset = Mutex<TimeInterval>(0)

  init(_ silos: Silos) {
    silos.clock.set { [self] in Date(timeIntervalSinceNow: offset.withLock(\.self)) }
  }

  /// By how many seconds the clock is ahead.
  var error: TimeInterval {
    get { offset.withLock(\.self) }
    set { offset.withLock { $0 = newValue } }
  }
}

@Suite("Clocks that jump", .endsSometime)
struct ClockTests {
  private static let years: TimeInterval = 50 * 365 * 86_400

  private func statuses(
    _ queue: UploadQueue<Sent>, until isRight: (UploadStatus<Sent>) -> Bool
  ) async throws {
    for try await statuses in queue.statusChanges() {
      if statuses.first.map(isRight) == true { return }
    }
  }

  @Test(
    "An upload that failed while the clock was wrong does not wait for that time",
    arguments: TestStores.all, [years, -years])
  func storedPause(stores: TestStores, error: TimeInterval) async throws {
    try await stores.withSilos { silos in
      let clock = TestClock(silos)
      clock.error = error
      for number in 0..<2 {
        try await silos.write { _ = try $0.enqueue(Sent(number: number)) }
      }
      let slow = UploadRetry.exponential(from: .seconds(3600), to: .seconds(3600))
      let queue = UploadQueue<Sent>(in: silos, retry: slow)
      let run = _Concurrency.Task { try await queue.run { _, _ in throw Offline() } }
      try await statuses(queue) { if case .pausing = $0.state { true } else { false } }
      run.cancel()
      _ = await run.result
      clock.error = 0
      #expect(try await queue.statuses().map(\.state) == [.waiting, .waiting])
      let sent = Mutex<[Int]>([])
      try await queue.run(until: .idle) { upload, _ in sent.withLock { $0.append(upload.number) } }
      #expect(sent.withLock(\.self) == [0, 1])
    }
  }

  @Test(
    "A clock that jumps while an upload pauses makes no pause longer", arguments: [years, -years])
  func jumpDuringPause(error: TimeInterval) async throws {
    for (before, after) in [(error, 0), (0, error)] {
      let silos = Silos(.memory)
      let clock = TestClock(silos)
      clock.error = before
      try await silos.write { _ = try $0.enqueue(Sent()) }
      let queue = UploadQueue<Sent>(
        in: silos, retry: .exponential(from: .seconds(1), to: .seconds(1)))
      let run = _Concurrency.Task {
        try await queue.run(until: .idle) { _, context in
          if context.attempt == 1 { throw Offline() }
        }
      }
      try await statuses(queue) { $0.attempts == 1 }
      clock.error = after
      try await run.value
      #expect(try await queue.statuses().isEmpty)
    }
  }

  @Test("A pause goes on if the clock is right", arguments: TestStores.all)
  func rightClock(stores: TestStores) async throws {
    try await stores.withSilos { silos in
      let clock = TestClock(silos)
      let retry = UploadRetry.exponential(from: .seconds(3600), to: .seconds(3600), jitter: 1)
      let queue = UploadQueue<Sent>(in: silos, retry: retry)
      try await silos.write { txn in
        let id = try silos.uploadIDs.last(in: txn.access(StoredUpload.self)) + 1
        var upload = StoredUpload(
          id: id, queue: Sent.queueName, orderingKey: "all", key: UUID(),
          payload: try JSONEncoder().encode(Sent()))
        upload.nextAttempt = clock.now.addingTimeInterval(7000)
        try txn.access(StoredUpload.self).save([upload])
      }
      let state = try #require(try await queue.statuses().first?.state)
      guard case .pausing = state else {
        Issue.record("\(state)")
        return
      }
      clock.error = 7100
      #expect(try await queue.statuses().map(\.state) == [.waiting])
    }
  }

  @Test(
    "Values that were used while the clock was ahead are neither kept longer nor preferred",
    arguments: TestStores.all)
  func usedAhead(stores: TestStores) async throws {
    try await stores.withSilos { silos in
      let clock = TestClock(silos)
      let folders = silos[Folder.self]
      folders.retention = .recent(count: 2)
      clock.error = Self.years
      for id in 1...2 {
        try await folders.save(Folder(id))
        try await folders.trim()
      }
      // Not while a pass in the background goes on.
      await folders.state.accesses.turn.enterAlone()
      clock.error = 0
      folders.state.accesses.turn.leaveAlone()
      try await folders.save(Folder(3))
      try await folders.trim()
      #expect(try await folders.values(orderBy: [Folder.id.ascending]).map(\.id) == [2, 3])
      // Loaded again, the value of that time gets the present one.
      _ = try await folders.load(2)
      folders.retention = .recent(age: .seconds(3600))
      try await folders.trim()
      #expect(try await folders.count() == 2)
      clock.error = 7200
      try await folders.trim()
      #expect(try await folders.count() == 0)
    }
  }

  @Test("Values that were used while the clock was behind are not too old when it is corrected")
  func usedBehind() async throws {
    let silos = Silos(.memory)
    let clock = TestClock(silos)
    let folders = silos[Folder.self]
    folders.retention = .recent(age: .seconds(3600))
    // No pass in the background stores the uses.
    await folders.state.accesses.turn.enterAlone()
    clock.error = -Self.years
    try await folders.save(Folder(1))
    clock.error = 0
    folders.state.accesses.turn.leaveAlone()
    #expect(try await folders.trim() == 0)
    #expect(try await folders.load(1) != nil)
  }

  @Test("A clock that is set back makes no value stay for that time")
  func setBack() async throws {
    let silos = Silos(.memory)
    let clock = TestClock(silos)
    let folders = silos[Folder.self]
    folders.retention = .recent(age: .seconds(1))
    try await folders.save(Folder(1))
    try await folders.trim()
    clock.error = -Self.years
    // The timer is not that of the time of day alone.
    #expect(try await inTime { try await folders.count() == 0 })
  }

  @Test("Managed values stay, whatever the clock says", arguments: TestStores.all)
  func managed(stores: TestStores) async throws {
    try await stores.withSilos { silos in
      let clock = TestClock(silos)
      let folders = silos[Folder.self]
      folders.retention = .recent(age: .seconds(3600))
      try await folders.save([Folder(1), Folder(2)])
      try await folders.pin(1)
      // Stores when they were used.
      try await folders.trim()
      clock.error = Self.years
      try await folders.trim()
      #expect(try await folders.values().map(\.id) == [1])
    }
  }
}

extension TestClock {
  fileprivate var now: Date { Date(timeIntervalSinceNow: error) }
}
