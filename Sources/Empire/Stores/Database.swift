// An environment with the one database that holds all records.
//
// One directory has one table of transactions per process as far as LMDB's lock file does not keep them apart: two `Database`s of the
// same directory take turns, too.

public import Foundation
public import LMDB
internal import Synchronization

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// A directory with records, opened **without** LMDB's lock file.
///
/// Nothing else may use the directory at the same time: no other process, and no `LockingDatabase`. All stores of all `Database`s of one
/// directory in this process take turns, readers included.
public struct Database: Sendable {
  let core: DatabaseCore

  /// Opens a directory.
  ///
  /// - Parameters:
  ///   - path: A directory that exists.
  ///   - mapSize: How much it can hold. By default it grows with the data, beginning with 256 MiB of address space.
  /// - Throws: `MDBError`, `failure(2, …)` for a missing directory; `CancellationError`.
  public init(path: String, mapSize: MapSize = .growing(from: 256 << 20)) throws {
    core = try DatabaseCore(path: path, locking: false, mapSize: mapSize)
  }

  /// Opens a directory.
  ///
  /// - Parameters:
  ///   - url: A directory that exists.
  ///   - mapSize: How much it can hold. By default it grows with the data, beginning with 256 MiB of address space.
  /// - Throws: `MDBError`, `failure(2, …)` for a missing directory; `CancellationError`.
  public init(url: URL, mapSize: MapSize = .growing(from: 256 << 20)) throws {
    try self.init(path: url.path(percentEncoded: false), mapSize: mapSize)
  }
}

/// A directory with records, opened with LMDB's lock file.
///
/// Any number of threads and processes may use it at the same time: many read while one writes. Readers never wait for a writer.
public struct LockingDatabase: Sendable {
  let core: DatabaseCore

  /// Opens a directory.
  ///
  /// - Parameters:
  ///   - path: A directory that exists.
  ///   - mapSize: How much it can hold. By default it grows with the data, beginning with 256 MiB of address space.
  /// - Throws: `MDBError`, `failure(2, …)` for a missing directory; `CancellationError`.
  public init(path: String, mapSize: MapSize = .growing(from: 256 << 20)) throws {
    core = try DatabaseCore(path: path, locking: true, mapSize: mapSize)
  }

  /// Opens a directory.
  ///
  /// - Parameters:
  ///   - url: A directory that exists.
  ///   - mapSize: How much it can hold. By default it grows with the data, beginning with 256 MiB of address space.
  /// - Throws: `MDBError`, `failure(2, …)` for a missing directory; `CancellationError`.
  public init(url: URL, mapSize: MapSize = .growing(from: 256 << 20)) throws {
    try self.init(path: url.path(percentEncoded: false), mapSize: mapSize)
  }
}

/// What all stores of a database share.
@usableFromInline
final class DatabaseCore: Sendable {
  let environment: Environment
  let records: MDB_dbi
  let maximumKeySize: Int
  let table: TransactionTable

  /// The name of the database of all records. Upstream Empire has the same.
  static let name = "empiredb"

  init(path: String, locking: Bool, mapSize: MapSize) throws {
    let table = locking ? TransactionTable(readersAreExclusive: false) : try Directories.table(of: path)
    let environment = try Environment(
      path: path, maxDatabases: 1, locking: locking, mapSize: mapSize)
    self.table = table
    self.environment = environment
    maximumKeySize = environment.maximumKeySize
    // A database that is there is opened by reading, which waits for no writer.
    func open(readOnly: Bool) throws -> MDB_dbi {
      table.begin(readOnly: readOnly)
      defer { table.end(readOnly: readOnly) }
      return try Transaction.with(env: environment, readOnly: readOnly) {
        try $0.open(name: Self.name)
      }
    }
    do {
      records = try open(readOnly: true)
    } catch MDBError.recordNotFound {
      records = try open(readOnly: false)
    }
  }
}

/// The directories that are open without a lock file.
private enum Directories {
  private struct Identity: Hashable {
    let device: UInt64
    let file: UInt64
  }

  private struct Reference: Sendable {
    weak var table: TransactionTable?
  }

  private static let tables = Mutex<[Identity: Reference]>([:])

  /// The table of a directory, whatever the path to it.
  static func table(of path: String) throws -> TransactionTable {
    var status = stat()
    // LMDB says what is wrong with the path when it is asked to open it.
    guard stat(path, &status) == 0 else { return TransactionTable(readersAreExclusive: true) }
    let identity = Identity(
      device: UInt64(truncatingIfNeeded: status.st_dev), file: UInt64(status.st_ino))
    return tables.withLock { tables in
      if let table = tables[identity]?.table { return table }
      tables = tables.filter { $0.value.table != nil }
      let table = TransactionTable(readersAreExclusive: true)
      tables[identity] = Reference(table: table)
      return table
    }
  }
}
