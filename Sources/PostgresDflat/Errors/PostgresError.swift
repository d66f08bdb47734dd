// PostgresError: what the server, or the client library, has answered.

import CPostgres
import Platform
public import Foundation
import StandardConformances

/// An error of the server, or of the connection to it.
public struct PostgresError: LocalizedError, Sendable, CustomStringConvertible {
  /// The SQLSTATE, five characters; empty if the client library itself reports the error.
  public let state: String
  /// What the server says.
  public let message: String
  /// What the server says in addition.
  public let detail: String?
  /// What the server advises.
  public let hint: String?
  /// The statement that failed; nil if there was none.
  public let sql: String?
  /// Whether the connection cannot be used any more.
  public let isConnectionLost: Bool
  /// The table and row of the statement, if a later call has got the error.
  var table: String?
  var rowid: Int64?
  /// Whether transactions that share a commit have failed with it, and it is not known which of
  /// them is the reason.
  var isShared = false

  init(
    state: String, message: String, detail: String? = nil, hint: String? = nil,
    sql: String? = nil, isConnectionLost: Bool
  ) {
    self.state = state
    self.message = message
    self.detail = detail
    self.hint = hint
    self.sql = sql
    self.isConnectionLost = isConnectionLost
  }

  /// The error of a result.
  init(_ result: OpaquePointer?, _ connection: OpaquePointer, sql: String?) {
    func field(_ code: Int32) -> String? { result.flatMap { Self.field($0, code) } }
    let state = field(cpostgres_field_sqlstate)
    let text = field(cpostgres_field_message) ?? String(cString: PQerrorMessage(connection))
    self.init(
      state: state ?? "", message: text.trimmingNewlines,
      detail: field(cpostgres_field_detail), hint: field(cpostgres_field_hint), sql: sql,
      // An error without a code is not the server's.
      isConnectionLost: PQstatus(connection) == CONNECTION_BAD || (state ?? "").isEmpty
        || result.map(Self.endsConnection) == true)
  }

  private static func field(_ result: OpaquePointer, _ code: Int32) -> String? {
    PQresultErrorField(result, code).map { String(cString: $0) }
  }

  /// Whether the server ends the connection with an error or a notice.
  static func endsConnection(_ result: OpaquePointer) -> Bool {
    let state = field(result, cpostgres_field_sqlstate) ?? ""
    return ["FATAL", "PANIC"].contains(field(result, severity)) || state.hasPrefix("57P0")
      || state.hasPrefix("08")
  }

  /// The field of a result that has the kind of error, in English: `PG_DIAG_SEVERITY_NONLOCALIZED`.
  private static let severity = Int32(UInt8(ascii: "V"))

  /// Whether transactions of other connections are the reason: the same transaction may succeed
  /// when it runs again.
  ///
  /// A violated unique index is among them: what a transaction can see is looked up before it
  /// writes, so the other row belongs to a transaction that it cannot see.
  public var isConflict: Bool { state == "40001" || state == "40P01" || state == "23505" }

  /// Whether the server has refused the transaction only because it cannot remember all that were
  /// committed since a long one has begun: see "Transactions" in Growing.md.
  var isBesideLongTransaction: Bool {
    state == "40001" && ["old pivot", "old committed"].contains { detail?.contains($0) == true }
  }

  /// Whether an earlier error has ended the transaction, which now refuses all statements. The same
  /// transaction may succeed when it runs again, if that error allows it.
  var isInFailedTransaction: Bool { state == "25P02" }

  /// The server has answered COMMIT with ROLLBACK.
  static let rolledBack = PostgresError(
    state: "25P02", message: "the server has rolled the transaction back", isConnectionLost: false)

  /// A connection to a standby leads to a primary.
  static let promoted = PostgresError(
    state: "", message: "the standby has become the primary", isConnectionLost: true)

  /// An update has found no row.
  static let missingRow = PostgresError(
    state: "P0002", message: "there is no such row to update", isConnectionLost: false)

