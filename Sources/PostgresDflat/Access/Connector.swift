// Connector: makes connections with the workspace's settings, and says why it cannot.
//
// A server that was reached before may be restarting: then connecting is tried again for some
// seconds, less and less often. A refused password, a server whose certificate is not trusted, or a
// first connection that fails, is reported at once.

import CPostgres
import Dflat
import Platform

struct Connector: Sendable {
  typealias Purpose = PostgresEvent.Purpose

  let url: String
  /// The keywords that the connection string gives a value.
  private let given: Set<String>
  private let configuration: PostgresWorkspace.Configuration
  private let hasConnected = HasConnected()
  private let history: ServerHistory
  private let hosts: HostList
  let places: ConnectionPlaces
  private let events: EventRecorder
  private let shortage = Shortage()
  /// The host where a standby is looked for first. Each workspace has its own.
  private let firstStandby = Int.random(in: 0..<1000)

  /// What is done if all places are taken.
  private final class Shortage: Sendable {
    let closeIdle = Mutex<(@Sendable () -> Void)?>(nil)
  }

  private final class HasConnected: Sendable {
    let value = Atomic<Bool>(false)
  }

  init(
    url: String, _ configuration: PostgresWorkspace.Configuration, _ events: EventRecorder
  ) {
    self.events = events
    self.url = url
    let settings = Self.settings(of: url)
    given = Set(settings.keys)
    hosts = HostList(settings)
    history = ServerHistory(configuration.fencingFile.map(FencingFile.init))
    self.configuration = configuration
    places = ConnectionPlaces(
      limit: configuration.connectionLimit, patience: configuration.connectTimeout
    ) { events.note(.waitedForConnection($0)) }
  }

  /// Sets what is done if all places are taken: it closes idle connections.
  func onShortage(_ closeIdle: @escaping @Sendable () -> Void) {
    shortage.closeIdle.withLock { $0 = closeIdle }
  }

  /// Takes a place for a connection, and waits for it.
  private func takePlace() throws -> ConnectionPlaces.Place {
    try places.wait {
      if let place = places.take() { return place }
      shortage.closeIdle.withLock { $0 }?()
      return places.take()
    }
  }

  /// For how long, in nanoseconds, a server that ends its connections is tried again.
  var patience: UInt64 { MonotonicTime.nanoseconds(configuration.reconnectTimeout) }

  /// Makes a connection.
  /// - Parameter place: Its place; nil to take one.
  func connect(
    _ purpose: Purpose, _ place: ConnectionPlaces.Place? = nil
  ) throws -> Connection {
    try checkSchema()
    try checkURL()
    let place = try place ?? takePlace()
    let start = MonotonicTime.now
    // The primary answers instead of a standby.
    let patience = purpose == .standby ? 0 : patience
    var pause: UInt32 = 20_000
    var refusals = 0
    while true {
      do {
        let token = SessionToken()
        let connection = try Connection(
          url, defaults: defaults(purpose), overrides: overrides(purpose, refusals),
          statementCacheCapacity: configuration.statementCacheCapacity, place)
        // Before other settings, which would change the session of another client.
        let facts = try check(connection, token, purpose)
        try connection.execute(setUp(purpose))
        if let server = try ServerIdentity.of(connection) {
          if server.timeline != nil { askOthers(about: server, purpose) }
          try history.note(server)
          connection.own.server = server
          connection.own.noteLoss = { [history] in history.noteLoss() }
        }
        if facts.isStandby, purpose == .writing { throw StandbyServer() }
        if !facts.isStandby, purpose == .standby { throw StorageError.noStandby }
        hasConnected.value.store(true, ordering: .relaxed)
        events.note(.connected(purpose))
        return connection
      } catch let failure as ConnectionFailure {
        let mayRepeat =
          hasConnected.value.load(ordering: .relaxed) && !failure.needsPassword
          && !failure.isRefusal && !failure.isUntrusted && MonotonicTime.now - start < patience
        if !mayRepeat { throw StorageError(failure, url) }
      } catch let error as LeftBehind {
        // Another host of the connection string may be the right one.
        refusals += 1
        if MonotonicTime.now - start >= patience { throw error.storageError }
      } catch is StandbyServer {
        // It may be about to become the primary.
        refusals += 1
        if MonotonicTime.now - start >= patience { throw StorageError.standby }
      } catch let error as PostgresError {
        let mayRepeat = error.isConnectionLost && MonotonicTime.now - start < patience
        if !mayRepeat { throw error }
      }
      usleep(pause)
      pause = min(2 * pause, 500_000)
    }
  }

