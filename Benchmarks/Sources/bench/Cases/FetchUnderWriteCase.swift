// fetch-under-write: fetches objects by key while a writer commits one update after another.
//
// On both sides one thread reads and another one writes, each with its own connection. After a
// commit, readers have to read pages again, so both readers must see the same number of commits.
// The writer therefore begins a commit with each block of fetches. It may fall behind by a few
// blocks and catches up by itself; if it is further behind, the reader waits for it with its clock
// stopped. Only the reader's time is measured.
//
// A writer waits for the next block by polling, yielding to other threads: waking a thread takes as
// long as a commit. Reader and writer need a processor each.

import Dflat
import Dispatch
import Foundation
import SQLiteDflat
import Synchronization

extension Case {
  static let fetchUnderWrite = Case(
    id: "fetch-under-write",
    title: "fetch 10,000 by key while a writer commits one update for every 20", goal: 1.3,
    whyNotCounted: "a reader and a writer wait for each other in loops"
  ) { fixture in
    let template = try fixture.template(fixture.few)
    var samples = fixture.samples(fixture.few)
    var random = Random(seed: 4)
    random.shuffle(&samples)
    let keys = samples.map(\.title)
    let floorKeys = floorDocs(samples).map(\.title)
    return (
      ours: {
        let path = try fixture.copy(of: template)
        let store = Store(path)
        store.warmUp()
        let docs = store.workspace.fetch(for: BenchDoc.self).all()
        let pace = Pace()
        let hasEnded = DispatchSemaphore(value: 0)
        @Sendable func writeNext() {
          guard let number = pace.awaitTurn() else {
            hasEnded.signal()
            return
          }
          store.update(docs[number % docs.count], number) {
            pace.committed()
            writeNext()
          }
        }
        Thread { writeNext() }.start()
        var sum = Checksum()
        let nanoseconds = pace.timeBlocks(keys) { key in
          let found = store.workspace.fetch(for: BenchDoc.self).where(BenchDoc.title == key)
          if let doc = found.first { sum.add(doc._rowid) }
        }
        hasEnded.wait()
        try store.check()
        store.close()
        defer { fixture.discard(path) }
        sum.add(try fixture.contents(path).value)
        return Outcome(nanoseconds: nanoseconds, checksum: sum)
      },
      floor: {
        let path = try fixture.copy(of: template)
        let pace = Pace()
        let writing = FloorWriting()
        Thread { writing.run(path, pace) }.start()
        // Opened by the writer first, as in Dflat.
        try writing.awaitReady()
        let select = try FloorQuery(
          FloorDatabase(path: path, readOnly: true),
          "SELECT rowid, p FROM benchdoc WHERE __pk0 = ?")
        var sum = Checksum()
        let nanoseconds = try pace.timeBlocks(floorKeys) { key in
          select.bind(1, text: key)
          if try select.step() {
            let row = FloorRow(id: select.int64(0), select.blob(1))
            sum.add(row.id)
            row.free()
          }
          select.reset()
        }
        try writing.awaitEnd()
        defer { fixture.discard(path) }
        sum.add(try fixture.contents(path).value)
        return Outcome(nanoseconds: nanoseconds, checksum: sum)
      }
    )
  }
}

extension Case {
  /// The same in processes that have not called `SQLiteProcess.configureForThreads()`.
  static let fetchUnderWriteDefaults = Case(
    id: "fetch-under-write-defaults", title: "the same with SQLite's own mutexes",
    whyNotCounted: "a reader and a writer wait for each other in loops"
  ) { fixture in
    (
      ours: { try FetchUnderWriteProcess.measure(.ours, fixture.few) },
      floor: { try FetchUnderWriteProcess.measure(.floor, fixture.few) }
    )
  }
}

