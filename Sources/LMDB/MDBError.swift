// The results of LMDB's calls, as errors.
//
// `recordNotFound` and `permissionDenied` are names for a `failure` with a certain code and any
// text, so that the text can describe what was missing or refused. Errors with the same code are
// equal.

internal import CLMDB
public import Foundation
@_exported public import StandardConformances
internal import Platform

/// An error of the storage engine.
///
/// Errors are equal if their codes are; the text may name the path, the database or the key.
///
///     do {
///       try transaction.delete(dbi: words, key: "kumquat")
///     } catch MDBError.recordNotFound { … }
public enum MDBError: MatchableError, Sendable {
  /// Bytes of an unexpected kind, such as a string that is not UTF-8.
  case problem
  /// The error code of LMDB or of the operating system, and a text that says what failed and where.
  ///
  /// A missing directory is `failure(2, …)`, a full map `failure(-30792, …)`.
  case failure(Int, String)

  /// There is no entry with that key (`MDB_NOTFOUND`).
  public static var recordNotFound: MDBError { MDBError(code: MDB_NOTFOUND) }

  /// A write in a read-only transaction, or a file that may not be used (`EACCES`).
  public static var permissionDenied: MDBError { MDBError(code: EACCES) }

  /// As many read-only transactions are open as the directory's lock file has slots for
  /// (`MDB_READERS_FULL`); see `Environment.setMaxReaders(_:)`.
  public static var readersFull: MDBError { MDBError(code: MDB_READERS_FULL) }

  /// A file of the environment was removed, moved or replaced while it was open, in this process or
  /// in another one that still has it open (`ESTALE`). Nothing of the transaction is stored.
  public static var fileReplaced: MDBError { MDBError(code: ESTALE) }

  /// The error for a code other than 0.
  ///
  /// - Parameters:
  ///   - code: The code.
  ///   - subject: The object of the call: a path, a database, a key.
  init(code: Int32, about subject: String? = nil) {
    let text = code == MDB_NOTFOUND ? "there is no such entry" : String(cString: mdb_strerror(code))
    self = .failure(Int(code), subject.map { "\(text): \($0)" } ?? text)
  }

  /// The error for a missing record.
  ///
  /// - Parameter text: The sentence that names the record.
  /// - Returns: An error that is equal to `recordNotFound`.
  package static func recordNotFound(_ text: String) -> MDBError {
    .failure(Int(MDB_NOTFOUND), text)
  }

  /// The error for a write in a read-only transaction.
  package static var readOnly: MDBError {
    .failure(Int(EACCES), "the transaction is read-only, so nothing can be written in it")
  }

  /// Throws unless a call succeeded.
  static func check(
    _ code: Int32, about subject: @autoclosure () -> String? = nil
  ) throws(MDBError) {
    if code != MDB_SUCCESS { throw MDBError(code: code, about: subject()) }
  }

  /// The error for a transaction that has ended, or a cursor of one.
  static var ended: MDBError {
    .failure(Int(MDB_BAD_TXN), "the transaction has ended, failed, or has an open child")
  }

  /// The error for an environment that was created but not opened, or could not be opened.
  static var notOpen: MDBError { .failure(Int(EINVAL), "the environment is not open") }

  /// The code; nil for `problem`.
  private var code: Int32? {
    if case .failure(let code, _) = self { Int32(exactly: code) } else { nil }
  }
}

extension MDBError: Hashable {
  /// Whether the codes are equal. Texts are not compared.
  public static func == (lhs: MDBError, rhs: MDBError) -> Bool { lhs.code == rhs.code }

  /// Hashes the code.
  ///
  /// - Parameter hasher: The hasher.
  public func hash(into hasher: inout Hasher) { hasher.combine(code) }
}

extension MDBError: LocalizedError, CustomStringConvertible {
  /// What failed, where, and what to do if that is known.
  public var description: String { sentence(problem, advice: recoverySuggestion) }

  private var problem: String {
    switch self {
    case .problem: "the stored bytes are not of the requested kind, such as text in UTF-8"
    case .failure(_, let text): text
    }
  }

  /// The same as ``description``.
  public var errorDescription: String? { description }

  /// What can be done about it, if that is known.
  public var recoverySuggestion: String? {
    switch code {
    case nil: "read the bytes with get(dbi:key:), which accepts any"
    case ENOENT:
      "create the directory first, for example with FileManager.createDirectory(at:withIntermediateDirectories:)"
    case ENOTDIR: "give the path of a directory; LMDB creates its files in it"
    case EACCES:
      "write in a transaction that is not read-only, and in a directory that this user may write to"
    case ENOSPC: "free space on the disk, and try again; nothing has been stored"
    case EIO:
      "free space on the disk if it is full, as LMDB reports that in this way, too; otherwise check it"
    case EINVAL:
      "use values above 0 and names without NUL, set the numbers of databases and readers before opening, open an environment before its first transaction, and begin no read-only child"
    case ENOMEM: "use a smaller map"
    case EBUSY: "end the open transactions first, begin again, and share what is open already"
    case MDB_NOTFOUND: "look the key up first, or catch MDBError.recordNotFound"
    case MDB_MAP_FULL: "open with a larger mapSize, or one that grows"
    case MDB_DBS_FULL: "open the environment with a larger maxDatabases"
    case MDB_MAP_RESIZED:
      "end the transactions that are open for long in this process, whose map has to grow with the file, or open with a mapSize that is larger from the start"
    case MDB_READERS_FULL:
      "end read-only transactions that are no longer needed, or open with a larger maxReaders"
    case ESTALE:
      "put the file back, or copy what is open to another directory, with copy(to:) or a store's backup(to:); replace files only while no process has the directory open"
    case EEXIST: "give the path of an empty directory"
    case MDB_BAD_VALSIZE:
      "use keys of 1 to 511 bytes; values of a database with duplicates likewise"
    case MDB_BAD_TXN: "use a transaction only inside its closure, and a parent after its child"
    case MDB_INVALID, MDB_CORRUPTED, MDB_PAGE_NOTFOUND:
      "the file is not an LMDB file, or it is damaged: restore a copy of data.mdb"
    case MDB_VERSION_MISMATCH:
      "another version of LMDB has the directory open or created its files: close it there first"
    default: nil
    }
  }
}
