// Cursors: a result in portions, so that memory is bounded and a query that has what it wants stops
// without cancelling the statement, which would end the transaction.
//
// The statement and its first portion are one message. While a portion is used, the server may
// already work on the next one.

import CPostgres

extension Connection {
  /// How many rows are fetched at a time.
  struct Portions {
    /// The size of the first portion. Each one is larger than the one before, as far as the bytes
    /// of its rows allow.
    let first: Int
    let largest: Int
    /// Whether all rows are wanted, most likely: then the next portion is asked for early.
    let all: Bool

    /// How many rows of a size are fetched at a time at most.
    static func most(ofSize bytes: Int) -> Int { max(1, (4 << 20) / max(1, bytes)) }

    /// The size of the portion behind one.
    func size(after size: Int, _ rows: borrowing Rows) -> Int {
      min(4 * size, largest, Self.most(ofSize: rows.meanSize))
    }
  }

  /// Calls `body` with the portions of a result until it returns false. The parameters are set.
  /// - Parameters:
  ///   - cursor: A name that no other open cursor has.
  ///   - sql: The query.
  ///   - closes: Whether the transaction goes on for so long that the cursor should be closed.
  ///   - body: It must not use the connection.
  func forEachPortion(
    _ portions: Portions, of cursor: String, for sql: String, closes: Bool,
    _ body: (borrowing Rows) throws -> Bool
  ) throws {
    try finishPipeline()
    try parameters.checkSize(for: sql)
    PQenterPipelineMode(handle)
    // If that fails, after an error, the connection is lost.
    defer { try? leavePipeline() }
    let declare = "DECLARE \(cursor) NO SCROLL CURSOR FOR \(sql)"
    var size = min(portions.first, portions.largest)
    try ask(declare, parameters)
    try ask("FETCH \(size) FROM \(cursor)")
    PQpipelineSync(handle)
    do throws(PostgresError) { _ = try answer(declare) } catch {
      if !error.isConnectionLost {
        // The server has not run the rest.
        PQclear(PQgetResult(handle))
        PQclear(PQgetResult(handle))
        try endOfAnswers()
      }
      throw error
    }
    while true {
      let rows = try lastAnswer("FETCH")
      let isLast = rows.count < size
      size = portions.size(after: size, rows)
      let isEarly = portions.all && !isLast
      if isEarly { try askForPortion(size, cursor) }
      let goesOn = Result { try body(rows) && !isLast }
      if case .success(true) = goesOn {
        if !isEarly { try askForPortion(size, cursor) }
        continue
      }
      if isEarly { _ = try lastAnswer("FETCH") }
      _ = try goesOn.get()
      break
    }
    if closes {
      try ask("CLOSE \(cursor)")
      PQpipelineSync(handle)
      _ = try lastAnswer("CLOSE")
    }
  }

  private func askForPortion(_ size: Int, _ cursor: String) throws(PostgresError) {
    try ask("FETCH \(size) FROM \(cursor)")
    PQpipelineSync(handle)
  }

  /// Sends a statement.
  private func ask(_ sql: String, _ parameters: Parameters? = nil) throws(PostgresError) {
    let isSent = PQsendQueryParams(
      handle, sql, Int32(parameters?.count ?? 0), parameters?.types, parameters?.values,
      parameters?.lengths, parameters?.formats, 1)
    if isSent != 1 { throw lost(sql) }
  }

  /// The answer to a statement.
  private func answer(_ sql: String) throws(PostgresError) -> Rows {
    try check(lastResult(), sql)
  }

  /// The answer to a statement behind which nothing was asked.
  private func lastAnswer(_ sql: String) throws(PostgresError) -> Rows {
    let rows: Rows
    do throws(PostgresError) { rows = try answer(sql) } catch {
      if !error.isConnectionLost { try endOfAnswers() }
      throw error
    }
    try endOfAnswers()
    return rows
  }
}
