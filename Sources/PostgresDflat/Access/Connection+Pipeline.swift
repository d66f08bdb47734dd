// Statements that are sent without waiting for their answers.
//
// The library collects them, and sends them when it has many or with the next statement whose
// answer is needed: all of them are one message then. The answers are read in their order. The
// first error is thrown there, and the transaction must not be committed. Behind an error of the
// server's it runs none of the others; that an update has found no row is no error to it.
//
// Some statements are held back before that: if nothing needs an answer meanwhile, the first of
// them, a savepoint, is not needed, or all of them are not.

import CPostgres
import Dflat

extension Connection {
  /// A statement whose answer was not read.
  struct Sent {
    let statement: StatementText
    /// The table and the row that it changes.
    var table: String?
    var rowid: Int64?
    /// Whether it must change one row.
    var changesOne = false
    /// Keeps the bytes of its parameters in place until it is sent.
    var row: Row?
    /// Receives its answer.
    var receive: ((borrowing Rows) -> Void)?
  }

  /// The number of answers that may be missing. The library holds them in memory.
  private static let mostSent = 1000

  /// Sends a statement with `parameters`, or holds it back behind those that are.
  func send(_ sent: Sent) throws(PostgresError) {
    let name = try name(of: sent.statement)
    do { try parameters.checkSize(for: sent.statement.text) } catch {
      // What was sent before may be a part of the same change, and of other transactions.
      var error = error
      error.isShared = own.isShared
      if own.held.isEmpty { own.failureOfSent = error }
      throw error
    }
    if !own.held.isEmpty {
      if own.held.hasRoom { return own.held.append(sent, name, &own.parameters) }
      try sendHeld()
    }
    try dispatch(sent, name, parameters)
  }

  private func dispatch(
    _ sent: Sent, _ name: String, _ parameters: Parameters
  ) throws(PostgresError) {
    if own.sent.isEmpty { PQenterPipelineMode(handle) }
    own.sent.append(sent)
    try dispatch(name, sent.statement.text, parameters)
    if own.sent.count >= Self.mostSent { try receivePipeline() }
  }

  /// Sends a statement without parameters.
  func send(_ statement: StatementText) throws(PostgresError) {
    parameters.begin(0)
    try send(Sent(statement: statement))
  }

  // MARK: Holding back

  /// Begins to hold statements back, and this one first: they are sent when an answer is needed.
  func holdBack(_ statement: StatementText) throws(PostgresError) {
    parameters.begin(0)
    let name = try name(of: statement)
    own.held.append(Sent(statement: statement), name, &own.parameters)
  }

  /// Whether statements are held back. Nothing was sent since the first of them.
  var holdsBack: Bool { !own.held.isEmpty }

  /// Sends what was held back, without the first statement.
  func sendHeldButFirst() throws(PostgresError) {
    own.held.removeFirst()
    try sendHeld()
  }

  /// Forgets what was held back.
  func forgetHeld() { own.held.removeAll() }

  /// Sends what was held back.
  func sendHeld() throws(PostgresError) {
    for held in own.held.takeAll() {
      try dispatch(held.sent, held.name, held.parameters)
      own.held.reuse(held.parameters)
    }
  }

  // MARK: Answers

  /// Waits for the answers of all statements that were sent or held back.
  func finishPipeline() throws(PostgresError) {
    try sendHeld()
    try receivePipeline()
  }

  private func receivePipeline() throws(PostgresError) {
    if own.sent.isEmpty { return }
    PQpipelineSync(handle)
    let failure = receiveSent()
    try endPipeline()
    if let failure { throw failure }
  }

  /// Runs a prepared statement with `parameters` behind those that were sent.
  /// - Returns: Its answer.
  func runBehindSent(_ name: String, _ sql: String) throws(PostgresError) -> Rows {
    try dispatch(name, sql, parameters)
    PQpipelineSync(handle)
    if let failure = receiveSent() {
      if !own.isLost { PQclear(lastResult()) }
      try endPipeline()
      throw failure
    }
    let result = lastResult()
    let rows: Rows
    do throws(PostgresError) { rows = try check(result, sql) } catch {
      try endPipeline()
      throw error
    }
    try endPipeline()
    return rows
  }