  /// Asks the hosts of the connection string for their timelines, if there are several.
  private func askOthers(about known: ServerIdentity, _ purpose: Purpose) {
    guard hosts.count > 1, history.wantsOthers(isWriting: purpose == .writing) else { return }
    for number in 0..<hosts.count {
      // Without a place, later connections ask them.
      guard let place = places.take() else { return }
      let settings =
        hosts.settings(only: number) + [("target_session_attrs", "any"), ("connect_timeout", "2")]
      // A host that cannot be asked knows nothing.
      guard
        let connection = try? Connection(
          url, defaults: [], overrides: settings, statementCacheCapacity: 10, place),
        let server = try? ServerIdentity.known(to: connection), server.system == known.system
      else { continue }
      history.learn(server)
    }
    history.noteAsked()
  }

  /// Whether a connection can be used, and leads to the server that is used now.
  func isCurrent(_ connection: Connection) -> Bool {
    connection.isUsable && history.isCurrent(connection.own.server)
  }

  /// Throws if a pooler gives the session to other clients, too: see `SessionToken`.
  private func check(
    _ connection: Connection, _ token: SessionToken, _ purpose: Purpose
  ) throws -> SessionFacts {
    try connection.execute(token.set)
    let facts = try SessionFacts(token, connection)
    guard facts.isMarked else { throw StorageError.sharedSession }
    if facts.isDirect { return facts }
    // Without a free place this is not looked at: an earlier connection has passed.
    let isFirst = !hasConnected.value.load(ordering: .relaxed)
    guard let place = try isFirst ? takePlace() : places.take() else { return facts }
    // If the pooler has no more sessions for it, this one is not given away.
    let other: Connection
    do {
      other = try Connection(url, defaults: defaults(purpose), statementCacheCapacity: 10, place)
    } catch is ConnectionFailure { return facts }
    for _ in 0..<2 {
      let isMarked = other.answer(to: "BEGIN; SELECT \(token.isSet)", within: .seconds(2))
      // While the other one has a transaction, the session of this one is still its own.
      if isMarked == "t" { throw StorageError.sharedSession }
      guard try SessionFacts(token, connection).isMarked else { throw StorageError.sharedSession }
      guard isMarked == "f", other.answer(to: "ROLLBACK; SELECT true", within: .seconds(2)) == "t"
      else { return facts }
    }
    return facts
  }

  /// Throws if the name of the schema, which may come from a file with settings, cannot be used.
  private func checkSchema() throws {
    let name = configuration.schema
    if name.hasPrefix("pg_") || name == "information_schema" {
      throw StorageError(
        .cannotOpen,
        message: "the PostgreSQL schema \(name.shortenedLiteral) is one of the server's own",
        advice: "give the configuration a schema whose name does not begin with pg_")
    }
    if !name.isEmpty, name.utf8.count < 64, !name.utf8.contains(0) { return }
    throw StorageError(
      .cannotOpen,
      message: "the PostgreSQL schema \(name.shortenedLiteral) is no name",
      advice: "give a name of 1 to 63 bytes without NUL as the schema of the configuration")
  }

