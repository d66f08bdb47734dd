// ServerCampaign: runs of all workloads by several processes on a server, and on one that fails.

import Dflat
import DflatTestSupport
public import DflatVerification
import Foundation
import Platform
import PostgresTestSupport

/// Many runs, with their results.
public struct ServerCampaign {
  private let directory: String
  private let command: String
  private var random: SeededGenerator
  private var runs = 0
  private var counts: [String: Int] = [:]
  private var lookups = 0
  private var violations = 0
  private var labour = PlaceLabour.Counts()
  private var standbys = StandbyReader.Counts()
  private let started = ContinuousClock.now

  /// The number of transactions so far.
  public var transactions: Int { counts.values.reduce(0, +) }
  /// How many queries standbys have answered.
  public var standbyReads: Int { standbys.standbyReads }
  /// How many commits were looked up because their answers were lost.
  public var lookedUpCommits: Int { lookups }

  /// - Parameters:
  ///   - directory: An empty directory.
  ///   - command: The command that runs workers.
  ///   - seed: The seed of all random numbers.
  public init(in directory: String, command: String, seed: UInt64) {
    self.directory = directory
    self.command = command
    random = SeededGenerator(seed: seed)
  }

  /// A run of the next workload by four or five processes with several threads each.
  /// - Parameters:
  ///   - url: The connection string.
  ///   - steps: How many steps all clients take together.
  ///   - isLaborious: Whether long transactions and builds of indexes go on meanwhile; nil for some
  ///     runs.
  ///   - readsFromStandbys: Whether a workspace queries the standbys of the connection string
  ///     meanwhile.
  ///   - name: The workload; nil for one after the other.
  /// - Returns: The violations.
  @discardableResult
  public mutating func run(
    on url: String, steps: Int, workload name: String? = nil, isLaborious: Bool? = nil,
    readsFromStandbys: Bool = false
  ) throws -> [Violation] {
    let workloads = allWorkloads(spaces: cellTypes.count)
    let workload = workloads.first { $0.name == name } ?? workloads[runs % workloads.count]
    runs += 1
    var shared = SharedRun(HistoryRun(workload, seed: random.next()))
    shared.worker = command
    shared.processes = random.pick([3, 4])
    shared.workspaces = random.oneIn(4) ? 2 : 1
    shared.run.clientsPerStore = random.pick([2, 3, 4])
    let clients = shared.run.clientsPerStore * shared.workspaces * (shared.processes + 1)
    shared.run.stepsPerClient = max(steps / clients, 10)
    var place = ServerPlace(url: url)
    place.sharesCommits = random.oneIn(3)
    // A transaction that joins a commit sees what others had committed when the first one began,
    // and all that its own workspace has shown before.
    if place.sharesCommits { shared.run.realTime = .insideWorkspaces }
    place.writerLimit = random.pick([1, 4])
    // The operations of families refer to objects.
    if workload.name != "families", random.oneIn(2) {
      place.spacesInDictionary = random.pick([[3], [1, 2]])
    }
    let folder = "\(directory)/run-\(runs)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let watcher = random.oneIn(2) ? try PlaceWatcher(place) : nil
    let laborious = isLaborious ?? random.oneIn(2)
    let labour = laborious ? try PlaceLabour(place, seed: shared.run.seed) : nil
    let reader = readsFromStandbys ? try StandbyReader(place) : nil
    var (count, found) = try shared.check(in: folder, place: try place.word) { [place] _ in
      try place.open()
    }
    if let labour {
      let (done, broken) = labour.end()
      self.labour.add(done)
      found += broken
    }
    if let reader {
      let (done, broken) = reader.end()
      standbys.add(done)
      found += broken
    }
    if let watcher { found += watcher.end() }
    try FileManager.default.removeItem(atPath: folder)
    lookups += try place.remove()
    counts[workload.name, default: 0] += count
    violations += found.count
    print(
      "\(workload.name), seed \(shared.run.seed), \(shared.run.clientsPerStore) clients, "
        + "\(shared.workspaces) workspaces in each of \(shared.processes + 1) processes"
        + (place.sharesCommits
          ? ", shared commits" : place.writerLimit > 1 ? ", several writers" : "")
        + (place.spacesInDictionary.isEmpty ? "" : ", dictionary")
        + (watcher == nil ? "" : ", watched") + (labour == nil ? "" : ", with long work")
        + (reader == nil ? "" : ", standbys read")
        + ": \(count) transactions, \(found.count) violations")
    for violation in found.prefix(3) { print("  \(violation)") }
    // Runs are long, and a reader may wait for the first ones.
    fflush(nil)
    return found
  }

  /// Prints the figures.
  /// - Parameter title: What was run.
  /// - Returns: Whether there was no violation.
  public func report(_ title: String) -> Bool {
    let seconds = (ContinuousClock.now - started) / .seconds(1)
    print(
      "\(title): \(transactions) transactions in \(runs) runs of four or five processes, "
        + "\(lookups) commits with a lost answer looked up; \(violations) violations; "
        + "\(Int(Double(transactions) / seconds)) transactions a second")
    print(
      "  beside them \(labour.longTransactions) long transactions, of which \(labour.starved) "
        + "starved, and \(labour.indexBuilds) times all indexes were complete")
    if standbys.queries > 0 {
      print(
        "  a workspace that reads from standbys has asked \(standbys.queries) times: standbys have "
          + "answered \(standbys.standbyReads) queries, and the primary \(standbys.primaryReads)")
    }
    for (name, count) in counts.sorted(by: { $0.key < $1.key }) { print("  \(name): \(count)") }
    return violations == 0
  }
}
