// The one error type of this library.
//
// An error is a value: everything is copied from SQLite when it occurs, so it stays valid after the
// connection is used again or closed.

import CSQLite

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif
import Platform

/// A failure reported by SQLite or by this library.
///
///     do {
///       try insert.run()
///     } catch where error.isUniqueConstraint {
///       …
///     }
public struct SQLiteError: LocalizedError, Hashable, Sendable {
  /// SQLite's primary result code, or one of this library's.
  public var code: ResultCode
  /// SQLite's extended result code; the primary one if there is no extended one.
  public var extendedCode: Int32
  /// SQLite's message, in English.
  public var message: String
  /// The statement that failed, if there was one.
  public var sql: String?
  /// The path of the database file, as given when it was opened.
  public var path: String?
  /// The operating system's error number, when a file could not be opened; otherwise 0.
  public var systemErrorNumber: Int32

  /// Creates an error.
  public init(
    code: ResultCode, extendedCode: Int32? = nil, message: String, sql: String? = nil,
    path: String? = nil, systemErrorNumber: Int32 = 0
  ) {
    self.code = code
    self.extendedCode = extendedCode ?? code.rawValue
    self.message = message
    self.sql = sql
    self.path = path
    self.systemErrorNumber = systemErrorNumber
  }
}

// MARK: - Classification

extension SQLiteError {
  /// Another connection held a lock for longer than the busy timeout.
  public var isBusy: Bool { code == .busy }

  /// A read transaction that wants to write has an outdated view. It has to be started again.
  public var isBusySnapshot: Bool { extendedCode == ResultCode.Extended.busySnapshot }

  /// The same connection, or one that shares its cache, holds a conflicting lock.
  public var isLocked: Bool { code == .locked }

  /// A constraint of any kind was violated.
  public var isConstraint: Bool { code == .constraint }

  /// A `UNIQUE` constraint was violated, including that of a primary key.
  public var isUniqueConstraint: Bool {
    extendedCode == ResultCode.Extended.constraintUnique || isPrimaryKeyConstraint
  }

  /// The constraint of a primary key, or of a row id, was violated.
  public var isPrimaryKeyConstraint: Bool {
    extendedCode == ResultCode.Extended.constraintPrimaryKey
      || extendedCode == ResultCode.Extended.constraintRowID
  }

  /// A `NOT NULL` constraint was violated.
  public var isNotNullConstraint: Bool {
    extendedCode == ResultCode.Extended.constraintNotNull
  }

  /// The disk is full, or the database has reached its page limit.
  public var isDiskFull: Bool { code == .full }

  /// The file is damaged, or is not a database.
  public var isCorrupt: Bool { code == .corrupt || code == .notADatabase }

  /// The database, the file system or the connection does not allow writing.
  public var isReadOnly: Bool { code == .readOnly }

  /// A crash left a rollback journal, which a reading connection may not roll back. The first use
  /// by a writing connection does so.
  public var needsRollback: Bool { extendedCode == ResultCode.Extended.readOnlyRollback }

  /// The file could not be opened, for whatever reason.
  public var isCantOpen: Bool { code == .cantOpen }

  /// The process, or the system, has no file descriptor left.
  package var isOutOfDescriptors: Bool {
    code == .cantOpen && (systemErrorNumber == EMFILE || systemErrorNumber == ENFILE)
  }

  /// The file does not exist, and the open mode does not create it.
  public var isNoSuchFile: Bool { code == .cantOpen && systemErrorNumber == ENOENT }

  /// The operating system reported an input or output error.
  public var isInputOutput: Bool { code == .io }

  /// The work was interrupted.
  public var isInterrupted: Bool { code == .interrupt }

  /// The file, or the write-ahead log beside it, was removed, moved or replaced while it was open.
  public var isFileReplaced: Bool { code == .fileReplaced }

  /// The connection or the pool is closed.
  public var isClosed: Bool { code == .closed }
}

// MARK: - Description

extension SQLiteError: CustomStringConvertible {
  /// What happened, where, and what to do about it if that is known.
  public var description: String {
    let name = code.rawValue < 0 ? code.description : ResultCode.name(extended: extendedCode)
    var text = "\(name): \(message)"
    if let cause { text += ": \(cause)" }
    if let recoverySuggestion { text += "; \(recoverySuggestion)" }
    if let sql { text += "\n  statement: \(sql)" }
    if let path { text += "\n  database: \(path)" }
    return text
  }

  /// The same as ``description``.
  public var errorDescription: String? { description }

  /// What to do; nil if nothing is known to help.
  public var recoverySuggestion: String? {
    switch code {
    case .busy where isBusySnapshot: "roll back and begin again"
    case .busy: "commit sooner on the other connection, or raise the busy timeout"
    case .locked: "end the statement or transaction that is in the way"
    case .readOnly: "open with a mode that writes, on a file and a directory that are writable"
    case .cantOpen, .permission, .auth:
      "check that the path is right, and that this process may use the file and its directory"
    case .notADatabase: "check that it is the right file"
    case .format: "make a copy with 'sqlite3 OLD .dump | sqlite3 NEW', and open that"
    case .corrupt: "run PRAGMA integrity_check, and restore a backup"
    case .full: "free some space"
    case .constraint: "give the row other values, or change the one that is in the way"
    case .closed: "use it before it is closed, or open another one"
    case .timedOut: "end reading sooner, or allow more readers"
    case .fileReplaced:
      "put it back, or copy what this connection has open with backup(to:), close the connection, and open the right file"
    default: nil
    }
  }

  /// The cause, where SQLite's message does not name it.
  private var cause: String? {
    switch code {
    case .busy where isBusySnapshot: "the transaction read before another connection committed"
    case .busy: "another connection holds the lock"
    case .cantOpen where isNoSuchFile: "the file does not exist"
    case .cantOpen where systemErrorNumber != 0:
      "the operating system says: \(String(cString: strerror(systemErrorNumber)))"
    case .notADatabase: "the file is encrypted, or something else than an SQLite database"
    default: nil
    }
  }
}

// MARK: - Creation from a connection

extension SQLiteError {
  /// The error of the call that just returned `result`.
  ///
  /// - Parameter database: The connection on which the call was made; nil if there is none.
  init(result: Int32, database: OpaquePointer?, sql: String? = nil, path: String? = nil) {
    var extended = result
    var message = String(cString: sqlite3_errstr(result))
    // Some calls (misuse, for one) return a code without recording it in the connection. The
    // connection's message would then be that of an earlier failure.
    if let database, sqlite3_errcode(database) & 0xff == result & 0xff {
      extended = sqlite3_extended_errcode(database)
      message = String(cString: sqlite3_errmsg(database))
      if let sql {
        let offset = Int(sqlite3_error_offset(database))
        if offset >= 0 && offset <= sql.utf8.count { message += ", at byte \(offset)" }
      }
    }
    self.init(
      code: ResultCode(rawValue: result & 0xff), extendedCode: extended, message: message,
      sql: sql, path: path)
    // SQLite's message is that of a file which cannot be opened for any other reason.
    if code == .cantOpen, let number = database.map(sqlite3_system_errno),
      number == EMFILE || number == ENFILE
    {
      systemErrorNumber = number
    }
  }
}
