// ChangeLog: which rows each transaction has changed, for workspaces that observe them.
//
//   _dflat_log (n, xid, at, workspace, tbl, ids)
//     n          in ascending order of writing, never used twice
//     xid        the transaction
//     workspace  that has written it; its own observers know its changes already
//     tbl, ids   a table, and the rows that were changed in it; NULL for possibly all; none if only
//                columns of indexes were filled
//   _dflat_log_cut (n, xid)  the greatest ones that were removed from the log
//
// So a check can find rows that were written by a transaction that the log does not know. Rows that
// were written behind a savepoint have another transaction id, of a part of the transaction. A
// transaction with savepoints writes its entries behind one, too: then the ids of all its parts are
// between `xid` and the id with which the entry itself was written (`xmin`), which the cut keeps.
//
// A transaction writes its entries with its last statements, so the log has what is committed and
// nothing else. Readers follow it from state to state, not by `n`: a transaction may commit long
// after others with greater numbers. A point is the snapshot in which a reader has read, and the
// next read gives the entries whose transactions that snapshot does not see. So no entry is passed
// over, and none has to wait until older transactions have ended.
//
// After a crash of the server, transactions that had not committed may lend their `xid` to others.
// A point therefore has the greatest `n` that was seen, too: what is greater is new. After a
// failover even that may be used again; then the timeline is another one, and everything is read.
//
// Writers only insert into the log, and readers read it in a REPEATABLE READ transaction, which
// takes no part in the server's detection of conflicts: so the log makes no transaction fail. What
// observers get is then the state after some of the commits in their order, as for the commits of
// their own workspace. It never leads to a write by itself, so it need not be serializable.
//
// NOTIFY takes a lock of the whole server until its transaction is on the disk, and on a standby
// that is synchronous. So no transaction of the program notifies: `ChangeNotifier` does that
// afterwards, and only if a workspace listens. Listeners hold a shared advisory lock, and a writer
// that gets the exclusive one, for a moment, knows that there is none. This needs no table of
// listeners, whose rows would stay when a program dies, and no entry that is old in the writer's
// snapshot. Two writers at the same moment may take each other for a listener; that costs one
// notification.

import Dflat

/// The rows that a transaction has changed, by table.
struct ChangedRows {
  /// The greatest number of rows that are listed.
  static let most = 1000

  private var tables: [String: Set<Int64>] = [:]
  private var manifold: Set<String> = []
  /// Whether rows were written behind savepoints.
  var hasSavepoints = false

  var isEmpty: Bool { tables.isEmpty && manifold.isEmpty }

  /// Whether no object was changed.
  var isWithoutObjects: Bool { manifold.isEmpty && tables.values.allSatisfy(\.isEmpty) }

  /// Notes that columns of indexes were filled.
  mutating func addFilling(of table: String) {
    if !manifold.contains(table) { tables[table, default: []].formUnion([]) }
  }

  mutating func add(_ id: Int64, to table: String) {
    if manifold.contains(table) { return }
    tables[table, default: []].insert(id)
    if (tables[table]?.count ?? 0) > Self.most {
      tables[table] = nil
      manifold.insert(table)
    }
  }

  /// Calls `body` with each table and its rows; nil for too many.
  func forEach(
    _ body: (String, [Int64]?) throws(PostgresError) -> Void
  ) throws(PostgresError) {
    for table in (Array(tables.keys) + manifold).sorted() {
      try body(table, tables[table]?.sorted())
    }
  }
}

/// The statements of the log.
struct ChangeLog: Sendable {
  let table: String
  private let index: String
  let cutTable: String
  /// The name of the notifications, and the key of the listeners' lock.
  private let channel: String
  private let lock: String
  /// Whether a workspace listens, as SQL.
  let isHeard: String
  private let insertEntry: StatementText
  private let selectIsHeard: StatementText
  private let selectState: StatementText
  private let selectEntries: StatementText

  /// - Parameters:
  ///   - schema: The PostgreSQL schema of all tables.
  ///   - quoted: The same, quoted.
  init(schema: String, quoted: String) {
    table = "\(quoted)._dflat_log"
    index = "\(quoted)._dflat_log_xid"
    cutTable = "\(quoted)._dflat_log_cut"
    channel = "dflat \(schema)".shortName
    lock = "hashtextextended(\("dflat listener \(quoted)".quotedText), 0)"
    insertEntry = StatementText(
      "INSERT INTO \(table) (workspace, tbl, ids) VALUES ($1, $2, $3)")
    isHeard =
      "CASE WHEN pg_try_advisory_lock(\(lock)) THEN NOT pg_advisory_unlock(\(lock)) "
      + "ELSE true END"
    selectIsHeard = StatementText("SELECT \(isHeard)")
    selectState = StatementText(
      """
      SELECT CASE WHEN pg_is_in_recovery() THEN '' \
      ELSE substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) END, \
      pg_current_snapshot()::text, \
      greatest(n, (SELECT max(n) FROM \(table))), n, xid::text::bigint FROM \(cutTable)
      """)
    // A database that was restored from a dump has entries of another server's transactions.
    selectEntries = StatementText(
      """
      SELECT convert_to(tbl, 'UTF8'), ids, \
      extract(epoch FROM clock_timestamp() - at)::float8 FROM \(table) WHERE workspace <> $1 \
      AND ids IS DISTINCT FROM '{}' \
      AND (n > $2 OR xid >= pg_snapshot_xmin($3::pg_snapshot) \
      AND NOT pg_visible_in_snapshot(xid, $3::pg_snapshot)) \
      AND xid < pg_snapshot_xmax(pg_current_snapshot())
      """)
  }

