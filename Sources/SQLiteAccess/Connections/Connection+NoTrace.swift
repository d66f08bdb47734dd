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
//    log in its own memory, and needs the file for itself. It writes nothing. A program that closes
//    the file leaves it like this for a moment, and is waited for.
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
  /// - Throws: ``SQLiteError``: as ``openForReading``; `.busy` if a log without a `-shm` is beside
  ///   the file, and another connection has the file open.
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
    let connection = try open(.readWrite)
    connection.checkpointsOnClose = false
    if connection.isReadOnly {
      throw SQLiteError(
        code: .readOnly,
        message: """
          there is a log of \(mark.logSize) bytes beside the file, which can only be read by somebody who may write the file: copy \
          both
          """,
        path: path)
    }
    try connection.execute("PRAGMA main.locking_mode = EXCLUSIVE")
    try connection.setPragma("query_only", 1)
    try connection.execute("PRAGMA main.schema_version")
    if FileMark(path: path)?.logSize != 0 { return connection }
    // A program was just closing the file. When it had removed the log, this connection got the
    // lock, which would keep programs from opening the file again.
    connection.checkpointsOnClose = true
    try connection.close()
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
