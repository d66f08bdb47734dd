// The lock files that this process has open.
//
// LMDB holds locks of `fcntl` on its lock file. They belong to the process: closing any descriptor
// of the file ends all of them. A second environment of the same file would therefore, when it is
// closed, let other processes write beside the first one, and would clear its reader slots. So a
// process opens a lock file once.

internal import CLMDB
internal import Platform

enum OpenLockFiles {
  /// The files, by the handles of their environments.
  private static let files = Monitor<[OpaquePointer: FileIdentity]>([:])

  /// Opens an environment with the lock file in a directory.
  ///
  /// - Parameters:
  ///   - handle: The environment.
  ///   - directory: The directory.
  ///   - readers: How many readers a new file has room for.
  ///   - patience: How long to wait until another environment of the file is closed.
  ///   - open: Opens the environment.
  /// - Throws: `failure(EBUSY, …)` if another environment has the file, `failure(ENOSPC, …)` if the
  ///   disk has no room for it; the errors of `open`.
  static func open(
    _ handle: OpaquePointer, in directory: String, readers: Int, patience: Duration,
    _ open: () throws(MDBError) -> Void
  ) throws(MDBError) {
    let path = directory + "/lock.mdb"
    let deadline = MonotonicTime.now + MonotonicTime.nanoseconds(patience)
    files.lock()
    defer { files.unlock() }
    while let file = FileIdentity(of: path), files.state.values.contains(file) {
      if !files.wait(until: deadline) {
        throw .failure(
          Int(EBUSY),
          "'\(directory)' is open in this process already, and LMDB cannot open it twice")
      }
    }
    // LMDB only maps the file, and a page without space would end the process. Each reader has 64
    // bytes, and the rest 128: a larger file would be one for more readers.
    try NewFile.allocate(path, 128 + 64 * readers, keepingLength: false)
    try open()
    files.state[handle] = FileIdentity(of: path)
  }

  /// Closes an environment.
  static func close(_ handle: OpaquePointer) {
    files.lock()
    defer { files.unlock() }
    mdb_env_close(handle)
    if files.state.removeValue(forKey: handle) != nil { files.broadcast() }
  }
}
