// Metrics and events of a workspace.

import Dispatch
import Platform

extension PostgresWorkspace {
  /// The metrics of the workspace now.
  ///
  ///     response.write(await dflat.metrics().prometheusText(labels: ["service": "web"]))
  ///
  /// It asks the server for the length of the log and for incomplete indexes, by a connection that
  /// reads. If it cannot be asked, these are nil, and the other numbers are there. It does not
  /// block the task's thread, but waits for the server as a query does.
  ///
  /// - Returns: The metrics.
  public func metrics() async -> PostgresMetrics {
    let engine = engine
    return await withCheckedContinuation { continuation in
      DispatchQueue.global().async { continuation.resume(returning: engine.metrics()) }
    }
  }

  /// What happens in the workspace from now on.
  ///
  ///     for await event in dflat.events() { logger.info("\(event)") }
  ///
  /// - Parameter most: How many events wait for a slow reader; the oldest ones are left out then.
  /// - Returns: A sequence that ends when the workspace is shut down. There may be any number of
  ///   them, and each gets all events.
  public func events(buffering most: Int = 1000) -> AsyncStream<PostgresEvent> {
    engine.events.stream(most: most)
  }
}

extension PostgresEngine {
  fileprivate func metrics() -> PostgresMetrics {
    var metrics = events.metrics
    metrics.connections = connector.places.count
    metrics.idleConnections = readers.idleCount + (standbys?.pool.idleCount ?? 0)
    metrics.primaryReads = primaryReads.load(ordering: .relaxed)
    metrics.standbyReads = standbyReads.load(ordering: .relaxed)
    // If the server cannot be reached, the calls of the program throw that error.
    guard let facts = try? serverFacts() else { return metrics }
    metrics.logLength = facts.logLength
    metrics.incompleteIndexes = facts.indexes
    return metrics
  }

  private func serverFacts() throws -> (
    logLength: Int, indexes: [PostgresMetrics.IncompleteIndex]
  ) {
    try onView(for: .observation) { view in
      try withStorageErrors {
        let connection = view.connection
        guard try checkPrepared(connection) else { return (0, []) }
        // Each transaction changes the log: to count its entries must make none fail.
        try connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        let length = try connection.execute("SELECT count(*) FROM \(system.log.table)").text(0, 0)
        let rows = try connection.execute(
          "SELECT tbl, col, greatest(0, reach) FROM \(system.columns) "
            + "WHERE NOT complete AND col <> '' ORDER BY tbl, col")
        var indexes: [PostgresMetrics.IncompleteIndex] = []
        for row in 0..<rows.count {
          let table = rows.text(row, 0)
          let last = try connection.execute(
            "SELECT coalesce(max(rowid), 0) FROM \(system.schema).\(table.quotedName)"
          ).text(0, 0)
          let total = Int(last) ?? 0
          indexes.append(
            PostgresMetrics.IncompleteIndex(
              table: table, column: rows.text(row, 1),
              covered: min(total, Int(rows.text(row, 2)) ?? 0), total: total))
        }
        try connection.commit()
        return (Int(length) ?? 0, indexes)
      }
    }
  }

  /// Tells how many connections the workspace may need, when it is opened.
  func noteOpened() throws {
    let limit = try onView(for: .observation) { view in
      try withStorageErrors {
        try view.connection.execute("SELECT current_setting('max_connections')").text(0, 0)
      }
    }
    events.note(
      .opened(
        connections: configuration.mostConnections,
        isLimited: configuration.connectionLimit != nil, serverLimit: Int(limit) ?? 0))
  }
}
