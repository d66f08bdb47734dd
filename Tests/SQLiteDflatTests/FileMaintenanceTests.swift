// A workspace's maintenance of its file: the write-ahead log and free pages.

import Dflat
import DflatTestSupport
import Dispatch
import Foundation
import SQLiteAccess
@testable import SQLiteDflat
import Platform
import Testing

@Suite("File maintenance")
struct FileMaintenanceTests {
  private static let limit = 64 << 10

  private func size(_ path: String) -> Int {
    let attributes = try? FileManager.default.attributesOfItem(atPath: path)
    return attributes?[.size] as? Int ?? 0
  }

  /// About 5 KB each.
  private func large(_ numbers: Range<Int32>) -> [Post] {
    numbers.map { post($0, photo: String(repeating: "x", count: 2000) + "\($0)") }
  }

  /// A workspace with a small log, whose idle turns run when the tests need them.
  private func withSmallLog(
    idleDelay: Duration = .seconds(3600), _ body: (TemporaryFile) throws -> Void
  ) throws {
    try withTemporaryFile(configure: {
      $0.walLimit = Self.limit
      $0.idleDelay = idleDelay
    }) { try body($0) }
  }

  /// The events of a workspace, collected until there are enough; an event arrives slightly after
  /// its cause.
  private func events(
    _ workspace: TemporaryFile, until isEnough: ([SQLiteWorkspace.Event]) -> Bool
  ) -> [SQLiteWorkspace.Event] {
    var all: [SQLiteWorkspace.Event] = []
    let isTold = eventually {
      all += workspace.takeEvents()
      return isEnough(all)
    }
    #expect(isTold)
    return all
  }

  @Test("The log is checkpointed when it has reached its limit")
  func checkpoints() throws {
    try withSmallLog { workspace in
      var longest = 0
      for number in 0..<100 as Range<Int32> {
        try workspace.store(large(number..<number + 1))
        longest = max(longest, size(workspace.path + "-wal"))
      }
      // A transaction begins below the limit and writes some ten pages.
      #expect(longest > Self.limit / 2 && longest < 2 * Self.limit)
      func moved(_ events: [SQLiteWorkspace.Event]) -> [Int] {
        events.compactMap { if case .checkpoint(let pages, _) = $0 { pages } else { nil } }
      }
      let pages = moved(events(workspace) { moved($0).count > 3 })
      #expect(pages.allSatisfy { $0 >= Self.limit / 4200 && $0 < 2 * Self.limit / 4096 })
    }
  }

  @Test("A log that a single transaction has made long is truncated")
  func longTransaction() throws {
    try withSmallLog { workspace in
      try workspace.store(large(0..<200))
      // It is checkpointed after all observers were notified of the commit.
      #expect(eventually { size(workspace.path + "-wal") == 0 })
      #expect(size(workspace.path) > 200 * 4000)
    }
  }

  @Test("A transaction that has looked something up does not prevent its own checkpoint")
  func readingTransactions() throws {
    try withSmallLog { workspace in
      try workspace.store(large(0..<10))
      var longest = 0
      for number in 0..<200 as Range<Int32> {
        try workspace.change(number % 10) { $0.likes += 1 }
        longest = max(longest, size(workspace.path + "-wal"))
      }
      #expect(longest < 3 * Self.limit)
      let told = events(workspace) { $0.count > 3 }
      let isStuck = told.contains { if case .stuckReader = $0 { true } else { false } }
      #expect(!isStuck)
    }
  }

