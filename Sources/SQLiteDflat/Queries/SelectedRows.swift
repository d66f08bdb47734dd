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

  /// - Parameter statement: It has its constants.
  init(_ statement: Statement, of query: Query) {
    self.statement = statement
    table = query.schema.table
    skipped = query.offset
    remaining = query.limit ?? .max
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

  /// Throws `CancellationError` if the read's task was cancelled.
  func check() throws { try cancellation?.check() }
}
