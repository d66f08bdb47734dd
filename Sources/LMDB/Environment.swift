// An environment: one directory with a data file that is mapped into memory.
//
// Invariants: the handle is open as long as the object lives, and every transaction retains the
// object. Every change of the map's size goes through the gate. The spare readers are ended before
// the handle is closed.

internal import CLMDB
internal import Platform
public import Foundation

/// A directory with databases.
///
/// The directory must exist. LMDB creates `data.mdb` in it and, with locking, `lock.mdb`. The
/// environment is closed when it is released. Its transactions retain it. With locking, a process
/// has one environment of a directory at a time: share it.
///
///     let environment = try Environment(path: directory, maxDatabases: 1)
///     let count = try Transaction.with(env: environment) { transaction in
///       let words = try transaction.open(name: "words")
///       try transaction.set(dbi: words, key: "kumquat", value: "a small orange")
///       return try transaction.count(dbi: words)
///     }
///
/// Any thread may use it. With locking, any number of transactions can read while one writes, in
/// this process and in other processes.
public final class Environment: Sendable {
  // LMDB's environment handle is thread-safe.
  nonisolated(unsafe) let handle: OpaquePointer
  let gate = MapGate()
  let databases = OpenDatabases()
  /// The maximum size of the map, in bytes.
  private let maximumMapSize: Atomic<Int>
  /// The files that are open; nil before that.
  let files = Mutex<OpenFiles?>(nil)
  private let isOpen = Atomic(false)

  private init(mapSize: MapSize) throws {
    var handle: OpaquePointer?
    try MDBError.check(mdb_env_create(&handle))
    guard let handle else { throw MDBError.problem }
    self.handle = handle
    maximumMapSize = Atomic(mapSize.maximum)
  }

  /// Creates an environment that is not open yet. Set its options, then call `open`. Until then it
  /// has no transactions.
  ///
  /// - Throws: `MDBError` if memory runs out.
  public convenience init() throws {
    try self.init(mapSize: .standard)
  }

  /// Opens the databases in a directory.
  ///
  /// - Parameters:
  ///   - path: The directory, which must exist.
  ///   - maxDatabases: The maximum number of open named databases; nil for none.
  ///   - locking: Whether LMDB uses `lock.mdb` to serialize writers and to protect the pages that
  ///     readers use. Without it, the program must ensure that no transaction runs beside a writer.
  ///   - mapSize: The maximum size; by default 256 MiB.
  ///   - maxReaders: The maximum number of read-only transactions at the same time, of all
  ///     processes together; nil for LMDB's default, 126. See `setMaxReaders(_:)`.
  /// - Throws: `MDBError`; `failure(EBUSY, …)` if this process has the directory open with locking,
  ///   and so has this one; `failure(-30796, …)` (`MDB_CORRUPTED`) for a file that was cut short.
  public convenience init(
    path: String, maxDatabases: Int? = nil, locking: Bool = true, mapSize: MapSize = .standard,
    maxReaders: Int? = nil
  ) throws {
    try self.init(
      path: path, maxDatabases: maxDatabases, locking: locking, mapSize: mapSize,
      maxReaders: maxReaders, patience: .zero)
  }

  /// Opens the databases in a directory, as the public initializer does.
  ///
  /// - Parameter patience: How long to wait for another thread that closes the directory.
  package convenience init(
    path: String, maxDatabases: Int?, locking: Bool, mapSize: MapSize, maxReaders: Int?,
    patience: Duration
  ) throws {
    try self.init(mapSize: mapSize)
    if let maxDatabases { try setMaxDatabases(maxDatabases) }
    if let maxReaders { try setMaxReaders(maxReaders) }
    _ = try resize(to: mapSize.initial, waiting: true)
    try open(path: path, locking: locking, patience: patience)
  }

