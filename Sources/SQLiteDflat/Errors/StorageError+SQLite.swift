// Converts SQLite's errors to storage errors.

import Dflat
import SQLiteAccess

extension StorageError {
  init(
    _ error: SQLiteError, table: String? = nil, rowid: Int64? = nil, key: String? = nil
  ) {
    if let place = StorageError(readingDirectory: error) ?? StorageError(withoutDescriptors: error)
    {
      self = place
      return
    }
    if let key, error.isUniqueConstraint || error.isPrimaryKeyConstraint {
      // SQLite's message names internal columns, which the user has never seen.
      self.init(
        .alreadyExists, table: table, rowid: rowid, key: key,
        message: "another object has it already", underlying: error, path: error.path)
      return
    }
    let cause: Cause =
      if error.isUniqueConstraint || error.isPrimaryKeyConstraint {
        .alreadyExists
      } else if error.isDiskFull {
        .diskFull
      } else if error.isBusy || error.isLocked {
        .busy
      } else if error.isCorrupt {
        .corruptFile
      } else if error.isCantOpen || error.code == .format {
        .cannotOpen
      } else if error.isFileReplaced {
        .fileReplaced
      } else if error.isReadOnly {
        .readOnly
      } else if error.isClosed {
        .closed
      } else {
        .other
      }
    let advice =
      switch error.code {
      case .format: error.recoverySuggestion
      default: cause == .corruptFile ? error.path.flatMap(KnownFiles.advice) : nil
      }
    self.init(
      cause, table: table, rowid: rowid, key: key, message: error.message,
      details: "code \(error.extendedCode)" + (error.sql.map { ", in: \($0)" } ?? ""),
      underlying: error, path: error.path,
      advice: advice)
  }
}

/// Calls `body` and converts SQLite errors that it throws to storage errors.
func withStorageErrors<R: ~Copyable>(
  table: @autoclosure () -> String? = nil, rowid: Int64? = nil,
  key: @autoclosure () -> String? = nil, _ body: () throws -> R
) throws -> R {
  do { return try body() } catch let error as SQLiteError {
    throw StorageError(error, table: table(), rowid: rowid, key: key())
  }
}
