// SharedRun: clients in several workspaces and several processes on the same data.

import DflatTestSupport
import Foundation

/// A run of a workload by several workspaces and processes.
public struct SharedRun: Sendable {
  /// The clients of this process; those of other processes are numbered after them.
  public var run: HistoryRun
  /// Workspaces in each process.
  public var workspaces = 1
  /// Processes besides this one.
  public var processes = 0
  /// What workers are asked to do.
  public var task = "history"
  /// The command that runs a worker; needed if there are processes.
  public var worker: String?

  /// A run by one process in one workspace.
  public init(_ run: HistoryRun) {
    self.run = run
  }

  /// Whether workspaces share the data.
  public var isShared: Bool { workspaces > 1 || processes > 0 }

  /// Runs, reads everything, and checks the history.
  /// - Parameters:
  ///   - directory: A directory for the histories of the processes.
  ///   - place: What a worker needs to find the data.
  ///   - open: Opens a store of this process.
  /// - Returns: The number of transactions, and the violations.
  public func check<Store: TransactionalStore>(
    in directory: String, place: String, open: (Int) throws -> Store
  ) throws -> (Int, [Violation]) {
    let stores = try (0..<workspaces).map { try open($0) }
    var history = run.setUp(stores[0])
    let children = try (0..<processes).map { number in
      try ChildProcess(
        worker ?? "",
        [
          "worker", task, place, "\(directory)/history-\(number)", run.workload.name,
          "\(run.seed)", "\(number + 1)", "\(workspaces)", "\(run.clientsPerStore)",
          "\(run.stepsPerClient)",
        ])
    }
    history.merge(run.run(on: stores))
    for (number, child) in children.enumerated() {
      let (status, output) = child.waitForOutput()
      if status != 0 || !output.isEmpty {
        history.complaints.append("worker \(number) ended with \(status): \(output.prefix(2000))")
      }
      if status == 0 {
        let data = try Data(contentsOf: URL(filePath: "\(directory)/history-\(number)"))
        history.merge(try History(encoded: data))
      }
    }
    if history.transactions.allSatisfy({ $0.outcome != .open }) {
      history.merge(run.readAll(stores[0], after: history))
    }
    history.complaints += stores.flatMap { $0.takeErrors() }
    for store in stores { store.close() }
    history.complaints += stores.flatMap { $0.takeErrors() }
    return (history.transactions.count, run.violations(of: history))
  }

  /// The part that another process runs.
  /// - Parameters:
  ///   - words: The words that `check` gives a worker, after its task: the place, the path for the
  ///     history, workload, seed, the worker's number from 1, workspaces, clients and steps.
  ///   - open: Opens a store at a place.
  /// - Returns: The errors it found; nil if the words are others.
  public static func work(
    _ words: [String], open: (_ place: String) throws -> any TransactionalStore
  ) throws -> [String]? {
    guard words.count == 8,
      let workload = allWorkloads(spaces: cellTypes.count).first(where: { $0.name == words[2] })
    else { return nil }
    let numbers = words[3...].compactMap { UInt64($0) }
    guard numbers.count == 5 else { return nil }
    var run = HistoryRun(workload, seed: numbers[0])
    let (worker, workspaces) = (Int(numbers[1]), Int(numbers[2]))
    run.clientsPerStore = Int(numbers[3])
    run.stepsPerClient = Int(numbers[4])
    run.firstClient = 1 + worker * workspaces * run.clientsPerStore
    run.firstWorkspace = worker * workspaces
    let stores = try (0..<workspaces).map { _ in try open(words[0]) }
    var history = run.run(on: stores)
    history.complaints += stores.flatMap { $0.takeErrors() }
    for store in stores { store.close() }
    history.complaints += stores.flatMap { $0.takeErrors() }
    try history.encoded().write(to: URL(filePath: words[1]))
    return history.complaints
  }
}
