// An environment with the one database that holds all records.
//
// Two `Database`s of one directory in one process take turns, too, and while a `LockingDatabase` of the directory is open, they use it.

public import Foundation
public import LMDB
internal import Platform

/// A directory with records, opened **without** LMDB's lock file.
///
/// No other process may use the directory at the same time. All stores of all `Database`s of one directory in this process take turns,
/// readers included. While a `LockingDatabase` of the directory is open in this process, they use its lock file, too.
public struct Database: Sendable {
  let open: OpenDatabase

  /// Opens a directory.
  ///
  /// - Parameters:
  ///   - path: A directory that exists.
  ///   - mapSize: How much it can hold. By default it grows with the data, beginning with 256 MiB of address space.
  /// - Throws: `MDBError`, `failure(2, …)` for a missing directory; `CancellationError`.
  public init(path: String, mapSize: MapSize = .growing(from: 256 << 20)) throws {
    open = try OpenDatabase(path: path, locking: false, mapSize: mapSize)
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
  let open: OpenDatabase

  /// Opens a directory.
  ///
  /// - Parameters:
  ///   - path: A directory that exists.
  ///   - mapSize: How much it can hold. By default it grows with the data, beginning with 256 MiB of address space.
  /// - Throws: `MDBError`, `failure(2, …)` for a missing directory; `CancellationError`.
  public init(path: String, mapSize: MapSize = .growing(from: 256 << 20)) throws {
    open = try OpenDatabase(path: path, locking: true, mapSize: mapSize)
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

/// A database as long as somebody has it open, and which one is used in its place.
///
/// The directory refers to it weakly, which makes retaining it slow. So transactions hold its core only.
final class OpenDatabase: Sendable {
  let core: DatabaseCore
  private let directory: Directory
  private let isLocking: Bool
  /// Of a transaction that reads, with the lock file.
  private let spareContext = SpareContext()

  init(path: String, locking: Bool, mapSize: MapSize) throws {
    directory = Directory.at(path)
    isLocking = locking
    // Transactions without the lock file must have ended before those with it begin.
    let plain = directory.table
    try OpenTransactions.check()
    guard OpenTransactions.current(of: plain) == nil else {
      throw MDBError.failure(Int(EBUSY), "'\(path)' is in use by a transaction of this thread")
    }
    plain.begin(readOnly: false)
    defer { plain.end(readOnly: false) }
    core = try DatabaseCore(path: path, locking: locking, mapSize: mapSize, directory: directory)
    if locking { directory.locking = self }
  }

  /// Where transactions run: here, unless this one has no lock file and the directory has been opened with one.
  var inForce: DatabaseCore { isLocking ? core : directory.locking?.core ?? core }

  /// Begins an outermost transaction that reads.
  func beginReading() throws -> TransactionContext {
    if isLocking, let state = spareContext.take() {
      try state.restart()
      return TransactionContext(state)
    }
    let core = begin(readOnly: true)
    do { return try core.beginReading() } catch {
      core.table.end(readOnly: true)
      throw error
    }
  }

  /// Ends what `beginReading` has begun.
  func endReading(_ context: consuming TransactionContext) {
    context.endTransaction()
    if isLocking {
      // Readers of these have no turns, and are all of this database.
      if context.isOnlyOne() { spareContext.keep(context.state) }
    } else {
      context.core.table.end(readOnly: true)
    }
  }

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

/// What all stores of a database share.
@usableFromInline
final class DatabaseCore: Sendable {
  let environment: Environment
  @usableFromInline let records: MDB_dbi
  let table: TransactionTable
  /// Who observes the directory's records.
  let observation: Observation
  /// The types of record that the directory has met.
  @usableFromInline let types: TypeTable
  // No database has the handle 0.
  private let lastIndexHandle = Atomic<MDB_dbi>(0)

  /// The name of the database of all records. Upstream Empire has the same.
  static let name = "empiredb"

  /// The handle of the database of indexes, for transactions that begin now; nil if none is known.
  var indexHandle: MDB_dbi? {
    get {
      let handle = lastIndexHandle.load(ordering: .acquiring)
      return handle == 0 ? nil : handle
    }
    set { lastIndexHandle.store(newValue ?? 0, ordering: .releasing) }
  }

  fileprivate init(path: String, locking: Bool, mapSize: MapSize, directory: Directory) throws {
    let table = locking ? TransactionTable(readersAreExclusive: false) : directory.table
    let environment = try Environment(
      path: path, maxDatabases: 2, locking: locking, mapSize: mapSize)
    guard environment.maximumKeySize >= Empire.maximumKeySize else {
      throw MDBError.failure(Int(EINVAL), "this LMDB was built for shorter keys")
    }
    self.table = table
    self.environment = environment
    observation = directory.observation
    types = directory.types
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
  }

  /// Begins a transaction that reads. Called in a turn.
  func beginReading() throws -> TransactionContext {
    // Known before the transaction begins, so it may use it.
    let indexHandle = self.indexHandle
    return TransactionContext(
      ContextState(
        core: self, transaction: try Transaction(env: environment, readOnly: true),
        isReadOnly: true, writes: nil, indexHandle: indexHandle))
  }

  /// Calls a closure in a transaction that reads and that nobody else knows of. Called in a turn.
  func withReader<R>(_ body: (TransactionContext) throws -> R) throws -> R {
    let context = try beginReading()
    defer { context.transaction.abort() }
    return try body(context)
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
  let types = TypeTable()
  /// The transactions without the lock file.
  let table = TransactionTable(readersAreExclusive: true)
  private let lockingDatabase = Mutex(Reference<OpenDatabase>())
  private static let all = Mutex<[Identity: Reference<Directory>]>([:])

  /// The database with the lock file, while there is one.
  var locking: OpenDatabase? {
    get { lockingDatabase.withLock { $0.object } }
    set { lockingDatabase.withLock { $0.object = newValue } }
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