  /// Opens the databases in a directory.
  ///
  /// - Parameters:
  ///   - url: The directory, which must exist.
  ///   - maxDatabases: The maximum number of open named databases; nil for none.
  ///   - locking: As in `init(path:maxDatabases:locking:mapSize:maxReaders:)`.
  ///   - mapSize: The maximum size; by default 256 MiB.
  ///   - maxReaders: As in `init(path:maxDatabases:locking:mapSize:maxReaders:)`.
  /// - Throws: `MDBError`.
  public convenience init(
    url: URL, maxDatabases: Int? = nil, locking: Bool = true, mapSize: MapSize = .standard,
    maxReaders: Int? = nil
  ) throws {
    try self.init(
      path: url.path(percentEncoded: false), maxDatabases: maxDatabases, locking: locking,
      mapSize: mapSize, maxReaders: maxReaders)
  }

  deinit {
    endSpareReaders()
    OpenLockFiles.close(handle)
  }

  /// Opens an environment that was created with `init()`.
  ///
  /// Every commit is durable when it returns. The files are created with mode 0600.
  ///
  /// - Parameters:
  ///   - path: The directory, which must exist.
  ///   - locking: As in `init(path:maxDatabases:locking:mapSize:maxReaders:)`.
  /// - Throws: `MDBError`; the environment cannot be used afterwards. `failure(EBUSY, …)` if this
  ///   process has the directory open with locking, and `failure(-30796, …)` (`MDB_CORRUPTED`) for
  ///   a file that was cut short.
  public func open(path: String, locking: Bool = true) throws {
    try open(path: path, locking: locking, patience: .zero)
  }

  private func open(path: String, locking: Bool, patience: Duration) throws {
    // LMDB appends the names of its files: an empty path would be the root directory.
    if path.isEmpty || path.utf8.contains(0) {
      throw MDBError(code: ENOENT, about: "a path is empty, or contains NUL")
    }
    func open(_ flags: Int32) throws(MDBError) {
      // For the two meta pages.
      try NewFile.allocate(path + "/data.mdb", 2 * pageSize, keepingLength: true)
      try MDBError.check(
        mdb_env_open(handle, path, UInt32(MDB_NOTLS | flags), 0o600), about: "'\(path)'")
    }
    if locking {
      try OpenLockFiles.open(handle, in: path, readers: maxReaders, patience: patience) {
        () throws(MDBError) in try open(0)
      }
    } else {
      try open(MDB_NOLOCK)
    }
    isOpen.store(true, ordering: .releasing)
    do {
      watchFiles(in: path, locking: locking)
      if locking {
        try clearStaleReaders()
        try checkLockFile()
      }
      try checkLength(in: path)
    } catch {
      isOpen.store(false, ordering: .releasing)
      throw error
    }
  }

  /// Throws unless the environment is open: LMDB's calls would end the process.
  func checkOpen() throws(MDBError) {
    if !isOpen.load(ordering: .acquiring) { throw .notOpen }
  }

  /// Sets the maximum size. When a map of this size is full, writing throws
  /// `MDBError.failure(-30792, …)`.
  ///
  /// In an open environment, this waits until all transactions of this process have ended.
  ///
  /// - Parameter value: The size in bytes. Stored data is kept, even if it is larger.
  /// - Throws: `MDBError`; `failure(EBUSY, …)` if transactions do not end, or the calling thread
  ///   has one open.
  public func setMaxDatabaseSize(_ value: Int) throws {
    guard try resize(to: value, waiting: true) else {
      throw MDBError(code: EBUSY, about: "the map's size, while transactions are open")
    }
    maximumMapSize.store(value, ordering: .relaxed)
  }

  /// Lets the map grow to the maximum of another size, if that is larger. It does so when it is
  /// full.
  package func allow(_ mapSize: MapSize) {
    maximumMapSize.max(mapSize.maximum, ordering: .relaxed)
  }

  /// Leaves the gate for an outermost transaction that has ended; see `MapGate.leave`.
  func leaveGate(thread: ThreadIdentity, isWriter: Bool, keeping reader: OpaquePointer? = nil) {
    for reader in gate.leave(thread: thread, isWriter: isWriter, keeping: reader) {
      mdb_txn_abort(reader)
    }
  }

  /// Ends the readers that are kept for reuse, which frees their slots.
  func endSpareReaders() {
    for reader in gate.takeSpareReaders() { mdb_txn_abort(reader) }
  }

