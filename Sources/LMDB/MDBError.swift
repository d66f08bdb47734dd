// What LMDB's calls answer, as errors.
//
// Two errors have names of their own that stand for a code with any text, so that a text can say what was missing or refused:
// `recordNotFound` and `permissionDenied` are `failure`s. Errors with the same code are equal.

internal import CLMDB
public import Foundation
@_exported public import StandardConformances
internal import Platform

/// An error of the storage engine.
///
/// Errors are equal if their codes are; the text may name the path, the database or the key.
///
///     do { try transaction.delete(dbi: words, key: "kumquat") } catch MDBError.recordNotFound { … }
public enum MDBError: MatchableError, Sendable {
  /// Bytes that were expected to be something else, such as a string that is not UTF-8.
  case problem
  /// The code of LMDB or of the operating system, and a text that says what has failed and where.
  ///
  /// A missing directory is `failure(2, …)`, a full map `failure(-30792, …)`.
  case failure(Int, String)

  /// There is no entry with that key (`MDB_NOTFOUND`).
  public static var recordNotFound: MDBError { MDBError(code: MDB_NOTFOUND) }

  /// A write in a read-only transaction, or a file that may not be used (`EACCES`).
  public static var permissionDenied: MDBError { MDBError(code: EACCES) }

  /// The error for a code other than 0.
  ///
  /// - Parameters:
  ///   - code: The code.
  ///   - subject: What the call was about: a path, a database, a key.
  init(code: Int32, about subject: String? = nil) {
    let text = code == MDB_NOTFOUND ? "there is no such entry" : String(cString: mdb_strerror(code))
    self = .failure(Int(code), subject.map { "\(text): \($0)" } ?? text)
  }

  /// The error of a record that is missing.
  ///
  /// - Parameter text: The sentence that says which.
  /// - Returns: An error that is equal to `recordNotFound`.
  package static func recordNotFound(_ text: String) -> MDBError {
    .failure(Int(MDB_NOTFOUND), text)
  }

  /// The error of a write in a transaction that reads.
  package static var readOnly: MDBError {
    .failure(Int(EACCES), "the transaction is read-only, so nothing can be written in it")
  }

  /// Throws unless a call has succeeded.
  static func check(
    _ code: Int32, about subject: @autoclosure () -> String? = nil
  ) throws(MDBError) {
    if code != MDB_SUCCESS { throw MDBError(code: code, about: subject()) }
  }

  /// A transaction, or a cursor of one, that has ended.
  static var ended: MDBError {
    .failure(Int(MDB_BAD_TXN), "the transaction has ended, failed, or has an open child")
  }

  /// The code; nil for `problem`.
  private var code: Int32? {
    if case .failure(let code, _) = self { Int32(exactly: code) } else { nil }
  }
}

extension MDBError: Hashable {
  /// Whether the codes are equal, whatever the texts.
  public static func == (lhs: MDBError, rhs: MDBError) -> Bool { lhs.code == rhs.code }

  /// Feeds the code.
  ///
  /// - Parameter hasher: What to feed.
  public func hash(into hasher: inout Hasher) { hasher.combine(code) }
}

extension MDBError: LocalizedError, CustomStringConvertible {
  /// What has failed, where, and what to do if that is known.
  public var description: String { sentence(problem, advice: recoverySuggestion) }

  private var problem: String {
    switch self {
    case .problem: "the stored bytes are not of the kind that was asked for, as text in UTF-8"
    case .failure(_, let text): text
    }
  }

  /// The same as ``description``.
  public var errorDescription: String? { description }

  /// What can be done about it, if that is known.
  public var recoverySuggestion: String? {
    switch code {
    case nil: "read the bytes with get(dbi:key:), which takes any"
    case ENOENT:
      "create the directory first, as with FileManager.createDirectory(at:withIntermediateDirectories:)"
    case ENOTDIR: "give the path of a directory; LMDB makes its files in it"
    case EACCES:
      "write in a transaction that is not read-only, and in a directory that this user may write to"
    case ENOSPC: "make room on the disk; nothing of the transaction has been stored"
    case EINVAL:
      "use values above 0, set the number of databases before opening, and no reading child"
    case ENOMEM: "use a smaller map"
    case EBUSY: "end the transactions that are open before"
    case MDB_NOTFOUND: "look the key up first, or catch MDBError.recordNotFound"
    case MDB_MAP_FULL: "open with a larger mapSize, or one that grows"
    case MDB_DBS_FULL: "open the environment with a larger maxDatabases"
    case MDB_READERS_FULL: "end reading transactions that are not needed any more"
    case MDB_BAD_VALSIZE:
      "use keys of 1 to 511 bytes; values of a database with duplicates likewise"
    case MDB_BAD_TXN: "use a transaction only inside its closure, and a parent after its child"
    case MDB_INVALID, MDB_CORRUPTED, MDB_PAGE_NOTFOUND:
      "the file is no LMDB file, or is damaged: put back a copy of data.mdb"
    case MDB_VERSION_MISMATCH:
      "another version of LMDB has the directory open or has made its files: close it there first"
    default: nil
    }
  }
}
