// UnlockedFile: a file that SQLite has open takes no locks.
//
// SQLite's own file system without locks ("unix-none") is of no use: when one of its files is
// closed, the process loses the locks that its other connections have on the same file. SQLite's
// ordinary file system knows of them, so only its methods for locking are replaced here.

import CSQLite
import Platform

enum UnlockedFile {
  /// The methods without locks, by those that they are made of. There are few of these.
  private static let made = Mutex<[UInt: UInt]>([:])

  /// Replaces the methods of the main file, which is not locked yet.
  static func makeUnlocked(fileOf database: OpaquePointer) {
    var file: UnsafeMutablePointer<sqlite3_file>?
    let result = withUnsafeMutablePointer(to: &file) {
      sqlite3_file_control(database, "main", SQLITE_FCNTL_FILE_POINTER, $0)
    }
    guard result == SQLITE_OK, let file, let methods = file.pointee.pMethods else { return }
    file.pointee.pMethods = unlocked(methods)
  }

  private static func unlocked(
    _ methods: UnsafePointer<sqlite3_io_methods>
  ) -> UnsafePointer<sqlite3_io_methods>? {
    let address = made.withLock { made in
      let key = UInt(bitPattern: methods)
      if let known = made[key] { return known }
      let copy = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
      copy.initialize(to: methods.pointee)
      copy.pointee.xLock = { _, _ in SQLITE_OK }
      copy.pointee.xUnlock = { _, _ in SQLITE_OK }
      copy.pointee.xCheckReservedLock = { _, isLocked in
        isLocked?.pointee = 0
        return SQLITE_OK
      }
      made[key] = UInt(bitPattern: copy)
      return UInt(bitPattern: copy)
    }
    return UnsafePointer(bitPattern: address)
  }
}
