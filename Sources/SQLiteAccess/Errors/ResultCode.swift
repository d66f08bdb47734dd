// Result codes: SQLite's primary codes, and a few of this library's own.
//
// SQLite's codes are positive. The library's own are negative, so they never collide with one of
// SQLite's, present or future.

import CSQLite

/// One of SQLite's primary result codes, or one of this library's own.
///
/// SQLite's codes have the positive raw values listed at <https://sqlite.org/rescode.html>. This
/// library's codes have negative ones.
public struct ResultCode: RawRepresentable, Hashable, Sendable {
  /// The number: SQLite's if positive, this library's if negative.
  public let rawValue: Int32

  /// Creates a code from its number.
  public init(rawValue: Int32) { self.rawValue = rawValue }

  /// A general error: usually faulty SQL, or an error thrown by a function.
  public static let error = ResultCode(rawValue: SQLITE_ERROR)
  /// An inconsistency inside SQLite.
  public static let `internal` = ResultCode(rawValue: SQLITE_INTERNAL)
  /// The file system forbids the access.
  public static let permission = ResultCode(rawValue: SQLITE_PERM)
  /// The operation was stopped by a callback or by a rollback.
  public static let abort = ResultCode(rawValue: SQLITE_ABORT)
  /// Another connection held a lock for longer than the busy timeout.
  public static let busy = ResultCode(rawValue: SQLITE_BUSY)
  /// The same connection, or one that shares its cache, holds a conflicting lock.
  public static let locked = ResultCode(rawValue: SQLITE_LOCKED)
  /// Memory ran out.
  public static let outOfMemory = ResultCode(rawValue: SQLITE_NOMEM)
  /// The database or the connection is read-only.
  public static let readOnly = ResultCode(rawValue: SQLITE_READONLY)
  /// The work was interrupted.
  public static let interrupt = ResultCode(rawValue: SQLITE_INTERRUPT)
  /// The operating system reported an input or output error.
  public static let io = ResultCode(rawValue: SQLITE_IOERR)
  /// The file is damaged.
  public static let corrupt = ResultCode(rawValue: SQLITE_CORRUPT)
  /// The disk is full.
  public static let full = ResultCode(rawValue: SQLITE_FULL)
  /// The file cannot be opened.
  public static let cantOpen = ResultCode(rawValue: SQLITE_CANTOPEN)
  /// The locking protocol of the write-ahead log failed.
  public static let `protocol` = ResultCode(rawValue: SQLITE_PROTOCOL)
  /// The schema changed during a statement, too often to retry.
  public static let schema = ResultCode(rawValue: SQLITE_SCHEMA)
  /// A text or a blob is longer than SQLite's limit.
  public static let tooBig = ResultCode(rawValue: SQLITE_TOOBIG)
  /// A constraint was violated.
  public static let constraint = ResultCode(rawValue: SQLITE_CONSTRAINT)
  /// A value has the wrong type, such as a row id that is not an integer.
  public static let mismatch = ResultCode(rawValue: SQLITE_MISMATCH)
  /// The library was used incorrectly.
  public static let misuse = ResultCode(rawValue: SQLITE_MISUSE)
  /// An authorizer forbids the statement.
  public static let auth = ResultCode(rawValue: SQLITE_AUTH)
  /// A parameter or column number is out of range.
  public static let range = ResultCode(rawValue: SQLITE_RANGE)
  /// The file is not a database.
  public static let notADatabase = ResultCode(rawValue: SQLITE_NOTADB)
  /// The file has a form that cannot be used.
  public static let format = ResultCode(rawValue: SQLITE_FORMAT)

  /// A pragma did not take the requested value.
  public static let pragmaRefused = ResultCode(rawValue: -1)
  /// The connection, or the pool, is closed.
  public static let closed = ResultCode(rawValue: -2)
  /// No reader became free within the given time.
  public static let timedOut = ResultCode(rawValue: -3)
  /// The file, or the write-ahead log beside it, was removed, moved or replaced while it was open.
  public static let fileReplaced = ResultCode(rawValue: -4)
}

extension ResultCode: CustomStringConvertible {
  /// The name of the code, such as `SQLITE_BUSY`; the number if the code is not listed here.
  public var description: String {
    Self.names[rawValue] ?? "result code \(rawValue)"
  }

