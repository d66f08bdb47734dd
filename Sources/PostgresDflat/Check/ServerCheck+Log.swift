// ServerCheck+Log: the log, the ledger and the sequences, and what they say of the rows.
//
// Each row has the id of the transaction that has written it (`xmin`). A transaction of Dflat has
// entries in the log for each table whose rows it has written, see `ChangeLog`. So a row whose
// transaction has no entry for its table was written by plain SQL, or by a restored dump.
//
// What was cut from the log explains all rows up to the greatest id that was cut: they are not
// judged. `xmin` has the lower half of the id only. What it is in full is known since no row is
// newer than the state that is read, and unless it is older than 4 billion transactions.

import Dflat

/// Which transactions have written entries for which tables.
struct LoggedTransactions {
  /// No id is lower than this one and known to the log.
  private let cut: Int64
  /// The first id that is not in the state that is read.
  private let end: Int64
  /// The ids of transactions and of their parts, by table. After `seal` they are in order.
  private var ranges: [String: [ClosedRange<Int64>]] = [:]

  init(cut: Int64, end: Int64) {
    self.cut = cut
    self.end = end
  }

  /// The full id of a transaction that is in the state.
  private func full(_ xmin: Int64) -> Int64 { end - ((end - xmin) & 0xFFFF_FFFF) }

  /// Adds an entry.
  /// - Parameter xmin: With which the entry was written.
  mutating func add(_ table: String, xid: Int64, xmin: Int64) {
    ranges[table, default: []].append(xid...(xid + ((xmin - xid) & 0xFFFF_FFFF)))
  }

  /// Called when all entries were added.
  mutating func seal() {
    for (table, all) in ranges {
      var merged: [ClosedRange<Int64>] = []
      for range in all.sorted(by: { $0.lowerBound < $1.lowerBound }) {
        if let last = merged.last, range.lowerBound <= last.upperBound + 1 {
          merged[merged.count - 1] = last.lowerBound...max(last.upperBound, range.upperBound)
        } else {
          merged.append(range)
        }
      }
      ranges[table] = merged
    }
  }

  /// The transaction that has written a row, if the log should know it and does not.
  func unknown(_ xmin: Int64, _ table: String) -> Int64? {
    // The lowest ids are those of the server itself.
    guard xmin > 2 else { return nil }
    let xid = full(xmin)
    if xid <= cut { return nil }
    let all = ranges[table] ?? []
    var (low, high) = (0, all.count)
    while low < high {
      let middle = (low + high) / 2
      if all[middle].upperBound < xid { low = middle + 1 } else { high = middle }
    }
    return low < all.count && all[low].contains(xid) ? nil : xid
  }
}

/// The rows of a table whose transactions the log does not know.
struct UnloggedRows {
  private static let mostNamed = 5
  private static let mostTransactions = 10_000
  private var rows: [Int64] = []
  private var count = 0
  private var transactions: Set<Int64> = []
  private var isCut = false

  mutating func meet(_ id: Int64, xmin: Int64, _ log: LoggedTransactions, _ table: CheckedTable) {
    guard let xid = log.unknown(xmin, table.name) else { return }
    count += 1
    if rows.count < Self.mostNamed { rows.append(id) }
    if transactions.contains(xid) { return }
    if transactions.count < Self.mostTransactions { transactions.insert(xid) } else { isCut = true }
  }

  var firstRow: Int64? { rows.first }

  /// nil if there are none.
  var message: String? {
    if count == 0 { return nil }
    func list(_ numbers: [Int64], _ count: Int) -> String {
      numbers.map { "\($0)" }.joined(separator: ", ")
        + (count > numbers.count ? " and \(count - numbers.count) more" : "")
    }
    let newest = Array(transactions.sorted(by: >).prefix(Self.mostNamed))
    let others = isCut ? "more than \(Self.mostTransactions)" : list(newest, transactions.count)
    return "rows were written by transactions that the log does not know: rows "
      + "\(list(rows, count)); transactions \(others)"
  }
}

