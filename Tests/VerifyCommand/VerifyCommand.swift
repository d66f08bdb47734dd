// VerifyCommand: the command line, and how time is shared out.

import CFaultVFS
import DflatTestSupport
import DflatVerification
import Foundation

struct VerifyCommand {
  private let arguments: CommandArguments
  private var program: String { arguments.program }
  private var seed: UInt64 { arguments.seed }

  private typealias Misuse = CommandArguments.Misuse

  init(_ arguments: [String]) {
    self.arguments = CommandArguments(arguments)
  }

  private func number(_ name: String) -> Int? { arguments.number(name) }

  /// - Returns: Whether every promise was kept.
  func run() throws -> Bool {
    switch arguments.words.first {
    case "worker":
      try work()
      return true
    case "all":
      let time = Double(number("--time") ?? 300)
      print("verification, seed \(seed)")
      let started = ContinuousClock.now
      var isGood = try verifyFaults(time: time * 0.4)
      // At least a thousand in the usual time, however slow the machine.
      isGood = try verifyKills(count: min(1000, Int(time * 10 / 3)), time: time * 0.15) && isGood
      isGood = try verifyUploads(count: min(200, Int(time * 2 / 3)), time: time * 0.1) && isGood
      let rest = time - (ContinuousClock.now - started) / .seconds(1)
      return try verifyHistories(time: rest) && isGood
    case "history": return try verifyHistories(time: Double(number("--time") ?? 60))
    case "kill":
      return try verifyKills(count: number("--count") ?? 1000, time: 0)
    case "uploads": return try verifyUploads(count: number("--count") ?? 2000, time: 0)
    case "faults": return try verifyFaults(time: number("--time").map(Double.init))
    default:
      throw Misuse("say all, history, kill, uploads or faults; see Tests/VerifyCommand")
    }
  }

  private func work() throws {
    // worker history|silos path output workload seed number workspaces clients steps
    // worker kill path seed full|normal
    // worker migration entities|silos path step
    // worker uploads path port first count seed
    let arguments = arguments.words
    guard arguments.count > 3 else { throw Misuse("a worker needs its task") }
    let rest = Array(arguments[2...])
    if arguments[1] == "migration" {
      if try !MigrationKillRun.work(rest) { throw Misuse("a worker needs a migration") }
      return
    }
    if arguments[1] == "uploads" {
      if try !UploadWorker.work(rest) { throw Misuse("a worker needs a file, a port, numbers") }
      return
    }
    if arguments[1] == "kill" {
      LedgerWriter.run(
        path: arguments[2], seed: UInt64(arguments[3]) ?? 0, isFull: arguments.last == "full")
      return
    }
    let complaints =
      arguments[1] == "silos"
      ? try SharedRun.work(rest) { SiloStore(path: $0, isShared: true) }
      : try SharedRun.work(rest) { WorkspaceStore(path: $0, isShared: true) }
    guard let complaints else { throw Misuse("a worker needs workload, seed, size") }
    for complaint in complaints { print(complaint) }
  }

  private func verifyHistories(time: Double) throws -> Bool {
    try withTemporaryDirectory { directory in
      var campaign = HistoryCampaign(in: directory, command: program, seed: seed)
      let deadline = ContinuousClock.now + .seconds(max(time, 1))
      while ContinuousClock.now < deadline { try campaign.round() }
      return campaign.report()
    }
  }

  /// Kills so often at least, and for so long at least.
  private func verifyKills(count: Int, time: Double) throws -> Bool {
    try withTemporaryDirectory { directory in
      var run = KillRun(in: directory, command: program, seed: seed)
      let deadline = ContinuousClock.now + .seconds(time)
      var faults: [String] = []
      var migrationKills = 0
      var lateKills = 0
      for migration in killedMigrations {
        var migrations = MigrationKillRun(
          migration, in: directory, command: program, seed: seed)
        while migrations.kills < count / 20, faults.isEmpty {
          let found = try migrations.migrate()
          found.forEach { print($0) }
          faults += found
        }
        migrationKills += migrations.kills
        lateKills += migrations.lateKills
      }
      while run.kills < count || ContinuousClock.now < deadline {
        let found = try run.kill()
        found.forEach { print($0) }
        faults += found
      }
      print(
        "kills: \(run.kills), \(run.earlyKills) of them before the first commit; "
          + "\(run.acknowledged) transactions told to be committed; of migrations \(migrationKills), "
          + "\(lateKills) of them in the middle; \(faults.count) faults")
      return faults.isEmpty
    }
  }

  /// Kills so often at least, and for so long at least.
  private func verifyUploads(count: Int, time: Double) throws -> Bool {
    try withTemporaryDirectory { directory in
      var run = try UploadKillRun(in: directory, command: program, seed: seed)
      let deadline = ContinuousClock.now + .seconds(time)
      var faults: [String] = []
      while run.kills < count || ContinuousClock.now < deadline { faults += try run.kill() }
      faults += try run.finish()
      faults.forEach { print($0) }
      print(
        "uploads: \(run.kills) kills; \(run.committed.count) told to be committed, \(run.applied) "
          + "applied by the server; \(faults.count) faults")
      return faults.isEmpty
    }
  }

  private func verifyFaults(time: Double?) throws -> Bool {
    try withTemporaryDirectory { directory in
      let deadline = time.map { ContinuousClock.now + .seconds($0) }
      var campaign = FaultCampaign(in: directory, seed: seed)
      try campaign.run(until: deadline)
      let isGood = try verifyLongWork(in: directory)
      return campaign.report() && isGood
    }
  }

  /// Every call fails in turn while an index is built, objects are migrated, and a dictionary and a
  /// live result are in use.
  private func verifyLongWork(in directory: String) throws -> Bool {
    let run = try LongWorkRun(in: directory)
    var points = 0
    var faults = 0
    for mode in LongWorkRun.modes {
      var number = 1
      while true {
        let result = try run.fail(number, mode)
        for fault in Set(result.faults) {
          print(
            "long work, call \(number), mode \(mode.rawValue), \(result.failure ?? "none"): \(fault)"
          )
        }
        faults += result.faults.count
        if result.failure == nil { break }
        points += 1
        number += 1
      }
    }
    print("failing calls beside long work: \(points) points, \(faults) faults")
    return faults == 0
  }
}
