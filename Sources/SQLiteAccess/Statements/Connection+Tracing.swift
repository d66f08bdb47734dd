// Watching what a connection runs: the plans of statements, and the statements themselves.

import CSQLite
import Platform

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
  /// - Parameters:
  ///   - expandsValues: Whether the values of parameters are filled into the SQL. The cost grows
  ///     with their length.
  ///   - body: Called on the connection's thread with the statement's SQL and the time from its
  ///     first step to its end in nanoseconds, including what the program did between its steps. It
  ///     must not use the connection.
  public func trace(
    expandingValues expandsValues: Bool = true,
    _ body: ((_ sql: String, _ nanoseconds: Int64) -> Void)?
  ) throws(SQLiteError) {
    let database = try open()
    guard let body else {
      sqlite3_trace_v2(database, 0, nil, nil)
      traceBox = nil
      return
    }
    let box = TraceBox(expandsValues: expandsValues, body)
    sqlite3_trace_v2(
      database, UInt32(SQLITE_TRACE_STMT | SQLITE_TRACE_PROFILE),
      { kind, context, statement, _ in
        guard let context, let statement else { return 0 }
        let box = Unmanaged<TraceBox>.fromOpaque(context).takeUnretainedValue()
        if kind == UInt32(SQLITE_TRACE_STMT) {
          box.began(OpaquePointer(statement))
        } else {
          box.ended(OpaquePointer(statement))
        }
        return 0
      }, Unmanaged.passUnretained(box).toOpaque())
    // Only now, when SQLite no longer knows the earlier one.
    traceBox = box
  }
}

/// The closure that is called for statements, and when those that are running began. The connection
/// owns it.
final class TraceBox {
  private let expandsValues: Bool
  private let body: (String, Int64) -> Void
  /// SQLite's own measure has steps of a millisecond.
  private var begun: [OpaquePointer: ContinuousClock.Instant] = [:]

  init(expandsValues: Bool, _ body: @escaping (String, Int64) -> Void) {
    self.expandsValues = expandsValues
    self.body = body
  }

  func began(_ statement: OpaquePointer) {
    // A trigger begins inside of its statement.
    if begun[statement] == nil { begun[statement] = .now }
  }

  func ended(_ statement: OpaquePointer) {
    let now = ContinuousClock.now
    let duration = begun.removeValue(forKey: statement).map { now - $0 } ?? .zero
    let text = expandsValues ? sqlite3_expanded_sql(statement) : nil
    defer { sqlite3_free(text) }
    let sql = (text.map { UnsafePointer($0) } ?? sqlite3_sql(statement)).map { String(cString: $0) }
    body(sql ?? "", Int64(clamping: MonotonicTime.nanoseconds(duration)))
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
