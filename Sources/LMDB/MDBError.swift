// What LMDB's calls answer, as errors.

internal import CLMDB

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// An error of the storage engine.
public enum MDBError: Error, Hashable, Sendable {
  /// Bytes that were expected to be something else, such as a string that is not UTF-8.
  case problem
  /// There is no entry with that key (`MDB_NOTFOUND`).
  case recordNotFound
  /// A write in a read-only transaction, or a file that may not be written (`EACCES`).
  case permissionDenied
  /// Anything else: the code of LMDB or of the operating system, and LMDB's text for it.
  ///
  /// A missing directory is `failure(2, …)`, a full map `failure(-30792, …)`.
  case failure(Int, String)

  /// The error for a code other than 0.
  init(code: Int32) {
    self =
      switch code {
      case MDB_NOTFOUND: .recordNotFound
      case EACCES: .permissionDenied
      default: .failure(Int(code), String(cString: mdb_strerror(code)))
      }
  }

  /// Throws unless a call has succeeded.
  static func check(_ code: Int32) throws(MDBError) {
    if code != MDB_SUCCESS { throw MDBError(code: code) }
  }

  /// A transaction, or a cursor of one, that has ended.
  static var ended: MDBError { MDBError(code: MDB_BAD_TXN) }

  /// Whether the map is full.
  var isMapFull: Bool {
    if case .failure(let code, _) = self { code == Int(MDB_MAP_FULL) } else { false }
  }
}
