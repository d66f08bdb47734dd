// MigrationKillRun: a process that migrates is killed at a random moment, and another one
// continues, until everything is migrated. After each kill every object exists once, old or new; at
// the end each new one is the function's result for the old one.

import Dflat
import DflatTestSupport
import Dispatch
import Foundation
import SQLiteDflat

/// Kills of migrations.
public struct MigrationKillRun {
  private let directory: String
  private let command: String
  private let seed: UInt64
  private var random: SeededGenerator
  private var file = 0
  /// How many processes were killed.
  public private(set) var kills = 0
  /// How many of them had migrated some objects, but not all.
  public private(set) var lateKills = 0

  /// - Parameters:
  ///   - directory: An empty directory.
  ///   - command: The command that runs the process.
  ///   - seed: The seed of all random numbers.
  public init(in directory: String, command: String, seed: UInt64) {
    self.directory = directory
    self.command = command
    self.seed = seed
    random = SeededGenerator(seed: seed)
  }

  /// The process that is killed: starts the migration with a fetch and reports when it is done.
  public static func migrate(path: String, step: Int) {
    let store = WorkspaceStore(path: path, isShared: false)
    let done = DispatchSemaphore(value: 0)
    Task {
      do { try await store.dflat.migrate(LongWorkRun.migration, step: step) } catch {
        FileHandle.standardError.write(Data("migration: \(error)\n".utf8))
        exit(1)
      }
      done.signal()
    }
    done.wait()
    store.close()
    print("done")
  }

  /// One migration, by as many processes as necessary.
  /// - Returns: The violations.
  public mutating func migrate() throws -> [String] {
    file += 1
    let path = "\(directory)/migration-\(file).db"
    let count = Int64.random(in: 200...1500, using: &random)
    let store = WorkspaceStore(path: path, isShared: false)
    try LongWorkRun.fill(store.dflat, 0..<count)
    store.close()

    var faults: [String] = []
    while true {
      let step = Int.random(in: 1...60, using: &random)
      let process = try ChildProcess(command, ["worker", "migration", path, "\(step)"])
      let milliseconds = Int.random(in: 0...60, using: &random)
      let isDone = process.read(milliseconds: milliseconds).map { !$0.isEmpty } ?? true
      process.kill()
      let left = try check(path, count, &faults)
      if left == 0 { break }
      kills += 1
      if left < count { lateKills += 1 }
      if isDone { faults.append("\(left) objects are left by a process that was done") }
      if !faults.isEmpty { break }
    }
    return faults.map { "DFLAT_SEED=\(seed), migration \(file): \($0)" }
  }

  /// - Returns: How many objects are not migrated.
  private func check(_ path: String, _ count: Int64, _ faults: inout [String]) throws -> Int64 {
    let store = WorkspaceStore(path: path, isShared: false)
    let (blues, whites) = store.dflat.fetchWithinASnapshot {
      (
        store.dflat.fetch(for: Verify.Blue.self).all(),
        store.dflat.fetch(for: Verify.White.self).all()
      )
    }
    if blues.count + whites.count != count
      || Set(blues.map(\.key) + whites.map(\.key)) != Set(0..<count)
    {
      faults.append("\(blues.count) old objects and \(whites.count) new ones, of \(count)")
    }
    for white in whites where white.values != [white.key, -1] || white.label != "\(white.key)" {
      faults.append("object \(white.key) became \(white)")
    }
    store.close()
    faults += store.takeErrors()
    faults += try fileFaults(path)
    return Int64(blues.count)
  }
}