  @Test("A snapshot that blocks the log is reported with its age; afterwards the log is truncated")
  func ownSnapshot() throws {
    try withSmallLog { workspace in
      try workspace.store([post(-1)])
      let began = ContinuousClock.now
      workspace.dflat.fetchWithinASnapshot {
        #expect(workspace.posts.all().count == 1)
        #expect(throws: Never.self) {
          for number in 0..<50 as Range<Int32> { try workspace.store(large(number..<number + 1)) }
        }
        #expect(workspace.posts.all().count == 1)
      }
      func stuck(_ events: [SQLiteWorkspace.Event]) -> [(Duration, Bool, Int64)] {
        events.compactMap {
          if case .stuckReader(let age, let isOwn, let bytes) = $0 {
            (age, isOwn, bytes)
          } else {
            nil
          }
        }
      }
      // It is reported again as the log grows.
      let stuck = stuck(events(workspace) { stuck($0).count > 2 })
      let most = ContinuousClock.now - began
      #expect(
        stuck.allSatisfy { $0.1 && $0.0 > .zero && $0.0 < most && $0.2 >= Self.limit },
        "\(stuck) within \(most)")
      #expect(zip(stuck, stuck.dropFirst()).allSatisfy { $0.0 < $1.0 && $0.2 < $1.2 })
      #expect(size(workspace.path + "-wal") > 3 * Self.limit)
      for number in 100..<130 as Range<Int32> { try workspace.store(large(number..<number + 1)) }
      #expect(eventually { size(workspace.path + "-wal") < 2 * Self.limit })
    }
  }

  @Test(
    "A foreign reader that blocks the log is reported; when it has ended, an idle turn checkpoints")
  func foreignReader() throws {
    try withSmallLog(idleDelay: .milliseconds(30)) { workspace in
      try workspace.store([post(-1)])
      let foreign = try workspace.foreignConnection()
      try foreign.begin()
      #expect(try foreign.value("SELECT count(*) FROM blog__post_v1_0") == 1)
      for number in 0..<50 as Range<Int32> { try workspace.store(large(number..<number + 1)) }
      var ages: [Duration] = []
      // Idle turns keep trying, and the age counts from the first failure.
      let isOld = eventually {
        for case .stuckReader(let age, let isOwn, _) in workspace.takeEvents() {
          ages.append(age)
          if isOwn { Issue.record("it is a reader of another program") }
        }
        return ages.count > 3 && (ages.last ?? .zero) > .milliseconds(100)
      }
      #expect(isOld)
      #expect(zip(ages, ages.dropFirst()).allSatisfy { $0 < $1 }, "\(ages)")
      #expect(size(workspace.path + "-wal") > 2 * Self.limit)
      try foreign.commit()
      #expect(eventually { size(workspace.path + "-wal") == 0 })
      #expect(
        eventually {
          workspace.takeEvents().contains { if case .checkpoint = $0 { true } else { false } }
        })
    }
  }

  @Test("Another program that writes is waited for, and is not a stuck reader")
  func foreignWriter() throws {
    try withTemporaryFile { workspace in
      try workspace.store(large(0..<10))
      let own = try Connection(path: workspace.path)
      let foreign = try workspace.foreignConnection()
      let nobody = OwnReaders(oldest: nil, isAnyAtWork: false)
      try own.execute("CREATE TABLE t (a)")
      var maintenance = try FileMaintenance(walLimit: 4096, own, ReaderPool(path: workspace.path))
      #expect(maintenance.isDue(own))
      try foreign.begin(.immediate)
      #expect(try maintenance.checkpointLog(own) { nobody }.isEmpty)
      #expect(!maintenance.isDue(own), "it is tried again when the log has grown")
      #expect(own.busyTimeoutMilliseconds == 30_000)
      try foreign.commit()
      try own.execute("INSERT INTO t VALUES (1)")
      #expect(maintenance.isDue(own))
      let pages = own.walPagesAfterLastCommit
      guard
        case .checkpoint(pages, _)? = try maintenance.checkpointLog(own, readers: { nobody }).first
      else {
        Issue.record("the log was not moved")
        return
      }
      #expect(!maintenance.isDue(own), "it is moved once")
    }
  }

  @Test("After an error it is retried when the log has grown, not with each transaction")
  func failedCheckpoint() throws {
    try withTemporaryFile { workspace in
      try workspace.store([post(1)])
      let own = try Connection(path: workspace.path)
      try own.execute("CREATE TABLE t (a)")
      var maintenance = try FileMaintenance(walLimit: 4096, own, ReaderPool(path: workspace.path))
      let nobody = OwnReaders(oldest: nil, isAnyAtWork: false)
      try own.begin(.immediate)
      #expect(throws: SQLiteError.self) { try maintenance.checkpointLog(own) { nobody } }
      try own.rollback()
      #expect(!maintenance.isDue(own))
      try own.execute("INSERT INTO t VALUES (1)")
      #expect(maintenance.isDue(own))
      // Idle time is used, too.
      #expect(try maintenance.step(own, isQuiet: true) { nobody }.events.count == 1)
      #expect(try maintenance.step(own, isQuiet: true) { nobody }.next == .nothing)
    }
  }

  @Test("An own reader that begins while a checkpoint waits is reported as the workspace's own")
  func readerBeganMeanwhile() throws {
    try withTemporaryFile { workspace in
      try workspace.store([post(1)])
      let own = try Connection(path: workspace.path)
      let reader = try workspace.foreignConnection()
      try reader.begin()
      _ = try reader.value("SELECT count(*) FROM blog__post_v1_0")
      try workspace.store([post(2)])
      var maintenance = try FileMaintenance(walLimit: 4096, own, ReaderPool(path: workspace.path))
      _ = try own.value("SELECT count(*) FROM blog__post_v1_0")
      var timesAsked = 0
      let events = try maintenance.checkpointLog(own) {
        timesAsked += 1
        return OwnReaders(
          oldest: timesAsked > 1 ? .now - .seconds(1000) : nil, isAnyAtWork: timesAsked > 1)
      }
      guard case .stuckReader(let age, let isOwn, _)? = events.first else {
        Issue.record("nobody was in the way: \(events)")
        return
      }
      #expect(isOwn)
      #expect(age >= .seconds(1000))
    }
  }

  @Test("Readers are waited for at sizes that double, and never if an own snapshot is old")
  func patience() throws {
    try withTemporaryFile { workspace in
      try workspace.store([post(1)])
      let own = try Connection(path: workspace.path)
      let foreign = try workspace.foreignConnection()
      try own.execute("CREATE TABLE t (a)")
      try foreign.begin()
      _ = try foreign.value("SELECT count(*) FROM t")
      func waits(_ oldest: ContinuousClock.Instant?) throws -> Int {
        var maintenance = try FileMaintenance(
          walLimit: 40_000, own, ReaderPool(path: workspace.path))
        var count = 0
        for _ in 0..<64 {
          try own.execute("INSERT INTO t VALUES (1)")
          let readers = OwnReaders(oldest: oldest, isAnyAtWork: oldest != nil)
          let began = ContinuousClock.now
          let patience = maintenance.patience(
            pages: own.walPagesAfterLastCommit, readers, now: began)
          if patience > .zero { count += 1 }
          let events = try maintenance.checkpointLog(own) { readers }
          #expect(ContinuousClock.now - began >= patience * 0.9)
          guard case .stuckReader(_, let isOwn, _)? = events.first else {
            Issue.record("nobody was in the way")
            return count
          }
          #expect(isOwn == (oldest != nil))
        }
        return count
      }
      // Of 64 attempts: at 9 pages, which is the limit, and at each doubling.
      let count = try waits(nil)
      #expect((2...6).contains(count), "\(count)")
      #expect(try waits(.now - .seconds(2)) == 0)
      try foreign.commit()
    }
  }

  @Test("Back-to-back snapshots do not keep the log from restarting")
  func readersWithoutGap() throws {
    try withSmallLog { workspace in
      try workspace.store([post(-1)])
      let isDone = Atomic(false)
      let group = DispatchGroup()
      for _ in 0..<2 {
        onOwnThread(in: group) {
          while !isDone.load(ordering: .relaxed) {
            workspace.dflat.fetchWithinASnapshot {
              _ = workspace.posts.all()
              // Each one lasts longer than a checkpoint waits at first.
              Thread.sleep(forTimeInterval: 0.12)
            }
          }
        }
      }
      var number: Int32 = 0
      let isMoved = eventually {
        number += 1
        do { try workspace.store(large(number..<number + 1)) } catch { Issue.record(error) }
        return workspace.takeEvents().contains { if case .checkpoint = $0 { true } else { false } }
      }
      isDone.store(true, ordering: .relaxed)
      group.wait()
      #expect(isMoved)
    }
  }

  @Test("Free pages are returned while the workspace is idle, in steps of bounded size")
  func vacuum() throws {
    try withTemporaryFile(configure: { $0.idleDelay = .milliseconds(30) }) { workspace in
      try workspace.store(large(0..<600))
      try workspace.remove(Array(0..<599))
      let foreign = try workspace.foreignConnection()
      let before = try foreign.pageCount()
      let isGivenBack = try eventually { try foreign.freelistCount() == 0 }
      #expect(isGivenBack)
      #expect(try foreign.pageCount() * 4 < before)
      // The file itself is also short once the log was checkpointed.
      #expect(eventually { size(workspace.path) < before * 4096 / 4 })
      func steps(_ events: [SQLiteWorkspace.Event]) -> [(Int, Int)] {
        events.compactMap {
          if case .vacuum(let pages, let remaining) = $0 { (pages, remaining) } else { nil }
        }
      }
      let steps = steps(events(workspace) { steps($0).last?.1 == 0 })
      #expect(steps.count > 1)
      // A pointer map page may be freed together with the pages it maps.
      #expect(steps.allSatisfy { $0.0 > 0 && $0.0 <= 260 })
      #expect(zip(steps, steps.dropFirst()).allSatisfy { $1.1 < $0.1 })
      #expect(try workspace.faults().isEmpty)
      #expect(workspace.posts.all().count == 1)
    }
  }

  @Test("A largely free file shrinks even while transactions continue")
  func vacuumWhileWriting() throws {
    try withTemporaryFile(configure: { $0.idleDelay = .milliseconds(200) }) { workspace in
      try workspace.store(large(0..<600))
      try workspace.remove(Array(0..<599))
      var number: Int32 = 1000
      let isShorter = try eventually {
        number += 1
        try workspace.store([post(number)])
        return workspace.takeEvents().contains { if case .vacuum = $0 { true } else { false } }
      }
      #expect(isShorter)
      #expect(try workspace.faults().isEmpty)
    }
  }

  @Test("A file without auto-vacuum keeps its free pages, and is not changed")
  func withoutAutoVacuum() throws {
    try withTemporaryFile(.file) { workspace in
      try workspace.tamper("CREATE TABLE t (a); DROP TABLE t")
      try workspace.store(large(0..<50))
      try workspace.remove(Array(0..<50))
      #expect(try workspace.sqlite3("PRAGMA auto_vacuum") == "0")
      #expect(try workspace.sqlite3("PRAGMA freelist_count") != "0")
      let own = try Connection(path: workspace.path)
      var maintenance = try FileMaintenance(
        walLimit: 1 << 20, own, ReaderPool(path: workspace.path))
      let step = try maintenance.step(own, isQuiet: true) {
        OwnReaders(oldest: nil, isAnyAtWork: false)
      }
      #expect(step.events.isEmpty && step.next == .nothing)
      #expect(try own.freelistCount() > 0)
    }
  }

  @Test("A checkpoint passes over snapshots of transactions only, not over those of observers")
  func snapshotsOfObservers() throws {
    try withTemporaryFile { workspace in
      try workspace.store([post(1)])
      let engine = workspace.dflat.engine
      for (purpose, isTransaction) in [
        (ReadPurpose.transaction, true), (.observation, false), (.query, false),
      ] {
        let snapshot = engine.makeSnapshot(for: purpose)
        #expect(try snapshot.read { try $0.lastID(of: Post._schema) } == 1)
        #expect(engine.session.snapshots.areTransactions == isTransaction)
        snapshot.close()
        #expect(!engine.session.snapshots.areTransactions)
      }
    }
  }
}
