// Index marks: which columns of indexed fields have the values of which objects.
//
//   _dflat_columns (tbl, col, complete, reach)
//     tbl       the table of an entity type
//     col       a column, or '' for those of the key, which every table has
//     complete  whether the column is right for every object, those to come included
//     reach     the column is right for all objects up to this row id
//   _dflat_state (version)  grows with every change of the marks
//   _dflat_first_writes (tbl)  the tables that were filled by a transaction whose state is older
//     than they are, see `PostgresView.noteMissing`
//   _dflat_commits (workspace, seq, fence, at)  see `CommitLedger`
//   _dflat_log, _dflat_log_cut  see `ChangeLog`
//   dflat_schemas  see `KeptSchemas`
//   _dflat_precedence  has no rows; writers take its lock, see `Precedence`
//
// A program writes the columns that its version of the schema can read, and takes away the marks of
// those that it cannot. Every transaction reads the version, so the server's serializable isolation
// refuses a transaction that has written by marks which another one has changed meanwhile.

import Dflat

/// The marks of all columns, in one state of the database.
final class IndexMarks: Sendable {
  struct Mark: Sendable {
    var isComplete: Bool
    var reach: Int64

    /// The first row id that it does not cover.
    var firstOpen: Int64 { reach == IndexMarks.nothing || reach == .max ? reach : reach + 1 }
  }

  /// The column is not known to be right for any object. Plain SQL may have used any id.
  static let nothing = Int64.min

  /// How far a column is right that is wrong from a row id on.
  static func reach(below id: Int64) -> Int64 { id == nothing ? nothing : id - 1 }

  /// The state of a database in which nothing was stored.
  static let none = IndexMarks(version: -1, [:])

  let version: Int64
  /// The marks by table and column.
  let tables: [String: [String: Mark]]

  init(version: Int64, _ tables: [String: [String: Mark]]) {
    self.version = version
    self.tables = tables
  }

  func has(_ table: String) -> Bool { tables[table] != nil }

  /// Reads the version, in a transaction or alone.
  static func version(_ sql: SystemSQL, _ connection: Connection) throws(PostgresError) -> Int64 {
    connection.parameters.begin(0)
    let rows = try connection.run(sql.selectVersion)
    return rows.count > 0 ? rows.integer(0, 0) : -1
  }

  /// Reads all marks, in the transaction in which the version was read.
  init(version: Int64, _ sql: SystemSQL, _ connection: Connection) throws(PostgresError) {
    connection.parameters.begin(0)
    let rows = try connection.run(sql.selectMarks)
    var tables: [String: [String: Mark]] = [:]
    for row in 0..<rows.count {
      tables[rows.text(row, 0), default: [:]][rows.text(row, 1)] = Mark(
        isComplete: rows.bool(row, 2), reach: rows.integer(row, 3))
    }
    self.version = version
    self.tables = tables
  }
}

/// The statements for the tables that belong to no entity type.
struct SystemSQL: Sendable {
  let schema: String
  let columns: String
  let firstWrites: String
  let state: String
  let commits: String
  let log: ChangeLog
  let selectVersion: StatementText
  let selectMarks: StatementText
  let setMark: StatementText
  let lowerMark: StatementText
  /// Reads what `insertFirstWrite` writes.
  let selectFirstWrites: StatementText
  let insertFirstWrite: StatementText
  let bump: StatementText
  let precedence: Precedence
  let kept: KeptSchemas

  /// - Parameter schema: The PostgreSQL schema of all tables.
  init(schema: String) {
    let quoted = schema.quotedName
    self.schema = quoted
    columns = "\(quoted)._dflat_columns"
    firstWrites = "\(quoted)._dflat_first_writes"
    state = "\(quoted)._dflat_state"
    commits = "\(quoted)._dflat_commits"
    log = ChangeLog(schema: schema, quoted: quoted)
    precedence = Precedence(schema: quoted)
    kept = KeptSchemas(schema: quoted)
    selectVersion = StatementText("SELECT version FROM \(state)")
    selectMarks = StatementText(
      "SELECT convert_to(tbl, 'UTF8'), convert_to(col, 'UTF8'), complete, reach FROM \(columns)")
    setMark = StatementText(
      "UPDATE \(columns) SET complete = $3, reach = $4 WHERE tbl = convert_from($1, 'UTF8') "
        + "AND col = convert_from($2, 'UTF8')")
    lowerMark = StatementText(
      "UPDATE \(columns) SET complete = false, reach = least(reach, $3) "
        + "WHERE tbl = convert_from($1, 'UTF8') AND col = convert_from($2, 'UTF8')")
    selectFirstWrites = StatementText("SELECT count(*) FROM \(firstWrites)")
    insertFirstWrite = StatementText(
      "INSERT INTO \(firstWrites) VALUES (convert_from($1, 'UTF8'))")
    // Not by one: after a database was restored, other changes have other numbers.
    bump = StatementText(
      "UPDATE \(state) SET version = version + 1 + (random() * 2147483647)::bigint")
  }

