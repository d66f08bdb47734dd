// Converts PostgreSQL's errors to storage errors.

import Dflat
import Platform

extension StorageError {
  init(
    _ error: PostgresError, table: String? = nil, rowid: Int64? = nil, isWriting: Bool = false
  ) {
    let cause: Cause
    var advice: String?
    var message = error.message
    var isWithinWorkspace = false
    var isLostConnection = false
    if error.isConflict || error.isInFailedTransaction {
      cause = .conflict
      if error.isBesideLongTransaction { advice = error.recoverySuggestion }
    } else if error.isTransactionTimeout {
      // To run it again would take as long.
      cause = .busy
      message += isWriting ? "; nothing of the transaction was stored" : ""
      advice = error.recoverySuggestion
    } else if error.isShared, !error.isUnknownOutcome {
      cause = .conflict
      isWithinWorkspace = true
      message = "a transaction with which this one shares its commit has failed: " + message
    } else if error.isUnknownOutcome {
      // Nothing of a transaction without its COMMIT is stored, and `WriteSession` has found out
      // what became of a COMMIT: so it may run again.
      cause = isWriting ? .conflict : .busy
      message =
        (error.isConnectionLost ? "the connection to the server was lost: " : "") + message
        + (isWriting ? "; nothing of the transaction was stored" : "")
      advice = isWriting ? nil : "read again: a new connection is made"
      isLostConnection = error.isConnectionLost && !isWriting
    } else if error.isTimeout {
      cause = .busy
    } else if error.isMissingRow {
      cause = .missing
    } else if error.state == "53100" {
      cause = .diskFull
    } else if error.state == "25006" {
      cause = .readOnly
      advice =
        "connect to the primary, if the server is a standby; otherwise turn "
        + "default_transaction_read_only off for the role and the database (ALTER ROLE … SET "
        + "default_transaction_read_only = off), or set isReadOnly if the program only reads"
    } else if error.isRefusal {
      cause = .readOnly
      advice =
        "grant the role what it needs, as PostgresWorkspace.grants(to:for:) lists it; let a role "
        + "that may create tables call prepare"
    } else if error.isMissingTable {
      cause = .other
      advice =
        "tables, or their PostgreSQL schema, were dropped or renamed while the workspace was open: "
        + "restore them, or make empty ones with 'dflat prepare', and open the workspace again"
    } else if error.state == "XX001" || error.state == "XX002" {
      cause = .corruptFile
    } else {
      cause = .other
      advice = error.recoverySuggestion
    }
    let failure = StorageError(
      cause, table: error.table ?? table, rowid: error.table == nil ? rowid : error.rowid,
      message: message,
      details: error.context, underlying: error, advice: advice)
    self =
      isWithinWorkspace
      ? failure.withinWorkspace() : isLostConnection ? failure.byLostConnection() : failure
  }
}

/// Calls `body` and converts PostgreSQL errors that it throws to storage errors.
/// - Parameter isWriting: Whether a write transaction is open that was not committed.
func withStorageErrors<R: ~Copyable>(
  table: @autoclosure () -> String? = nil, rowid: Int64? = nil, isWriting: Bool = false,
  _ body: () throws -> R
) throws -> R {
  do { return try body() } catch let error as PostgresError {
    throw StorageError(error, table: table(), rowid: rowid, isWriting: isWriting)
  }
}
