// An LMDB environment with one database that holds all records.
//
// All `LockingDatabase` values of one directory in one process are the same open database, because
// LMDB must not open a lock file twice. Two `Database` values of one directory exclude each other,
// too. While the directory is open with the lock file, both use it.

public import Foundation
public import LMDB
internal import Platform

/// A directory with records, opened **without** LMDB's lock file.
///
/// No other process may use the directory at the same time. All stores of all `Database` values of
/// one directory in this process take turns, readers included. While a `LockingDatabase` of the
/// directory is open in this process, they use its lock file, too.
public struct Database: Sendable {
  let open: OpenDatabase

  /// Opens the database in a directory.
  ///
  /// - Parameters:
  ///   - path: An existing directory.
  ///   - mapSize: The maximum size. By default it grows with the data, starting at 256 MiB of
  ///     address space.
  /// - Throws: `MDBError` (`failure(2, …)` for a missing directory), `CancellationError`.
  public init(path: String, mapSize: MapSize = .growing(from: 256 << 20)) throws {
    open = try .open(path: path, locking: false, mapSize: mapSize)
  }

  /// Opens the database in a directory.
  ///
  /// - Parameters:
  ///   - url: An existing directory.
  ///   - mapSize: The maximum size. By default it grows with the data, starting at 256 MiB of
  ///     address space.
  /// - Throws: `MDBError` (`failure(2, …)` for a missing directory), `CancellationError`.
  public init(url: URL, mapSize: MapSize = .growing(from: 256 << 20)) throws {
    try self.init(path: url.path(percentEncoded: false), mapSize: mapSize)
  }
}

/// A directory with records, opened with LMDB's lock file.
///
/// Any number of threads and processes may use it at the same time: many readers and one writer.
/// Readers never wait for a writer.
///
/// While a directory is open in this process, other values of it are the same database: stores of
/// any of them join each other's transactions on a thread.
public struct LockingDatabase: Sendable {
  let open: OpenDatabase

  /// Opens the database in a directory.
  ///
  /// - Parameters:
  ///   - path: An existing directory.
  ///   - mapSize: The maximum size. By default it grows with the data, starting at 256 MiB of
  ///     address space. Of several values of one directory, the largest maximum holds.
  ///   - maxReaders: How many transactions may read at the same time, in all processes together;
  ///     nil for LMDB's default, 126. The first value, in any process, decides it as long as the
  ///     directory is open. When so many are open, another one fails with `MDBError.readersFull`.
  /// - Throws: `MDBError` (`failure(2, …)` for a missing directory), `CancellationError`.
  public init(
    path: String, mapSize: MapSize = .growing(from: 256 << 20), maxReaders: Int? = nil
  ) throws {
    open = try .open(path: path, locking: true, mapSize: mapSize, maxReaders: maxReaders)
  }

  /// Opens the database in a directory.
  ///
  /// - Parameters:
  ///   - url: An existing directory.
  ///   - mapSize: As in `init(path:mapSize:maxReaders:)`.
  ///   - maxReaders: As in `init(path:mapSize:maxReaders:)`.
  /// - Throws: `MDBError` (`failure(2, …)` for a missing directory), `CancellationError`.
  public init(
    url: URL, mapSize: MapSize = .growing(from: 256 << 20), maxReaders: Int? = nil
  ) throws {
    try self.init(
      path: url.path(percentEncoded: false), mapSize: mapSize, maxReaders: maxReaders)
  }
}

/// An open database. Resolves the core that transactions run on, which may belong to another
/// database of the directory.
///
/// The directory refers to it weakly, which makes retaining it slow. Transactions therefore hold
/// only its core.
final class OpenDatabase: Sendable {
  let core: DatabaseCore
  private let directory: Directory
  private let isLocking: Bool
  /// For reuse by read-only transactions that use the lock file.
  private let spareContext = SpareContext()
  /// The databases on whose cores transactions of this one run, and how many. They stay open until
  /// these have ended: otherwise transactions without the lock file would run beside them.
  private let borrowed = Mutex<[ObjectIdentifier: (owner: OpenDatabase, uses: Int)]>([:])

