// ServerHistory: which server a workspace has used, so that it is not led back to an older one.
//
// After a failover the old primary may come back, and a connection string with several hosts leads
// to it. It lacks what was committed since, and what is written there is lost when it is made a
// standby; a lost commit that is looked up there seems not to be stored, and runs twice. A server
// that takes over begins a new timeline, with a greater number. So a workspace refuses a server
// whose timeline is older than the newest one that it has seen, or that is another server, with
// another system identifier. A connection to a server that was left behind is not used again.
//
// Only a workspace that has seen the new primary knows of it. A program that begins later, or was
// never connected to it, does not.

import Dflat
import Platform

/// Which server it is.
struct ServerIdentity: Equatable, Sendable {
  /// The same for all servers that were copied from one another.
  let system: String
  /// nil for a standby.
  let timeline: Int?

  /// Asks the server.
  /// - Returns: nil if it does not tell, as some services do not.
  static func of(_ connection: Connection) throws(PostgresError) -> ServerIdentity? {
    do throws(PostgresError) {
      let rows = try connection.execute(
        "SELECT system_identifier, CASE WHEN pg_is_in_recovery() THEN NULL "
          + "ELSE substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) END FROM pg_control_system()")
      return ServerIdentity(
        system: rows.text(0, 0),
        timeline: rows.isNull(0, 1) ? nil : Int(rows.text(0, 1), radix: 16))
    } catch {
      if error.isConnectionLost { throw error }
      return nil
    }
  }
}

final class ServerHistory: Sendable {
  private let newest = Mutex<ServerIdentity?>(nil)

  /// Notes the server of a new connection.
  /// - Throws: `LeftBehind` if it is not the one that the workspace has used last.
  func note(_ server: ServerIdentity) throws(LeftBehind) {
    try newest.withLock { newest throws(LeftBehind) in
      guard let last = newest else {
        newest = server
        return
      }
      if server.system != last.system { throw LeftBehind(server: server, last: last) }
      guard let timeline = server.timeline else { return }
      if timeline < last.timeline ?? 0 { throw LeftBehind(server: server, last: last) }
      newest = server
    }
  }

  /// Whether a connection leads to the newest server, as far as is known.
  func isCurrent(_ server: ServerIdentity?) -> Bool {
    guard let timeline = server?.timeline else { return true }
    return newest.withLock { timeline >= $0?.timeline ?? 0 }
  }
}

/// A server that a workspace does not use any more.
struct LeftBehind: Error {
  let server: ServerIdentity
  let last: ServerIdentity

  var storageError: StorageError {
    if server.system != last.system {
      return StorageError(
        .cannotOpen,
        message: "the connection string leads to another server, with the system identifier "
          + "\(server.system), than before, with \(last.system)",
        advice: "end the workspace and open it again if the database has moved there; correct the "
          + "connection string otherwise")
    }
    return StorageError(
      .cannotOpen,
      message: "the server was left behind by a failover: it is on timeline "
        + "\(server.timeline ?? 0), and the workspace has used timeline \(last.timeline ?? 0)",
      advice: "stop the old primary or make it a standby of the new one, or take it out of the "
        + "connection string")
  }
}

/// The server is a standby, and a connection is to write.
struct StandbyServer: Error {}

extension StorageError {
  /// Only a primary can be written to.
  static let standby = StorageError(
    .readOnly, message: "the server is a standby, which cannot be written to",
    advice: "name the primary in the connection string, or all servers and "
      + "target_session_attrs=read-write; set isReadOnly if the program only reads")
}
