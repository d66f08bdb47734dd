// Reading a file without leaving a trace: no new file beside it, and no change.
//
// A reader of a file in WAL mode creates what is missing of the `-wal` and `-shm` files, and they
// stay. So how a file is read depends on what is there:
//
//  - A file with a rollback journal, and one whose `-wal` and `-shm` are in use, is read as usual.
//  - A file without a log, or with an empty one, is complete. It is read without locks; see
//    Connection+FrozenFiles.swift. A later change is noticed.
//  - A log without a `-shm` is what a crash or a copy leaves. The connection keeps the index of the
//    log in its own memory, and needs the file for itself. It writes nothing.

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
    guard let mark = FileMark(path: path), headerSaysWAL(ofFileAt: path) else {
      return try openForReading(
        path: path, mayRepair: false, busyTimeoutMilliseconds: busyTimeoutMilliseconds,
        statementCacheCapacity: statementCacheCapacity)
    }
    if mark.logSize == 0 {
      let connection = try open(.immutable)
      connection.frozenFile = mark
      return connection
    }
    if FileMark(path: path + "-shm") != nil {
      let connection = try open(.readOnly)
      try connection.execute("PRAGMA main.schema_version")
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
    return connection
  }
}

extension Connection {
  /// Whether the header of a file says that it is in WAL mode.
  package static func headerSaysWAL(ofFileAt path: String) -> Bool { readsWAL(path) }
}

// A method of a connection could not call the function `open` of the system.
private func readsWAL(_ path: String) -> Bool {
  let file = open(path, O_RDONLY | O_CLOEXEC)
  guard file >= 0 else { return false }
  defer { close(file) }
  return withUnsafeTemporaryAllocation(byteCount: 20, alignment: 1) { header in
    guard let start = header.baseAddress, pread(file, start, 20, 0) == 20 else { return false }
    return header[18] == 2
  }
}
