// What FTS5's errors mean.

import SQLiteAccess

extension SQLiteError {
  /// Whether FTS5 may have found that its tables are damaged or missing. It has no constraints that
  /// a text could violate, so a violated one is that of a table in which it keeps the index.
  var mayBeDamage: Bool { (isCorrupt || code == .error || isConstraint) && !isMissingModule }

  /// Whether this SQLite has no FTS5, or an older one without the tokenizer.
  var isMissingModule: Bool {
    code == .error
      && (message.contains("no such module") || message.contains("no such tokenizer"))
  }
}

extension FullTextTable {
  /// Does what a damaged table may refuse, or a SQLite without FTS5. All other errors are thrown:
  /// after some of them SQLite has rolled back the transaction, and nothing more may be written.
  /// - Returns: nil if it was refused.
  func unlessRefused<R>(_ body: () throws(SQLiteError) -> R) throws(SQLiteError) -> R? {
    do { return try body() } catch {
      guard error.mayBeDamage || error.isMissingModule else { throw error }
      return nil
    }
  }
}
