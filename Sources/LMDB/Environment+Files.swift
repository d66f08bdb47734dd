// The files of an open environment: whether they are still in the directory, and copies of them.
//
// A directory, or a file in it, can be removed, moved or replaced while it is open. LMDB goes on
// with the open file, which no other process can open any more, and which is gone when it is
// closed. So a commit asks first where the paths lead. With another lock file, other processes
// would write beside this one.
//
// A process that opens the directory after that shares the lock file with those that have the
// former data file. So a writing transaction compares the two files when it begins.

internal import CLMDB
internal import Platform
public import Foundation

/// The identity of a file. No other file has it while the file is open.
package struct FileIdentity: Hashable, Sendable {
  private let device: UInt64
  private let file: UInt64

  /// Of the file at a path; nil if there is none.
  init?(of path: String) {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    self.init(status)
  }

  fileprivate init(_ status: stat) {
    device = UInt64(truncatingIfNeeded: status.st_dev)
    file = UInt64(truncatingIfNeeded: status.st_ino)
  }
}

/// The files that an environment has open.
struct OpenFiles: Sendable {
  let dataPath: String
  let data: FileIdentity
  let lockPath: String
  /// nil without locking.
  let lock: FileIdentity?

  /// What has happened to the files; nil if nothing is known.
  var problem: String? {
    Self.problem(dataPath, data) ?? lock.flatMap { Self.problem(lockPath, $0) }
  }

  private static func problem(_ path: String, _ expected: FileIdentity) -> String? {
    var status = stat()
    if stat(path, &status) != 0 {
      return errno == ENOENT || errno == ENOTDIR || errno == ELOOP
        ? "'\(path)' was removed or moved while it was open" : nil
    }
    if FileIdentity(status) != expected {
      return "another file was put in place of '\(path)' while it was open"
    }
    return status.st_size == 0 ? "'\(path)' was cut to 0 bytes while it was open" : nil
  }
}

extension Environment {
  /// The length of an open file, in bytes.
  static func size(of file: mdb_filehandle_t) throws(MDBError) -> Int {
    var status = stat()
    if fstat(file, &status) != 0 { throw MDBError(code: errno, about: "the length of data.mdb") }
    return Int(status.st_size)
  }

  /// Fills a buffer from an offset of an open file. Returns false if the file ends before.
  static func read(
    _ file: mdb_filehandle_t, at offset: Int, into buffer: UnsafeMutableRawBufferPointer
  ) throws(MDBError) -> Bool {
    var rest = buffer[...]
    while !rest.isEmpty {
      let target = UnsafeMutableRawBufferPointer(rebasing: rest)
      let count = pread(file, target.baseAddress, target.count, off_t(offset + rest.startIndex))
      if count == 0 { return false }
      if count < 0 && errno != EINTR { throw MDBError(code: errno, about: "data.mdb") }
      rest = rest.dropFirst(max(0, count))
    }
    return true
  }

  /// Notes which files were opened.
  func watchFiles(in path: String, locking: Bool) {
    var descriptor: mdb_filehandle_t = -1
    var (data, lock) = (stat(), stat())
    guard mdb_env_get_fd(handle, &descriptor) == MDB_SUCCESS, fstat(descriptor, &data) == 0 else {
      return
    }
    // The current directory may change.
    var directory = path
    if path.utf8.first != UInt8(ascii: "/"), let current = getcwd(nil, 0) {
      directory = String(cString: current) + "/" + path
      free(current)
    }
    let lockPath = directory + "/lock.mdb"
    let hasLock = locking && stat(lockPath, &lock) == 0
    let files = OpenFiles(
      dataPath: directory + "/data.mdb", data: FileIdentity(data), lockPath: lockPath,
      lock: hasLock ? FileIdentity(lock) : nil)
    self.files.withLock { $0 = files }
  }

  /// The file that is open; nil before that.
  package var dataFile: FileIdentity? { files.withLock { $0?.data } }

  /// Checks that the directory still has the files that are open. Each commit of a writing
  /// transaction does so.
  ///
  /// - Throws: `MDBError.fileReplaced` if one of them was removed, moved or replaced. `copy(to:)`
  ///   still copies what is open. If the files are in place again, everything works as before.
  public func checkFiles() throws {
    if let error = replacedFile { throw error }
  }

  /// The error if a file was removed, moved or replaced.
  var replacedFile: MDBError? {
    files.withLock { $0 }?.problem.map { MDBError.failure(Int(ESTALE), $0) }
  }

  /// The error if a writing transaction, which has just begun, does not follow the newest commit of
  /// the data file. Without the lock file, nothing is compared.
  ///
  /// LMDB notes the number of the last commit in the lock file, and takes the meta page of that
  /// number as the present state. If the data file was replaced while some process keeps the lock
  /// file in use, that number is still one of the former data file. LMDB would then change a state
  /// that is not the newest one, and the next process that opens the file alone would not find it.
  func staleLockFile(for writer: OpaquePointer) -> MDBError? {
    // No other writer changes the meta pages meanwhile.
    let last = lastCommit
    return last == 0 || mdb_txn_id(writer) == last + 1 || !isLocking
      ? nil : replacedFile ?? keptLockFile
  }