  /// Sets the maximum number of open named databases. Call it before the environment is opened.
  ///
  /// - Parameter value: The number.
  /// - Throws: `MDBError`; `failure(EINVAL, …)` in an open environment.
  public func setMaxDatabases(_ value: Int) throws {
    // LMDB adds two of its own.
    guard let count = MDB_dbi(exactly: value), count <= MDB_dbi.max - 2 else {
      throw MDBError(code: EINVAL, about: "\(value) databases")
    }
    try MDBError.check(
      mdb_env_set_maxdbs(handle, count), about: "the number of databases, once it is open")
  }

  /// Sets the maximum number of read-only transactions at the same time. Call it before the
  /// environment is opened.
  ///
  /// The number is that of slots in the lock file, which all processes share. The first one that
  /// opens the directory decides it, until the last one has closed it. If all slots are in use, a
  /// read-only transaction cannot begin: `MDBError.readersFull`. Without locking there is no limit.
  ///
  /// - Parameter value: The number. Each slot takes 64 bytes of the lock file.
  /// - Throws: `MDBError`; `failure(EINVAL, …)` in an open environment.
  public func setMaxReaders(_ value: Int) throws {
    guard let count = UInt32(exactly: value), count > 0 else {
      throw MDBError(code: EINVAL, about: "\(value) readers")
    }
    try MDBError.check(
      mdb_env_set_maxreaders(handle, count), about: "the number of readers, once it is open")
  }

  /// The maximum number of read-only transactions at the same time, of all processes together; see
  /// `setMaxReaders(_:)`.
  public var maxReaders: Int {
    var count: UInt32 = 0
    return mdb_env_get_maxreaders(handle, &count) == MDB_SUCCESS ? Int(count) : 0
  }

  /// The directory as it was passed to `open`; empty before the environment is open.
  public var path: String {
    var path: UnsafePointer<CChar>?
    guard mdb_env_get_path(handle, &path) == MDB_SUCCESS, let path else { return "" }
    return String(cString: path)
  }

  /// The maximum number of bytes of a key.
  public var maximumKeySize: Int { Int(mdb_env_get_maxkeysize(handle)) }

  /// The current size of the map in bytes; 0 before the environment is open.
  public var maximumDatabaseSize: Int { Int(stableInfo.me_mapsize) }

  /// Frees the slots of readers whose processes have died, so that they no longer keep old pages in
  /// use.
  ///
  /// Opening an environment with locking does this as well, and so do a transaction that finds no
  /// free reader slot, writing transactions before the map grows, and `Transaction.with` if it is
  /// full.
  ///
  /// - Returns: The number of slots that were freed.
  /// - Throws: `MDBError`.
  @discardableResult
  public func clearStaleReaders() throws -> Int { try checkReaders() }

  /// Frees the slots of readers whose processes have died.
  /// - Returns: The number of slots that were freed.
  @discardableResult
  func checkReaders() throws(MDBError) -> Int {
    var count: Int32 = 0
    try MDBError.check(mdb_reader_check(handle, &count))
    return Int(count)
  }

  /// Whether the open file is the one in a directory.
  package func isStored(in directory: String) -> Bool {
    var file: mdb_filehandle_t = -1
    var (open, there) = (stat(), stat())
    return mdb_env_get_fd(handle, &file) == MDB_SUCCESS && fstat(file, &open) == 0
      && stat(directory + "/data.mdb", &there) == 0
      && (open.st_dev, open.st_ino) == (there.st_dev, there.st_ino)
  }

  /// The same outside of transactions, where another thread may change the map.
  private var stableInfo: MDB_envinfo { gate.whileMapStays { info } }

  /// LMDB reads the meta pages: the caller sees to it that the map stays.
  private var info: MDB_envinfo {
    var info = MDB_envinfo()
    // Fails only for null pointers.
    if isOpen.load(ordering: .acquiring) { mdb_env_info(handle, &info) }
    return info
  }
}

