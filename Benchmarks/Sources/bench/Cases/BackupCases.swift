// Backups, a writer beside them, checks, and checksums of rows.
//
// Both sides of `backup` check the copy. Both sides of `check-file` run SQLite's own check and read
// each row; Dflat also compares each object with its schema, its key and its indexes.

import CSQLiteFloor
import Dflat
import Dispatch
import Foundation
import SQLiteDflat
import Synchronization

extension Fixture {
  /// The number of objects in a file to copy or to check: a million in full runs.
  fileprivate var copied: Int { few * 100 }
}

extension Case {
  static let backup = Case(
    id: "backup", title: "back up 1,000,000 objects and check the copy", goal: 1.2
  ) { fixture in
    let template = try fixture.scaleTemplate(fixture.copied)
    let source = try FloorDatabase(path: fixture.twin(of: template), readOnly: true)
    let store = Store(template)
    return (
      ours: {
        let copy = fixture.path("backup.db")
        defer { fixture.discard(copy) }
        let nanoseconds = try time {
          try awaiting { try await store.workspace.backup(to: copy) }
        }
        return Outcome(nanoseconds: nanoseconds, checksum: try rows(copy))
      },
      floor: {
        let copy = fixture.path("backup-floor.db")
        defer { fixture.discard(copy) }
        let nanoseconds = try time { try copyAndCheck(source, copy) }
        return Outcome(nanoseconds: nanoseconds, checksum: try rows(copy))
      }
    )
  }

  static let writeBesideBackup = Case(
    id: "write-beside-backup",
    title: "10,000 transactions while a backup is made; floor: without it",
    goal: 1.11, floor: .without,
    whyNotCounted: "a writer and a backup run at the same time"
  ) { fixture in
    let template = try fixture.scaleTemplate(fixture.copied)
    let samples = fixture.samples(fixture.few)
    return (
      ours: { try write(samples, fixture, template, isBesideBackup: true) },
      floor: { try write(samples, fixture, template, isBesideBackup: false) }
    )
  }

  static let checkFile = Case(
    id: "check-file", title: "check 1,000,000 objects", goal: 1.3
  ) { fixture in
    let template = try fixture.scaleTemplate(fixture.copied)
    let twin = try FloorDatabase(path: fixture.twin(of: template), readOnly: true)
    let select = try FloorQuery(twin, "SELECT rowid, __pk0, p FROM scaledoc")
    let store = Store(template)
    return (
      ours: {
        var count: Int64 = 0
        let nanoseconds = try time {
          try awaiting {
            let report = try await store.workspace.check(CheckOptions(of: ScaleDoc.self))
            guard report.findings.isEmpty else {
              throw Disagreement(description: "the file is damaged: \(report.findings)")
            }
          }
          count = Int64(fixture.copied)
        }
        var sum = Checksum()
        sum.add(count)
        return Outcome(nanoseconds: nanoseconds, checksum: sum)
      },
      floor: {
        var count: Int64 = 0
        var bytes = 0
        let nanoseconds = try time {
          try check(twin)
          while try select.step() {
            let blob = select.blob(2)
            for place in stride(from: 0, to: blob.count, by: 64) { bytes &+= Int(blob[place]) }
            count += 1
          }
          select.reset()
        }
        withExtendedLifetime(bytes) {}
        var sum = Checksum()
        sum.add(count)
        return Outcome(nanoseconds: nanoseconds, checksum: sum)
      }
    )
  }

  static let fetchAllChecksums = Case(
    id: "fetch-all-checksums", title: "fetch all 33,334 with checksums; floor: without them",
    goal: 1.03, floor: .without
  ) { fixture in
    let path = fixture.path("checksums.db")
    let filled = Store(path, rowChecksums: true)
    try filled.insert(fixture.samples(fixture.many))
    filled.close()
    let with = Store(path, rowChecksums: true)
    let without = Store(try fixture.template(fixture.many))
    return (ours: { try fetchAll(with) }, floor: { try fetchAll(without) })
  }

  private static func fetchAll(_ store: Store) throws -> Outcome {
    var result = FetchedResult<BenchDoc>([])
    let nanoseconds = time { result = store.workspace.fetch(for: BenchDoc.self).all() }
    try store.check()
    var sum = Checksum()
    for doc in result { sum.add(doc._rowid) }
    return Outcome(nanoseconds: nanoseconds, checksum: sum)
  }

