// CommitLedger: what became of a commit whose answer was lost.
//
// Each connection that writes has a row in `_dflat_commits`, with the name of its workspace and, if
// it is not the first one, a dot and its number. A transaction sets `seq` in this row to its own
// number as its last change. If the connection dies before COMMIT is answered, a new connection
// changes `fence` in the same row and reads `seq`:
//
//  - It waits until the lost transaction has ended, if the server is still at work on it.
//  - If the server has not yet seen its last change, that change now fails: another transaction has
//    changed the row meanwhile. So the lost transaction cannot be committed later.
//  - Otherwise `seq` tells whether it was committed. Nothing is guessed.
//
// The last change and COMMIT are one message of the protocol, so the server has both or none.

import Dflat
import Platform

struct CommitLedger: Sendable {
  private let name: String
  private let record: StatementText

  /// - Parameters:
  ///   - workspace: The name of the workspace.
  ///   - writer: The number of the connection, from 0.
  init(_ workspace: String, writer: Int, _ system: SystemSQL) {
    name = writer == 0 ? workspace : "\(workspace).\(writer)"
    record = StatementText(
      "INSERT INTO \(system.commits) (workspace, seq) VALUES ('\(name)', $1) "
        + "ON CONFLICT (workspace) DO UPDATE SET seq = excluded.seq, at = now()")
  }

  /// A name that no other workspace has.
  static func workspaceName() -> String {
    var generator = SystemRandomNumberGenerator()
    let parts = [generator.next(), generator.next()]
    return parts.map { String($0, radix: 36) }.joined(separator: "-")
  }

  /// The last statements of a transaction. The first of them is prepared on the connection.
  func commit(_ number: Int64, _ connection: Connection) throws(PostgresError) -> String {
    connection.parameters.begin(1)
    connection.parameters.set(0, number)
    return "EXECUTE \(try connection.name(of: record))(\(number)); COMMIT"
  }

  /// Whether the transaction with a number was committed. It cannot be committed later.
  func isCommitted(
    _ number: Int64, _ system: SystemSQL, _ connection: Connection
  ) throws(PostgresError) -> Bool {
    try connection.execute("BEGIN ISOLATION LEVEL READ COMMITTED")
    // The row may not exist before the first commit; then it is created, which also waits for, or
    // refuses, a transaction that creates it.
    let rows = try connection.execute(
      "INSERT INTO \(system.commits) (workspace, seq) VALUES ('\(name)', 0) "
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
