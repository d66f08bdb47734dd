// Creating tables and columns.
//
// This happens on a connection of its own, in a transaction that is committed before the program's
// transaction uses the result: a rollback never removes a table, so row ids are never used again.
// An advisory lock lets one program at a time change the layout.
//
// A column is added without rewriting the table. Adding needs a lock that waits for all queries of
// the table, and makes others wait; so it is given up after a second, and the column is added
// later. Until then queries look at each object, and no answer is different.

import Dflat
import Platform

extension PostgresEngine {
  /// Creates the tables that belong to no entity type, if they do not exist.
  func createSystemTables() throws {
    let connection = try connector.connect(.layout)
    if try !checkPrepared(connection) {
      try connection.commit(system.create)
      isPrepared.store(true, ordering: .releasing)
    }
    // Only to save room: if it is not possible now, another program does it.
    try? CommitLedger.prune(system, connection)
  }

  /// Makes sure that a table exists and has all columns that its schema needs.
  func layOut(_ table: EntityTable) throws {
    let connection = try connector.connect(.layout)
    try connection.execute(system.beginLayout)
    let known = try IndexMarks(version: 0, system, connection).tables[table.name]
    if let known {
      try add(table.columnNames.filter { known[$0] == nil }, to: table, connection)
    } else {
      try change(table.create(system), connection)
      table.isIndexed.store(true, ordering: .releasing)
    }
    table.isKnown.store(true, ordering: .releasing)
  }

  /// Adds columns to a table, and commits. That is given up if the table is in use for long.
  private func add(
    _ columns: [String], to table: EntityTable, _ connection: Connection
  ) throws(PostgresError) {
    if columns.isEmpty {
      try connection.commit()
      return
    }
    do {
      try connection.execute("SET LOCAL lock_timeout = '1s'")
      try change(table.add(columns, system), connection)
    } catch {
      if !error.isTimeout { throw error }
      try connection.rollback()
      refusedLayouts.withLock { $0[table.name] = MonotonicTime.now }
    }
  }

  /// Changes the layout, and commits.
  private func change(
    _ statements: [String], _ connection: Connection
  ) throws(PostgresError) {
    for statement in statements { try connection.execute(statement) }
    connection.parameters.begin(0)
    try connection.run(system.bump)
    try connection.commit()
  }

  /// Whether adding columns to a table was not given up in the last seconds.
  func mayLayOut(_ table: EntityTable) -> Bool {
    let last = refusedLayouts.withLock { $0[table.name] }
    return last.map { MonotonicTime.now - $0 > 10_000_000_000 } ?? true
  }
}
