// PlaceLabour: what takes long, beside the processes of a run.
//
//  - Transactions that read a whole space, and write something else. Each of them is in conflict
//    with almost every other one, and must be committed nevertheless, with the usual limits.
//  - A new version of a schema, whose indexes are built while its table is read and written.

import Dflat
import DflatTestSupport
import DflatVerification
import Dispatch
import Foundation
import Platform
import PostgresDflat

/// Long work on the place of a run.
final class PlaceLabour: Sendable {
  /// What was done.
  struct Counts {
    var longTransactions = 0
    var starved = 0
    var indexBuilds = 0

    mutating func add(_ other: Counts) {
      longTransactions += other.longTransactions
      starved += other.starved
      indexBuilds += other.indexBuilds
    }
  }

  private static let articles = 1500

  private let dflat: PostgresWorkspace
  private let isOver = Atomic<Bool>(false)
  private let results = Mutex<(counts: Counts, violations: [Violation])>((Counts(), []))
  private let ended = DispatchSemaphore(value: 0)
  private static let threads = 3

  /// Begins to work.
  init(_ place: ServerPlace, seed: UInt64) throws {
    // However long a failover takes, all of it is there before the new version.
    let old = try place.openWorkspace()
    let articles = (0..<Self.articles).map { number in
      let code = Int32(number)
      return Press.Article(slug: "s\(number)", rank: code % 7, code: code, votes: code)
    }
    try Self.persistently {
      _ = try old.write(Press.Article.self, attempts: 10_000) { txn in
        try txn.upsert(contentsOf: articles)
      }
    }
    old.shutdown()
    dflat = try place.openWorkspace()
    // While the server is down it reports reads that fail, which are repeated.
    dflat.errorHandler = { _ in }
    run { try $0.takeLong(seed) }
    run { try $0.changeArticles() }
    run { try $0.buildIndexes() }
  }

  /// Ends, when all processes have.
  func end() -> (Counts, [Violation]) {
    isOver.store(true, ordering: .releasing)
    for _ in 0..<Self.threads { ended.wait() }
    dflat.shutdown()
    return results.withLock { $0 }
  }

  private func run(_ body: @escaping @Sendable (PlaceLabour) throws -> Void) {
    Thread { [self] in
      do { try body(self) } catch { violate(.unexpectedError, "\(error)") }
      ended.signal()
    }.start()
  }

  private func violate(_ kind: Violation.Kind, _ proof: String) {
    results.withLock { $0.violations.append(Violation(kind, proof)) }
  }

  /// Calls `body` until the server is there.
  private static func persistently(_ body: () throws -> Void) throws {
    let deadline = ContinuousClock.now + .seconds(120)
    while true {
      do { return try body() } catch let error as StorageError {
        let mayPass = [.cannotOpen, .busy, .unknownOutcome, .readOnly].contains(error.cause)
        if !mayPass || ContinuousClock.now > deadline { throw error }
        usleep(20_000)
      }
    }
  }

  /// Long transactions, with the limits that every program has.
  private func takeLong(_ seed: UInt64) throws {
    var number = seed % 1_000_000
    while !isOver.load(ordering: .acquiring) {
      number += 1
      let (type, key) = (cellTypes[Int(number) % cellTypes.count], number)
      try Self.persistently {
        do { try takeLong(over: type, key) } catch let error as StorageError
          where error.cause == .conflict
        {
          results.withLock { $0.counts.starved += 1 }
          violate(.completion, "a long transaction starves: \(error)")
        }
      }
      results.withLock { $0.counts.longTransactions += 1 }
    }
  }

  private func takeLong<C: Cell>(over type: C.Type, _ key: UInt64) throws {
    try dflat.write(type, Note.self) { txn in
      let cells = try txn.fetch(for: type).all()
      usleep(2000)
      try txn.upsert(Note(key: key, text: "\(cells.count)"))
    }
  }

  /// Changes objects whose indexes are built.
  private func changeArticles() throws {
    var number: Int32 = 0
    while !isOver.load(ordering: .acquiring) {
      number += 1
      let key = "s\(Int(number) % Self.articles)"
      try Self.persistently {
        _ = try dflat.write(PRESS.Article.self, attempts: 10_000) { txn in
          try txn.update(PRESS.Article.self, keys: [key]) { $0.rank = number % 11 }
        }
      }
      usleep(3000)
    }
  }

  private func buildIndexes() throws {
    let dflat = dflat
    while !isOver.load(ordering: .acquiring) {
      try Self.persistently { try wait { try await dflat.indexesReady(for: PRESS.Article.self) } }
      try Self.persistently {
        try dflat.read { snapshot in
          let articles = try snapshot.fetch(for: PRESS.Article.self).all()
          let expected = articles.count { $0.rank == 3 }
          let found =
            try snapshot.fetch(for: PRESS.Article.self).where(PRESS.Article.rank == 3).count
          if found != expected {
            violate(.invariant, "the index of rank finds \(found) of \(expected) objects")
          }
        }
      }
      results.withLock { $0.counts.indexBuilds += 1 }
      usleep(200_000)
    }
  }
}
