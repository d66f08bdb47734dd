// Runs on one file.

import Dflat
import DflatTestSupport
import Foundation
import SQLiteAccess
import SQLiteDflat
import Silo

extension SharedRun {
  /// Runs on a file, reads everything, and checks the history and the file.
  /// - Returns: The number of transactions, and the violations.
  public func check(in directory: String) throws -> (Int, [Violation]) {
    try check(in: directory, fileFaults) {
      WorkspaceStore(path: $0, isShared: isShared, concurrency: $1)
    }
  }

  /// Runs on silos in a file, like `check(in:)`. Workers have the task `silos`.
  /// - Returns: The number of transactions, and the violations.
  public func checkSilos(in directory: String) throws -> (Int, [Violation]) {
    var run = self
    run.task = "silos"
    return try run.check(in: directory, { try siloFaults($0, siloTypes) }) {
      SiloStore(path: $0, isShared: isShared, concurrency: $1)
    }
  }

  private func check<Store: TransactionalStore>(
    in directory: String, _ faults: (String) throws -> [String],
    open: (String, SQLiteWorkspace.WriteConcurrency) -> Store
  ) throws -> (Int, [Violation]) {
    let path = directory + "/test.db"
    var random = SeededGenerator(seed: run.seed)
    let concurrency = (0..<workspaces).map { _ -> SQLiteWorkspace.WriteConcurrency in
      random.oneIn(4) ? .serial : .concurrent
    }
    let (count, violations) = try check(in: directory, place: path) {
      open(path, concurrency[$0])
    }
    return (count, violations + (try faults(path).map { Violation(.invariant, $0) }))
  }
}

/// The errors in a file of silos.
func siloFaults(_ path: String, _ types: [any Persistable.Type]) throws -> [String] {
  func schema<V: Persistable>(_ type: V.Type) -> EntitySchema { Canonical<V>._schema }
  return try faults(path, types.map { schema($0) })
}

/// The errors in a file of cells and families.
public func fileFaults(_ path: String) throws -> [String] {
  try faults(path, (cellTypes + familyTypes).map { $0._schema })
}

private func faults(_ path: String, _ schemas: [EntitySchema]) throws -> [String] {
  guard FileManager.default.fileExists(atPath: path) else { return [] }
  let connection = try Connection(path: path)
  defer { try? connection.close() }
  return try schemas.flatMap { try unsoundness(of: $0, connection, complete: true) }
}