  /// The values of a statement are too large together. It was not sent.
  static func tooLarge(_ bytes: Int, _ sql: String) -> PostgresError {
    PostgresError(
      state: "54000",
      message: "the values have \(bytes) bytes together, and the server takes at most a gigabyte: "
        + "an object counts with the texts of its keys and indexes",
      sql: sql, isConnectionLost: false)
  }

  var isMissingRow: Bool { state == "P0002" }

  /// Whether a lock was not granted in time, or a statement took too long.
  public var isTimeout: Bool { state == "55P03" || state == "57014" }

  /// Whether the server has ended the session, since its transaction took too long, or had nothing
  /// to do for too long.
  var isTransactionTimeout: Bool { state == "25P03" || state == "25P04" }

  /// Whether a statement was ended by a limit of time, or by an operator.
  var isCancelled: Bool { state == "57014" }

  /// Whether the server may have committed the transaction, or not.
  var isUnknownOutcome: Bool { isConnectionLost || state == "40003" }

  /// The error of a COMMIT that was answered with a warning.
  static func unknownOutcome(_ warning: String) -> PostgresError {
    PostgresError(state: "40003", message: warning, isConnectionLost: false)
  }

  /// Whether a notice is a warning without a code of its own.
  static func isUnspecificWarning(_ notice: OpaquePointer) -> Bool {
    field(notice, cpostgres_field_sqlstate) == "01000"
  }

  /// The text of a notice.
  static func message(of notice: OpaquePointer) -> String {
    field(notice, cpostgres_field_message) ?? ""
  }

  /// Whether a table, or the PostgreSQL schema, does not exist.
  var isMissingTable: Bool { state == "42P01" || state == "3F000" }

  /// Whether the role may not do this.
  var isRefusal: Bool { state == "42501" }

  /// One line with all that is known, and what to do where that is known.
  public var description: String { sentence(problem, advice: recoverySuggestion) }

  /// The same as ``description``.
  public var errorDescription: String? { description }

  /// What can be done about it.
  public var recoverySuggestion: String? {
    if isBesideLongTransaction {
      return "end the transaction that another connection keeps open (pg_stat_activity shows "
        + "xact_start), and run this one again; idle_in_transaction_session_timeout ends such ones"
    }
    if isConflict { return "run the transaction again" }
    if isTimeout { return "end what holds the lock, or allow the statement more time" }
    if isTransactionTimeout {
      return "do less between the statements of a transaction, or allow the role more time "
        + "(idle_in_transaction_session_timeout, transaction_timeout)"
    }
    if isRefusal { return "grant the role what the message names" }
    if state.hasPrefix("28") { return "check the user, the password and pg_hba.conf" }
    if let hint { return "the server advises: \(hint.shortened)" }
    if state == "54000" { return "store large texts and bytes in parts, and index no long texts" }
    if state.hasPrefix("53") { return "free disk space, memory or connections of the server" }
    if isConnectionLost { return "check that the server runs and can be reached" }
    return nil
  }

  /// The statement, where it helps to see it: a refusal names what is refused. A long one is cut.
  private var shownSQL: String? {
    isRefusal || sql?.isEmpty != false ? nil : sql?.shortened
  }

  /// The code, the detail and the statement, as far as they are known:
  /// `SQLSTATE 42601, in: SELEC 1`.
  var context: String? { context(with: detail) }

  private func context(with detail: String?) -> String? {
    let code = state.isEmpty ? nil : "SQLSTATE \(state)"
    let reason = [code, detail?.shortened].compactMap(\.self).joined(separator: ": ")
    let parts = [reason, shownSQL.map { "in: \($0)" } ?? ""].filter { !$0.isEmpty }
    return parts.isEmpty ? nil : parts.joined(separator: ", ")
  }

  private var problem: String {
    message + (detail.map { " (\($0.shortened))" } ?? "")
      + (context(with: nil).map { ", \($0)" } ?? "")
  }
}

extension String {
  /// The text without the newlines at its end.
  var trimmingNewlines: String {
    var text = self[...]
    while text.last?.isNewline == true { text.removeLast() }
    return String(text)
  }
}
