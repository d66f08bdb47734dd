// An environment: one directory with a data file, mapped into memory.
//
// Kept true: the handle is open as long as the object lives, and every transaction holds the object. What moves the map goes through
// the gate. The spare readers are ended before the handle is closed.

internal import CLMDB
public import Foundation

/// A directory with databases in it.
///
/// The directory exists already; LMDB makes `data.mdb` in it and, with locking, `lock.mdb`. The environment is closed when it is
/// released, which is when its transactions have gone, too.
///
///     let environment = try Environment(path: directory, maxDatabases: 1)
///     let count = try Transaction.with(env: environment) { transaction in
///       let words = try transaction.open(name: "words")
///       try transaction.set(dbi: words, key: "kumquat", value: "a small orange")
///       return try transaction.count(dbi: words)
///     }
///
/// Any thread may use it. With locking, any number of transactions read while one writes, in this process and in others.
public final class Environment: Sendable {
  // LMDB's environment handle may be used by all threads.
  nonisolated(unsafe) let handle: OpaquePointer
  let gate = MapGate()
  /// Whether, and how far, the map grows.
  let mapSize: MapSize

  private init(mapSize: MapSize) throws {
    var handle: OpaquePointer?
    try MDBError.check(mdb_env_create(&handle))
    guard let handle else { throw MDBError.problem }
    self.handle = handle
    self.mapSize = mapSize
  }

  /// An environment that is not open: set what has to be set, then call `open`.
  ///
  /// - Throws: `MDBError`, without memory.
  public convenience init() throws {
    try self.init(mapSize: .standard)
  }

  /// Opens the databases in a directory.
  ///
  /// - Parameters:
  ///   - path: The directory, which has to exist.
  ///   - maxDatabases: How many named databases can be opened; nil for none.
  ///   - locking: Whether `lock.mdb` keeps writers apart and pages alive that are being read. Without it the program itself lets no
  ///     transaction run beside one that writes.
  ///   - mapSize: How much can be stored: 256 MiB unless told otherwise.
  /// - Throws: `MDBError`.
  public convenience init(
    path: String, maxDatabases: Int? = nil, locking: Bool = true, mapSize: MapSize = .standard
  ) throws {
    try self.init(mapSize: mapSize)
    if let maxDatabases { try setMaxDatabases(maxDatabases) }
    try setMaxDatabaseSize(mapSize.initial)
    try open(path: path, locking: locking)
  }

  /// Opens the databases in a directory.
  ///
  /// - Parameters:
  ///   - url: The directory, which has to exist.
  ///   - maxDatabases: How many named databases can be opened; nil for none.
  ///   - locking: As in `init(path:maxDatabases:locking:mapSize:)`.
  ///   - mapSize: How much can be stored: 256 MiB unless told otherwise.
  /// - Throws: `MDBError`.
  public convenience init(
    url: URL, maxDatabases: Int? = nil, locking: Bool = true, mapSize: MapSize = .standard
  ) throws {
    try self.init(
      path: url.path(percentEncoded: false), maxDatabases: maxDatabases, locking: locking,
      mapSize: mapSize)
  }

  deinit {
    for reader in gate.takeSpareReaders() { mdb_txn_abort(reader) }
    mdb_env_close(handle)
  }

  /// Opens an environment that `init()` has made.
  ///
  /// Every commit is durable when it returns. Pages are written with mode 0600.
  ///
  /// - Parameters:
  ///   - path: The directory, which has to exist.
  ///   - locking: As in `init(path:maxDatabases:locking:mapSize:)`.
  /// - Throws: `MDBError`; the environment cannot be used then.
  public func open(path: String, locking: Bool = true) throws {
    let flags = MDB_NOTLS | (locking ? 0 : MDB_NOLOCK)
    try MDBError.check(mdb_env_open(handle, path, UInt32(flags), 0o600), about: "'\(path)'")
    if locking { try clearStaleReaders() }
  }

  /// Sets how much can be stored.
  ///
  /// In an open environment this waits until no transaction of this process is left.
  ///
  /// - Parameter value: In bytes. What is stored already is kept, also if it is more.
  /// - Throws: `MDBError`; `failure(EBUSY, …)` if transactions do not end, the calling thread's own among them.
  public func setMaxDatabaseSize(_ value: Int) throws {
    guard try resize(to: value, waiting: true) else {
      throw MDBError(code: EBUSY, about: "the map's size, while transactions are open")
    }
  }

