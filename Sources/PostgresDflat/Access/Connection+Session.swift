// Whether a connection has a session of its own.
//
// A connection pooler may give a server's session to another client after each transaction, or even
// each statement. Then settings, prepared statements and locks of a session belong to no client,
// and no transaction is isolated as it asked to be. Such a pooler is refused.
//
// A setting with a token marks the session. It is looked for in another transaction, and, if the
// server's process is not the one that the client was told of, by another client while this one has
// no transaction: a pooler that has only one client gives it the same session again and again.

import CPostgres
import Dflat
import Platform

/// The mark of a session.
struct SessionToken {
  private let text = String(UInt64.random(in: 0...UInt64.max), radix: 36)

  /// Marks the session.
  var set: String { "SELECT set_config('dflat.session', '\(text)', false)" }
  /// Whether the session is marked, as SQL.
  var isSet: String { "coalesce(current_setting('dflat.session', true) = '\(text)', false)" }
}

extension Connection {
  /// The number of the server's process, as the client was told when it connected.
  var announcedProcess: Int32 { PQbackendPID(handle) }

  /// Runs statements, and waits for their last answer for some time.
  /// - Returns: The first value, as text; nil if there was no answer, or an error.
  func answer(to sql: String, within time: Duration) -> String? {
    guard PQsendQuery(handle, sql) == 1 else { return nil }
    let start = MonotonicTime.now
    var answer: String?
    while true {
      while PQisBusy(handle) == 1 {
        let passed = MonotonicTime.now - start
        let limit = MonotonicTime.nanoseconds(time)
        if passed >= limit { return nil }
        var descriptor = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        _ = poll(&descriptor, 1, Int32((limit - passed) / 1_000_000 + 1))
        if PQconsumeInput(handle) != 1 { return nil }
      }
      guard let result = PQgetResult(handle) else { return answer }
      switch PQresultStatus(result) {
      case PGRES_TUPLES_OK: answer = Rows(result).text(0, 0)
      case PGRES_COMMAND_OK: PQclear(result)
      default:
        PQclear(result)
        return nil
      }
    }
  }
}

/// What the server says about the session of a connection.
struct SessionFacts {
  /// Whether the session has the mark that the transaction before has set.
  let isMarked: Bool
  /// Whether the client talks to the server itself.
  let isDirect: Bool
  /// Whether the server is a standby.
  let isStandby: Bool

  init(_ token: SessionToken, _ connection: Connection) throws(PostgresError) {
    let facts = try connection.execute(
      "SELECT \(token.isSet), pg_backend_pid(), pg_is_in_recovery()")
    isMarked = facts.text(0, 0) == "t"
    isDirect = facts.text(0, 1) == "\(connection.announcedProcess)"
    isStandby = facts.text(0, 2) == "t"
  }
}

extension StorageError {
  /// The sessions of a pooler belong to no client.
  static let sharedSession = StorageError(
    .cannotOpen,
    message: "a connection pooler gives each session of the server to several clients in turn, as "
      + "with pool_mode = transaction of PgBouncer; no transaction would be isolated",
    advice: "let the pooler work by session (pool_mode = session), or name the server itself in "
      + "the connection string")
}
