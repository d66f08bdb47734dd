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
  /// - Returns: The marks of its columns, as they are committed now.
  func layOut(_ table: EntityTable) throws -> [String: IndexMarks.Mark] {
    let connection = try connector.connect(.layout)
    try connection.execute(system.beginLayout)
    let before = try marks(of: table, connection)
    let missing = before.map { known in table.columnNames.filter { known[$0] == nil } }
    if let before, missing == [] {
      try connection.commit()
      table.isKnown.store(true, ordering: .releasing)
      return before
    }
    do {
      if before != nil { try connection.execute("SET LOCAL lock_timeout = '1s'") }
      let statements = missing.map { table.add($0, system) } ?? table.create(system)
      for statement in statements { try connection.execute(statement) }
      connection.parameters.begin(0)
      try connection.run(system.bump)
      let after = try marks(of: table, connection)
      try connection.commit()
      table.isKnown.store(true, ordering: .releasing)
      if before == nil { table.isIndexed.store(true, ordering: .releasing) }
      return after ?? [:]
    } catch let error as PostgresError where error.isTimeout {
      guard let before else { throw error }
      try connection.rollback()
      refusedLayouts.withLock { $0[table.name] = MonotonicTime.now }
      return before
    }
  }

  /// Takes away the mark of a column for rows from an id on, in a transaction of its own.
  func lowerMark(of column: String, in table: EntityTable, below id: Int64) throws {
    let connection = try connector.connect(.layout)
    try connection.execute(system.beginLayout)
    connection.parameters.begin(3)
    connection.parameters.set(0, text: table.name)
    connection.parameters.set(1, text: column)
    connection.parameters.set(2, id - 1)
    try connection.run(system.lowerMark)
    connection.parameters.begin(0)
    try connection.run(system.bump)
    try connection.commit()
  }

  /// Whether adding columns to a table was not given up in the last seconds.
  func mayLayOut(_ table: EntityTable) -> Bool {
    let last = refusedLayouts.withLock { $0[table.name] }
    return last.map { MonotonicTime.now - $0 > 10_000_000_000 } ?? true
  }

  private func marks(
    of table: EntityTable, _ connection: Connection
  ) throws -> [String: IndexMarks.Mark]? {
    try IndexMarks(version: 0, system, connection).tables[table.name]
  }
}
