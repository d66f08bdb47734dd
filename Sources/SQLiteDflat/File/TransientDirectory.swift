// TransientDirectory: the directory for the file of an in-memory workspace.
//
// SQLite's own in-memory databases have no snapshots: readers and the writer exclude each other. So
// an in-memory workspace is an ordinary one whose file is in a directory of its own. Invariants:
//
//  - The first transaction creates the directory, under a name that no other workspace has.
//  - On Linux it is in the memory file system /dev/shm if that has room; elsewhere it is in the
//    directory for temporary files.
//  - It is removed when the workspace is closed or released, and when the process exits. A killed
//    process leaves it behind; the next in-memory workspace removes it. A lock on the file `lock`,
//    which ends with the process, shows whether the owner is alive.

import Platform

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

final class TransientDirectory: Sendable {
  /// The directory; it may not exist yet.
  let path: String
  private let lock = Mutex<Int32?>(nil)

  private static let prefix = "dflat-memory-"

  init() {
    path = "\(Self.base)/\(Self.prefix)\(UUID().uuidString)"
  }

  deinit {
    remove()
  }

  /// Creates the directory unless it exists.
  func create() throws(TransientDirectoryError) {
    try lock.withLock { lock throws(TransientDirectoryError) in
      if lock != nil { return }
      Self.removeLeftovers()
      guard mkdir(path, 0o700) == 0 else { throw TransientDirectoryError(path) }
      // The directory is renamed only once it is locked: another process that finds it unlocked
      // takes its owner for dead.
      let new = path + "/new"
      let file = open(new, O_CREAT | O_RDWR | O_CLOEXEC, 0o600)
      guard file >= 0, flock(file, LOCK_EX | LOCK_NB) == 0, rename(new, path + "/lock") == 0 else {
        let error = TransientDirectoryError(path)
        if file >= 0 { close(file) }
        Self.delete(path)
        throw error
      }
      lock = file
      Self.register(path)
    }
  }

  /// Removes the directory and its contents.
  func remove() {
    lock.withLock { lock in
      guard let file = lock else { return }
      lock = nil
      Self.delete(path)
      Self.living.withLock { _ = $0.remove(path) }
      close(file)
    }
  }

  // MARK: Where

  private static let base: String = {
    #if os(Linux)
      var status = statvfs()
      let memory = "/dev/shm"
      if access(memory, W_OK | X_OK) == 0, statvfs(memory, &status) == 0,
        UInt64(status.f_bavail) * UInt64(status.f_frsize) >= 256 << 20
      {
        return memory
      }
    #endif
    let path = FileManager.default.temporaryDirectory.path
    return path.hasSuffix("/") ? String(path.dropLast()) : path
  }()

  // MARK: Leftovers

  /// The directories of this process.
  private static let living = Mutex<Set<String>>([])

  /// A child of this process that ends without another program must leave them alone.
  private static let owner = getpid()

  private static let removesAtExit: Void = {
    atexit {
      if getpid() != TransientDirectory.owner { return }
      TransientDirectory.living.withLock { $0 }.forEach(TransientDirectory.delete)
    }
  }()

  private static func register(_ path: String) {
    _ = (owner, removesAtExit)
    living.withLock { _ = $0.insert(path) }
  }

  private static func removeLeftovers() {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: base)) ?? []
    for name in names where name.hasPrefix(prefix) {
      let path = "\(base)/\(name)"
      let file = open(path + "/lock", O_RDWR | O_CLOEXEC)
      guard file >= 0 else { continue }
      if flock(file, LOCK_EX | LOCK_NB) == 0 { delete(path) }
      close(file)
    }
  }

  /// Failures are not reported: the lock file is removed last, so the next workspace tries again.
  private static func delete(_ path: String) {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
    for name in names where name != "lock" { unlink("\(path)/\(name)") }
    unlink(path + "/lock")
    rmdir(path)
  }
}

/// The directory for an in-memory workspace could not be created.
struct TransientDirectoryError: Error {
  let message: String
  let isFull: Bool

  /// Describes the failure of a call that has just set `errno`.
  init(_ path: String) {
    let number = errno
    message = "\(String(cString: strerror(number))), directory \(path)"
    isFull = number == ENOSPC
  }
}
