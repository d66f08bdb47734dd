// SQLite's errors as errors of a storage.

import Dflat
import SQLiteAccess

extension StorageError {
  init(
    _ error: SQLiteError, table: String? = nil, rowid: Int64? = nil, key: String? = nil
  ) {
    let cause: Cause =
      if error.isUniqueConstraint || error.isPrimaryKeyConstraint {
        .alreadyExists
      } else if error.isDiskFull {
        .diskFull
      } else if error.isBusy || error.isLocked {
        .busy
      } else if error.isCorrupt {
        .corruptFile
      } else if error.isCantOpen {
        .cannotOpen
      } else if error.isReadOnly {
        .readOnly
      } else if error.isClosed {
        .closed
      } else {
        .other
      }
    self.init(
      cause, table: table, rowid: rowid, key: key, code: error.extendedCode,
      message: error.message, statement: error.sql, path: error.path)
  }
}

/// Runs calls of SQLite and turns what they throw into errors of the storage.
func withStorageErrors<R: ~Copyable>(
  table: @autoclosure () -> String? = nil, rowid: Int64? = nil,
  key: @autoclosure () -> String? = nil, _ body: () throws -> R
) throws -> R {
  do { return try body() } catch let error as SQLiteError {
    throw StorageError(error, table: table(), rowid: rowid, key: key())
  }
}
