// Creating tables and columns.
//
// This happens on a connection of its own, in a transaction that is committed before the program's
// transaction uses the result: a rollback never removes a table, so row ids are never used again.
// An advisory lock lets one program at a time change the layout.
//
// A column is added without rewriting the table. Adding needs a lock that waits for all queries of
// the table, and makes others wait. So it is not asked for while a long transaction uses the table,
// and is given up after some seconds: first after one, then after more, so that it gets its turn
// behind queries that follow each other without a gap. Until the column is there, queries look at
// each object, and no answer is different.

import Dflat
import Platform

extension PostgresEngine {
  /// Creates the tables that belong to no entity type, if they do not exist.
  /// - Parameter isThorough: Whether each of them is looked for.
  func createSystemTables(isThorough: Bool = false) throws {
    let connection = try connector.connect(.layout)
    if try isThorough || !checkPrepared(connection) {
      // This one may be to a standby.
      let primary = try connector.connect(.writing)
      if let missing = try system.createMissing(primary) { try primary.commit(missing) }
      standbys?.notePrimary()
      isPrepared.store(true, ordering: .releasing)
    }
    // Only to save room: if it is not possible now, another program does it.
    try? CommitLedger.prune(system, connection)
  }

  /// Makes sure that a table exists and has all columns that its schema needs.
  /// - Parameters:
  ///   - patience: For how many milliseconds others wait for the lock at most.
  ///   - besideTransaction: Whether this thread has a transaction on another connection; see
  ///     `PostgresWriter.besideTransaction`.
  /// - Returns: The marks of its columns, as they are committed now. A column that could not be
  ///   added has none.
  func layOut(
    _ table: EntityTable, patience: UInt64 = 1000, besideTransaction: Bool = false
  ) throws -> [String: IndexMarks.Mark] {
    let connection = try connector.connect(.layout)
    // A table that is known to exist must exist on a standby, too.
    defer { standbys?.notePrimary() }
    try connection.execute(system.beginLayout(waiting: besideTransaction ? patience : nil))
    let before = try marks(of: table, connection)
    let missing = before.map { known in table.columnNames.filter { known[$0] == nil } }
    if let before, missing == [] {
      try connection.commit()
      table.isKnown.store(true, ordering: .releasing)
      return before
    }
    do {
      if before != nil { try connection.execute("SET LOCAL lock_timeout = \(patience)") }
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
      return before
    }
  }

  func exists(_ table: EntityTable, _ connection: Connection) throws(PostgresError) -> Bool {
    let answer = try connection.execute(
      "SELECT to_regclass(\(table.quoted.quotedText)) IS NOT NULL")
    return answer.text(0, 0) == "t"
  }

  /// Forgets the marks of a table that was dropped, so that `layOut` creates it again.
  func forgetDropped(_ table: EntityTable) throws {
    let connection = try connector.connect(.layout)
    if try exists(table, connection) || marks(of: table, connection) == nil { return }
    try connection.commit(
      "\(system.beginLayout); \(system.forget(table.name)); \(system.bump.text); COMMIT")
  }

  /// Adds the columns that a table lacks, when others let it.
  /// - Throws: `StorageError` with `.busy` if they do not for the time of the lock timeout.
  func addColumns(to table: EntityTable) throws {
    let connection = try connector.connect(.layout)
    let start = MonotonicTime.now
    let limit = MonotonicTime.nanoseconds(configuration.lockTimeout)
    // Queries that wait behind this one must not run into the timeout.
    let longest = min(8000, max(1, Connector.milliseconds(configuration.lockTimeout) / 2))
    var patience = min(1000, longest)
    var uses = TableUses(of: table.quoted)
    while !indexCreations.isClosed {
      let known = try marks(of: table, connection)
      if let known, table.columnNames.allSatisfy({ known[$0] != nil }) { return }
      // Behind a long transaction all others would wait in vain.
      if try uses.look(connection).atMost <= longest {
        let after = try layOut(table, patience: patience)
        if table.columnNames.allSatisfy({ after[$0] != nil }) { return }
        patience = min(2 * patience, longest)
      }
      if MonotonicTime.now - start > limit {
        let error = StorageError(
          .busy, table: table.name,
          message: "the columns of indexes cannot be added yet, since transactions on other "
            + "connections use the table for long; it is tried again",
          advice: "end them (pg_stat_activity shows xact_start); until then queries look at each "
            + "object")
        reportOnce(error)
        throw error
      }
      usleep(100_000)
    }
  }

  /// Takes away the mark of a column for rows from an id on, in a transaction of its own beside
  /// that of this thread.
  func lowerMark(of column: String, in table: EntityTable, below id: Int64) throws {
    let connection = try connector.connect(.layout)
    try connection.execute(system.beginLayout(waiting: 1000))
    connection.parameters.begin(3)
    connection.parameters.set(0, text: table.name)
    connection.parameters.set(1, text: column)
    connection.parameters.set(2, IndexMarks.reach(below: id))
    try connection.run(system.lowerMark)
    connection.parameters.begin(0)
    try connection.run(system.bump)
    try connection.commit()
  }

  /// Whether the indexes of a table were not refused in the last seconds.
  func mayLayOut(_ table: EntityTable) -> Bool {
    let last = refusedLayouts.withLock { $0[table.name] }
    return last.map { MonotonicTime.now - $0.time > 10_000_000_000 } ?? true
  }

  /// Why a table lacks indexes.
  func obstacle(of table: EntityTable) -> StorageError {
    refusedLayouts.withLock { $0[table.name]?.reason }
      ?? StorageError(
        .busy, table: table.name, message: "the server has not created all indexes yet",
        advice: "wait for them once more")
  }

  private func marks(
    of table: EntityTable, _ connection: Connection
  ) throws -> [String: IndexMarks.Mark]? {
    try IndexMarks(version: 0, system, connection).tables[table.name]
  }
}