  /// The name of an extended code, or of its primary code if it is not listed.
  static func name(extended code: Int32) -> String {
    names[code] ?? ResultCode(rawValue: code > 0 ? code & 0xff : code).description
  }

  private static let names: [Int32: String] = [
    SQLITE_OK: "SQLITE_OK", SQLITE_ERROR: "SQLITE_ERROR", SQLITE_INTERNAL: "SQLITE_INTERNAL",
    SQLITE_PERM: "SQLITE_PERM", SQLITE_ABORT: "SQLITE_ABORT", SQLITE_BUSY: "SQLITE_BUSY",
    SQLITE_LOCKED: "SQLITE_LOCKED", SQLITE_NOMEM: "SQLITE_NOMEM",
    SQLITE_READONLY: "SQLITE_READONLY", SQLITE_INTERRUPT: "SQLITE_INTERRUPT",
    SQLITE_IOERR: "SQLITE_IOERR", SQLITE_CORRUPT: "SQLITE_CORRUPT",
    SQLITE_NOTFOUND: "SQLITE_NOTFOUND", SQLITE_FULL: "SQLITE_FULL",
    SQLITE_CANTOPEN: "SQLITE_CANTOPEN", SQLITE_PROTOCOL: "SQLITE_PROTOCOL",
    SQLITE_SCHEMA: "SQLITE_SCHEMA", SQLITE_TOOBIG: "SQLITE_TOOBIG",
    SQLITE_CONSTRAINT: "SQLITE_CONSTRAINT", SQLITE_MISMATCH: "SQLITE_MISMATCH",
    SQLITE_MISUSE: "SQLITE_MISUSE", SQLITE_NOLFS: "SQLITE_NOLFS", SQLITE_AUTH: "SQLITE_AUTH",
    SQLITE_RANGE: "SQLITE_RANGE", SQLITE_FORMAT: "SQLITE_FORMAT",
    SQLITE_NOTADB: "SQLITE_NOTADB",
    Extended.busyRecovery: "SQLITE_BUSY_RECOVERY", Extended.busySnapshot: "SQLITE_BUSY_SNAPSHOT",
    Extended.constraintCheck: "SQLITE_CONSTRAINT_CHECK",
    Extended.constraintForeignKey: "SQLITE_CONSTRAINT_FOREIGNKEY",
    Extended.constraintNotNull: "SQLITE_CONSTRAINT_NOTNULL",
    Extended.constraintPrimaryKey: "SQLITE_CONSTRAINT_PRIMARYKEY",
    Extended.constraintUnique: "SQLITE_CONSTRAINT_UNIQUE",
    Extended.constraintRowID: "SQLITE_CONSTRAINT_ROWID",
    Extended.readOnlyRollback: "SQLITE_READONLY_ROLLBACK",
    Extended.cantOpenIsDirectory: "SQLITE_CANTOPEN_ISDIR",
    pragmaRefused.rawValue: "pragma refused", closed.rawValue: "closed",
    timedOut.rawValue: "timed out", fileReplaced.rawValue: "file replaced",
  ]

  /// Extended codes, which SQLite's header builds with macros that Swift cannot import.
  enum Extended {
    static let busyRecovery = SQLITE_BUSY | (1 << 8)
    static let busySnapshot = SQLITE_BUSY | (2 << 8)
    static let constraintCheck = SQLITE_CONSTRAINT | (1 << 8)
    static let constraintForeignKey = SQLITE_CONSTRAINT | (3 << 8)
    static let constraintNotNull = SQLITE_CONSTRAINT | (5 << 8)
    static let constraintPrimaryKey = SQLITE_CONSTRAINT | (6 << 8)
    static let constraintUnique = SQLITE_CONSTRAINT | (8 << 8)
    static let constraintRowID = SQLITE_CONSTRAINT | (10 << 8)
    static let constraintCommitHook = SQLITE_CONSTRAINT | (2 << 8)
    static let shortRead = SQLITE_IOERR | (2 << 8)
    static let readOnlyRollback = SQLITE_READONLY | (3 << 8)
    static let cantOpenIsDirectory = SQLITE_CANTOPEN | (2 << 8)
  }
}
