// Watching what a connection runs: the plans of statements, and the statements themselves.

import CSQLite

/// One line of the plan by which SQLite runs a statement.
public struct QueryPlanRow: Hashable, Sendable {
  /// The number of this line.
  public let id: Int
  /// The number of the line this one belongs to; 0 at the top.
  public let parent: Int
  /// What is done, such as `SEARCH note USING INDEX note_date (date>?)`.
  public let detail: String
}

extension Connection {
  /// The plan by which SQLite would run a statement, as `EXPLAIN QUERY PLAN` gives it.
  ///
  /// - Parameters:
  ///   - sql: One statement. It is not run.
  ///   - values: For its parameters; the plan may depend on them.
  public func explainQueryPlan(
    _ sql: String, _ values: [SQLValue] = []
  ) throws(SQLiteError) -> [QueryPlanRow] {
    try rows("EXPLAIN QUERY PLAN " + sql, values).map { row in
      QueryPlanRow(
        id: Int(row[0].integer ?? 0), parent: Int(row[1].integer ?? 0), detail: row[3].text ?? "")
    }
  }

  /// Has each statement reported when it ends, or no longer with nil.
  ///
  /// - Parameter body: Called on the connection's thread with the statement's SQL, its values
  ///   filled in, and how long it ran in nanoseconds. SQLite measures to the millisecond. It must
  ///   not use the connection.
  public func trace(_ body: ((_ sql: String, _ nanoseconds: Int64) -> Void)?) throws(SQLiteError) {
    let database = try open()
    guard let body else {
      sqlite3_trace_v2(database, 0, nil, nil)
      traceBox = nil
      return
    }
    let box = TraceBox(body)
    sqlite3_trace_v2(
      database, UInt32(SQLITE_TRACE_PROFILE),
      { _, context, statement, nanoseconds in
        guard let context, let statement, let nanoseconds else { return 0 }
        let handle = OpaquePointer(statement)
        let box = Unmanaged<TraceBox>.fromOpaque(context).takeUnretainedValue()
        let text = sqlite3_expanded_sql(handle)
        defer { sqlite3_free(text) }
        let sql =
          text.map { String(cString: $0) } ?? sqlite3_sql(handle).map { String(cString: $0) }
        box.body(sql ?? "", nanoseconds.load(as: Int64.self))
        return 0
      }, Unmanaged.passUnretained(box).toOpaque())
    // Only now, when SQLite no longer knows the earlier one.
    traceBox = box
  }
}

/// Keeps the closure that hears of statements; the connection keeps this.
final class TraceBox {
  let body: (String, Int64) -> Void

  init(_ body: @escaping (String, Int64) -> Void) {
    self.body = body
  }
}

extension Sequence<QueryPlanRow> {
  /// The plan as a tree, one line for each step.
  public var planText: String {
    var depths: [Int: Int] = [:]
    var lines: [String] = []
    for row in self {
      let depth = depths[row.parent].map { $0 + 1 } ?? 0
      depths[row.id] = depth
      lines.append(String(repeating: "  ", count: depth) + row.detail)
    }
    return lines.joined(separator: "\n")
  }
}