  /// Selects what other workspaces have committed last. It takes no part in the detection of
  /// conflicts: each transaction changes what it reads.
  func selectOthers(of workspace: String) -> String {
    "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; "
      + "SELECT coalesce(string_agg(workspace || ':' || seq, ' ' ORDER BY workspace), '') "
      + "FROM \(commits) WHERE split_part(workspace, '.', 1) <> \(workspace.quotedText); COMMIT"
  }

  private var tables: [String] {
    [columns, state, commits, log.table, log.cutTable, firstWrites, precedence.table]
  }

  /// Whether any of the tables is there. All of them are, unless they were removed by hand.
  var exist: String {
    let found = tables.map { "to_regclass(\($0.quotedText))" }.joined(separator: ", ")
    return "SELECT coalesce(\(found)) IS NOT NULL"
  }

  /// Whether all of the tables are there.
  var areComplete: String {
    "SELECT "
      + tables.map { "to_regclass(\($0.quotedText)) IS NOT NULL" }.joined(separator: " AND ")
  }

  /// Whether the state has its row.
  var hasState: String { "SELECT EXISTS (SELECT FROM \(state))" }

  /// The error of a state without its row. What is stored would seem to be nothing.
  var missingState: PostgresError {
    PostgresError(
      state: "XX001",
      message: "the table \(state) has no row, so it is not known which columns can be used: "
        + "'dflat prepare' adds it", isConnectionLost: false)
  }

  /// A table that belongs to no entity type.
  struct Part {
    /// The names of the table and its index.
    let objects: [String]
    /// Whether the table always has a row.
    let hasRow: Bool
    /// Creates what is missing of it.
    let create: String

    init(_ objects: [String], hasRow: Bool = false, _ create: String) {
      self.objects = objects
      self.hasRow = hasRow
      self.create = create
    }
  }

  /// What the tables consist of.
  private var parts: [Part] {
    [
      Part(
        [columns],
        """
        CREATE TABLE IF NOT EXISTS \(columns) (tbl text, col text, complete boolean NOT NULL, \
        reach bigint NOT NULL, PRIMARY KEY (tbl, col));
        """),
      Part(
        [state], hasRow: true,
        """
        CREATE TABLE IF NOT EXISTS \(state) (one boolean PRIMARY KEY CHECK (one), \
        version bigint NOT NULL);
        INSERT INTO \(state) VALUES (true, 0) ON CONFLICT DO NOTHING;
        """),
      Part(
        [commits],
        """
        CREATE TABLE IF NOT EXISTS \(commits) (workspace text PRIMARY KEY, seq bigint NOT NULL, \
        fence bigint NOT NULL DEFAULT 0, at timestamptz NOT NULL DEFAULT now());
        """),
    ] + log.parts + [
      Part([firstWrites], "CREATE TABLE IF NOT EXISTS \(firstWrites) (tbl text NOT NULL);"),
      Part([precedence.table], precedence.create),
    ]
  }

  /// Two programs may do that at the same time: they take the lock first.
  private func create(_ statements: [String]) -> String {
    (["\(beginLayout);"] + statements + ["COMMIT"]).joined(separator: "\n")
  }

  /// Creates the tables that are missing; nil if none is. The schema, too: the server refuses to
  /// create it to a role that may not create any, also if it is there.
  func createMissing(_ connection: Connection) throws(PostgresError) -> String? {
    func holds(_ condition: String) throws(PostgresError) -> Bool {
      try connection.execute("SELECT \(condition)").text(0, 0) == "t"
    }
    var statements: [String] = []
    if try holds("to_regnamespace(\(schema.quotedText)) IS NULL") {
      statements.append("CREATE SCHEMA IF NOT EXISTS \(schema);")
    }
    for part in parts {
      let names = part.objects.map { "to_regclass(\($0.quotedText)) IS NULL" }
      var isMissing = try holds(names.joined(separator: " OR "))
      if !isMissing, part.hasRow {
        isMissing = try holds("NOT EXISTS (SELECT FROM \(part.objects[0]))")
      }
      if isMissing { statements.append(part.create) }
    }
    return statements.isEmpty ? nil : create(statements)
  }

  /// Begins the change of a table's layout, alone among all programs.
  var beginLayout: String { beginLayout(waiting: nil) }

  /// The same.
  /// - Parameter limit: For how many milliseconds it waits for any lock at most; nil for the limit
  ///   of the connection. The one that holds the lock may wait for a transaction of this thread.
  func beginLayout(waiting limit: UInt64?) -> String {
    "BEGIN ISOLATION LEVEL READ COMMITTED; "
      + (limit.map { "SET LOCAL lock_timeout = \($0); " } ?? "")
      + "SELECT pg_advisory_xact_lock(hashtext(\("dflat \(schema)".quotedText)))"
  }

  /// Removes the marks of a table that is not there.
  func forget(_ table: String) -> String {
    let quoted = "\(schema).\(table.quotedName)"
    return "DELETE FROM \(columns) WHERE tbl = \(table.quotedText) "
      + "AND to_regclass(\(quoted.quotedText)) IS NULL"
  }

  func insertMark(table: String, column: String, complete: Bool) -> String {
    "INSERT INTO \(columns) VALUES (\(table.quotedText), \(column.quotedText), \(complete), "
      + "\(complete ? Int64.max : IndexMarks.nothing)) ON CONFLICT DO NOTHING"
  }
}
