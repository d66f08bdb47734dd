// MigrationKillRun: a process that migrates is killed at a random moment, and another one
// continues, until everything is migrated. After each kill every object exists once, old or new; at
// the end each new one is the function's result for the old one.

import DflatTestSupport
import Foundation

/// Kills of migrations.
public struct MigrationKillRun {
  private let migration: any KilledMigration
  private let directory: String
  private let command: String
  private let seed: UInt64
  private var random: SeededGenerator
  private var file = 0
  /// How many processes were killed.
  public private(set) var kills = 0
  /// How many of them had migrated some objects, but not all.
  public private(set) var lateKills = 0

  private var name: String { type(of: migration).name }

  /// - Parameters:
  ///   - migration: What is migrated.
  ///   - directory: A directory for its files.
  ///   - command: The command that runs the process.
  ///   - seed: The seed of all random numbers.
  public init(
    _ migration: any KilledMigration, in directory: String, command: String, seed: UInt64
  ) {
    self.migration = migration
    self.directory = directory
    self.command = command
    self.seed = seed
    random = SeededGenerator(seed: seed)
  }

  /// The process that is killed: migrates, and reports when it is done.
  /// - Parameter words: The words after `migration`: the migration's name, the file, and the
  ///   largest number of objects in one transaction.
  /// - Returns: False if the words are others.
  public static func work(_ words: [String]) throws -> Bool {
    guard words.count == 3, let step = Int(words[2]),
      let migration = killedMigrations.first(where: { type(of: $0).name == words[0] })
    else { return false }
    try migration.migrate(words[1], step: step)
    print("done")
    return true
  }

  /// One migration, by as many processes as necessary.
  /// - Returns: The violations.
  public mutating func migrate() throws -> [String] {
    file += 1
    let path = "\(directory)/\(name)-\(file).db"
    let count = Int64.random(in: 200...1500, using: &random)
    let all = try migration.fill(path, count)

    var faults: [String] = []
    var before = all
    var longest = 60
    while true {
      let step = Int.random(in: 1...60, using: &random)
      let process = try ChildProcess(command, ["worker", "migration", name, path, "\(step)"])
      let milliseconds = Int.random(in: 0...longest, using: &random)
      let isDone = process.read(milliseconds: milliseconds).map { !$0.isEmpty } ?? true
      process.kill()
      let left = try migration.check(path, count, &faults)
      if left == 0 { break }
      kills += 1
      // A slow machine needs more time to begin.
      if left == before { longest += 10 }
      before = left
      if left < all { lateKills += 1 }
      if isDone { faults.append("\(left) objects are left by a process that was done") }
      if !faults.isEmpty { break }
    }
    return faults.map { "DFLAT_SEED=\(seed), \(name), file \(file): \($0)" }
  }
}
