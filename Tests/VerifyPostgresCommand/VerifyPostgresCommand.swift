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
      return try verifyAll(time: time, transactions: arguments.number("--transactions") ?? 0)
    case "history":
      return try verifyHistories(
        time: time ?? 60, transactions: arguments.number("--transactions") ?? 0
      ).isGood
    case "faults": return try verifyFaults(time: time).isGood
    case "returns": return try verifyReturns(time: time ?? 60).isGood
    case "answers": return try verifyAnswers(time: time ?? 30).isGood
    case "standbys": return try verifyStandbys(time: time ?? 60).isGood
    default:
      throw CommandArguments.Misuse(
        "say all, history, faults, standbys, returns or answers; see Tests/VerifyPostgresCommand")
    }
  }

  /// What a part has found.
  private typealias Result = (isGood: Bool, transactions: Int)

  /// All parts, for so long as they are given, and until there are so many transactions.
  private func verifyAll(time: Double?, transactions: Int) throws -> Bool {
    let start = ContinuousClock.now
    var results = [
      try verifyFaults(time: time.map { $0 * 0.4 }),
      try verifyStandbys(time: time.map { $0 * 0.2 } ?? 60),
      try verifyReturns(time: time.map { $0 * 0.1 } ?? 60),
      try verifyAnswers(time: time.map { $0 * 0.1 } ?? 30),
    ]
    results.append(
      try verifyHistories(
        time: time.map { $0 * 0.2 } ?? 120,
        transactions: transactions - results.reduce(0) { $0 + $1.transactions }))
    let isGood = results.allSatisfy(\.isGood)
    let total = results.reduce(0) { $0 + $1.transactions }
    let minutes = (ContinuousClock.now - start) / .seconds(60)
    print(
      "in all: \(total) transactions in "
        + "\(Int(minutes.rounded())) minutes, \(isGood ? "no violation" : "VIOLATIONS")")
    return isGood
  }

  /// - Parameters:
  ///   - time: For so many seconds at least.
  ///   - transactions: Until there are so many at least.
  private func verifyHistories(time: Double, transactions: Int) throws -> Result {
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
      } while ContinuousClock.now < deadline || campaign.transactions < transactions
      return (campaign.report("histories"), campaign.transactions)
    }
  }

  /// Queries that two standbys answer, which crash as the server does. In every other run there is
  /// a single one, which also takes over.
  private func verifyStandbys(time: Double) throws -> Result {
    let server = try FailingServer(seed: arguments.seed)
    defer { server.cluster.end() }
    return try withTemporaryDirectory { directory in
      var campaign = ServerCampaign(
        in: directory, command: arguments.program, seed: arguments.seed)
      let deadline = ContinuousClock.now + .seconds(time)
      var number = 0
      repeat {
        number += 1
        // A second one would not follow a new primary.
        let second = number.isMultiple(of: 2) ? nil : try server.cluster.addStandby()
        defer { second?.end() }
        let url = server.cluster.url(with: second)
        let plan = FailingServer.Plan(crashes: 6, failovers: second == nil ? 1 : 0)
        try server.failing(plan) {
          _ = try campaign.run(on: url, steps: 3000, readsFromStandbys: true)
        }
      } while ContinuousClock.now < deadline
      let counts = server.counts
      print(
        "standbys: \(counts.crashes) crashes of the server; \(counts.standbyCrashes) of a standby; "
          + "\(counts.failovers) failovers")
      return (campaign.report("standbys"), campaign.transactions)
    }
  }

  /// Failovers after which the old primary comes back, and takes connections as before.
  private func verifyReturns(time: Double) throws -> Result {
    let server = try FailingServer(seed: arguments.seed)
    defer { server.cluster.end() }
    return try withTemporaryDirectory { directory in
      var campaign = ServerCampaign(
        in: directory, command: arguments.program, seed: arguments.seed)
      let deadline = ContinuousClock.now + .seconds(time)
      repeat {
        try server.failing(.init(crashes: 0, failovers: 0, returns: 1)) {
          _ = try campaign.run(on: server.cluster.asynchronousURL, steps: 3000)
        }
      } while ContinuousClock.now < deadline
      print("returns: the old primary came back \(server.counts.returns) times")
      return (campaign.report("returns"), campaign.transactions)
    }
  }

  /// Answers to commits that are lost for longer than they are looked up.
  private func verifyAnswers(time: Double) throws -> Result {
    let cluster = try TestCluster.another()
    defer { cluster.end() }
    let run = try LostAnswers(url: cluster.url, seed: arguments.seed)
    let violations = try run.violations(after: time)
    for violation in violations.prefix(10) { print("  \(violation)") }
    print("answers: \(run.summary); \(violations.count) violations")
    return (violations.isEmpty, run.transactions)
  }

  /// The server fails so often as the options say, or for so long; the usual number without both.
  private func verifyFaults(time: Double?) throws -> Result {
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
      return (campaign.report("faults"), campaign.transactions)
    }
  }
}