  // MARK: Backups

  /// Updates each object in a transaction of its own.
  private static func write(
    _ samples: [Sample], _ fixture: Fixture, _ template: String, isBesideBackup: Bool
  ) throws -> Outcome {
    let path = try fixture.copy(of: template)
    defer { fixture.discard(path) }
    let store = Store(path)
    try store.insert(samples)
    let docs = store.workspace.fetch(for: BenchDoc.self).all()
    let backups = isBesideBackup ? Backups(store, path + ".copy") : nil
    try backups?.awaitBegin()
    let done = DispatchSemaphore(value: 0)
    let nanoseconds = time {
      for (number, doc) in docs.enumerated() {
        store.update(doc, number) { done.signal() }
        done.wait()
      }
    }
    try backups?.end()
    try store.check()
    store.close()
    return Outcome(nanoseconds: nanoseconds, checksum: try fixture.contents(path))
  }

  /// What SQLite's documentation shows for a backup, and a check of the copy.
  private static func copyAndCheck(_ source: FloorDatabase, _ path: String) throws {
    var opened: OpaquePointer?
    let access = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX
    guard sqlite3_open_v2(path, &opened, access, nil) == SQLITE_OK, let copy = opened else {
      throw FloorError(description: "\(path) cannot be created")
    }
    guard let backup = sqlite3_backup_init(copy, "main", source.handle, "main") else {
      throw FloorError(description: String(cString: sqlite3_errmsg(copy)))
    }
    sqlite3_backup_step(backup, -1)
    guard sqlite3_backup_finish(backup) == SQLITE_OK else {
      throw FloorError(description: String(cString: sqlite3_errmsg(copy)))
    }
    sqlite3_close_v2(copy)
    try check(FloorDatabase(path: path, readOnly: true))
  }

  private static func check(_ database: FloorDatabase) throws {
    let check = try database.prepare("PRAGMA integrity_check")
    guard try check.step(), check.text(0).string == "ok" else {
      throw FloorError(description: "the file is damaged")
    }
  }

  /// The rows of a copy.
  private static func rows(_ path: String) throws -> Checksum {
    let database = try FloorDatabase(path: path, readOnly: true)
    let select = try database.prepare("SELECT count(*), sum(rowid) FROM scaledoc")
    var sum = Checksum()
    guard try select.step() else { throw FloorError(description: "there is no count") }
    sum.add(select.int64(0))
    sum.add(select.int64(1))
    return sum
  }
}

/// Makes one backup after another on a thread of its own.
private final class Backups: Sendable {
  private let isEnded = Atomic(false)
  private let hasBegun = DispatchSemaphore(value: 0)
  private let hasEnded = DispatchSemaphore(value: 0)
  private let failure = Mutex<(any Error)?>(nil)

  init(_ store: Store, _ path: String) {
    Thread.detachNewThread { [self] in
      while !isEnded.load(ordering: .acquiring) {
        do {
          try awaiting { [self] in
            try await store.workspace.backup(to: path) { [self] _, _ in hasBegun.signal() }
          }
        } catch {
          failure.withLock { $0 = error }
          isEnded.store(true, ordering: .releasing)
          hasBegun.signal()
        }
        unlink(path)
      }
      hasEnded.signal()
    }
  }

  func awaitBegin() throws {
    hasBegun.wait()
    try failure.withLock { if let error = $0 { throw error } }
  }

  func end() throws {
    isEnded.store(true, ordering: .releasing)
    hasEnded.wait()
    try failure.withLock { if let error = $0 { throw error } }
  }
}

/// Waits for an asynchronous call.
private func awaiting(_ body: @escaping @Sendable () async throws -> Void) throws {
  let waiting = Waiting()
  Task.detached {
    do { try await body() } catch { waiting.failure.withLock { $0 = error } }
    waiting.done.signal()
  }
  waiting.done.wait()
  try waiting.failure.withLock { if let error = $0 { throw error } }
}

private final class Waiting: Sendable {
  let failure = Mutex<(any Error)?>(nil)
  let done = DispatchSemaphore(value: 0)
}
