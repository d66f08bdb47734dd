// Statements of reads whose task is cancelled.

import Dflat
import DflatTestSupport
import Foundation
import SQLiteAccess
import Testing

@testable import SQLiteDflat

@Suite("Statements of a cancelled read", .endsSometime)
struct CancelledStatementTests {
  @Test("A statement ends that finds no row, and the connection can be used again")
  func endless() async throws {
    let directory = try makeTemporaryDirectory()
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let reading = ReadInterruption()
    async let numbers = beyondTasks {
      let connection = try Connection(path: directory + "/database")
      do {
        try reading.during {
          try SQLiteEngine.cancellable(connection) {
            _ = try connection.rows(
              "WITH RECURSIVE s(v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM s) "
                + "SELECT v FROM s WHERE v < 0")
          }
        }
      } catch is CancellationError {
        return try connection.rows("SELECT 7").map { $0[0].integer }
      }
      return []
    }
    reading.cancel()
    #expect(try await numbers == [7])
  }
}