  /// Sets how many named databases can be opened, before the environment is opened.
  ///
  /// - Parameter value: The number.
  /// - Throws: `MDBError`; `failure(EINVAL, …)` in an open environment.
  public func setMaxDatabases(_ value: Int) throws {
    guard let count = MDB_dbi(exactly: value) else {
      throw MDBError(code: EINVAL, about: "\(value) databases")
    }
    try MDBError.check(
      mdb_env_set_maxdbs(handle, count), about: "the number of databases, once it is open")
  }

  /// The directory, as it was given; empty before the environment is open.
  public var path: String {
    var path: UnsafePointer<CChar>?
    guard mdb_env_get_path(handle, &path) == MDB_SUCCESS, let path else { return "" }
    return String(cString: path)
  }

  /// The number of bytes that a key may have.
  public var maximumKeySize: Int { Int(mdb_env_get_maxkeysize(handle)) }

  /// The size of the map at present, in bytes.
  public var maximumDatabaseSize: Int { Int(info.me_mapsize) }

  /// Frees the places of readers whose processes have died, so that they no longer keep old pages.
  ///
  /// Opening with locking does it, too, and so does a transaction that finds no place or no room.
  ///
  /// - Returns: How many there were.
  /// - Throws: `MDBError`.
  @discardableResult
  public func clearStaleReaders() throws -> Int {
    var count: Int32 = 0
    try MDBError.check(mdb_reader_check(handle, &count))
    return Int(count)
  }

  private var info: MDB_envinfo {
    var info = MDB_envinfo()
    // It fails for null pointers only.
    mdb_env_info(handle, &info)
    return info
  }
}

// The map.
extension Environment {
  /// Makes the map larger because it is full. False if it may not grow, or not now.
  func grow() throws(MDBError) -> Bool {
    let size = Int(info.me_mapsize)
    guard size < mapSize.maximum else { return false }
    // Several writers may have met the full map; the second one finds it grown.
    return try gate.whileEmpty(waiting: true) { () throws(MDBError) in
      if Int(info.me_mapsize) == size { try setMapSize(doubled(size)) }
    } && Int(info.me_mapsize) > size
  }

  /// Makes the map larger before it is full, if nobody has to wait for that.
  func growAhead() throws(MDBError) {
    let info = self.info
    let size = Int(info.me_mapsize)
    guard size < mapSize.maximum else { return }
    let used = (Int(info.me_last_pgno) + 1) * pageSize
    guard used > size / 2 else { return }
    _ = try gate.whileEmpty(waiting: false) { () throws(MDBError) in
      try setMapSize(doubled(size))
    }
  }

  /// Takes over the size that another process has given the map.
  func adoptMapSize() throws(MDBError) -> Bool {
    try gate.whileEmpty(waiting: true) { () throws(MDBError) in
      try MDBError.check(mdb_env_set_mapsize(handle, 0))
    }
  }

  private func resize(to size: Int, waiting: Bool) throws(MDBError) -> Bool {
    guard size > 0 else { throw MDBError(code: EINVAL, about: "a map of \(size) bytes") }
    return try gate.whileEmpty(waiting: waiting) { () throws(MDBError) in try setMapSize(size) }
  }

  private func doubled(_ size: Int) -> Int {
    let (double, isTooMuch) = size.multipliedReportingOverflow(by: 2)
    return min(isTooMuch ? .max : double, mapSize.maximum)
  }

  /// Called while nobody uses the map.
  private func setMapSize(_ size: Int) throws(MDBError) {
    let page = pageSize
    let (rounded, isTooMuch) = size.addingReportingOverflow(page - 1)
    guard !isTooMuch else { throw MDBError(code: ENOMEM, about: "a map of \(size) bytes") }
    let pages = rounded / page * page
    // LMDB gives up the old map before it asks for the new one, and cannot be used if it does not get it. So ask first.
    let place = mmap(nil, pages, PROT_NONE, MAP_PRIVATE | anonymous, -1, 0)
    if place == nil || place == MAP_FAILED {
      throw MDBError(code: errno, about: "a map of \(pages) bytes")
    }
    munmap(place, pages)
    try MDBError.check(mdb_env_set_mapsize(handle, pages))
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
