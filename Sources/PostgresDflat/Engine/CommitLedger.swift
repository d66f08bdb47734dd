// CommitLedger: what became of a commit whose answer was lost.
//
// Each connection that writes has a row in `_dflat_commits`. A transaction sets `seq` in this row
// to its own number as its last change. If the connection dies before COMMIT is answered, a new
// connection changes `fence` in the same row and reads `seq`:
//
//  - It waits until the lost transaction has ended, if the server is still at work on it.
//  - If the server has not yet seen its last change, that change now fails: another transaction has
//    changed the row meanwhile. So the lost transaction cannot be committed later.
//  - Otherwise `seq` tells whether it was committed. Nothing is guessed.
//
// The last changes and COMMIT are one message of the protocol, so the server has all or none.
//
// Each change of a row makes a version of it, and while an old snapshot is open anywhere in the
// database, the server keeps all versions and looks at each of them to find the last one. So some
// transactions after each other use one row, and the next ones use another. The row is called by
// the workspace, the number of the connection and that of the row, with dots between them. Rows
// that are not used any more are removed, unless they were fenced: without the row, a lost
// transaction that the server gets late would be committed.

import Dflat
import Platform

struct CommitLedger: Sendable {
  private let name: String
  private let record: StatementText
  private let remove: String

  /// How many transactions use a row.
  static let transactionsPerRow: Int64 = 64

  /// - Parameters:
  ///   - workspace: The name of the workspace.
  ///   - writer: The number of the connection, from 0.
  init(_ workspace: String, writer: Int, _ system: SystemSQL) {
    name = "\(workspace).\(writer)"
    record = StatementText(
      "INSERT INTO \(system.commits) (workspace, seq) VALUES ($1, $2) "
        + "ON CONFLICT (workspace) DO UPDATE SET seq = excluded.seq, at = now()")
    remove = "DELETE FROM \(system.commits) WHERE fence = 0 AND workspace = "
  }

  /// The name of the row that a transaction uses.
  private func row(of number: Int64) -> String {
    "\(name).\(number / Self.transactionsPerRow)"
  }

  /// A name that no other workspace has.
  static func workspaceName() -> String {
    var generator = SystemRandomNumberGenerator()
    let parts = [generator.next(), generator.next()]
    return parts.map { String($0, radix: 36) }.joined(separator: "-")
  }

  /// The last statements of a transaction. The first of them is prepared on the connection.
  func commit(_ number: Int64, _ connection: Connection) throws(PostgresError) -> String {
    let row = row(of: number)
    connection.parameters.begin(2)
    connection.parameters.set(0, text: row, PostgresType.text)
    connection.parameters.set(1, number)
    return "EXECUTE \(try connection.name(of: record))('\(row)', \(number)); COMMIT"
  }

  /// The statements that remove the row of a transaction, if a later one uses another row. They run
  /// alone: reading the row in a serializable transaction would conflict with other workspaces. The
  /// connection may be one for reading.
  func removal(of number: Int64, after later: Int64) -> String? {
    row(of: number) == row(of: later)
      ? nil
      : "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; SET LOCAL synchronous_commit = off; "
        + "\(remove)'\(row(of: number))'; COMMIT"
  }

  /// Whether the transaction with a number was committed. It cannot be committed later.
  func isCommitted(
    _ number: Int64, _ system: SystemSQL, _ connection: Connection
  ) throws(PostgresError) -> Bool {
    try connection.execute("BEGIN ISOLATION LEVEL READ COMMITTED")
    // The row may not exist before the first commit; then it is created, which also waits for, or
    // refuses, a transaction that creates it.
    let rows = try connection.execute(
      "INSERT INTO \(system.commits) (workspace, seq, fence) VALUES ('\(row(of: number))', 0, 1) "
        + "ON CONFLICT (workspace) DO UPDATE SET fence = \(system.commits).fence + 1 RETURNING seq")
    let last = Int64(rows.text(0, 0))
    // A synchronous standby that has this commit has the other one, too.
    try connection.commit()
    return last == number
  }

  /// Removes the rows of workspaces that have committed nothing for a month.
  static func prune(_ system: SystemSQL, _ connection: Connection) throws(PostgresError) {
    try connection.execute(pruning(system.commits))
  }

  /// The statements that remove old rows of a table.
  ///
  /// The server's clock may jump by more than a month. If a row were removed that is needed still,
  /// its transaction would be taken for one that was not committed. So the server must also have
  /// begun many transactions since the row was written, more than it can while a workspace asks.
  /// - Parameters:
  ///   - table: The table.
  ///   - distance: How many transactions.
  static func pruning(_ table: String, distance: Int = 1_000_000) -> String {
    "BEGIN ISOLATION LEVEL READ COMMITTED; DELETE FROM \(table) "
      + "WHERE at < now() - interval '30 days' AND age(xmin) > \(distance); COMMIT"
  }
}
