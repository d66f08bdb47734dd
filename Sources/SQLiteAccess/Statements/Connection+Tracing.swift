// Observing a connection: query plans, and the statements it runs.

import CSQLite
import Platform

/// One line of a statement's query plan.
public struct QueryPlanRow: Hashable, Sendable {
  /// The number of this line.
  public let id: Int
  /// The number of the parent line; 0 at the top.
  public let parent: Int
  /// The step, such as `SEARCH note USING INDEX note_date (date>?)`.
  public let detail: String
}

extension Connection {
  /// The query plan of a statement, as `EXPLAIN QUERY PLAN` returns it.
  ///
  /// - Parameters:
  ///   - sql: One statement. It is not run.
  ///   - values: Values for its parameters, on which the plan may depend; those left out are
  ///     `NULL`.
  public func explainQueryPlan(
    _ sql: String, _ values: [SQLValue] = []
  ) throws(SQLiteError) -> [QueryPlanRow] {
    let statement = try statement("EXPLAIN QUERY PLAN " + sql)
    let missing = max(0, statement.parameterCount - values.count)
    try statement.bind(values + Array(repeating: .null, count: missing))
    return try statement.rows().map { row in
      QueryPlanRow(
        id: Int(row[0].integer ?? 0), parent: Int(row[1].integer ?? 0), detail: row[3].text ?? "")
    }
  }

  /// Sets a closure that is called when a statement ends; nil removes it.
  ///
  /// - Parameters:
  ///   - expandsValues: Whether the SQL includes the values of parameters. The cost grows with
  ///     their length.
  ///   - body: Called on the connection's thread with the statement's SQL and the time in
  ///     nanoseconds from its first step to its end, including the program's own work between
  ///     steps. It must not use the connection.
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
    // Released only now, when SQLite no longer refers to the earlier one.
    traceBox = box
  }
}

/// The tracing closure, and the start times of running statements. The connection owns it.
final class TraceBox {
  private let expandsValues: Bool
  private let body: (String, Int64) -> Void
  /// Whether statements are passed over.
  var isPaused = false
  /// SQLite's own measurement has a resolution of one millisecond.
  private var begun: [OpaquePointer: ContinuousClock.Instant] = [:]

  init(expandsValues: Bool, _ body: @escaping (String, Int64) -> Void) {
    self.expandsValues = expandsValues
    self.body = body
  }

  func began(_ statement: OpaquePointer) {
    // A trigger begins inside its statement.
    if !isPaused, begun[statement] == nil { begun[statement] = .now }
  }

  func ended(_ statement: OpaquePointer) {
    if isPaused { return }
    let now = ContinuousClock.now
    let duration = begun.removeValue(forKey: statement).map { now - $0 } ?? .zero
    let text = expandsValues ? sqlite3_expanded_sql(statement) : nil
    defer { sqlite3_free(text) }
    let sql = (text.map { UnsafePointer($0) } ?? sqlite3_sql(statement)).map { String(cString: $0) }
    body(sql ?? "", Int64(clamping: MonotonicTime.nanoseconds(duration)))
  }
}

extension Sequence<QueryPlanRow> {
  /// The plan as a tree, one line per step.
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