  /// Creates the tables.
  var parts: [SystemSQL.Part] {
    [
      SystemSQL.Part(
        [cutTable], hasRow: true,
        """
        CREATE TABLE IF NOT EXISTS \(cutTable) (one boolean PRIMARY KEY CHECK (one), \
        n bigint NOT NULL, xid xid8 NOT NULL);
        INSERT INTO \(cutTable) VALUES (true, 0, '0') ON CONFLICT DO NOTHING;
        """),
      SystemSQL.Part(
        [table, index],
        """
        CREATE TABLE IF NOT EXISTS \(table) (n bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, \
        xid xid8 NOT NULL DEFAULT pg_current_xact_id(), at timestamptz NOT NULL DEFAULT now(), \
        workspace text NOT NULL, tbl text NOT NULL, ids bigint[]);
        CREATE INDEX IF NOT EXISTS _dflat_log_xid ON \(table) (xid);
        """),
    ]
  }

  // MARK: Writing

  /// The statements that write the entries of a transaction, and then look for listeners: only the
  /// last one has an answer, which is true if there are any. What they run is prepared on the
  /// connection.
  func append(
    _ changes: ChangedRows, by workspace: String, _ connection: Connection
  ) throws(PostgresError) -> String {
    if changes.isEmpty { return "" }
    let parameters = connection.parameters
    var statements = ""
    try changes.forEach { (table, ids) throws(PostgresError) in
      parameters.begin(3)
      parameters.setNull(0, PostgresType.text)
      parameters.setNull(1, PostgresType.text)
      parameters.setNull(2, PostgresType.integers)
      let rows = ids.map { "'{\($0.map { "\($0)" }.joined(separator: ","))}'" } ?? "NULL"
      statements += "EXECUTE \(try connection.name(of: insertEntry))"
      statements += "(\(workspace.quotedText), \(table.quotedText), \(rows)); "
    }
    parameters.begin(0)
    if changes.hasSavepoints { statements = "SAVEPOINT logged; \(statements)RELEASE logged; " }
    if changes.isWithoutObjects { return statements }
    return statements + "EXECUTE \(try connection.name(of: selectIsHeard)); "
  }

  /// The statements that wake up the listeners. The connection may be one for reading.
  func notify(by workspace: String) -> String {
    """
    BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; SET LOCAL synchronous_commit = off; \
    SELECT pg_notify(\(channel.quotedText), \(workspace.quotedText)); COMMIT
    """
  }

  /// The statement that wakes up the listeners at the end of a transaction, in a function.
  func performNotify(by workspace: String) -> String {
    "PERFORM pg_notify(\(channel.quotedText), \(workspace.quotedText))"
  }

  /// Removes the oldest entries, at most some thousand. The connection may be one for reading.
  ///
  /// While an old snapshot is open, the server keeps what was removed before, and would look at all
  /// of it. So it begins where the log was cut last. Entries of transactions that were committed
  /// later than that, with lower numbers, are left for a thorough cut.
  /// - Parameter length: How many entries are kept.
  func cut(to length: Int, isThorough: Bool) -> String {
    let recent = " AND n >= (SELECT n FROM \(cutTable)) - 10000"
    return """
      BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; \
      WITH old AS (DELETE FROM \(table) WHERE n IN (SELECT n FROM \(table) \
      WHERE n <= (SELECT max(n) FROM \(table)) - \(length)\(isThorough ? "" : recent) \
      ORDER BY n LIMIT 10000 FOR UPDATE SKIP LOCKED) RETURNING n, \(Self.lastXID) AS xid), \
      last AS (SELECT max(n) AS n, (SELECT xid FROM old ORDER BY xid DESC LIMIT 1) AS xid FROM old) \
      UPDATE \(cutTable) AS cut SET n = greatest(cut.n, last.n), xid = greatest(cut.xid, last.xid) \
      FROM last WHERE last.n IS NOT NULL; COMMIT
      """
  }

