// PlainFile: a file that is read and written at positions, with errors that name it.

import Dflat
import Platform

final class PlainFile {
  let path: String
  private let descriptor: Int32

  /// Opens a file for reading.
  init(reading path: String) throws {
    self.path = path
    descriptor = open(path, O_RDONLY | O_CLOEXEC)
    if descriptor < 0 { throw Self.error("it cannot be opened", path) }
  }

  /// Creates a file, where nothing is.
  /// - Parameter rights: Its rights; nil for this user only.
  init(creating path: String, _ rights: FileRights?) throws {
    self.path = path
    descriptor = (rights ?? .ofThisUserOnly).create(path)
    if descriptor < 0 { throw Self.error("it cannot be created", path) }
  }

  deinit { close(descriptor) }

  func size() throws -> Int {
    var status = stat()
    try check(fstat(descriptor, &status) == 0, "its size is not known")
    return Int(status.st_size)
  }

  /// Fills all of the bytes.
  /// - Throws: `StorageError`; `.corruptFile` if the file ends before.
  func read(_ bytes: UnsafeMutableRawBufferPointer, at offset: Int) throws {
    try inParts(bytes.count, "it cannot be read") { done in
      let count = pread(
        descriptor, bytes.baseAddress! + done, bytes.count - done, off_t(offset + done))
      if count == 0 {
        throw StorageError(
          .corruptFile, message: "it ends after \(offset + done) bytes", path: path)
      }
      return count
    }
  }

  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws {
    try inParts(bytes.count, "it cannot be written") { done in
      pwrite(descriptor, bytes.baseAddress! + done, bytes.count - done, off_t(offset + done))
    }
  }

  /// Calls `body`, with the number of bytes that are done, until it has done all. The system may do
  /// a part only, and a signal may interrupt it.
  private func inParts(
    _ count: Int, _ problem: String, _ body: (_ done: Int) throws -> Int
  ) throws {
    var done = 0
    while done < count {
      let part = try body(done)
      if part < 0, errno == EINTR { continue }
      try check(part >= 0, problem)
      done += part
    }
  }

  func truncate(to size: Int) throws {
    try check(ftruncate(descriptor, off_t(size)) == 0, "it cannot be cut")
  }

  /// Writes what the system still has in memory to the disk.
  func sync() throws { try check(fsync(descriptor) == 0, "it cannot be written to the disk") }

  private func check(_ isDone: Bool, _ problem: String) throws {
    if !isDone { throw Self.error(problem, path) }
  }

  /// The error of the system's last call.
  static func error(_ problem: String, _ path: String) -> StorageError {
    let number = errno
    let cause: StorageError.Cause =
      switch number {
      case ENOSPC, EDQUOT: .diskFull
      case ENOENT, ENOTDIR, EACCES, EPERM, EISDIR: .cannotOpen
      case EROFS: .readOnly
      default: .other
      }
    return StorageError(
      cause, message: "\(problem): \(String(cString: strerror(number)))", path: path,
      advice: cause == .diskFull ? "free some space, and try again" : nil)
  }
}
