// Renewing the statistics of a workspace's file: on request, and by a policy.

import Dflat

extension SQLiteWorkspace {
  /// When a workspace renews the statistics by which SQLite chooses among indexes.
  public enum AnalysisPolicy: Sendable, Equatable {
    /// Only when the program calls ``SQLiteWorkspace/analyze()`` or ``SQLiteWorkspace/vacuum()``.
    case onRequest
    /// When the last analysis of the file is at least as long ago, by whichever workspace.
    case every(MaintenanceInterval)
  }

  /// Renews the statistics by which SQLite chooses among indexes: `ANALYZE`, bounded to some
  /// hundred rows of each index.
  ///
  /// It runs between transactions, usually for some milliseconds. Readers go on. The numbers are
  /// kept in SQLite's table `sqlite_stat1`, which all programs use that open the file. No answer
  /// depends on them. ``Event/analysis(duration:)`` tells of it. A file that does not exist is not
  /// created.
  /// - Throws: `StorageError`, with `.busy` if another program writes for longer than the busy
  ///   timeout; `WorkspaceError.shutDown`.
  public func analyze() async throws {
    try await _core.betweenTransactions { [engine] in try engine.session.analyze() }
  }
}
