// A writer beside long queries that overlap, so that there is always one that reads an old state.

import Dflat
import DflatTestSupport
import Dispatch
import Foundation
import Platform
import SQLiteAccess
import Testing

@testable import SQLiteDflat

@Suite("The log beside overlapping readers")
struct LongLogTests {
  private static let limit = 64 << 10

  private final class Readers: Sendable {
    let isDone = Atomic(false)
    /// The number of the reader that began last.
    let latest = Atomic(0)
    let threads = DispatchGroup()

    /// Reads in a row, each beginning before the one of the other thread ends, and none shorter
    /// than a second.
    func read(_ readers: ReaderPool) throws {
      while !isDone.load(ordering: .acquiring) {
        try readers.withReader { connection in
          try connection.transaction(.deferred) {
            _ = try connection.value("SELECT count(*) FROM blog__post_v1_0")
            let own = latest.wrappingAdd(1, ordering: .acquiringAndReleasing).newValue
            let end = ContinuousClock.now + .milliseconds(1200)
            while !isDone.load(ordering: .acquiring),
              ContinuousClock.now < end || latest.load(ordering: .acquiring) == own
            {
              Thread.sleep(forTimeInterval: 0.001)
            }
          }
        }
      }
    }
  }

  @Test("It is reset although a query is always running, and so stays bounded")
  func overlapping() throws {
    try withTemporaryFile(configure: {
      $0.walLimit = Self.limit
      $0.idleDelay = .seconds(3600)
    }) { workspace in
      try workspace.store([post(0)])
      let readers = Readers()
      for _ in 0..<2 {
        readers.threads.enter()
        Thread.detachNewThread {
          do { try readers.read(workspace.dflat.engine.readers) } catch { Issue.record(error) }
          readers.threads.leave()
        }
      }
      #expect(eventually { readers.latest.load(ordering: .acquiring) >= 2 })
      var longest: Int64 = 0
      var written: Int64 = 0
      var number: Int32 = 1
      // Without an end of the waiting, the log would be as long as all that is written.
      while written < 12 * Int64(Self.limit) {
        let text = String(repeating: "x", count: 20_000)
        try workspace.store([post(number, photo: text + "\(number)")])
        number += 1
        written += 20_000
        let status = try FileManager.default.attributesOfItem(atPath: workspace.path + "-wal")
        longest = max(longest, status[.size] as? Int64 ?? Int64(status[.size] as? Int ?? 0))
      }
      readers.isDone.store(true, ordering: .releasing)
      readers.threads.expect("the end of the readers")
      #expect(longest < 12 * Int64(Self.limit), "the log had \(longest) bytes")
      let resets = workspace.takeEvents().count {
        if case .checkpoint = $0 { true } else { false }
      }
      #expect(resets >= 1)
    }
  }

  @Test("A checkpoint waits long for queries only, and only when the log is long")
  func patience() throws {
    try withTemporaryFile { workspace in
      try workspace.store([post(0)])
      let connection = try workspace.foreignConnection()
      let pages = try 4 << 20 / (connection.pageSize() + 24)
      let maintenance = try FileMaintenance(
        walLimit: 4 << 20, connection, workspace.dflat.engine.readers)
      let now = ContinuousClock.now
      func patience(_ multiple: Int, _ readers: OwnReaders) -> Duration {
        maintenance.patience(pages: multiple * pages + multiple, readers, now: now)
      }
      let queries = OwnReaders(oldest: nil, isAnyAtWork: true)
      #expect(patience(1, queries) == .milliseconds(50))
      #expect(patience(7, queries) == .milliseconds(350))
      #expect(patience(8, queries) == .seconds(10) && patience(100, queries) == .seconds(10))
      // Snapshots may wait for the transaction, and nothing is known of other programs.
      let snapshot = OwnReaders(oldest: now - .milliseconds(100), isAnyAtWork: true)
      #expect(patience(8, snapshot) == .milliseconds(400))
      #expect(patience(100, OwnReaders(oldest: now - .seconds(5), isAnyAtWork: true)) == .zero)
      #expect(patience(100, OwnReaders(oldest: nil, isAnyAtWork: false)) == .seconds(1))
      let backup = OwnReaders(oldest: nil, isReadingWhole: true, isAnyAtWork: true)
      #expect(patience(1, backup) == .zero && patience(100, backup) == .zero)
    }
  }

  @Test("No transaction waits for what reads the whole file, however long the log becomes")
  func wholeFile() async throws {
    let directory = try makeTemporaryDirectory()
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let file = TemporaryFile(path: directory + "/test.db") {
      $0.walLimit = Self.limit
      $0.idleDelay = .seconds(3600)
    }
    try file.store([post(0)])
    let number = Atomic<Int32>(1)
    /// Writes a log of twelve times its limit, and returns how long that takes.
    @Sendable func write() -> Duration {
      let start = ContinuousClock.now
      for _ in 0..<40 {
        let next = number.wrappingAdd(1, ordering: .relaxed).oldValue
        let text = String(repeating: "x", count: 20_000)
        do { try file.store([post(next, photo: text + "\(next)")]) } catch { Issue.record(error) }
      }
      return .now - start
    }
    for (name, read) in [
      (
        "a backup",
        { (act: @escaping @Sendable () -> Void) in
          try await file.dflat.backup(to: directory + "/copy.db") { _, _ in act() }
        }
      ),
      (
        "a check",
        { (act: @escaping @Sendable () -> Void) in
          var options = CheckOptions(of: Post.self)
          options.onProgress = { _ in act() }
          _ = try await file.dflat.check(options)
        }
      ),
    ] {
      let times = Log<Duration>()
      try await read { if times.events.isEmpty { times.add(write()) } }
      // A checkpoint waits ten seconds for a query if the log is so long.
      #expect(times.events.count == 1 && times.events[0] < .seconds(5), "\(name): \(times.events)")
      let isReported = file.takeEvents().contains {
        if case .stuckReader(_, isOwn: true, _) = $0 { true } else { false }
      }
      #expect(isReported, "\(name)")
      file.dflat.engine.performMaintenance()
      #expect(file.dflat.engine.session.ownReaders.isReadingWhole == false)
    }
    await file.dflat.shutdown()
  }
}
