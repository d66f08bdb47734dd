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
