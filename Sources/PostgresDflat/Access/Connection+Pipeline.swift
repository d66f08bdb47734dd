// Statements that are sent without waiting for their answers.
//
// The library collects them, and sends them when it has many or before the next statement whose
// answer is needed. Then all answers are read. The error of one of them, after which the server
// runs none of those behind it, is thrown there; the transaction cannot be committed any more.

import CPostgres

extension Connection {
  /// A statement whose answer was not read.
  struct Sent {
    let statement: StatementText
    /// The table that it changes.
    let table: String?
  }

  /// The number of answers that may be missing. The library holds them in memory.
  private static let mostSent = 1000

  /// Sends a statement with `parameters`.
  func send(_ sent: Sent) throws(PostgresError) {
    let statement = sent.statement
    let name = try name(of: statement)
    if own.sent.isEmpty { PQenterPipelineMode(handle) }
    let parameters = parameters
    let isSent = PQsendQueryPrepared(
      handle, name, Int32(parameters.count), parameters.values, parameters.lengths,
      parameters.formats, 1)
    own.sent.append(sent)
    if isSent != 1 {
      own.isLost = true
      throw PostgresError(nil, handle, sql: statement.text)
    }
    if own.sent.count >= Self.mostSent { try finishPipeline() }
  }

  /// Waits for the answers of all statements that were sent.
  func finishPipeline() throws(PostgresError) {
    if own.sent.isEmpty { return }
    let sent = own.sent
    own.sent.removeAll(keepingCapacity: true)
    PQpipelineSync(handle)
    var failure: PostgresError?
    for statement in sent {
      do throws(PostgresError) { try receive(statement) } catch { failure = failure ?? error }
      if own.isLost { break }
    }
    if !own.isLost {
      let end = PQgetResult(handle)
      let isEnd = PQresultStatus(end) == PGRES_PIPELINE_SYNC
      PQclear(end)
      if !isEnd || PQexitPipelineMode(handle) != 1 {
        own.isLost = true
        failure =
          failure
          ?? PostgresError(
            state: "", message: "the answers of the server do not fit the statements",
            isConnectionLost: true)
      }
    }
    if let failure { throw failure }
  }

  /// Reads the answer of a statement.
  private func receive(_ sent: Sent) throws(PostgresError) {
    let result = PQgetResult(handle)
    // The statement was not run, since one before it has failed.
    if PQresultStatus(result) == PGRES_PIPELINE_ABORTED {
      PQclear(result)
    } else {
      do throws(PostgresError) {
        _ = try check(result, sent.statement.text)
      } catch {
        var error = error
        error.table = sent.table
        if !own.isLost { PQclear(PQgetResult(handle)) }
        throw error
      }
    }
    // A null pointer ends the results of a statement.
    PQclear(PQgetResult(handle))
  }
}
