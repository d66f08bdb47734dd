// ReplicatedCluster: a PostgreSQL server with a synchronous standby, for tests of crashes and
// failovers.
//
//  - Two directories, `a` and `b`, in turn have the primary and the standby. The connection string
//    names both, and leads to whichever of them can write.
//  - A transaction is reported as committed once both servers have it, always: without a standby
//    commits wait. So nothing that was reported is lost when the standby takes over.
//  - A server that has failed never comes back: its directory gets a copy of the new primary. Only
//    `hidePrimary` and `showOldPrimary` let one come back as it was.

import Foundation
import Platform

/// A server with a synchronous standby.
public final class ReplicatedCluster: Sendable {
  /// The connection string, with both hosts.
  public let url: String
  private let state: Mutex<State>

  private struct State {
    var primary: ServerProcess
    /// nil until a standby has been made after a failover.
    var standby: ServerProcess?
    /// The primary before a failover that it has survived.
    var old: ServerProcess?
  }

  /// Makes and starts both servers.
  /// - Throws: `ClusterError`.
  public init() throws {
    let directory = ServerProcess.newDirectory()
    url =
      "postgresql:///postgres?host=\(directory)-a,\(directory)-b&user=dflat"
      + "&target_session_attrs=read-write"
    let primary = try ServerProcess(
      in: "\(directory)-a", settings: Self.settings("a"))
    state = Mutex(State(primary: primary))
    try restoreStandby()
  }

  private static func settings(_ name: String) -> [String] {
    [
      "fsync=off", "cluster_name=\(name)", "synchronous_standby_names=a,b", "max_connections=300",
      "wal_retrieve_retry_interval=100ms", "max_pred_locks_per_transaction=512",
    ]
  }

  /// The connection string for commits that do not wait for the standby.
  public var asynchronousURL: String {
    url.setting("options", to: "-csynchronous_commit%3Dlocal").setting("connect_timeout", to: "2")
  }

  /// The directory of the server that can write.
  public var primaryDirectory: String { state.withLock { $0.primary.directory } }

  /// The connection string of the primary alone.
  public var primaryURL: String { state.withLock { $0.primary.url } }

  /// Sends a signal to the first process of the server that can write: it crashes, and starts again
  /// by itself.
  /// - Returns: False if it does not run at the moment.
  public func crash(_ signal: Int32) -> Bool {
    state.withLock { $0.primary.signal(signal) }
  }

  /// The same for the standby.
  public func crashStandby(_ signal: Int32) -> Bool {
    state.withLock { $0.standby?.signal(signal) ?? false }
  }

  /// Makes the server that can write crash for ever, and lets the standby take over.
  ///
  /// A transaction that was not reported yet may be on the primary only, and is lost with it. While
  /// it waits for the standby, no reader sees it. But a server that has crashed and started again
  /// shows it, so the standby must have caught up since then.
  ///
  /// - Parameter isCaughtUp: Whether it waits until the standby has everything that can be read on
  ///   the primary.
  public func failOver(isCaughtUp: Bool = true) throws {
    if isCaughtUp { try awaitStandby() }
    let (old, new) = try state.withLock { state in
      guard let standby = state.standby else { throw ClusterError("there is no standby") }
      defer {
        state.primary = standby
        state.standby = nil
      }
      return (state.primary, standby)
    }
    old.end()
    guard try PlainConnection(new.url).run("SELECT pg_promote(true, 120)") == [["t"]] else {
      throw ClusterError("the standby in \(new.directory) did not become the primary")
    }
  }

  /// Ends all connections of programs to the primary, which takes no new ones.
  public func hidePrimary() throws {
    try awaitStandby()
    let primary = state.withLock { $0.primary }
    let plain = try PlainConnection(primary.url)
    guard primary.signal(SIGSTOP) else { throw ClusterError("the primary does not run") }
    // Its first process does not notice their ends, so the server cannot wait for them.
    let others =
      "pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
    try plain.run("SELECT pg_terminate_backend(pid) FROM \(others)")
    while try plain.run("SELECT 1 FROM \(others)") != [] { usleep(10_000) }
  }

  /// Lets the standby take over from a primary that is hidden.
  public func promoteStandby() throws {
    let new = try state.withLock { state in
      guard let standby = state.standby else { throw ClusterError("there is no standby") }
      state.old = state.primary
      state.primary = standby
      state.standby = nil
      return standby
    }
    guard try PlainConnection(new.url).run("SELECT pg_promote(true, 120)") == [["t"]] else {
      throw ClusterError("the standby in \(new.directory) did not become the primary")
    }
  }