  private init(_ core: DatabaseCore, _ directory: Directory, isLocking: Bool) {
    self.core = core
    self.directory = directory
    self.isLocking = isLocking
  }

  /// Opens a database. With the lock file, this is the one that is open already, if there is one.
  static func open(
    path: String, locking: Bool, mapSize: MapSize, maxReaders: Int? = nil
  ) throws -> OpenDatabase {
    let directory = Directory.at(path)
    // Transactions that run without the lock file must end before the first one that uses it
    // begins.
    let plain = directory.lock
    try OpenTransactions.check()
    guard OpenTransactions.innermost(where: { $0.core.lock === plain }) == nil else {
      throw MDBError.failure(Int(EBUSY), "'\(path)' is in use by a transaction of this thread")
    }
    plain.acquire(readOnly: false)
    defer { plain.release(readOnly: false) }
    if locking, let open = directory.locking {
      if Task.isCancelled { throw CancellationError() }
      open.core.environment.allow(mapSize)
      return open
    }
    let core = try DatabaseCore(
      path: path, locking: locking, mapSize: mapSize, maxReaders: maxReaders, directory: directory)
    let open = OpenDatabase(core, directory, isLocking: locking)
    if locking { directory.locking = open }
    return open
  }

  /// Whether readers wait for other transactions of the directory.
  var readersWait: Bool { !isLocking }

  /// The core that transactions run on: this database's own, unless it has no lock file and the
  /// directory is also open with one.
  var effectiveCore: DatabaseCore { isLocking ? core : directory.locking?.core ?? core }

  /// Begins an outermost read-only transaction.
  func beginReading() throws -> TransactionContext {
    if isLocking, let state = spareContext.take() {
      try state.restart()
      return TransactionContext(state)
    }
    let core = acquireLock(readOnly: true)
    do { return try core.beginReading() } catch {
      releaseLock(of: core, readOnly: true)
      throw error
    }
  }

  /// Ends a transaction that `beginReading` has begun.
  func endReading(_ context: consuming TransactionContext) {
    context.endTransaction()
    if isLocking {
      // Readers with the lock file hold no lock and always belong to this database, so the context
      // can be reused.
      if context.isUniquelyReferenced() { spareContext.keep(context.state) }
    } else {
      releaseLock(of: context.core, readOnly: true)
    }
  }

  /// Waits until an outermost transaction may begin. Returns the core that it runs on.
  func acquireLock(readOnly: Bool) -> DatabaseCore {
    while true {
      let owner = isLocking ? nil : directory.locking
      let core = owner?.core ?? core
      core.lock.acquire(readOnly: readOnly)
      // The directory may have been opened with the lock file while this waited.
      if core === effectiveCore {
        if let owner {
          borrowed.withLock { $0[ObjectIdentifier(core), default: (owner, 0)].uses += 1 }
        }
        return core
      }
      core.lock.release(readOnly: readOnly)
    }
  }

  /// Lets other transactions begin, after the outermost one that `acquireLock` was for has ended.
  func releaseLock(of core: DatabaseCore, readOnly: Bool) {
    core.lock.release(readOnly: readOnly)
    if core === self.core { return }
    // May close the database, which is done after the lock is released.
    _ = borrowed.withLock { borrowed -> OpenDatabase? in
      borrowed[ObjectIdentifier(core)]?.uses -= 1
      guard borrowed[ObjectIdentifier(core)]?.uses == 0 else { return nil }
      return borrowed.removeValue(forKey: ObjectIdentifier(core))?.owner
    }
  }
}

/// The state that all stores of a database share.
@usableFromInline
final class DatabaseCore: Sendable {
  let environment: Environment
  @usableFromInline let records: MDB_dbi
  let lock: TransactionLock
  private let file: FileIdentity?
  /// The observers of the directory's records.
  let observation: Observation
  /// The record types that have been used in the directory.
  @usableFromInline let types: TypeTable
  // 0 means none: LMDB assigns no named database the handle 0.
  private let lastIndexHandle = Atomic<MDB_dbi>(0)

