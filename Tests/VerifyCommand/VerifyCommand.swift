// VerifyCommand: the command line, and how time is shared out.

import CFaultVFS
import DflatTestSupport
import DflatVerification
import Foundation

/// Runs a command and ends the process with its status.
func exitAfter(_ body: () throws -> Bool) -> Never {
  do { exit(try body() ? 0 : 1) } catch {
    FileHandle.standardError.write(Data("dflat-verify: \(error)\n".utf8))
    exit(2)
  }
}

struct VerifyCommand {
  private let program: String
  private let arguments: [String]
  private let seed: UInt64

  struct Misuse: Error, CustomStringConvertible {
    let description: String
  }

  init(_ arguments: [String]) {
    program = Bundle.main.executablePath ?? arguments[0]
    self.arguments = Array(arguments.dropFirst())
    seed =
      Self.option("--seed", arguments).flatMap { UInt64($0) } ?? UInt64.random(in: 0...UInt64.max)
  }

  private static func option(_ name: String, _ arguments: [String]) -> String? {
    guard let position = arguments.firstIndex(of: name), position + 1 < arguments.count else {
      return nil
    }
    return arguments[position + 1]
  }

  private func number(_ name: String) -> Int? { Self.option(name, arguments).flatMap { Int($0) } }

  /// - Returns: Whether every promise was kept.
  func run() throws -> Bool {
    switch arguments.first {
    case "worker":
      try work()
      return true
    case "all":
      let time = Double(number("--time") ?? 300)
      print("verification, seed \(seed)")
      let started = ContinuousClock.now
      var isGood = try verifyFaults(time: time * 0.4)
      // At least a thousand in the usual time, however slow the machine.
      isGood = try verifyKills(count: min(1000, Int(time * 10 / 3)), time: time * 0.2) && isGood
      let rest = time - (ContinuousClock.now - started) / .seconds(1)
      return try verifyHistories(time: rest) && isGood
    case "history": return try verifyHistories(time: Double(number("--time") ?? 60))
    case "kill":
      return try verifyKills(count: number("--count") ?? 1000, time: 0)
    case "faults": return try verifyFaults(time: number("--time").map(Double.init))
    default:
      throw Misuse(description: "say all, history, kill or faults; see Tests/VerifyCommand")
    }
  }

  private func work() throws {
    // worker history path output workload seed number workspaces clients steps
    // worker kill path seed full|normal
    // worker migration path step
    guard arguments.count > 3 else { throw Misuse(description: "a worker needs its task") }
    if arguments[1] == "migration" {
      MigrationKillRun.migrate(path: arguments[2], step: Int(arguments[3]) ?? 1)
      return
    }
    if arguments[1] == "kill" {
      LedgerWriter.run(
        path: arguments[2], seed: UInt64(arguments[3]) ?? 0, isFull: arguments.last == "full")
      return
    }
    let numbers = arguments[5...].compactMap { UInt64($0) }
    guard numbers.count == 5,
      let workload = allWorkloads(spaces: cellTypes.count).first(where: { $0.name == arguments[4] })
    else { throw Misuse(description: "a worker needs workload, seed, number, size") }
    var shared = SharedFileRun(HistoryRun(workload, seed: numbers[0]))
    shared.workspaces = Int(numbers[2])
    shared.run.clientsPerStore = Int(numbers[3])
    shared.run.stepsPerClient = Int(numbers[4])
    let complaints = try shared.work(
      as: Int(numbers[1]), path: arguments[2], output: arguments[3])
    for complaint in complaints { print(complaint) }
  }

  private func verifyHistories(time: Double) throws -> Bool {
    try withDirectory { directory in
      var campaign = HistoryCampaign(in: directory, command: program, seed: seed)
      let deadline = ContinuousClock.now + .seconds(max(time, 1))
      while ContinuousClock.now < deadline { try campaign.round() }
      return campaign.report()
    }
  }

  /// Kills so often at least, and for so long at least.
  private func verifyKills(count: Int, time: Double) throws -> Bool {
    try withDirectory { directory in
      var run = KillRun(in: directory, command: program, seed: seed)
      let deadline = ContinuousClock.now + .seconds(time)
      var migrations = MigrationKillRun(in: directory, command: program, seed: seed)
      var faults: [String] = []
      while migrations.kills < count / 10 { faults += try migrations.migrate() }
      faults.forEach { print($0) }
      while run.kills < count || ContinuousClock.now < deadline {
        let found = try run.kill()
        found.forEach { print($0) }
        faults += found
      }
      print(
        "kills: \(run.kills), \(run.earlyKills) of them before the first commit; "
          + "\(run.acknowledged) transactions told to be committed; of migrations \(migrations.kills), "
          + "\(migrations.lateKills) of them in the middle; \(faults.count) faults")
      return faults.isEmpty
    }
  }

  private func verifyFaults(time: Double?) throws -> Bool {
    try withDirectory { directory in
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

  private func withDirectory(_ body: (String) throws -> Bool) throws -> Bool {
    let directory = try makeTemporaryDirectory()
    defer { try? FileManager.default.removeItem(atPath: directory) }
    return try body(directory)
  }
}
