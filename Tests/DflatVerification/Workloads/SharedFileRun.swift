// SharedFileRun: clients in several workspaces and several processes on one file.

import Dflat
import DflatTestSupport
import Foundation
import SQLiteAccess
import SQLiteDflat

/// A run of a workload on one file.
public struct SharedFileRun: Sendable {
  /// The clients of this process; those of other processes are numbered after them.
  public var run: HistoryRun
  /// Workspaces in each process.
  public var workspaces = 1
  /// Processes besides this one.
  public var processes = 0
  /// The command that runs a worker; needed if there are processes.
  public var worker: String?

  /// A run by one process in one workspace.
  public init(_ run: HistoryRun) {
    self.run = run
  }

  private var isShared: Bool { workspaces > 1 || processes > 0 }

  /// Runs, reads everything, and checks the history and the file.
  /// - Returns: The number of transactions, and the violations.
  public func check(in directory: String) throws -> (Int, [Violation]) {
    let path = directory + "/test.db"
    var random = SeededGenerator(seed: run.seed)
    let stores = (0..<workspaces).map { _ in
      WorkspaceStore(
        path: path, isShared: isShared, concurrency: random.oneIn(4) ? .serial : .concurrent)
    }
    var history = run.setUp(stores[0])
    let children = try (0..<processes).map { number in
      try ChildProcess(
        worker ?? "",
        [
          "worker", "history", path, "\(directory)/history-\(number)", run.workload.name,
          "\(run.seed)", "\(number + 1)", "\(workspaces)", "\(run.clientsPerStore)",
          "\(run.stepsPerClient)",
        ])
    }
    history.merge(run.run(on: stores))
    for (number, child) in children.enumerated() {
      let (status, output) = child.waitForOutput()
      if status != 0 || !output.isEmpty {
        history.complaints.append("worker \(number) ended with \(status): \(output)")
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
    var violations = run.violations(of: history)
    violations += try fileFaults(path).map { Violation(.invariant, $0) }
    return (history.transactions.count, violations)
  }

  /// The part that another process runs.
  /// - Parameters:
  ///   - worker: Its number, from 1.
  ///   - path: The database.
  ///   - output: The path for its history.
  /// - Returns: The errors it found.
  public func work(as worker: Int, path: String, output: String) throws -> [String] {
    var run = run
    run.firstClient = 1 + worker * workspaces * run.clientsPerStore
    run.firstWorkspace = worker * workspaces
    let stores = (0..<workspaces).map { _ in WorkspaceStore(path: path, isShared: true) }
    var history = run.run(on: stores)
    history.complaints += stores.flatMap { $0.takeErrors() }
    for store in stores { store.close() }
    history.complaints += stores.flatMap { $0.takeErrors() }
    try history.encoded().write(to: URL(filePath: output))
    return history.complaints
  }
}

/// The errors in a file of cells and families.
public func fileFaults(_ path: String) throws -> [String] {
  guard FileManager.default.fileExists(atPath: path) else { return [] }
  let connection = try Connection(path: path)
  defer { try? connection.close() }
  return try (cellTypes + familyTypes).flatMap {
    try unsoundness(of: $0._schema, connection, complete: true)
  }
}
