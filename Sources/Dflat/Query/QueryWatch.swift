// QueryWatch: ends a query before its last row.

/// Decides between two rows whether a query must end: its read was cancelled, or a function has
/// failed. Most queries have none.
final class QueryWatch {
  private let cancellation: ReadCancellation?
  private let programs: [Program]
  private let schema: EntitySchema
  /// Where the failures of functions go if they do not end the query.
  private let tolerated: FunctionFailures?

  /// nil if nothing can end the query.
  init?(_ query: Query, _ programs: [Program]) {
    cancellation = ReadCancellation()
    self.programs = programs.filter { !$0.calls.isEmpty }
    if cancellation == nil, self.programs.isEmpty { return nil }
    schema = query.schema
    tolerated = query.failures
  }

  /// Whether the query must end now.
  var isOver: Bool {
    if cancellation?.isCancelled == true { return true }
    return tolerated == nil && programs.contains { !$0.failures.isEmpty }
  }

  /// Whether a function of the condition has failed for the last row, in a query that continues
  /// without the row.
  func leavesOutRow(_ condition: Program) -> Bool {
    guard let tolerated else { return false }
    return condition.failures.move(to: tolerated)
  }

  /// Throws why the query has ended.
  func check() throws {
    try cancellation?.check()
    for program in programs {
      guard let tolerated else {
        try program.throwFailure(schema)
        continue
      }
      _ = program.failures.move(to: tolerated)
    }
  }
}