  private func dispatch(
    _ name: String, _ sql: String, _ parameters: Parameters
  ) throws(PostgresError) {
    let isSent = PQsendQueryPrepared(
      handle, name, Int32(parameters.count), parameters.values, parameters.lengths,
      parameters.formats, 1)
    if isSent != 1 { throw lost(sql) }
  }

  /// Reads the answers of all statements that were sent.
  /// - Returns: The first error.
  private func receiveSent() -> PostgresError? {
    let sent = own.sent
    own.sent.removeAll(keepingCapacity: true)
    var failure: PostgresError?
    for statement in sent {
      do throws(PostgresError) { try receive(statement) } catch { failure = failure ?? error }
      if own.isLost { break }
    }
    if let failure { own.failureOfSent = failure }
    return failure
  }

  /// Reads the answer of a statement.
  private func receive(_ sent: Sent) throws(PostgresError) {
    let result = lastResult()
    // The statement was not run, since one before it has failed.
    if PQresultStatus(result) == PGRES_PIPELINE_ABORTED { return PQclear(result) }
    do throws(PostgresError) {
      let rows = try check(result, sent.statement.text)
      if sent.changesOne, rows.changes != 1 { throw .missingRow }
      sent.receive?(rows)
    } catch {
      var error = error
      error.table = sent.table
      error.rowid = sent.rowid
      error.isShared = own.isShared
      throw error
    }
  }

  /// The result of the next statement. A null pointer ends the results of each one.
  func lastResult() -> OpaquePointer? {
    let result = PQgetResult(handle)
    if PQstatus(handle) == CONNECTION_OK { PQclear(PQgetResult(handle)) }
    return result
  }

  private func endPipeline() throws(PostgresError) {
    if own.isLost { return }
    try endOfAnswers()
    try leavePipeline()
  }

  /// With an answer on its way it cannot be left.
  func leavePipeline() throws(PostgresError) {
    if !own.isLost, PQexitPipelineMode(handle) != 1 { throw unfittingAnswers() }
  }

  /// Reads the mark behind the answers to what was sent up to a sync.
  func endOfAnswers() throws(PostgresError) {
    let end = PQgetResult(handle)
    let isEnd = PQresultStatus(end) == PGRES_PIPELINE_SYNC
    PQclear(end)
    if !isEnd { throw unfittingAnswers() }
  }

  private func unfittingAnswers() -> PostgresError {
    lost(
      PostgresError(
        state: "", message: "the answers of the server do not fit the statements",
        isConnectionLost: true))
  }
}

/// Statements that wait in the client, with their parameters.
struct HeldStatements {
  struct Held {
    let sent: Connection.Sent
    let name: String
    let parameters: Parameters
  }

  /// The greatest number of statements. Each keeps a row in memory.
  private static let most = 16

  private var all: [Held] = []
  /// Parameters to be used again.
  private var free: [Parameters] = []

  var isEmpty: Bool { all.isEmpty }
  var hasRoom: Bool { all.count < Self.most }

  /// - Parameter parameters: Replaced by others.
  mutating func append(_ sent: Connection.Sent, _ name: String, _ parameters: inout Parameters) {
    all.append(Held(sent: sent, name: name, parameters: parameters))
    parameters = free.popLast() ?? Parameters()
  }

  mutating func removeFirst() { reuse(all.removeFirst().parameters) }

  mutating func takeAll() -> [Held] {
    defer { all = [] }
    return all
  }

  mutating func removeAll() {
    for held in takeAll() { reuse(held.parameters) }
  }

  mutating func reuse(_ parameters: Parameters) {
    if free.count < Self.most { free.append(parameters) }
  }
}
