// Vacuuming a workspace's file: on request, and by a policy.

import Dflat

extension SQLiteWorkspace {
  /// When a workspace vacuums its file.
  public enum VacuumPolicy: Sendable, Equatable {
    /// Only when the program calls ``SQLiteWorkspace/vacuum()``.
    case onRequest
    /// When the last vacuum of the file is at least as long ago, by whichever workspace.
    case every(MaintenanceInterval)
  }

  /// A time between two runs of a maintenance task.
  public struct MaintenanceInterval: Sendable, Hashable {
    let seconds: Int64

    /// A number of seconds.
    public static func seconds(_ count: Int) -> MaintenanceInterval {
      MaintenanceInterval(seconds: Int64(count))
    }

    /// A number of hours.
    public static func hours(_ count: Int) -> MaintenanceInterval { .seconds(count * 3600) }

    /// A number of days.
    public static func days(_ count: Int) -> MaintenanceInterval { .hours(count * 24) }
  }

  /// Rewrites the file: without free pages, and with the rows of each table next to each other.
  ///
  /// It runs between transactions. Readers go on, with the state that they see; transactions that
  /// are called meanwhile wait. It takes about as long as copying the file twice, and as much disk
  /// space. The planner's statistics are renewed, as by ``analyze()``. ``Event``s tell when it
  /// begins and ends. A file that does not exist is not created.
  /// - Throws: `StorageError`, with `.busy` if another program writes for longer than the busy
  ///   timeout, or `.diskFull`; the file is then as before. `WorkspaceError.shutDown`.
  public func vacuum() async throws {
    try await _core.betweenTransactions { [engine] in try engine.session.vacuum() }
  }
}
