// A file with objects, and tables that a program has beside them.

import DflatTestSupport
import Foundation
import SQLiteAccess
import SQLiteDflat

@testable import DflatTools

/// A file with posts, and what statements add to it.
final class ProgramFile {
  let directory: String
  var path: String { directory + "/test.db" }
  var saved: String { directory + "/saved.db" }
  private(set) var report: RepairReport?

  init(_ statements: [String], hasObjects: Bool = true) throws {
    directory = try makeTemporaryDirectory()
    if hasObjects {
      let file = TemporaryFile(path: path)
      try file.store((1...20).map { post(Int32($0), likes: Int32($0)) })
      file.dflat.shutdown()
    }
    let connection = try Connection(path: path)
    try connection.execute("PRAGMA journal_mode = DELETE")
    for statement in statements { try connection.execute(statement) }
    try connection.close()
  }

  deinit { try? FileManager.default.removeItem(atPath: directory) }

  func repair(schemas: [String] = []) throws {
    report = try Repair.runAndWait(from: path, to: saved, schemas: schemas)
  }

  /// The rows of a query of the file, or of the new one.
  func rows(_ sql: String, in path: String) throws -> [[SQLValue]] {
    let connection = try Connection(path: path)
    defer { try? connection.close() }
    return try connection.rows(sql)
  }
}
