// PostgresWriter: one write transaction.
//
// An error of the server ends the whole transaction. So what a request may run into is looked up
// before it writes: a key or unique value of another object is found, and nothing has failed. If an
// object that the transaction cannot see is in the way, the server refuses the transaction as a
// conflict, and it runs again.
//
// After that, an update or a deletion cannot be refused: it is sent without waiting for its answer.
// If it fails nevertheless, the next call that has to wait, or `commit`, throws its error. Several
// transactions that share a commit then all fail as by a conflict, since it may be another one's
// error. They run again, and for a while every answer is awaited, so that each gets its own error.
//
// Unique values are found by their index, and no constraint of the server guards them: of two
// transactions that each look for a value and then insert it, the server refuses one.

import Dflat
import FlatBuffersRuntime
import Platform

final class PostgresWriter: PostgresView, IndexBuildingStorageWriter {
  private let session: WriteSession
  /// Tables that were laid out during the transaction, which its own state does not have.
  var laidOut: [String: [String: IndexMarks.Mark]] = [:]
  /// The marks that the transaction changes, written before its commit.
  var changedMarks: [String: [String: IndexMarks.Mark]] = [:]
  private var prepared: [ObjectIdentifier: WriteTable] = [:]
  private var latest: WriteTable?
  var hasWritten = false
  /// The greatest ids that callers have chosen, by type.
  var greatestKept: [ObjectIdentifier: Int64] = [:]
  /// The rows that were changed, for the log. Those of a member that was rolled back stay: readers
  /// find them as they were.
  var changes = ChangedRows()
  private var savepoint = Savepoint.none
  var items = FoundItems()

  /// Whether the reply to each statement is awaited.
  private let awaitsEachReply: Bool
  /// Where the connection is returned at the end; nil for that of the session.
  private let pool: ConnectionPool?
  private var hasEnded = false
  /// Whether it has begun a second time, on another connection.
  private var hasBegunAgain = false
  /// How often callers had been shown a state when this one began.
  private let shownBefore: Int

  private enum Savepoint {
    case none, wanted, set
  }

  init(
    _ engine: PostgresEngine, _ session: WriteSession, _ connection: Connection,
    _ beginning: PipelinedBegin, _ shownBefore: Int
  ) {
    self.session = session
    self.shownBefore = shownBefore
    awaitsEachReply = session.nextAwaitsEachReply()
    pool = nil
    super.init(engine, connection, beginning, isInTransaction: true)
  }

  /// A writer in the transaction that a view has read in.
  /// - Parameters:
  ///   - pool: The pool of the view's connection.
  ///   - shownBefore: How often callers had been shown a state when the view began.
  init(
    goingOnFrom view: PostgresView, _ session: WriteSession, returningTo pool: ConnectionPool,
    _ shownBefore: Int
  ) {
    self.session = session
    self.shownBefore = shownBefore
    awaitsEachReply = session.nextAwaitsEachReply()
    self.pool = pool
    super.init(goingOnFrom: view)
  }

  override func beginAgain() -> (connection: Connection, beginning: PipelinedBegin)? {
    if hasBegunAgain || pool != nil { return nil }
    hasBegunAgain = true
    let again = session.beginAgain(for: engine, insteadOf: connection)
    if savepoint != .none, !awaitsEachReply { again?.connection.own.isShared = true }
    return again
  }

  var mayBeJoined: Bool { engine.shownCount == shownBefore }

  override func completeColumns(of table: EntityTable) -> [String: Bool]? {
    currentMarks(of: table.name)?.mapValues(\.isComplete)
  }

  /// The marks of a table's columns, with the changes of this transaction.
  func currentMarks(of table: String) -> [String: IndexMarks.Mark]? {
    guard let known = laidOut[table] ?? marks?.tables[table] else { return nil }
    guard let changed = changedMarks[table] else { return known }
    return known.merging(changed) { $1 }
  }

  override func noteFound(_ row: Row, _ schema: EntitySchema) { items.note(row, schema) }

  override func known(keyOf row: TableReader, _ schema: EntitySchema) -> Row? {
    items.find(keyOf: row, schema)
  }

  // MARK: Tables

  /// Creates a table that does not exist, so that the server notes that the transaction has found
  /// it empty.
  override func requireTable(of schema: EntitySchema) throws {
    if currentMarks(of: schema.table) == nil { _ = try prepare(schema) }
  }

  /// The table of a type, prepared for writes. If it has to be created, its marks are newer than
  /// the transaction, which therefore cannot change them.
  func prepare(_ schema: EntitySchema) throws -> WriteTable {
    if let latest, latest.table.schema === schema { return latest }
    if let known = prepared[ObjectIdentifier(schema)] {
      latest = known
      return known
    }
    try confirmMarks()
    let table = engine.table(of: schema)
    var existing = currentMarks(of: table.name)
    if let existing {
      let hasColumns = table.columnNames.allSatisfy { existing[$0] != nil }
      if hasColumns, try engine.lacksIndex(table, connection) { engine.want(indexesOf: schema) }
    } else {
      let new = try besideTransaction { try engine.layOut(table, besideTransaction: true) }
      laidOut[table.name] = new
      existing = new
    }
    table.isKnown.store(true, ordering: .releasing)
    let known = table.writeTable(with: existing ?? [:])
    prepared[ObjectIdentifier(schema)] = known
    latest = known
    return known
  }

