// TableUses: for how long transactions of other connections have used a table.
//
// The server shows when a transaction has begun to its own role, and to few others. Of the others
// only what is seen here is known: one that was not there at the look before uses the table since
// then, and one that was there has gone on since then at least.

import Platform

struct TableUses {
  /// For how many milliseconds the oldest transaction has gone on.
  struct Age {
    var atLeast: UInt64 = 0
    var atMost: UInt64 = 0
  }

  private let select: String
  /// When each transaction was seen first, and a time at which it was not there, if there is one.
  private var seen: [String: (first: UInt64, before: UInt64)] = [:]
  private var lastLook: UInt64 = 0

  /// - Parameter table: The table, quoted and with its schema.
  init(of table: String) {
    select =
      "SELECT virtualtransaction, greatest(0, max(1000 * extract(epoch FROM "
      + "clock_timestamp() - xact_start)))::bigint, count(xact_start) = 0 "
      + "FROM pg_locks LEFT JOIN pg_stat_activity USING (pid) "
      + "WHERE locktype = 'relation' AND mode <> 'SIReadLock' "
      + "AND relation = to_regclass(\(table.quotedText))::oid AND granted "
      + "AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) "
      // The server ends an autovacuum for which others wait. It belongs to no role.
      + "AND (pid IS NULL OR usesysid IS NOT NULL) "
      + "AND pid IS DISTINCT FROM pg_backend_pid() GROUP BY 1"
  }

  /// Looks for the transactions that use the table now.
  mutating func look(_ connection: Connection) throws(PostgresError) -> Age {
    let now = MonotonicTime.now
    let rows = try connection.execute(select)
    var found: [String: (first: UInt64, before: UInt64)] = [:]
    var age = Age()
    for row in 0..<rows.count {
      let transaction = rows.text(row, 0)
      let known = seen[transaction] ?? (now, lastLook)
      found[transaction] = known
      let shown = rows.text(row, 2) == "t" ? nil : UInt64(rows.text(row, 1))
      age.atLeast = max(age.atLeast, shown ?? (now - known.first) / 1_000_000)
      age.atMost = max(age.atMost, shown ?? (now - known.before) / 1_000_000)
    }
    seen = found
    lastLook = now
    return age
  }
}
