// An environment with the one database that holds all records.
//
// Two `Database`s of one directory in one process take turns, too, and while a `LockingDatabase` of the directory is open, they use it.

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
/// No other process may use the directory at the same time. All stores of all `Database`s of one directory in this process take turns,
/// readers included. While a `LockingDatabase` of the directory is open in this process, they use its lock file, too.
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
  @usableFromInline let records: MDB_dbi
  let maximumKeySize: Int
  let table: TransactionTable
  private let directory: Directory
  private let isLocking: Bool
  // No database has the handle 0.
  private let lastIndexHandle = Atomic<MDB_dbi>(0)

  /// The handle of the database of indexes, for transactions that begin now; nil if none is known.
  var indexHandle: MDB_dbi? {
    get {
      let handle = lastIndexHandle.load(ordering: .acquiring)
      return handle == 0 ? nil : handle
    }
    set { lastIndexHandle.store(newValue ?? 0, ordering: .releasing) }
  }

  /// The name of the database of all records. Upstream Empire has the same.
  static let name = "empiredb"

  init(path: String, locking: Bool, mapSize: MapSize) throws {
    let directory = Directory.at(path)
    let table = locking ? TransactionTable(readersAreExclusive: false) : directory.table
    let environment = try Environment(
      path: path, maxDatabases: 2, locking: locking, mapSize: mapSize)
    self.directory = directory
    self.table = table
    self.environment = environment
    isLocking = locking
    maximumKeySize = environment.maximumKeySize
    // Transactions without the lock file must have ended before those with it begin.
    let plain = directory.table
    guard plain.current() == nil else {
      throw MDBError.failure(Int(EBUSY), "the directory is in use by this thread")
    }
    plain.begin(readOnly: false)
    defer { plain.end(readOnly: false) }
    func open(readOnly: Bool) throws -> (MDB_dbi, MDB_dbi?) {
      try Transaction.with(env: environment, readOnly: readOnly) { transaction in
        let records = try transaction.open(name: Self.name)
        return (records, try transaction.openIfPresent(name: IndexFile.name))
      }
    }
    let indexes: MDB_dbi?
    do {
      // A database that is there is opened by reading, which waits for no writer.
      (records, indexes) = try open(readOnly: true)
    } catch MDBError.recordNotFound {
      (records, indexes) = try open(readOnly: false)
    }
    indexHandle = indexes
    if locking { directory.locking = self }
  }

  /// Who observes the directory's records.
  var observation: Observation { directory.observation }

  /// Calls a closure in a transaction that reads and that nobody else knows of. Called in a turn.
  func withReader<R>(_ body: (TransactionContext) throws -> R) throws -> R {
    let indexHandle = self.indexHandle
    let transaction = try Transaction(env: environment, readOnly: true)
    defer { transaction.abort() }
    return try body(
      TransactionContext(
        core: self, transaction: transaction, isReadOnly: true, writes: nil,
        indexHandle: indexHandle))
  }

  /// Where transactions run: here, unless this one has no lock file and the directory has been opened with one.
  var inForce: DatabaseCore { isLocking ? self : directory.locking ?? self }

  /// Waits for the turn of an outermost transaction, and says where it runs.
  func begin(readOnly: Bool) -> DatabaseCore {
    while true {
      let core = inForce
      core.table.begin(readOnly: readOnly)
      // The lock file may have come into force while this waited.
      if core === inForce { return core }
      core.table.end(readOnly: readOnly)
    }
  }
}

/// A directory that is open in this process.
///
/// A transaction without the lock file and one with it know nothing of each other, and would overwrite each other's pages. So while a
/// directory is open with the lock file, all transactions of this process use it.
private final class Directory: Sendable {
  private struct Identity: Hashable {
    let device: UInt64
    let file: UInt64
  }

  private struct Reference<Object: AnyObject & Sendable>: Sendable {
    weak var object: Object?
  }

  let observation = Observation()
  /// The transactions without the lock file.
  let table = TransactionTable(readersAreExclusive: true)
  private let lockingCore = Mutex(Reference<DatabaseCore>())
  private static let all = Mutex<[Identity: Reference<Directory>]>([:])

  /// The database with the lock file, while there is one.
  var locking: DatabaseCore? {
    get { lockingCore.withLock { $0.object } }
    set { lockingCore.withLock { $0.object = newValue } }
  }

  /// The directory at a path, whatever the path.
  static func at(_ path: String) -> Directory {
    var status = stat()
    // LMDB says what is wrong with the path when it is asked to open it.
    guard stat(path, &status) == 0 else { return Directory() }
    let identity = Identity(
      device: UInt64(truncatingIfNeeded: status.st_dev), file: UInt64(status.st_ino))
    return all.withLock { all in
      if let directory = all[identity]?.object { return directory }
      all = all.filter { $0.value.object != nil }
      let directory = Directory()
      all[identity] = Reference(object: directory)
      return directory
    }
  }
}
