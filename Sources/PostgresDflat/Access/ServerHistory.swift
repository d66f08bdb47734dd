// ServerHistory: which server a workspace has used, so that it is not led back to an older one.
//
// After a failover the old primary may come back, and a connection string with several hosts leads
// to it. It lacks what was committed since, and what is written there is lost when it is made a
// standby; a lost commit that is looked up there seems not to be stored, and runs twice. A server
// that takes over begins a new timeline, with a greater number. So a workspace refuses a server
// whose timeline is older than the newest one that it has seen, or that is another server, with
// another system identifier. A connection to a server that was left behind is not used again.
//
// A workspace that has not seen the new primary itself learns of it in two ways:
//
//  - Before it uses a primary for the first time, after it has lost a connection, and before it
//    writes through a new one, it asks the other hosts of the connection string for their
//    timelines, if `connectionLimit` leaves a place. A standby of the new primary knows it, too.
//  - The configuration may name a file where the newest timeline is kept, for all programs of a
//    machine: see `FencingFile`.
//
// The database itself cannot help: the old primary's is as it was before the failover. If neither
// another host nor a file knows of the new primary, the old one is used.

import Dflat
import Platform

/// Which server it is.
struct ServerIdentity: Equatable, Sendable {
  /// The same for all servers that were copied from one another.
  let system: String
  /// nil for a standby.
  let timeline: Int?

  /// Asks the server.
  /// - Returns: nil if the role may not ask for it, as with some services.
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

  /// The timeline that a standby follows, as SQL. It may lag behind what has been applied, since
  /// the control file does, and is never ahead of what is received.
  static let timelineOfStandby =
    "greatest((SELECT timeline_id FROM pg_control_checkpoint()), "
    + "(SELECT min_recovery_end_timeline FROM pg_control_recovery()), "
    + "(SELECT max(received_tli) FROM pg_stat_wal_receiver))"

  /// Asks a server that may be a standby. Its timeline is the newest one that it knows.
  static func known(to connection: Connection) throws(PostgresError) -> ServerIdentity? {
    guard let server = try of(connection) else { return nil }
    if server.timeline != nil { return server }
    let timeline = try connection.execute("SELECT \(timelineOfStandby)")
    return ServerIdentity(
      system: server.system, timeline: timeline.isNull(0, 0) ? nil : Int(timeline.text(0, 0)))
  }
}

final class ServerHistory: Sendable {
  private struct State {
    var newest: ServerIdentity?
    /// When the other hosts were asked.
    var asked: UInt64?
    var isFileRead = false
  }

  private let state = Mutex(State())
  private let file: FencingFile?

  /// - Parameter file: The file that keeps the newest timeline.
  init(_ file: FencingFile?) { self.file = file }

  /// Whether the other hosts should be asked before a primary is used.
  /// - Parameter isWriting: Whether it is to be written to.
  func wantsOthers(isWriting: Bool) -> Bool {
    state.withLock { state in
      guard let asked = state.asked else { return true }
      // Connecting makes several connections at first.
      return isWriting && MonotonicTime.now - asked > 10_000_000_000
    }
  }

  /// Called when the other hosts were asked.
  func noteAsked() { state.withLock { $0.asked = MonotonicTime.now } }

  /// Called when a connection was lost: that may be a failover.
  func noteLoss() { state.withLock { $0.asked = nil } }

  /// Notes what another host knows of the same system.
  func learn(_ server: ServerIdentity) {
    state.withLock { state in
      let isNewer = server.timeline ?? 0 > state.newest?.timeline ?? 0
      if isNewer, state.newest?.system ?? server.system == server.system { state.newest = server }
    }
  }

  /// Notes the server of a new connection.
  /// - Throws: `LeftBehind` if it is not the one that was used last; `StorageError` if the file
  ///   cannot be used.
  func note(_ server: ServerIdentity) throws {
    try state.withLock { state in
      if let file {
        if !state.isFileRead, let kept = try file.read() {
          if state.newest?.timeline ?? 0 <= kept.timeline ?? 0 { state.newest = kept }
        }
        state.isFileRead = true
      }
      if let last = state.newest {
        if server.system != last.system { throw LeftBehind(server: server, last: last) }
        let timeline = server.timeline ?? .max
        if timeline < last.timeline ?? 0 { throw LeftBehind(server: server, last: last) }
      }
      if server.timeline != nil || state.newest == nil { state.newest = server }
      if let file, server.timeline != nil { try file.keep(server) }
    }
  }

  /// Whether a connection leads to the newest server, as far as is known.
  func isCurrent(_ server: ServerIdentity?) -> Bool {
    guard let timeline = server?.timeline else { return true }
    return state.withLock { timeline >= $0.newest?.timeline ?? 0 }
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
        + "\(server.timeline ?? 0), and there is timeline \(last.timeline ?? 0)",
      advice: "stop the old primary or make it a standby of the new one, or take it out of the "
        + "connection string")
  }
}

/// The server is a standby, and a connection is to write.
struct StandbyServer: Error {}

extension StorageError {
  /// No host of the connection string is a standby.
  static let noStandby = StorageError(
    .cannotOpen, message: "the server is no standby",
    advice: "name a standby in the connection string, or set readsFrom to sameServer")

  /// A transaction was open on the old primary when the workspace learned of the failover.
  static let leftBehind = StorageError(
    .conflict, message: "the server was left behind by a failover during the transaction")

  /// Only a primary can be written to.
  static let standby = StorageError(
    .readOnly, message: "the server is a standby, which cannot be written to",
    advice: "name the primary in the connection string, or all servers and "
      + "target_session_attrs=read-write; set isReadOnly if the program only reads")
}
