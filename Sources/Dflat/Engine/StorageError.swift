// StorageError: what went wrong in a storage engine, where, and what to do.

import FlatBuffersRuntime
import Platform

package import StandardConformances

/// A failure of the storage.
public struct StorageError: AdvisedError, Sendable {
  /// What kind of failure it is.
  public enum Cause: Sendable, Equatable {
    /// A key or unique value belongs to another object.
    case alreadyExists
    /// An object that should exist does not.
    case missing
    /// A value does not fit its field, or a required union is empty. The request changed nothing
    /// and the transaction continues.
    case invalidValue
    /// A stored row is damaged.
    case corruptRow
    /// The file is damaged or is not a database.
    case corruptFile
    case diskFull
    /// The write lock was not granted in time.
    case busy
    /// Another connection has changed what the transaction had read before it took the write lock.
    case conflict
    /// The storage was asked to commit, and its answer was lost: the transaction may be stored, or
    /// not. It is the only failure of a transaction after which something may be stored. `write`
    /// does not run its closure again; `performChanges` reports it to the error hook before its
    /// completion handler gets `false`. Read what the transaction would have changed, and repeat
    /// it only if that is missing.
    case unknownOutcome
    case cannotOpen
    /// The file, or a file beside it that belongs to it, was removed, moved or replaced while it
    /// was open. What was committed before is in the open file, and can be saved from there.
    case fileReplaced
    case readOnly
    /// The workspace was shut down.
    case closed
    case other
  }

  /// What kind of failure it is.
  public let cause: Cause
  /// The main or side table concerned.
  public let table: String?
  /// The row concerned.
  public let rowid: Int64?
  /// The key, or the unique value, concerned: `site: "notes", number: 7`.
  public let key: String?
  /// A description of the problem.
  public let message: String
  /// Additional information from the engine, such as its own code and the statement that failed.
  public let details: String?
  /// The engine's own error, for SQLite a `SQLiteError`.
  public let underlying: (any Error)?
  /// The file concerned.
  public let path: String?
  private let ownAdvice: String?
  /// Whether it is a conflict with another transaction of the same workspace: then `write` runs its
  /// closure again, and does not count the run as one of its attempts.
  package private(set) var isWithinWorkspace = false

  /// The same error, caused by another transaction of the same workspace.
  package func withinWorkspace() -> StorageError {
    var error = self
    error.isWithinWorkspace = true
    return error
  }

  /// Whether the connection to the storage was lost while something was read: then `read` runs its
  /// closure again.
  package private(set) var isLostConnection = false

  /// The same error, caused by the loss of a connection.
  package func byLostConnection() -> StorageError {
    var error = self
    error.isLostConnection = true
    return error
  }

  /// Whether it refuses an object that could not be read or found again, and of which nothing was
  /// written.
  package private(set) var isUnstorable = false

  /// An object that could not be read or found again is not stored.
  init(unstorable reason: String, table: String, rowid: Int64? = nil) {
    self.init(
      .other, table: table, rowid: rowid, message: "the object cannot be stored: \(reason)")
    isUnstorable = true
  }

  /// Whether an error is one of the storage, and the same read may succeed later.
  static func mayPass(_ error: any Error) -> Bool {
    let error = (error as? Unmigrated)?.cause ?? error
    return switch (error as? StorageError)?.cause {
    case nil, .closed, .corruptRow, .corruptFile, .fileReplaced, .readOnly: false
    default: true
    }
  }

  /// Whether an error is a conflict with another connection.
  static func isConflict(_ error: (any Error)?) -> Bool {
    (error as? StorageError)?.cause == .conflict
  }

  /// Creates an error, for engines.
  ///
  /// - Parameters:
  ///   - cause: What kind of failure it is.
  ///   - table: The main or side table concerned.
  ///   - rowid: The row concerned.
  ///   - key: The key, or the unique value, concerned.
  ///   - message: A description of the problem.
  ///   - details: Additional information from the engine.
  ///   - underlying: The engine's own error.
  ///   - path: The file concerned.
  ///   - advice: What to do, if there is more to say than for every failure of this kind.
  package init(
    _ cause: Cause, table: String? = nil, rowid: Int64? = nil, key: String? = nil,
    message: String, details: String? = nil, underlying: (any Error)? = nil, path: String? = nil,
    advice: String? = nil
  ) {
    self.cause = cause
    self.table = table
    self.rowid = rowid
    self.key = key
    self.message = message
    self.details = details
    self.underlying = underlying
    self.path = path
    ownAdvice = advice
  }

  package var problem: String {
    var place: [String] = []
    if let path { place.append("file \(path)") }
    if let table { place.append("table \(table)") }
    if let rowid { place.append("row \(rowid)") }
    if let key { place.append(key.shortened) }
    var text = "\(cause): "
    if !place.isEmpty { text += place.joined(separator: ", ") + ": " }
    text += message
    if let details { text += " (\(details))" }
    return text
  }

  package var advice: String? { ownAdvice ?? cause.advice }
}

extension StorageError.Cause {
  fileprivate var advice: String? {
    switch self {
    case .alreadyExists: "give the object another key or value, or update the one that has it"
    case .missing: "insert the object, or use upsert"
    case .invalidValue: "give the field a value that fits"
    case .corruptRow: "delete the object by its row id and store it again, or restore a backup"
    case .corruptFile: "check whether it is the right file, and restore a backup if it is"
    case .diskFull: "free some space, and run the transaction again"
    case .busy: "find the connection that holds the lock for so long, or wait longer for it"
    case .conflict: "run the transaction again"
    case .unknownOutcome:
      "read what the transaction would have changed, and run it again only if that is missing"
    case .cannotOpen: "check that the path is right, and that this process may use it"
    case .fileReplaced:
      "put it back, or save the open file with backup(to:), shut down, and open the right file"
    case .readOnly: "let this process write the file and its directory, or only read"
    case .closed: "use the workspace before it is shut down, or make another one"
    case .other: nil
    }
  }
}

extension EntitySchema {
  /// Verifies the bytes of a stored row, for engines.
  ///
  /// - Parameters:
  ///   - bytes: The bytes of the row.
  ///   - id: The id of the row, for the error.
  /// - Throws: `StorageError.corruptRow` if the bytes are damaged.
  package func verify(_ bytes: UnsafeRawBufferPointer, id: Int64) throws(StorageError) {
    do throws(VerificationError) { try layout.verify(bytes) } catch {
      throw StorageError(.corruptRow, table: table, rowid: id, message: error.reason)
    }
  }
}

/// Objects of a type could not be migrated, which was reported, so that observers cannot see all of
/// them.
struct Unmigrated: Error {
  let cause: any Error
}