extension ServerCheck {
  /// Reads which transactions the log knows, and compares it with its sequence.
  mutating func checkLog() throws {
    let system = system
    let bounds = try ask(
      "SELECT coalesce(max(n), 0), coalesce(max(xid::text::bigint), 0), "
        + "pg_snapshot_xmax(pg_current_snapshot())::text FROM \(system.log.cutTable)")[0]
    let cut = bounds[0].flatMap { Int64($0) } ?? 0
    var log = LoggedTransactions(
      cut: bounds[1].flatMap { Int64($0) } ?? 0, end: bounds[2].flatMap { Int64($0) } ?? 0)
    let select = StatementText(
      "SELECT n, xid::text::bigint, xmin::text::bigint, convert_to(tbl, 'UTF8') "
        + "FROM \(system.log.table) WHERE n > $1 ORDER BY n LIMIT 4096")
    var last = Int64.min
    var isLast = false
    while !isLast {
      try checkCancellation()
      connection.parameters.begin(1)
      connection.parameters.set(0, last)
      let rows = try connection.run(select)
      for row in 0..<rows.count {
        log.add(rows.text(row, 3), xid: rows.integer(row, 1), xmin: rows.integer(row, 2))
        last = rows.integer(row, 0)
      }
      isLast = rows.count < 4096
    }
    log.seal()
    self.log = log
    try checkSequence(of: system.log.table, column: "n", behind: max(cut, last)) { greatest in
      "the next entries of the log would get numbers up to \(greatest) again: programs take them "
        + "for known, or fail"
    }
  }

  /// Checks that new rows get greater ids than those that are there.
  mutating func checkRowIDs(of table: CheckedTable) throws {
    let greatest = try ask("SELECT max(rowid) FROM \(table.quoted)")[0][0].flatMap { Int64($0) }
    guard let greatest else { return }
    try checkSequence(of: table.quoted, column: "rowid", behind: greatest) { greatest in
      "new rows would get ids up to \(greatest) again, and are refused as if their keys were taken"
    }
  }

  private mutating func checkSequence(
    of table: String, column: String, behind greatest: Int64, _ message: (Int64) -> String
  ) throws {
    let name = "pg_get_serial_sequence(\(table.quotedText), \(column.quotedText))"
    let sequence = try ask("SELECT \(name), has_sequence_privilege(\(name), 'SELECT')")[0]
    // Without one, the column is wrong. It may also be that the role must not read it.
    guard let text = sequence[0], sequence[1] == "t" else { return }
    let next = try ask("SELECT last_value + is_called::int FROM \(text)")[0][0]
    guard let next = next.flatMap({ Int64($0) }), next <= greatest else { return }
    let parts = table.split(separator: ".", maxSplits: 1).map(String.init)
    add(
      .wrongSequence, .damage, table: parts.last.map(unquoted) ?? table, message(greatest),
      advice: "SELECT setval(\(text.quotedText), \(greatest))")
  }

  private func unquoted(_ name: String) -> String {
    name.hasPrefix("\"") ? String(name.dropFirst().dropLast()) : name
  }

  /// Checks that the ledger is as commits leave it, and has all workspaces of the log.
  mutating func checkLedger() throws {
    let commits = system.commits
    let wrong = try ask(
      "SELECT workspace, seq, fence FROM \(commits) WHERE CASE WHEN workspace ~ "
        + "'^[^.]+[.][0-9]{1,9}[.][0-9]{1,18}$' THEN seq < 0 OR fence < 0 OR seq <> 0 AND seq / "
        + "\(CommitLedger.transactionsPerRow) <> split_part(workspace, '.', 3)::bigint "
        + "ELSE true END ORDER BY 1 LIMIT \(limit)")
    for row in wrong {
      let name = row[0] ?? ""
      add(
        .damagedLedger, .damage, table: commits,
        "the row of \(name) has the number \(row[1] ?? "NULL"), which no transaction has that uses "
          + "it: a program whose commit was not answered is told wrongly what became of it",
        advice: "stop the programs that write, and run: DELETE FROM \(commits) WHERE workspace = "
          + name.quotedText)
    }
    let missing = try ask(
      "SELECT DISTINCT workspace FROM \(system.log.table) WHERE workspace <> "
        + "\(PlainSQLTriggers.workspace.quotedText) AND at > now() - interval '29 days' "
        + "AND workspace NOT IN (SELECT split_part(workspace, '.', 1) FROM \(commits)) "
        + "ORDER BY 1 LIMIT \(limit)")
    for row in missing {
      add(
        .damagedLedger, .damage, table: commits,
        "it has no row of the workspace \(row[0] ?? ""), whose transactions the log has: a program "
          + "whose commit was not answered is told that it was not stored",
        advice: "restart the programs that write, and let nobody change the table")
    }
  }
}
