// SelectedRows: the rows of a statement that selects columns, within the offset and limit of its
// query.

import Dflat
import SQLiteAccess

/// Steps through the columns that a query selects.
struct SelectedRows: ~Copyable {
  /// The statement, at the row that `next()` has found.
  let statement: Statement
  private let table: String
  private let cancellation = ReadCancellation()
  private var skipped: Int
  private var remaining: Int

  /// - Parameters:
  ///   - statement: It has its constants.
  ///   - query: The query.
  ///   - most: Of how many rows it steps through at most, if the query has no limit.
  init(_ statement: Statement, of query: Query, atMost most: Int = .max) {
    self.statement = statement
    table = query.schema.table
    skipped = query.offset
    remaining = query.limit ?? most
  }

  /// Advances to the next row.
  /// - Returns: False after the last row, or if the read's task was cancelled.
  @inline(__always)
  mutating func next() throws(SQLiteError) -> Bool {
    while remaining > 0, cancellation?.isCancelled != true, try statement.step(of: table) {
      if skipped == 0 {
        remaining &-= 1
        return true
      }
      skipped &-= 1
    }
    return false
  }

  /// Whether as many rows were found as are wanted at most.
  var isAtLimit: Bool { remaining == 0 }

  /// Throws `CancellationError` if the read's task was cancelled.
  func check() throws { try cancellation?.check() }
}