  /// Throws if the connection string is one of another engine: the client library takes all texts
  /// that are not its own for names of databases.
  private func checkURL() throws {
    let isOwn =
      url.hasPrefix("postgresql://") || url.hasPrefix("postgres://")
      || url.prefixMatch(of: #/\s*\w+\s*=/#) != nil
    let isPath =
      url.contains("/") || url.hasPrefix("file:") || url.hasSuffix(".db")
      || url.hasSuffix(".sqlite")
    if isOwn || !isPath { return }
    throw StorageError(
      .cannotOpen,
      message: "\(url.shortenedLiteral) is no connection string of PostgreSQL",
      advice: "give one, such as postgresql:///app?host=/run/postgresql; files are opened by "
        + "SQLiteWorkspace")
  }

  /// The keywords of a connection string with their values; none if it cannot be read, which is an
  /// error of the connection.
  private static func settings(of url: String) -> [String: String] {
    settings(ifReadable: url) ?? [:]
  }

  /// The same; nil if it cannot be read.
  static func settings(ifReadable url: String) -> [String: String]? {
    guard let options = PQconninfoParse(url, nil) else { return nil }
    defer { PQconninfoFree(options) }
    var settings: [String: String] = [:]
    var option = options
    while let keyword = option.pointee.keyword {
      if let value = option.pointee.val {
        settings[String(cString: keyword)] = String(cString: value)
      }
      option += 1
    }
    return settings
  }

  /// The seconds of a duration that the client library waits at most. It knows no fewer than two,
  /// and reads a number of 32 bits.
  private func seconds(_ duration: Duration) -> Int64 {
    min(max(2, duration.components.seconds), Int64(Int32.max))
  }

  /// Settings of a connection that the connection string may replace.
  private func defaults(_ purpose: Purpose) -> [(String, String)] {
    var defaults = [
      ("fallback_application_name", "dflat"),
      (
        "connect_timeout",
        "\(purpose == .standby ? 2 : seconds(configuration.connectTimeout))"
      ),
    ]
    // A machine or a network that is gone does not say so. Linux ends a connection by the last of
    // these settings, whatever the others are, so all of them are the program's or none.
    let isOwn = given.contains { $0.hasPrefix("keepalives") || $0 == "tcp_user_timeout" }
    if !isOwn, !given.contains("service") {
      defaults += [
        ("keepalives_idle", "30"), ("keepalives_interval", "10"), ("keepalives_count", "3"),
        ("tcp_user_timeout", "\(silence(purpose).components.seconds * 1000)"),
      ]
    }
    return defaults
  }

  /// Settings of a connection instead of those of the connection string.
  /// - Parameter skipped: How many hosts come last, since they have refused it.
  private func overrides(_ purpose: Purpose, _ skipped: Int) -> [(String, String)] {
    guard case .standbys = configuration.readsFrom else { return hosts.settings(skipping: skipped) }
    let isStandby = purpose == .standby
    return hosts.settings(skipping: skipped + (isStandby ? firstStandby : 0))
      + [("target_session_attrs", isStandby ? "standby" : "primary")]
  }

  /// How long the server's machine may be silent.
  ///
  /// What is sent to be written may be much: a server that is busy, or waits for a lock, takes none
  /// of it for a while.
  private func silence(_ purpose: Purpose) -> Duration {
    switch purpose {
    case .reading, .standby, .listening: .seconds(60)
    case .writing, .layout: max(.seconds(300), min(configuration.lockTimeout * 2, .seconds(86_400)))
    }
  }

  /// A limit of time. To the server, 0 is none.
  static func milliseconds(_ duration: Duration) -> UInt64 {
    min(max(1, MonotonicTime.nanoseconds(duration) / 1_000_000), UInt64(Int32.max))
  }

  /// A setting of each session that has the limit for waiting for locks. The server knows nothing
  /// of it.
  static let lockTimeout = "dflat.lock_timeout"

  /// Sets a limit of time. If the administrator has set a shorter one, it stays.
  /// - Returns: An expression whose value is the limit that is set.
  private static func limiting(_ setting: String, to limit: Duration) -> String {
    let known = "1000 * extract(epoch FROM current_setting('\(setting)')::interval)::float8"
    return "set_config('\(setting)', "
      + "least(\(milliseconds(limit)), nullif(\(known), 0))::bigint || 'ms', false)"
  }

  /// The statements that begin a session.
  private func setUp(_ purpose: Purpose) -> String {
    var settings = [
      // A standby can only give one state, as of a commit.
      "SELECT set_config('default_transaction_isolation', CASE WHEN pg_is_in_recovery() "
        + "THEN 'repeatable read' ELSE 'serializable' END, false)",
      // Such a transaction waits until all that write have ended.
      "SET default_transaction_deferrable = off",
      "SET max_parallel_workers_per_gather = 0", "SET jit = off",
      // What texts and names in statements and answers mean, whatever the defaults are.
      "SET standard_conforming_strings = on", "SET quote_all_identifiers = off",
      "SELECT set_config('\(Self.lockTimeout)', "
        + "\(Self.limiting("lock_timeout", to: configuration.lockTimeout)), false)",
      // The warning that a commit has not waited for a synchronous standby is wanted.
      "SET client_min_messages = warning",
      // A commit that was reported survives a crash of the server, whatever its default is.
      "SELECT set_config('synchronous_commit', 'on', false) "
        + "WHERE current_setting('synchronous_commit') = 'off'",
    ]
    if let limit = configuration.statementTimeout {
      settings.append("SELECT \(Self.limiting("statement_timeout", to: limit))")
    }
    switch purpose {
    case .reading, .standby: settings.append("SET default_transaction_read_only = on")
    // A scan of a whole table would conflict with every other writer of the table.
    case .writing: settings.append("SET enable_seqscan = off")
    // No transaction of this connection reads objects.
    case .listening: settings.append("SET default_transaction_isolation = 'read committed'")
    case .layout: break
    }
    return settings.joined(separator: "; ")
  }
}

/// The hosts of a connection string, which the client library tries in their order.
private struct HostList: Sendable {
  private let lists: [(keyword: String, values: [Substring])]
  let count: Int

