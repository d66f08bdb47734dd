// The space of new files.
//
// LMDB has no way back from a disk that is full while it creates its files: it maps the lock file,
// whose missing pages end the process, and it leaves a data file that nothing can open any more.
// So the space is taken before.

internal import CLMDB
internal import Platform

enum NewFile {
  /// Takes space on the disk for a file that has no contents yet, and creates it.
  ///
  /// - Parameters:
  ///   - path: The file.
  ///   - count: The number of bytes.
  ///   - keepingLength: Whether the file stays empty.
  /// - Throws: `failure(ENOSPC, …)` if the disk has no room for them.
  static func allocate(_ path: String, _ count: Int, keepingLength: Bool) throws(MDBError) {
    #if os(Linux)
      let file = Platform.open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
      // LMDB reports what is wrong.
      if file < 0 { return }
      defer { Platform.close(file) }
      var status = stat()
      // Other processes may have mapped a file that is not empty.
      if fstat(file, &status) != 0 || status.st_size > 0 { return }
      // Other errors are those of file systems that cannot allocate.
      let code =
        keepingLength
        ? fallocate(file, Int32(LMDB_FALLOCATE_KEEP_SIZE), 0, off_t(count)) == 0 ? 0 : errno
        : posix_fallocate(file, 0, off_t(count))
      if code == ENOSPC { throw MDBError(code: ENOSPC, about: "'\(path)'") }
    #endif
  }
}