  /// Throws if the lock file belongs to a former data file, as far as a reader can tell: the next
  /// writing transaction knows for sure.
  func checkLockFile() throws(MDBError) {
    defer { endSpareReaders() }
    for _ in 0..<100 {
      let last = lastCommit
      // If no reader can begin, the first transaction says so.
      guard let reader = try? TransactionState(env: self, parent: nil, readOnly: true),
        let pointer = reader.pointer
      else { return }
      let noted = mdb_txn_id(pointer)
      reader.abort()
      // A commit writes the meta page first, and then its number to the lock file.
      if last == 0 || noted == last || noted + 1 == last { return }
      // Otherwise another process has committed in between.
      if last == lastCommit { throw replacedFile ?? keptLockFile }
    }
  }

  /// The number of the newest commit in the data file; 0 in a new one, whose pages say the same.
  private var lastCommit: Int {
    var info = MDB_envinfo()
    mdb_env_info(handle, &info)
    return info.me_last_txnid
  }

  private var isLocking: Bool {
    var flags: UInt32 = 0
    return mdb_env_get_flags(handle, &flags) == MDB_SUCCESS && flags & UInt32(MDB_NOLOCK) == 0
  }

  private var keptLockFile: MDBError {
    .failure(
      Int(ESTALE),
      "'\(path)/data.mdb' was replaced while another process had the directory open, which still has it, or a program has written to it without the lock file: close the directory everywhere, and open it again"
    )
  }

  /// Copies the databases, one state of them, into another directory.
  ///
  /// With locking, other transactions go on meanwhile. Without it, the program must ensure that no
  /// transaction writes. It works as well after the environment's own files were removed, moved or
  /// replaced while they were open (`MDBError.fileReplaced`). The copy has the mode of the file. It
  /// is on the disk when this returns; if this throws, there is none.
  ///
  /// - Parameter path: An existing directory without a `data.mdb`.
  /// - Throws: `MDBError`: `failure(ENOENT, …)` for a missing directory, `failure(EEXIST, …)` if
  ///   there is a `data.mdb`; `failure(EBUSY, …)` inside a writing transaction of this thread;
  ///   `readersFull`.
  public func copy(to path: String) throws {
    if path.isEmpty || path.utf8.contains(0) {
      throw MDBError(code: ENOENT, about: "a path is empty, or contains NUL")
    }
    try checkOpen()
    // LMDB would wait for the end of the transaction.
    if gate.isWriting {
      throw MDBError(code: EBUSY, about: "a copy in '\(path)', inside a writing transaction")
    }
    let target = path + "/data.mdb"
    let file = copyRights.create(target)
    if file < 0 { throw MDBError(code: errno, about: "a copy in '\(path)'") }
    defer { Platform.close(file) }
    do throws(MDBError) {
      try copy(to: file, in: path)
      try Self.sync(file, in: path)
    } catch {
      unlink(target)
      throw error
    }
  }

  private func copy(to file: Int32, in path: String) throws(MDBError) {
    let thread = ThreadIdentity.current
    var mayClear = true
    while true {
      // The map must not move meanwhile.
      gate.enter(isWriter: false)
      let code = mdb_env_copyfd(handle, file)
      leaveGate(thread: thread, isWriter: false)
      if code == MDB_SUCCESS { return }
      // The copy is made by a reader of its own. If that cannot begin, nothing was written.
      let error = MDBError(code: code, about: "a copy in '\(path)'")
      switch code {
      case MDB_MAP_RESIZED:
        // Another process has grown the map.
        guard try adoptMapSize() else { throw error }
      case MDB_READERS_FULL where mayClear:
        endSpareReaders()
        try checkReaders()
        mayClear = false
      default: throw error
      }
    }
  }

  /// Waits until a new file in a directory is on the disk.
  private static func sync(_ file: Int32, in directory: String) throws(MDBError) {
    let folder = Platform.open(directory, O_RDONLY | O_CLOEXEC)
    defer { if folder >= 0 { Platform.close(folder) } }
    if fsync(file) != 0 || folder >= 0 && fsync(folder) != 0 && errno != EINVAL {
      throw MDBError(code: errno, about: "a copy in '\(directory)'")
    }
  }

  /// The rights of a copy: those of the file. LMDB would give it the mode of any new file.
  private var copyRights: FileRights {
    let files = self.files.withLock { $0 }
    let isInPlace = files?.problem == nil
    return files.flatMap { isInPlace ? FileRights(of: $0.dataPath) : nil } ?? .ofThisUserOnly
  }

  /// Copies the databases, one state of them, into another directory; see `copy(to:)`.
  ///
  /// - Parameter url: An existing directory without a `data.mdb`.
  /// - Throws: `MDBError`.
  public func copy(to url: URL) throws { try copy(to: url.path(percentEncoded: false)) }
}