  init(_ settings: [String: String]) {
    lists = ["host", "hostaddr", "port"].compactMap { keyword in
      settings[keyword].map {
        (keyword, $0.split(separator: ",", omittingEmptySubsequences: false))
      }
    }
    count = lists.map(\.values.count).max() ?? 0
  }

  /// The settings for one of the hosts.
  func settings(only number: Int) -> [(String, String)] {
    lists.filter { $0.values.count == count }.map { ($0.keyword, String($0.values[number])) }
  }

  /// The settings that begin behind some of the hosts.
  func settings(skipping number: Int) -> [(String, String)] {
    if count < 2 || number % count == 0 { return [] }
    return lists.filter { $0.values.count == count }.map { keyword, values in
      (keyword, (values[(number % count)...] + values[..<(number % count)]).joined(separator: ","))
    }
  }
}

extension StorageError {
  /// There is no connection to a server.
  fileprivate init(_ failure: ConnectionFailure, _ url: String) {
    let message = failure.message
    let advice: String
    if failure.needsPassword {
      advice = "give a password, in a password file (~/.pgpass) or in PGPASSWORD"
    } else if failure.isRefusal {
      advice = "check the user's name and password"
    } else if failure.isUntrusted {
      advice =
        "check sslmode, sslrootcert and the host of the connection string, the server's "
        + "certificate and pg_hba.conf"
    } else if message.contains("does not exist") {
      let command = message.contains("role \"") ? "createuser" : "createdb"
      advice = "create it with \(command), or correct the connection string"
    } else if message.contains("Connection refused") || message.contains("No such file") {
      advice = "start the server, or correct the host and port of the connection string"
    } else {
      advice = "check the connection string and the server's log"
    }
    self.init(.cannotOpen, message: message, advice: advice)
  }
}
