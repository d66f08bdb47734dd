// VerifyPostgresCommand: the command line, and how time is shared out.

import DflatTestSupport
import DflatVerification
import Foundation
import PostgresTestSupport
import PostgresVerification

struct VerifyPostgresCommand {
  private let arguments: CommandArguments

  init(_ arguments: [String]) {
    self.arguments = CommandArguments(arguments)
  }

  /// - Returns: Whether every promise was kept.
  func run() throws -> Bool {
    let time = arguments.number("--time").map(Double.init)
    switch arguments.words.first {
    case "worker":
      let complaints = try SharedRun.work(Array(arguments.words.dropFirst(2))) {
        try ServerPlace(word: $0).open()
      }
      guard let complaints else {
        throw CommandArguments.Misuse("a worker needs place, workload, seed and size")
      }
      for complaint in complaints { print(complaint) }
      return true
    case "all":
      print("verification of the engine over a server, seed \(arguments.seed)")
      let isGood = try verifyHistories(time: time.map { $0 * 0.3 } ?? 120)
      return try verifyFaults(time: time.map { $0 * 0.7 }) && isGood
    case "history": return try verifyHistories(time: time ?? 60)
    case "faults": return try verifyFaults(time: time)
    default:
      throw CommandArguments.Misuse("say all, history or faults; see Tests/VerifyPostgresCommand")
    }
  }

  private func verifyHistories(time: Double) throws -> Bool {
    let cluster = try TestCluster.another()
    defer { cluster.end() }
    return try withTemporaryDirectory { directory in
      var campaign = ServerCampaign(
        in: directory, command: arguments.program, seed: arguments.seed)
      let deadline = ContinuousClock.now + .seconds(time)
      // Every third run goes through a pooler, which has a session for each connection.
      let pooler = try Pooler(.session, to: cluster.url, size: 400)
      defer { pooler.end() }
      var number = 0
      repeat {
        number += 1
        try campaign.run(
          on: number.isMultiple(of: 3) ? pooler.url : cluster.url, steps: 3000)
      } while ContinuousClock.now < deadline
      return campaign.report("histories")
    }
  }

  /// The server fails so often as the options say, or for so long; the usual number without both.
  private func verifyFaults(time: Double?) throws -> Bool {
    let server = try FailingServer(seed: arguments.seed)
    defer { server.cluster.end() }
    return try withTemporaryDirectory { directory in
      var campaign = ServerCampaign(
        in: directory, command: arguments.program, seed: arguments.seed)
      let isLimited = time == nil || arguments.number("--crashes") != nil
      let crashes = isLimited ? arguments.number("--crashes") ?? 200 : .max
      let failovers = isLimited ? arguments.number("--failovers") ?? 20 : .max
      let deadline = time.map { ContinuousClock.now + .seconds($0) }
      var number = 0
      repeat {
        number += 1
        let counts = server.counts
        let left = FailingServer.Plan(
          crashes: max(0, crashes - counts.crashes),
          failovers: max(0, failovers - counts.failovers))
        // Crashes and failovers are mixed as they are wanted; a single run has some of both.
        let plan =
          isLimited ? left : FailingServer.Plan(crashes: 10, failovers: number % 2)
        try server.failing(plan) {
          _ = try campaign.run(on: server.cluster.url, steps: 3000)
        }
      } while (deadline.map { ContinuousClock.now < $0 } ?? true)
        && (server.counts.crashes < crashes || server.counts.failovers < failovers)
      let counts = server.counts
      print(
        "faults: \(counts.crashes) crashes of the server, \(counts.kills) of them by SIGKILL; "
          + "\(counts.standbyCrashes) of the standby; \(counts.failovers) failovers")
      return campaign.report("faults")
    }
  }
}
