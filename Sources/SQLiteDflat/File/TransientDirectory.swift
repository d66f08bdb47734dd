// TransientDirectory: the directory for the file of an in-memory workspace.
//
// SQLite's own in-memory databases have no snapshots: readers and the writer exclude each other. So
// an in-memory workspace is an ordinary one whose file is in a directory of its own. Invariants:
//
//  - The first transaction creates the directory, under a name that no other workspace has.
//  - On Linux it is in the memory file system /dev/shm if that has room; elsewhere it is in the
//    directory for temporary files.
//  - It is removed when the workspace is closed or released, and when the process exits. A killed
//    process leaves it behind; the next in-memory workspace removes it.
//  - A process has one lock for all its directories, which ends with the process and shows whether
//    it is alive. The lock is on the file `lock` in a directory named after the process, which
//    exists as long as one of the others does. The others have that name and a number.

import Platform
import SQLiteAccess

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

final class TransientDirectory: Sendable {
  /// The directory; it may not exist yet.
  let path: String
  private let isThere = Mutex(false)

  private static let prefix = "dflat-memory-"
  private static let lastNumber = Atomic(0)

  init() {
    let number = Self.lastNumber.wrappingAdd(1, ordering: .relaxed).newValue
    path = "\(Self.ownerPath)-\(number)"
  }

  deinit {
    remove()
  }

  /// Creates the directory unless it exists.
  func create() throws(TransientDirectoryError) {
    try isThere.withLock { isThere throws(TransientDirectoryError) in
      if isThere { return }
      Self.removeLeftovers()
      try Self.retainOwner()
      guard mkdir(path, 0o700) == 0 else {
        let error = TransientDirectoryError(path)
        Self.releaseOwner()
        throw error
      }
      isThere = true
      Self.register(path)
    }
  }

  /// Removes the directory and its contents.
  func remove() {
    isThere.withLock { isThere in
      if !isThere { return }
      isThere = false
      Self.delete(path)
      Self.living.withLock { _ = $0.remove(path) }
      Self.releaseOwner()
    }
  }

  // MARK: The lock of the process

  /// The directory of the lock, named after this process.
  private static let ownerPath = "\(base)/\(prefix)\(UUID().uuidString)"

  /// How many directories there are, and the lock's file while there are some.
  private static let ownership = Mutex((count: 0, lock: Int32(-1)))

  /// Takes the lock for another directory.
  private static func retainOwner() throws(TransientDirectoryError) {
    try ownership.withLock { ownership throws(TransientDirectoryError) in
      if ownership.count == 0 { ownership.lock = try takeLock() }
      ownership.count += 1
    }
  }

  private static func releaseOwner() {
    ownership.withLock { ownership in
      ownership.count -= 1
      if ownership.count > 0 { return }
      delete(ownerPath)
      close(ownership.lock)
    }
  }

  private static func takeLock() throws(TransientDirectoryError) -> Int32 {
    guard mkdir(ownerPath, 0o700) == 0 else { throw TransientDirectoryError(ownerPath) }
    // The file is renamed only once it is locked: another process that finds it unlocked takes its
    // owner for dead.
    let new = ownerPath + "/new"
    let file = open(new, O_CREAT | O_RDWR | O_CLOEXEC, 0o600)
    guard file >= 0, flock(file, LOCK_EX | LOCK_NB) == 0, rename(new, ownerPath + "/lock") == 0
    else {
      let error = TransientDirectoryError(ownerPath)
      if file >= 0 { close(file) }
      delete(ownerPath)
      throw error
    }
    return file
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
      FileRemovals.areOwn = true
      TransientDirectory.living.withLock { $0 }.forEach(TransientDirectory.delete)
      TransientDirectory.delete(TransientDirectory.ownerPath)
    }
  }()

  private static func register(_ path: String) {
    _ = (owner, removesAtExit)
    living.withLock { _ = $0.insert(path) }
  }

  private static func removeLeftovers() {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: base)) ?? []
    let length = prefix.utf8.count + UUID().uuidString.utf8.count
    for name in names where name.hasPrefix(prefix) {
      let owner = "\(base)/\(name.prefix(length))"
      if owner == ownerPath { continue }
      let isOwner = name.utf8.count == length
      let file = open(owner + "/lock", O_RDWR | O_CLOEXEC)
      if file < 0 {
        // The directory of the lock is the last that a process removes.
        if !isOwner, errno == ENOENT, access(owner, F_OK) != 0, errno == ENOENT {
          delete("\(base)/\(name)")
        }
        continue
      }
      if flock(file, LOCK_EX | LOCK_NB) == 0, isFile(file, at: owner + "/lock") {
        for other in names where other.hasPrefix("\(name.prefix(length))-") {
          delete("\(base)/\(other)")
        }
        delete(owner)
      }
      close(file)
    }
  }

  /// Whether a path still leads to an open file. A process that has closed all its directories
  /// removes its lock, and makes another one under the same name for the next.
  private static func isFile(_ file: Int32, at path: String) -> Bool {
    var (opened, present) = (stat(), stat())
    return fstat(file, &opened) == 0 && stat(path, &present) == 0
      && opened.st_dev == present.st_dev && opened.st_ino == present.st_ino
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
