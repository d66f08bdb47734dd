// HistoryCampaign: rounds of all workloads with random numbers of clients, workspaces and
// processes.

import DflatTestSupport
import Foundation

/// Many runs, with their results.
public struct HistoryCampaign {
  private let directory: String
  private let command: String
  private let seed: UInt64
  private var random: SeededGenerator
  private var rounds = 0
  private var counts: [String: Int] = [:]
  private var sharedTransactions = 0
  private var memoryTransactions = 0
  private var siloTransactions = 0
  private var violations = 0
  private let started = ContinuousClock.now

  /// - Parameters:
  ///   - directory: An empty directory.
  ///   - command: The command that runs workers.
  ///   - seed: The seed of all random numbers.
  public init(in directory: String, command: String, seed: UInt64) {
    self.directory = directory
    self.command = command
    self.seed = seed
    random = SeededGenerator(seed: seed)
  }

  /// One run of each workload.
  public mutating func round() throws {
    for workload in allWorkloads(spaces: cellTypes.count) {
      rounds += 1
      var shared = SharedRun(HistoryRun(workload, seed: random.next()))
      shared.worker = command
      // Half of the runs use one workspace, which has the strongest guarantees.
      if random.oneIn(2) {
        shared.workspaces = random.pick([1, 2])
        shared.processes = random.pick([0, 1, 2])
      }
      shared.run.clientsPerStore = random.pick([1, 3, 6])
      let clients = shared.run.clientsPerStore * shared.workspaces * (shared.processes + 1)
      shared.run.stepsPerClient = 12_000 / clients
      let setting =
        "\(shared.run.clientsPerStore) clients, \(shared.workspaces) workspaces in each of "
        + "\(shared.processes + 1) processes"
      let (count, found) = try inDirectory { try shared.check(in: $0) }
      counts[workload.name, default: 0] += count
      if shared.isShared { sharedTransactions += count }
      tell(found, "\(workload.name), seed \(shared.run.seed), \(setting)")
      shared.run.stepsPerClient = 3_000 / clients
      let (siloCount, siloFound) = try inDirectory { try shared.checkSilos(in: $0) }
      siloTransactions += siloCount
      if shared.isShared { sharedTransactions += siloCount }
      tell(siloFound, "\(workload.name), seed \(shared.run.seed), \(setting), in silos")
      checkInMemory(workload)
    }
  }

  /// Calls `body` with an empty directory.
  private func inDirectory<R>(_ body: (String) throws -> R) throws -> R {
    let place = "\(directory)/round"
    try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: place) }
    return try body(place)
  }

  private mutating func checkInMemory(_ workload: any Workload) {
    var run = HistoryRun(workload, seed: random.next())
    run.clientsPerStore = random.pick([1, 3, 6])
    run.stepsPerClient = 6_000 / run.clientsPerStore
    let (count, found) = run.checkInMemory()
    memoryTransactions += count
    tell(found, "\(workload.name), seed \(run.seed), \(run.clientsPerStore) clients, in memory")
    run.stepsPerClient = 3_000 / run.clientsPerStore
    let (siloCount, siloFound) = run.checkSilos()
    siloTransactions += siloCount
    tell(
      siloFound,
      "\(workload.name), seed \(run.seed), \(run.clientsPerStore) clients, in silos in memory")
  }

  private mutating func tell(_ found: [Violation], _ setting: String) {
    violations += found.count
    for violation in found.prefix(3) { print("\(setting): \(violation)") }
    if found.count > 3 { print("\(setting): and \(found.count - 3) more") }
  }

  /// Prints the figures.
  /// - Returns: Whether there was no violation.
  public func report() -> Bool {
    let total = counts.values.reduce(0, +) + memoryTransactions + siloTransactions
    let seconds = (ContinuousClock.now - started) / .seconds(1)
    print(
      "histories: \(total) transactions in \(rounds) runs, \(sharedTransactions) of them with "
        + "several workspaces or processes; \(memoryTransactions) in memory, "
        + "\(siloTransactions) through silos; "
        + "\(violations) violations; "
        + "\(Int(Double(total) / seconds)) transactions a second")
    for (name, count) in counts.sorted(by: { $0.key < $1.key }) { print("  \(name): \(count)") }
    return violations == 0
  }
}
