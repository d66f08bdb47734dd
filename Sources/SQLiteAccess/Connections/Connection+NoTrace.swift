// Reading a file without leaving a trace: no new file beside it, and no change.
//
// A reader of a file in WAL mode creates what is missing of the `-wal` and `-shm` files, and they
// stay. So how a file is read depends on what is there:
//
//  - A file with a rollback journal, and one whose `-wal` and `-shm` are there, is read as usual.
//  - A file without a `-shm` is not in use. If it has no log either, or an empty one, it is
//    complete and is read without locks; see Connection+FrozenFiles.swift. A later change is
//    noticed.
//  - A log without a `-shm` is what a crash or a copy leaves. The connection keeps the index of the
//    log in its own memory, takes no lock, and writes nothing, so that programs can open the file
//    meanwhile. The commits that it has found stay where they are until a program has moved all of
//    the log into the file, which changes the file's pages and is noticed like every later change.
//  - What is beside the file is looked for where SQLite has it: if the path is a symbolic link,
//    beside the file that it leads to.
//
// The file is opened through SQLite only. If a process closes another descriptor of a file, it
// loses the locks that its connections have on it.

import CSQLite
import Platform

extension Connection {
  /// Opens an existing file for reading without leaving a trace; see the head of this file.
  ///
  /// - Parameters:
  ///   - path: The file.
  ///   - busyTimeoutMilliseconds: See ``busyTimeoutMilliseconds``.
  ///   - statementCacheCapacity: How many idle statements are kept.
  /// - Throws: ``SQLiteError``: as ``openForReading``.
  package static func openLeavingNoTrace(
    path: String, busyTimeoutMilliseconds: Int = 30_000, statementCacheCapacity: Int = 100
  ) throws(SQLiteError) -> Connection {
    func open(_ mode: OpenMode) throws(SQLiteError) -> Connection {
      try Connection(
        path: path, mode: mode, busyTimeoutMilliseconds: busyTimeoutMilliseconds,
        statementCacheCapacity: statementCacheCapacity)
    }
    func again() throws(SQLiteError) -> Connection {
      try openLeavingNoTrace(
        path: path, busyTimeoutMilliseconds: busyTimeoutMilliseconds,
        statementCacheCapacity: statementCacheCapacity)
    }
    let place = resolvedPath(path) ?? path
    func isInUse() -> Bool {
      FileMark(path: place + "-shm") != nil && FileMark(path: place + "-wal") != nil
    }
    // Read before the file is opened, so that every later change is noticed.
    let mark = FileMark(path: path)
    let reader = try open(.readOnly)
    guard let mark, reader.headerSaysWAL else {
      try reader.close()
      return try openForReading(
        path: path, mayRepair: false, busyTimeoutMilliseconds: busyTimeoutMilliseconds,
        statementCacheCapacity: statementCacheCapacity)
    }
    if isInUse() {
      do {
        try reader.execute("PRAGMA main.schema_version")
        return reader
      } catch {
        // The last program may have closed the file meanwhile.
        if isInUse() { throw error }
        try reader.close()
        return try again()
      }
    }
    try reader.close()
    if mark.logSize == 0 {
      let connection = try open(.immutable)
      connection.frozenFile = mark
      return connection
    }
    let connection = try Connection(
      withoutLocks: path, statementCacheCapacity: statementCacheCapacity)
    connection.frozenFile = mark
    try connection.execute("PRAGMA main.schema_version")
    if !connection.isOutdated { return connection }
    try connection.close()
    // A program was just closing the file. If it had removed the log, there is an empty one now,
    // which the last connection that can write removes.
    if !isInUse(), FileMark(path: path)?.logSize == 0, let last = try? open(.readWrite) {
      _ = try? last.schemaVersion()
      try last.close()
    }
    return try again()
  }

  /// Whether the header of the file says that it is in WAL mode. Nothing else is read, and no lock
  /// is taken.
  package var headerSaysWAL: Bool {
    var file: UnsafeMutablePointer<sqlite3_file>?
    let result = withUnsafeMutablePointer(to: &file) {
      sqlite3_file_control(openDatabase, "main", SQLITE_FCNTL_FILE_POINTER, $0)
    }
    guard result == SQLITE_OK, let file, let read = file.pointee.pMethods?.pointee.xRead else {
      return false
    }
    return withUnsafeTemporaryAllocation(byteCount: 20, alignment: 1) { header in
      read(file, header.baseAddress, 20, 0) == SQLITE_OK && header[18] == 2
    }
  }
}
