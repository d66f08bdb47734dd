// Runs on one file.

import Dflat
import DflatTestSupport
import Foundation
import SQLiteAccess
import SQLiteDflat

extension SharedRun {
  /// Runs on a file, reads everything, and checks the history and the file.
  /// - Returns: The number of transactions, and the violations.
  public func check(in directory: String) throws -> (Int, [Violation]) {
    let path = directory + "/test.db"
    var random = SeededGenerator(seed: run.seed)
    let concurrency = (0..<workspaces).map { _ -> SQLiteWorkspace.WriteConcurrency in
      random.oneIn(4) ? .serial : .concurrent
    }
    let (count, violations) = try check(in: directory, place: path) { number in
      WorkspaceStore(path: path, isShared: isShared, concurrency: concurrency[number])
    }
    return (count, violations + (try fileFaults(path).map { Violation(.invariant, $0) }))
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
