// Vacuuming: the file is rewritten without free pages, in the order of its tables.
//
//  - It is a write transaction of SQLite: readers go on with the state that they read, and other
//    writers wait.
//  - A vacuum that the program asks for runs while the caller holds the write lease. Transactions
//    that come wait for its end. `WriteSession+DueTasks` runs those of the policy.
//  - It renews the planner's statistics, too.

import Dflat
import SQLiteAccess

extension WriteSession {
  /// Vacuums the file, if it exists. The caller holds the write lease.
  func vacuum() throws {
    try maintaining { state, connection in try vacuum(&state, connection) { false } }
  }

  /// - Parameter isUnwanted: Asked from time to time. If it says so, the vacuum ends.
  func vacuum(
    _ state: inout State, _ connection: Connection, unless isUnwanted: () -> Bool
  ) throws {
    func size() throws -> Int64 {
      try Int64(connection.pageCount()) * Int64(connection.pageSize())
    }
    let began = ContinuousClock.now
    reports.deliver(.vacuumBegan(bytes: try size()))
    var isComplete = false
    defer {
      reports.deliver(
        .vacuumEnded(
          bytes: (try? size()) ?? 0, duration: .now - began, isComplete: isComplete))
    }
    state.tables.forget()
    try connection.interrupting(when: isUnwanted) { try connection.vacuum() }
    isComplete = true
    try MaintenanceLog.note(MaintenanceLog.vacuum, at: Self.now, connection)
    try analyze(connection) { false }
    // The log is as long as the file now.
    try state.maintain { try $0.checkpointLog($1) { ownReaders } }?.forEach(reports.deliver)
  }
}