  /// Calls `body`, which changes marks or tables on a connection of its own. What it waits for may
  /// wait for this transaction, and the server does not see that. So it waits for a second at most,
  /// and then the transaction has to run again.
  func besideTransaction<R>(_ body: () throws -> R) throws -> R {
    do { return try body() } catch let error as PostgresError where error.isTimeout {
      throw StorageError(
        .conflict,
        message: "others keep Dflat's own tables locked, and may wait for the transaction: "
          + error.message, details: error.context, underlying: error)
    }
  }

  /// Runs a statement that changes something.
  func change(_ statement: StatementText) throws(PostgresError) -> Rows {
    hasWritten = true
    return try connection.run(statement)
  }

  /// Sends a statement that cannot be refused.
  /// - Parameters:
  ///   - rowid: The row that it changes; nil for several.
  ///   - row: The row whose bytes its parameters have.
  func changeLater(
    _ statement: StatementText, _ table: EntityTable, _ rowid: Int64?, mustExist: Bool = false,
    of row: Row? = nil
  ) throws(PostgresError) {
    hasWritten = true
    try connection.send(
      Connection.Sent(
        statement: statement, table: table.name, rowid: rowid, changesOne: mustExist, row: row))
    if awaitsEachReply { try connection.finishPipeline() }
  }

  /// Called before the parameters of a change are set.
  ///
  /// The savepoint and what follows are held back. If the member ends before anything needs an
  /// answer, it has either failed, and nothing is sent, or it cannot fail alone any more, and is
  /// sent without a savepoint.
  func beginChange() throws(PostgresError) {
    guard savepoint == .wanted else { return }
    savepoint = .set
    if awaitsEachReply {
      try connection.send(Self.beginMember)
    } else {
      try connection.holdBack(Self.beginMember)
    }
  }

  private func endMember() throws(PostgresError) {
    try connection.send(Self.releaseMember)
    if awaitsEachReply { try connection.finishPipeline() }
  }

  private static let beginMember = StatementText("SAVEPOINT member")
  private static let releaseMember = StatementText("RELEASE member")

  // MARK: The end

  var token: CommitToken? { nil }

  /// After an error of a statement whose answer was awaited, what the member has done is rolled
  /// back to its savepoint, if it has one.
  var isAlive: Bool {
    if hasEnded || lateFailure != nil { return false }
    let hasSavepoint = savepoint == .set && !connection.holdsBack
    return connection.isInTransaction || hasSavepoint && connection.isInFailedTransaction
  }

  func beginSubtransaction() {
    savepoint = .wanted
    if !awaitsEachReply { connection.own.isShared = true }
  }

  func endSubtransaction(keeping: Bool) throws {
    let isSet = savepoint == .set
    savepoint = .none
    guard isSet else { return }
    if !keeping { items.removeAll() }
    try withStorageErrors(isWriting: true) {
      if connection.holdsBack {
        if keeping { try connection.sendHeldButFirst() } else { connection.forgetHeld() }
        return
      }
      if keeping {
        changes.hasSavepoints = true
        return try endMember()
      }
      // What is rolled back may have failed.
      do throws(PostgresError) { try connection.finishPipeline() } catch {
        if error.isConnectionLost || error.isShared { throw error }
      }
      try connection.execute("ROLLBACK TO member; RELEASE member")
    }
  }

  /// The error of a statement whose answer was not awaited. Not all of them end the server's
  /// transaction, and a closure may have caught it.
  private var lateFailure: PostgresError? { awaitsEachReply ? nil : connection.failureOfSent }

  func commit() throws { try commit(checking: {}) }

  func commit(checking check: () throws -> Void) throws {
    defer { end() }
    do {
      try withStorageErrors(isWriting: true) {
        if let lateFailure { throw lateFailure }
        try advanceIDs()
        let hasMarks = try writeMarks()
        if hasMarks || hasWritten {
          try noteFirstWrites()
          // Changes may wait for locks.
          try connection.finishPipeline()
          try check()
          let new = tablesToKeep
          try session.requireCurrentServer(connection)
          try session.commit(connection, changes, keeping: new)
          for table in new { table.isKept.store(true, ordering: .relaxed) }
        } else {
          try session.requireCurrentServer(connection)
          try connection.commit()
        }
      }
    } catch {
      rollBack()
      throw error
    }
  }

  /// The tables that this workspace has written for the first time.
  private var tablesToKeep: [EntityTable] {
    // The connections of the pool cannot write outside of transactions.
    pool != nil
      ? [] : prepared.values.map(\.table).filter { !$0.isKept.load(ordering: .relaxed) }
  }

  func rollback() {
    if hasEnded { return }
    rollBack()
    end()
  }

  private func rollBack() {
    if let failure = connection.own.failure, failure.isConflict {
      session.events.note(.conflict(failure.message))
    }
    if let error = connection.failureOfSent, error.isShared, !error.isUnknownOutcome {
      session.awaitEachReply(for: error.isConflict ? 10 : 100)
    }
    // Its closure has seen a state.
    engine.standbys?.notePrimary()
    session.rollback(connection)
  }

  /// From here on the connection may be that of another transaction.
  private func end() {
    hasEnded = true
    pool?.putBack(connection)
    engine.sessions.putBack(session)
  }

  /// Makes sure that later rows get greater ids than those that callers have chosen.
  private func advanceIDs() throws(PostgresError) {
    for (type, id) in greatestKept {
      guard let table = prepared[type]?.table else { continue }
      connection.parameters.begin(1)
      connection.parameters.set(0, id)
      try connection.run(table.advance)
    }
  }
}