  /// The name of the database of all records; the same as in upstream Empire.
  static let name = "empiredb"

  /// The handle of the index database, for transactions that begin now; nil if none is known.
  var indexHandle: MDB_dbi? {
    get {
      let handle = lastIndexHandle.load(ordering: .acquiring)
      return handle == 0 ? nil : handle
    }
    set { lastIndexHandle.store(newValue ?? 0, ordering: .releasing) }
  }

  fileprivate init(
    path: String, locking: Bool, mapSize: MapSize, maxReaders: Int?, directory: Directory
  ) throws {
    let lock = locking ? TransactionLock(readersAreExclusive: false) : directory.lock
    // Another thread may be closing the last database of the directory.
    let environment = try Environment(
      path: path, maxDatabases: 2, locking: locking, mapSize: mapSize, maxReaders: maxReaders,
      patience: .seconds(10))
    guard environment.maximumKeySize >= Empire.maximumKeySize else {
      throw MDBError.failure(Int(EINVAL), "this LMDB was built for shorter keys")
    }
    self.lock = lock
    self.environment = environment
    file = environment.dataFile
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
      // An existing database is opened in a read-only transaction, which does not wait for a
      // writer.
      (records, indexes) = try open(readOnly: true)
    } catch MDBError.recordNotFound {
      (records, indexes) = try open(readOnly: false)
    }
    indexHandle = indexes
  }

  /// Whether both have the same file open, perhaps each by itself. A transaction of one of them
  /// can then be nested in one of the other.
  func hasSameFile(as other: DatabaseCore) -> Bool {
    self === other || file != nil && file == other.file
  }

  /// Begins a read-only transaction. The caller holds the lock.
  func beginReading() throws -> TransactionContext {
    // Loaded before the transaction begins, so the handle is valid in it.
    let indexHandle = self.indexHandle
    return TransactionContext(
      ContextState(
        core: self, transaction: try Transaction(env: environment, readOnly: true),
        isReadOnly: true, writes: nil, indexHandle: indexHandle))
  }

  /// Calls a closure in a read-only transaction that is not registered as open on this thread. The
  /// caller holds the lock.
  func withReader<R>(_ body: (TransactionContext) throws -> R) throws -> R {
    let context = try beginReading()
    defer { context.transaction.abort() }
    return try body(context)
  }
}

/// A directory that is open in this process.
///
/// A transaction with the lock file and one without it cannot see each other and would overwrite
/// each other's pages. While a directory is open with the lock file, all transactions of this
/// process therefore use it.
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
  /// The lock of transactions that run without the lock file.
  let lock = TransactionLock(readersAreExclusive: true)
  private let lockingDatabase = Mutex(Reference<OpenDatabase>())
  private static let all = Mutex<[Identity: Reference<Directory>]>([:])

  /// The database with the lock file, while one is open.
  var locking: OpenDatabase? {
    get { lockingDatabase.withLock { $0.object } }
    set { lockingDatabase.withLock { $0.object = newValue } }
  }

  /// Whether the database with the lock file, if there is one, is at this path. Its directory may
  /// have been removed, and a new one have got its number.
  private func isOpen(at path: String) -> Bool {
    locking?.core.environment.isStored(in: path) ?? true
  }

  /// The directory at a path. Different paths to the same directory give the same object.
  static func at(_ path: String) -> Directory {
    var status = stat()
    // LMDB reports what is wrong with the path when the environment is opened.
    guard !path.utf8.contains(0), stat(path, &status) == 0 else { return Directory() }
    let identity = Identity(
      device: UInt64(truncatingIfNeeded: status.st_dev), file: UInt64(status.st_ino))
    return all.withLock { all in
      if let directory = all[identity]?.object, directory.isOpen(at: path) { return directory }
      all = all.filter { $0.value.object != nil }
      let directory = Directory()
      all[identity] = Reference(object: directory)
      return directory
    }
  }
}