  /// The primary that was hidden takes connections again, and still believes that it is one.
  /// - Returns: Its connection string.
  public func showOldPrimary() throws -> String {
    guard let old = state.withLock({ $0.old }), old.signal(SIGCONT) else {
      throw ClusterError("there is no old primary")
    }
    return old.url
  }

  /// Lets the standby take over, and lets the old primary come back as it was while `body` runs.
  ///
  /// For programs of Dflat whose commits do not wait for the standby. No transaction is being
  /// committed when their connections end, all at the same time, so nothing that was reported is
  /// lost.
  public func failOver(whileOldIsBack body: () throws -> Void) throws {
    let old = state.withLock { $0.primary }
    let plain = try PlainConnection(old.url)
    let tables = try plain.run(
      "SELECT format('%I.%I', schemaname, tablename) FROM pg_tables "
        + "WHERE tablename = '_dflat_precedence'")
    try plain.run("BEGIN")
    for table in tables { try plain.run("LOCK TABLE \(table[0] ?? "") IN EXCLUSIVE MODE") }
    try awaitStandby()
    guard old.signal(SIGSTOP) else { throw ClusterError("the primary does not run") }
    let programs = try plain.run(
      "SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend'")
    for program in programs.compactMap({ $0[0].flatMap { Int32($0) } }) { kill(program, SIGKILL) }
    try promoteStandby()
    _ = try showOldPrimary()
    defer { old.end() }
    try body()
  }

  /// Makes one more standby of the primary, in a directory of its own. The caller ends it.
  public func addStandby() throws -> ServerProcess {
    let primary = primaryDirectory
    return try ServerProcess(
      in: "\(primary)c", from: .standby(of: primary), settings: Self.settings("c"))
  }

  /// The connection string with another standby, which does not take over.
  public func url(with other: ServerProcess?) -> String {
    guard let other, let hosts = url.firstRange(of: "&user=") else { return url }
    return url[..<hosts.lowerBound] + "," + other.directory + url[hosts.lowerBound...]
  }

  /// The connection string of the standby alone; nil while there is none.
  public var standbyURL: String? { state.withLock { $0.standby?.url } }

  /// Stops the standby for ever. Unless commits only wait for the primary, they wait for another
  /// one, which `restoreStandby` makes.
  public func endStandby() {
    let standby = state.withLock { state in
      defer { state.standby = nil }
      return state.standby
    }
    standby?.end()
  }

  /// Stops the primary for ever.
  public func endPrimary() { state.withLock { $0.primary }.end() }

  /// Makes a standby after a failover, and waits until it has everything.
  public func restoreStandby() throws {
    let primary = state.withLock { $0.primary }
    let (stem, name) = (primary.directory.dropLast(), primary.directory.last == "a" ? "b" : "a")
    let standby = try ServerProcess(
      in: "\(stem)\(name)", from: .standby(of: primary.directory), settings: Self.settings(name))
    state.withLock { $0.standby = standby }
    try awaitStandby()
  }

  /// Ends the standby's connection to the primary for ever: from now on commits wait.
  public func isolateStandby() throws {
    let standby = try PlainConnection(state.withLock { $0.standby?.url })
    try standby.run("ALTER SYSTEM SET primary_conninfo = ''")
    try standby.run("SELECT pg_reload_conf()")
    let plain = try PlainConnection(primaryURL)
    while try plain.run("SELECT 1 FROM pg_stat_replication") != [] { usleep(10_000) }
  }

  /// Returns when the standby has everything that can be read now on the primary.
  public func awaitStandby() throws {
    let deadline = Date() + 120
    var wanted: String?
    while Date() < deadline {
      // The primary may be starting.
      if let plain = try? PlainConnection(primaryURL) {
        if wanted == nil {
          wanted = (try? plain.run("SELECT pg_current_wal_flush_lsn()"))?[0][0]
        }
        let caughtUp = """
          SELECT 1 FROM pg_stat_replication \
          WHERE sync_state = 'sync' AND flush_lsn >= '\(wanted ?? "0/0")'
          """
        if wanted != nil, (try? plain.run(caughtUp)) == [["1"]] { return }
      }
      usleep(20_000)
    }
    throw ClusterError("the standby of \(primaryURL) does not follow")
  }

  /// Stops both servers for ever.
  public func end() {
    let (primary, standby, old) = state.withLock { ($0.primary, $0.standby, $0.old) }
    _ = old?.signal(SIGCONT)
    for server in [primary, standby, old] { server?.end() }
  }
}