// The memory map.
extension Environment {
  /// Makes room in the map after it was full. Returns false if there is none: the map has its
  /// maximum size, or open transactions prevent its growth.
  func makeRoom() throws(MDBError) -> Bool {
    // A killed reader keeps all pages in use that were freed since it began.
    if try checkReaders() > 0 { return true }
    let size = Int(stableInfo.me_mapsize)
    guard size < maximumMapSize.load(ordering: .relaxed) else { return false }
    // Several writers may have found the map full; the first one enlarges it for all of them.
    return try gate.withExclusiveAccess(waiting: true) { () throws(MDBError) in
      if Int(info.me_mapsize) == size { try setMapSize(doubled(size)) }
    } && Int(stableInfo.me_mapsize) > size
  }

  /// Enlarges the map before it is full, if no transaction is open and there is address space for
  /// it. If there is none, the rest of the map can still be used. Readers do so, too: other
  /// processes may let the file grow, and no transaction can begin when it is larger than the map.
  ///
  /// - Parameter freeingReaders: Whether to free the slots of readers whose processes have died.
  func growAhead(freeingReaders: Bool) throws(MDBError) {
    try checkOpen()
    let info = stableInfo
    guard shouldGrow(info) else { return }
    let size = Int(info.me_mapsize)
    // Otherwise no page is reused before the map is full.
    if freeingReaders { try checkReaders() }
    _ = try gate.withExclusiveAccess(waiting: false) { () throws(MDBError) in
      do { try checkAddressSpace(doubled(size)) } catch { return }
      try setMapSize(doubled(size))
    }
  }

  /// Whether more than half of the map is in use, and it may grow.
  func shouldGrow(_ info: MDB_envinfo) -> Bool {
    let size = Int(info.me_mapsize)
    return (Int(info.me_last_pgno) + 1) * pageSize > size / 2
      && size < maximumMapSize.load(ordering: .relaxed)
  }

  /// Adopts the map size that another process has set.
  func adoptMapSize() throws(MDBError) -> Bool {
    try gate.withExclusiveAccess(waiting: true) { () throws(MDBError) in
      var file: mdb_filehandle_t = -1
      try MDBError.check(mdb_env_get_fd(handle, &file))
      try setMapSize(try MetaPage(file: file).mapSize)
    }
  }

  private func resize(to size: Int, waiting: Bool) throws(MDBError) -> Bool {
    guard size > 0 else { throw MDBError(code: EINVAL, about: "a map of \(size) bytes") }
    return try gate.withExclusiveAccess(waiting: waiting) { () throws(MDBError) in
      try setMapSize(size)
    }
  }

  private func doubled(_ size: Int) -> Int {
    let (double, overflows) = size.multipliedReportingOverflow(by: 2)
    return min(overflows ? .max : double, maximumMapSize.load(ordering: .relaxed))
  }

  /// Called while no transaction uses the map.
  private func setMapSize(_ size: Int) throws(MDBError) {
    // LMDB unmaps the old map before it creates the new one, and is unusable if that fails.
    let bytes = try checkAddressSpace(size)
    try MDBError.check(mdb_env_set_mapsize(handle, bytes))
  }

  /// Throws unless there is address space for a map beside the present one.
  /// - Returns: The size in whole pages.
  @discardableResult
  private func checkAddressSpace(_ size: Int) throws(MDBError) -> Int {
    let page = pageSize
    let (rounded, overflows) = size.addingReportingOverflow(page - 1)
    guard !overflows else { throw MDBError(code: ENOMEM, about: "a map of \(size) bytes") }
    let bytes = rounded / page * page
    let place = mmap(nil, bytes, PROT_NONE, MAP_PRIVATE | anonymous, -1, 0)
    if place == nil || place == MAP_FAILED {
      throw MDBError(code: errno, about: "a map of \(bytes) bytes")
    }
    munmap(place, bytes)
    return bytes
  }

  private var pageSize: Int { sysconf(Int32(_SC_PAGESIZE)) }

  private var anonymous: Int32 {
    #if canImport(Darwin)
      MAP_ANON
    #else
      MAP_ANONYMOUS | MAP_NORESERVE
    #endif
  }
}
