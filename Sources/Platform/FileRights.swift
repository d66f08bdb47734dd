// The rights of files: mode, owner and group.
//
// A copy of a file has the same rights from the moment it exists: if it had the usual ones first,
// others could open it until they are changed, and read it afterwards.

/// The mode, the owner and the group of a file.
package struct FileRights: Sendable {
  private let mode: mode_t
  private let owner: uid_t
  private let group: gid_t

  /// The rights of an ordinary file; nil if there is none.
  package init?(of path: String) {
    var status = stat()
    guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    mode = status.st_mode & 0o777
    owner = status.st_uid
    group = status.st_gid
  }

  /// Only this user may read and write.
  package static var ofThisUserOnly: FileRights {
    FileRights(mode: 0o600, owner: geteuid(), group: getegid())
  }

  private init(mode: mode_t, owner: uid_t, group: gid_t) {
    self.mode = mode
    self.owner = owner
    self.group = group
  }

  /// Creates an empty file with these rights, where nothing is.
  /// - Returns: A descriptor for reading and writing; -1 if the system refuses.
  package func create(_ path: String) -> Int32 {
    if path.utf8.contains(0) {
      errno = ENOENT
      return -1
    }
    let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    if descriptor >= 0 { give(to: descriptor) }
    return descriptor
  }

  /// The same, if nothing is there, and closes it.
  /// - Returns: Whether it has created the file.
  @discardableResult
  package func createEmpty(_ path: String) -> Bool {
    let descriptor = create(path)
    if descriptor < 0 { return false }
    close(descriptor)
    return true
  }

  /// Gives these rights to a file that is there, as far as this process may.
  package func give(to path: String) {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    if descriptor < 0 { return }
    give(to: descriptor)
    close(descriptor)
  }

  private func give(to descriptor: Int32) {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { return }
    // Most processes may not give files away. Some may change the group nevertheless.
    if status.st_uid != owner { _ = fchown(descriptor, owner, gid_t.max) }
    let hasGroup = status.st_gid == group || fchown(descriptor, uid_t.max, group) == 0
    // Another group has no more rights than everybody.
    _ = fchmod(descriptor, hasGroup ? mode : mode & 0o707 | (mode & mode << 3) & 0o070)
  }
}
