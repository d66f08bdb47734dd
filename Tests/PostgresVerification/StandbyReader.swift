// StandbyReader: a workspace whose queries standbys answer, beside the processes of a run.
//
// Queries on a standby are not serializable, so they are no part of the histories. What they do
// promise is checked here, by numbers that only grow:
//
//  - a thread sees each of its own commits with its next query;
//  - no query shows less than the workspace had shown, or committed, before the query began;
//  - a query shows what another workspace had committed `freshness` before it began.

import Dflat
import DflatTestSupport
import DflatVerification
import Dispatch
import Foundation
import Platform
import PostgresDflat

/// Queries of standbys while a run goes on.
final class StandbyReader: Sendable {
  /// What was done.
  struct Counts {
    var queries = 0
    var standbyReads = 0
    var primaryReads = 0

    mutating func add(_ other: Counts) {
      queries += other.queries
      standbyReads += other.standbyReads
      primaryReads += other.primaryReads
    }
  }

  private static let freshness = Duration.seconds(1)
  private static let threads: UInt64 = 3
  /// The note of the other workspace. Those of threads come before it.
  private static let sharedKey = UInt64.max

  private let writer: PostgresWorkspace
  private let reader: PostgresWorkspace
  private let isOver = Atomic<Bool>(false)
  private let ended = DispatchSemaphore(value: 0)
  private let state = Mutex(State())

  private struct State {
    /// When the other workspace knew that its numbers were committed, the last ones.
    var commits: [(number: Int, time: ContinuousClock.Instant)] = []
    /// The greatest number that a query has shown, by key.
    var shown: [UInt64: Int] = [:]
    var queries = 0
    var violations: [Violation] = []
  }

  /// Begins to write and to read.
  init(_ place: ServerPlace) throws {
    writer = try place.openWorkspace()
    reader = try place.openWorkspace { $0.readsFrom = .standbys(freshness: Self.freshness) }
    for dflat in [writer, reader] { dflat.errorHandler = { _ in } }
    run { try $0.count() }
    for thread in 1..<Self.threads { run { try $0.query(thread) } }
  }

  /// Ends, when all processes have.
  func end() -> (Counts, [Violation]) {
    isOver.store(true, ordering: .releasing)
    for _ in 0..<Self.threads { ended.wait() }
    var counts = Counts()
    let metrics = try? wait { [reader] in await reader.metrics() }
    counts.standbyReads = metrics?.standbyReads ?? 0
    counts.primaryReads = metrics?.primaryReads ?? 0
    writer.shutdown()
    reader.shutdown()
    return state.withLock {
      counts.queries = $0.queries
      return (counts, $0.violations)
    }
  }

  private func run(_ body: @escaping @Sendable (StandbyReader) throws -> Void) {
    Thread { [self] in
      do { try body(self) } catch { violate("\(error)", .unexpectedError) }
      ended.signal()
    }.start()
  }

  private func violate(_ proof: String, _ kind: Violation.Kind = .invariant) {
    state.withLock { $0.violations.append(Violation(kind, proof)) }
  }

  /// Calls `body`, unless the server is not there.
  /// - Returns: nil if it is not.
  private func trying<R>(_ body: () throws -> R) throws -> R? {
    do { return try body() } catch let error as StorageError {
      let mayPass: [StorageError.Cause] = [
        .cannotOpen, .busy, .unknownOutcome, .readOnly, .conflict,
      ]
      if !mayPass.contains(error.cause) { throw error }
      usleep(20_000)
      return nil
    }
  }

  private func write(_ number: Int, to key: UInt64, in dflat: PostgresWorkspace) throws -> Bool {
    try trying {
      try dflat.write(Note.self, attempts: 10_000) {
        _ = try $0.upsert(Note(key: key, text: "\(number)"))
      }
    } != nil
  }

  /// The other workspace counts.
  private func count() throws {
    var number = 0
    while !isOver.load(ordering: .acquiring) {
      number += 1
      if try write(number, to: Self.sharedKey, in: writer) {
        let now = ContinuousClock.now
        state.withLock { state in
          state.commits.append((number, now))
          if state.commits.count > 4000 { state.commits.removeFirst(2000) }
        }
      }
      usleep(2000)
    }
  }

  /// A thread counts, too, and queries both numbers.
  private func query(_ thread: UInt64) throws {
    let ownKey = Self.sharedKey - thread
    var own = 0
    var number = 0
    while !isOver.load(ordering: .acquiring) {
      if Int.random(in: 0..<4) == 0 {
        number += 1
        if try write(number, to: ownKey, in: reader) { own = number }
      }
      let start = ContinuousClock.now
      let (before, due) = state.withLock { state in
        (
          state.shown,
          state.commits.last { $0.time + Self.freshness <= start }?.number ?? 0
        )
      }
      let keys = [Self.sharedKey, ownKey]
      guard let found = try trying({ try values(of: keys) }) else { continue }
      state.withLock { state in
        state.queries += 1
        for (key, value) in zip(keys, found) {
          state.shown[key] = max(state.shown[key] ?? 0, value)
        }
      }
      for (key, value) in zip(keys, found) where value < before[key] ?? 0 {
        violate("a query shows \(value), and an earlier one \(before[key] ?? 0), of note \(key)")
      }
      if found[1] < own {
        violate("a query shows \(found[1]), and the thread has committed \(own)")
      }
      if found[0] < due {
        violate("a query shows \(found[0]), and \(due) was committed \(Self.freshness) before")
      }
    }
  }

  /// The numbers in some notes.
  private func values(of keys: [UInt64]) throws -> [Int] {
    func number(_ note: Note?) -> Int { note?.text.flatMap { Int($0) } ?? 0 }
    return try reader.read { snapshot in
      try keys.map { key in
        number(try snapshot.fetch(for: Note.self).where(Note.key == key).first)
      }
    }
  }
}
