// Creating the server's indexes for a table that is there: after columns were added, or since a
// version of the schema has another index over the same columns.
//
// No transaction waits for it. In a small table an index takes no time, and is created in a
// transaction. In a large one the server creates it `CONCURRENTLY`: it reads the table twice, while
// others go on writing, and waits for all transactions that have begun before. So this is done on a
// queue and a connection of its own. If it is interrupted, an index is left that the server does
// not use: the next attempt removes it.

import Dflat
import Dispatch
import Platform

extension PostgresEngine {
  /// Creates the columns and indexes that a table lacks.
  func prepareIndexes(
    of schema: EntitySchema, _ completion: @escaping @Sendable (Result<Void, any Error>) -> Void
  ) {
    indexCreations.queue.async { [self] in
      completion(
        Result {
          try prepareForWriting()
          try withStorageErrors(table: schema.table, isWriting: true) {
            let table = table(of: schema)
            if !mayLayOut(table) { return }
            try notingRefusal(table) {
              try addColumns(to: table)
              if !indexCreations.isClosed { try createIndexes(of: table) }
            }
          }
        })
    }
  }

  /// Calls `body`. If the server refuses what it does, that is reported once, and not tried again
  /// for a while.
  private func notingRefusal(_ table: EntityTable, _ body: () throws -> Void) throws {
    do { try body() } catch let error as PostgresError {
      guard error.isCancelled || error.isRefusal else { throw error }
      let reason = StorageError(error, table: table.name, isWriting: true)
      if !indexCreations.isClosed { reportOnce(reason) }
      refusedLayouts.withLock { $0[table.name] = (MonotonicTime.now, reason) }
    }
  }

  /// Whether a table with all its columns lacks an index that may be created now.
  func lacksIndex(_ table: EntityTable, _ connection: Connection) throws -> Bool {
    if table.isIndexed.load(ordering: .acquiring) || !mayLayOut(table) { return false }
    let isComplete = try missingIndexes(of: table, connection).isEmpty
    if isComplete { table.isIndexed.store(true, ordering: .releasing) }
    return !isComplete
  }

  /// The indexes of the schema that a table lacks.
  func missingIndexes(
    of table: EntityTable, _ connection: Connection
  ) throws(PostgresError) -> [TableIndex] {
    let rows = try connection.execute(table.selectIndexes)
    var valid: Set<String> = []
    for row in 0..<rows.count { valid.insert(rows.text(row, 0)) }
    return table.indexes.filter { !valid.contains($0.name.shortName) }
  }

  private func createIndexes(of table: EntityTable) throws {
    let connection = try connector.connect(.layout)
    try connection.execute("SET default_transaction_isolation = 'read committed'")
    var missing = try missingIndexes(of: table, connection)
    if missing.isEmpty { return }
    if try createAtOnce(missing, of: table, connection) { return }
    // It may take any time, and has to wait for transactions of any length.
    try connection.execute("SET lock_timeout = 0; SET statement_timeout = 0")
    try takeTurn(table, connection)
    // Another program may have created them meanwhile.
    missing = try missingIndexes(of: table, connection)
    for index in missing {
      let name = "\(system.schema).\(index.name.quotedName)"
      try indexCreations.run("DROP INDEX CONCURRENTLY IF EXISTS \(name)", connection)
      try indexCreations.run(table.create(index, concurrently: true), connection)
    }
    try connection.execute("BEGIN; \(table.fillOnce); COMMIT")
  }

  /// Creates indexes while others wait, if that takes no time.
  private func createAtOnce(
    _ indexes: [TableIndex], of table: EntityTable, _ connection: Connection
  ) throws(PostgresError) -> Bool {
    try connection.execute(system.beginLayout(waiting: 1000))
    let isSmall = try connection.execute(table.selectIsSmall).text(0, 0) == "t"
    if isSmall {
      for index in indexes { try connection.execute(table.create(index)) }
      try connection.execute(table.fillOnce)
    }
    try connection.commit()
    return isSmall
  }

  /// Lets one program at a time create the indexes of a large table, until its connection is
  /// closed. A transaction must not wait for this, since the server would wait in turn.
  /// - Throws: `StorageError` with `.busy` if another one takes longer than the lock timeout.
  private func takeTurn(_ table: EntityTable, _ connection: Connection) throws {
    let start = MonotonicTime.now
    while !indexCreations.isClosed {
      let answer = try connection.execute(
        "SELECT pg_try_advisory_lock(hashtext(\("dflat indexes \(table.quoted)".quotedText)))")
      if answer.text(0, 0) == "t" { return }
      if MonotonicTime.now - start > MonotonicTime.nanoseconds(configuration.lockTimeout) {
        throw StorageError(
          .busy, table: table.name, message: "another program is creating the indexes",
          advice: "wait until it has")
      }
      usleep(50_000)
    }
  }
}
