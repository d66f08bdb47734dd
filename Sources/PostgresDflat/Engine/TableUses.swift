// TableUses: for how long transactions of other connections have used a table.
//
// The server shows when a transaction has begun to its own role, and to few others. So the
// transactions are looked for several times. One that was not there before has begun since then; of
// those that are there at first, nothing is known, and they count as if they had always been there.

import Platform

struct TableUses {
  private let table: EntityTable
  /// For each transaction a time before it has used the table; 0 if there is none.
  private var starts: [String: UInt64] = [:]
  private var lastLook: UInt64 = 0

  init(of table: EntityTable) { self.table = table }

  /// Looks for the transactions that use the table now.
  /// - Returns: For how many milliseconds the oldest one has used it at most.
  mutating func oldest(_ connection: Connection) throws(PostgresError) -> UInt64 {
    let now = MonotonicTime.now
    let rows = try connection.execute(table.selectUses)
    var found: [String: UInt64] = [:]
    for row in 0..<rows.count {
      let transaction = rows.text(row, 0)
      found[transaction] = starts[transaction] ?? lastLook
    }
    starts = found
    lastLook = now
    return found.values.min().map { (now - $0) / 1_000_000 } ?? 0
  }
}