  /// The transaction id with which an entry was written. The column `xmin` has its lower half only.
  static let lastXID = """
    (xid::text::bigint + ((xmin::text::bigint - xid::text::bigint) & 4294967295))::text::xid8
    """

  // MARK: Listening

  /// Begins to receive notifications. Writers learn of the lock at once.
  var listen: String {
    "LISTEN \(channel.quotedName); SELECT pg_advisory_lock_shared(\(lock))"
  }

  // MARK: Reading

  /// What other workspaces have changed between a point and the state of the open transaction.
  /// - Parameter note: Receives how much that is, and since when it was there.
  func changes(
    since point: ChangePoint?, except workspace: String, _ connection: Connection,
    _ note: (PostgresEvent) -> Void
  ) throws(PostgresError) -> RecordedChanges {
    connection.parameters.begin(0)
    let state = try connection.run(selectState)
    guard state.count > 0 else { return RecordedChanges(to: ChangePoint(""), nil) }
    let now = LogPoint(
      timeline: state.text(0, 0), snapshot: state.text(0, 1), last: state.integer(0, 2),
      reader: workspace)
    guard let point = point.flatMap(LogPoint.init), point.reader == workspace,
      !point.lacks(cut: state.integer(0, 3), xid: state.integer(0, 4), in: now)
    else { return RecordedChanges(to: now.point, nil) }
    let parameters = connection.parameters
    parameters.begin(3)
    parameters.set(0, text: workspace, PostgresType.text)
    parameters.set(1, point.last)
    parameters.set(2, text: point.snapshot, PostgresType.text)
    let entries = try connection.run(selectEntries)
    var tables: [String: Set<Int64>] = [:]
    var manifold: Set<String> = []
    for row in 0..<entries.count {
      let table = entries.text(row, 0)
      if entries.isNull(row, 1) { manifold.insert(table) }
      if !manifold.contains(table) {
        tables[table, default: []].formUnion(entries.integers(row, 1))
        if (tables[table]?.count ?? 0) > 4 * ChangedRows.most { manifold.insert(table) }
      }
    }
    if entries.count > 0 {
      let lag = (0..<entries.count).map { entries.real($0, 2) }.max() ?? 0
      note(.followed(entries: entries.count, lag: .seconds(max(0, lag))))
    }
    var changes = tables.mapValues { RecordedChanges.Rows.rows($0.sorted()) }
    for table in manifold { changes[table] = .unknown }
    return RecordedChanges(to: now.point, changes)
  }
}

/// A state that has read the log.
struct LogPoint {
  /// The server's timeline; empty on a standby, which does not know what its snapshots see.
  let timeline: String
  /// The transactions that the state sees, as the server writes them: `xmin:xmax:xid,xid…`.
  let snapshot: String
  /// The greatest `n` that was written.
  let last: Int64
  /// The name of the workspace that has read it, without its own entries. If it has another name
  /// now, some of those concern it: see `OwnEntries`.
  let reader: String

  init(timeline: String, snapshot: String, last: Int64, reader: String) {
    self.timeline = timeline
    self.snapshot = snapshot
    self.last = last
    self.reader = reader
  }

  init?(_ point: ChangePoint) {
    let parts = point.text.split(
      separator: " ", maxSplits: 3, omittingEmptySubsequences: false)
    guard parts.count == 4, let last = Int64(parts[2]) else { return nil }
    self.init(
      timeline: String(parts[0]), snapshot: String(parts[1]), last: last, reader: String(parts[3]))
  }

  var point: ChangePoint { ChangePoint("\(timeline) \(snapshot) \(last) \(reader)") }

  private func bound(_ place: Int) -> Int64 {
    let parts = snapshot.split(separator: ":")
    return place < parts.count ? Int64(parts[place]) ?? 0 : 0
  }

  /// The transactions that were running, up to one.
  private func running(upTo xid: Int64) -> Set<Int64> {
    let parts = snapshot.split(separator: ":")
    guard parts.count > 2 else { return [] }
    return Set(parts[2].split(separator: ",").compactMap { Int64($0) }.filter { $0 <= xid })
  }

  /// Whether entries that this state has not seen may be missing in the log.
  ///
  /// A removed entry may be of any transaction up to the latest one. One that this state has not
  /// seen had not begun, or was running: then it has ended since, if its entry was removed.
  /// - Parameters:
  ///   - cut: The greatest entry that was removed.
  ///   - xid: The latest transaction whose entry was removed.
  func lacks(cut: Int64, xid: Int64, in now: LogPoint) -> Bool {
    timeline.isEmpty || timeline != now.timeline || cut > last
      || xid >= bound(1) && xid < now.bound(1)
      || !running(upTo: xid).isSubset(of: now.running(upTo: xid))
  }
}
