// Precedence: how a transaction that has lost several times gets its turn.
//
// The server refuses a transaction if another one has changed what it has read. A long transaction
// beside many short ones would lose again and again. So each transaction that writes holds a weak
// lock of the table `_dflat_precedence` until its end. One with precedence takes a strong lock,
// which no other one may hold beside it:
//
//  - It begins when the transactions that write at this time have ended.
//  - Later ones wait for its end before they write. So nothing that it reads is changed meanwhile,
//    and the server cannot refuse it.
//  - It takes the lock before it has a state, since LOCK needs none. So it sees what they have
//    written.
//
// While it waits for a long transaction, the others would wait, too. So it waits for a second only,
// and is an ordinary transaction then. This also ends the waiting if the long one waits for it. As
// long as a transaction goes on that has taken longer than that, no other one asks for the lock.

struct Precedence: Sendable {
  let table: String
  /// The first statement of a transaction that writes, or a later one if it has read before.
  let share: StatementText
  /// The statements behind BEGIN of a transaction with precedence.
  let take: [StatementText]
  /// After how many milliseconds a transaction is one that none waits for.
  static let longest: UInt64 = 2000

  /// - Parameter schema: The PostgreSQL schema of all tables, quoted.
  init(schema: String) {
    table = "\(schema)._dflat_precedence"
    share = StatementText("LOCK TABLE \(table) IN ROW SHARE MODE")
    take = [
      StatementText("SET LOCAL lock_timeout = '1s'"),
      StatementText("LOCK TABLE \(table) IN EXCLUSIVE MODE"),
      // From now on the limit of the session.
      StatementText(
        "SELECT set_config('lock_timeout', current_setting('\(Connector.lockTimeout)'), true)"),
    ]
  }

  var create: String { "CREATE TABLE IF NOT EXISTS \(table) ();" }
}