/// A process that runs one side of `fetch-under-write` with SQLite's default settings.
enum FetchUnderWriteProcess {
  static func measure(_ side: Opening.Side, _ objects: Int) throws -> Outcome {
    let said = try ChildProcess.numbers(["defaults", side.rawValue, "\(objects)"])
    guard said.count == 2 else {
      throw Disagreement(description: "defaults \(side): the process said \(said)")
    }
    var sum = Checksum()
    sum.add(Int64(said[1]))
    return Outcome(nanoseconds: UInt64(said[0]), checksum: sum)
  }

  /// The work of the started process: one run to warm up, and one that is measured.
  static func run(_ side: Opening.Side, _ objects: Int) throws {
    let fixture = try Fixture(few: objects, many: objects, walLimit: Store.defaultWALLimit)
    defer { try? fixture.removeFiles() }
    let sides = try Case.fetchUnderWrite.sides(fixture)
    let chosen = side == .ours ? sides.ours : sides.floor
    _ = try chosen()
    let outcome = try chosen()
    print(outcome.nanoseconds, Int64(truncatingIfNeeded: outcome.checksum.value))
  }
}

/// Synchronises reader and writer.
private final class Pace: Sendable {
  private static let fetchesPerCommit = 20
  /// How many blocks the writer may fall behind.
  private static let mostBehind = 8

  private let begun = Atomic(0)
  private let committedCount = Atomic(0)
  /// Whether the reader has ended, or the writer has failed.
  private let isEnded = Atomic(false)

  /// Calls `fetch` with each key, in blocks, and ends the writer.
  /// - Returns: How long the fetches took.
  @inline(__always)
  func timeBlocks<Key>(_ keys: [Key], _ fetch: (Key) throws -> Void) rethrows -> UInt64 {
    defer { end() }
    var nanoseconds: UInt64 = 0
    // Done before the clock starts, so that pages are in the cache.
    for key in keys { try fetch(key) }
    for start in stride(from: 0, to: keys.count, by: Self.fetchesPerCommit) {
      let block = begun.add(1, ordering: .releasing).newValue
      nanoseconds += try time {
        for key in keys[start..<min(start + Self.fetchesPerCommit, keys.count)] { try fetch(key) }
      }
      while committedCount.load(ordering: .acquiring) < block - Self.mostBehind,
        !isEnded.load(ordering: .acquiring)
      {
        sched_yield()
      }
    }
    return nanoseconds
  }

  /// Waits until the next commit is due.
  /// - Returns: The number of the commit, from 0; nil after the last one.
  func awaitTurn() -> Int? {
    let number = committedCount.load(ordering: .relaxed)
    while true {
      // The end is checked first: all blocks have begun before it.
      let isLast = isEnded.load(ordering: .acquiring)
      if begun.load(ordering: .acquiring) > number { return number }
      if isLast { return nil }
      sched_yield()
    }
  }

  func end() { isEnded.store(true, ordering: .releasing) }

  func committed() { committedCount.add(1, ordering: .releasing) }
}

/// The floor's writer, on a thread of its own.
private final class FloorWriting: Sendable {
  private let failure = Mutex<(any Error)?>(nil)
  private let isReady = DispatchSemaphore(value: 0)
  private let hasEnded = DispatchSemaphore(value: 0)

  func run(_ path: String, _ pace: Pace) {
    defer { hasEnded.signal() }
    do {
      let writer = try FloorWriter(path)
      try writer.warmUp()
      let list = try writer.fetchAll()
      isReady.signal()
      while let number = pace.awaitTurn() {
        try writer.transaction { try writer.update(list[number % list.count], number) }
        pace.committed()
      }
    } catch {
      failure.withLock { $0 = error }
      pace.end()
      isReady.signal()
    }
  }

  func awaitReady() throws {
    isReady.wait()
    if let error = failure.withLock({ $0 }) { throw error }
  }

  func awaitEnd() throws {
    hasEnded.wait()
    if let error = failure.withLock({ $0 }) { throw error }
  }
}
