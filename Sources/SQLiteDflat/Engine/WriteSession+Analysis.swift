// Analysing the file: how many rows each index has for a value, for SQLite's planner.
//
//  - SQLite keeps the numbers in the file, in its own table `sqlite_stat1`, from where every
//    program's connection reads them when it is opened or the schema has changed.
//  - SQLite 3.40's `PRAGMA optimize` makes no statistics for tables that have none, so `ANALYZE`
//    runs. `PRAGMA analysis_limit` bounds it to some hundred rows of each index.

import Dflat
import Platform
import SQLiteAccess

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension WriteSession {
  /// About how many rows of each index are looked at.
  private static let analyzedRows = 400

  /// Renews the planner's statistics, if the file exists. The caller holds the write lease.
  func analyze() throws {
    try maintaining { _, connection in try analyze(connection) { false } }
  }

  /// - Parameter isUnwanted: Asked from time to time. If it says so, the analysis ends.
  func analyze(_ connection: Connection, unless isUnwanted: () -> Bool) throws {
    let began = ContinuousClock.now
    try connection.execute("PRAGMA main.analysis_limit = \(Self.analyzedRows)")
    try connection.interrupting(when: isUnwanted) { try connection.execute("ANALYZE main") }
    try MaintenanceLog.note(MaintenanceLog.analysis, at: Self.now, connection)
    reports.deliver(.analysis(duration: .now - began))
  }

  /// Calls `body` with the connection, between transactions, if the file exists. The caller holds
  /// the write lease.
  func maintaining(_ body: (inout State, Connection) throws -> Void) throws {
    if !isPrepared.load(ordering: .acquiring), !configuration.isReadOnly,
      !FileManager.default.fileExists(atPath: path)
    {
      return
    }
    try open()
    try withStorageErrors {
      try withStateSoon { state in
        guard let connection = state.connection else { return }
        // Keeps other threads from asking the connection about external changes meanwhile.
        externalChanges.writerChanges()
        defer { externalChanges.writerEnded() }
        try body(&state, connection)
      }
    }
  }
}
