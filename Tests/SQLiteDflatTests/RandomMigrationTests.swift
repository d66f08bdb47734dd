// Migrations of any kind and order, beside other writers, have the same result as applying the
// function to each object.

import Dflat
import DflatTestSupport
import SQLiteAccess
import SQLiteDflat
import Platform
import Testing

@Suite("Random migrations")
struct RandomMigrationTests {
  /// How objects are migrated to the newest version.
  private enum Way: CaseIterable {
    case eager, whenUsed, readOnly, chain, oneByOne, kept, interrupted
  }

  private static func letters(_ random: inout SeededGenerator) -> [V1.Letter] {
    (0..<Int.random(in: 0...90, using: &random)).map { number in
      let words = (0..<Int.random(in: 0...5, using: &random)).map { _ in "w\(random.next() % 9)" }
      return V1.Letter(
        number: Int32(number), text: random.oneIn(8) ? nil : words.joined(separator: " "))
    }
  }

  @Test(
    "Eager, on use, in a chain, version by version, interrupted: all have the same result")
  func equalResults() async throws {
    let seed = testSeed()
    var random = SeededGenerator(seed: seed)
    let chain = Letters.toSecond().then(Letters.toThird())
    for _ in 0..<(isLongRun ? 100 : 3) {
      let letters = Self.letters(&random)
      let wanted = Set(try letters.compactMap(chain.migrate))
      for way in Way.allCases {
        let step = Int.random(in: 1...40, using: &random)
        let part = Int.random(in: 0...letters.count, using: &random)
        try await withTemporaryFile(.file) { workspace in
          try workspace.storeFirst(letters)
          let dispatches = try await run(way, workspace, step: step, part: part)
          #expect(Set(dispatches) == wanted, "DFLAT_SEED=\(seed), \(way), step \(step)")
          #expect(dispatches.count == wanted.count, "DFLAT_SEED=\(seed), \(way), step \(step)")
          #expect(
            try unsoundness(of: Mail.Dispatch._schema, workspace.foreignConnection()) == [])
          let kept = workspace.firstLetters
          #expect(way == .kept ? kept == letters : kept.isEmpty || way == .readOnly)
        }
      }
    }
  }

  private func run(
    _ way: Way, _ workspace: TemporaryFile, step: Int, part: Int
  ) async throws -> [Mail.Dispatch] {
    let dflat = workspace.dflat
    let chain = Letters.toSecond().then(Letters.toThird())
    switch way {
    case .eager, .chain: try await dflat.migrate(chain, step: step)
    case .whenUsed:
      dflat.migrateWhenUsed(chain)
      try await dflat.write(Mail.Dispatch.self) { _ in }
    case .readOnly:
      let reading = TemporaryFile(path: workspace.path) { $0.isReadOnly = true }
      defer { reading.dflat.shutdown() }
      reading.dflat.migrateWhenUsed(chain)
      return reading.dispatches
    case .oneByOne:
      try await dflat.migrate(Letters.toSecond(), step: step)
      let other = workspace.secondWorkspace()
      try await other.dflat.migrate(Letters.toThird(), step: step)
      await other.dflat.shutdown()
    case .kept:
      // Some by way of the second version, which is kept, too; then the rest directly.
      try await dflat.migrate(Letters.toSecond(keepsOld: true), step: step)
      let other = workspace.secondWorkspace()
      try await other.dflat.migrate(
        Letters.toSecond(keepsOld: true).then(Letters.toThird(keepsOld: true)), step: step)
      await other.dflat.shutdown()
    case .interrupted:
      // The workspace is shut down halfway, and the next one begins with another chain.
      let first = workspace.secondWorkspace()
      do {
        var done = 0
        for try await progress in first.dflat.migrationProgress(Letters.toSecond(), step: step) {
          done += progress.migrated
          if done >= part { first.dflat.shutdown {} }
        }
      } catch WorkspaceError.shutDown {}
      await first.dflat.shutdown()
      try await dflat.migrate(chain, step: step)
    }
    return workspace.dispatches
  }

  @Test("Old and new versions write during a migration: each object always exists exactly once")
  func concurrentWriters() async throws {
    try await withTemporaryFile(.file) { workspace in
      let count = isLongRun ? 5000 : 600
      try workspace.storeFirst((0..<Int32(count)).map { V1.Letter(number: $0, text: "w") })
      let other = workspace.secondWorkspace()
      let end = End()
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask {
          try await workspace.dflat.migrate(Letters.toSecond(), step: 40)
          end.isReached.store(true, ordering: .releasing)
        }
        // An older program, as if in another process.
        group.addTask {
          for round in 0..<20 as Range<Int32> {
            try await other.dflat.write(V1.Letter.self) { txn in
              _ = try txn.insert(V1.Letter(number: 10_000 + round, text: "late"))
            }
          }
        }
        // Another program that runs the same migration.
        group.addTask { try await other.dflat.migrate(Letters.toSecond(), step: 30) }
        group.addTask {
          for round in 0..<20 {
            try await workspace.dflat.write(V2.Letter.self) { txn in
              try txn.insert(V2.Letter(id: "new \(round)", slug: "new \(round)"))
              try txn.update(V2.Letter(id: "n\(round)")) { $0.words += 10 }
            }
          }
        }
        group.addTask {
          while !end.isReached.load(ordering: .acquiring) {
            let ids = workspace.secondLetters.map(\.id)
            #expect(Set(ids).count == ids.count)
            #expect(ids.count >= count)
            await Task.yield()
          }
        }
        try await group.waitForAll()
      }
      try await workspace.dflat.migrate(Letters.toSecond())
      let letters = workspace.secondLetters
      #expect(letters.count == count + 40)
      #expect(letters.count { $0.words >= 10 } == 20)
      #expect(workspace.firstLetters.isEmpty)
      await other.dflat.shutdown()
      #expect(workspace.takeErrors().allSatisfy { $0.cause == .conflict })
      #expect(other.takeErrors().allSatisfy { $0.cause == .conflict })
      #expect(
        try unsoundness(of: V2.Letter._schema, workspace.foreignConnection(), complete: true) == [])
    }
  }
}

private final class End: Sendable {
  let isReached = Atomic(false)
}
