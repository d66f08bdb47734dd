// The connections that keep a state, as it is taken and let go of. When that is done is the anchor's business (`ReadAnchor`).

import CSQLite

/// A connection, and a statement of it that has begun to read: until that is reset, the state is kept.
///
/// Unchecked, because a connection is not `Sendable`, nor is a statement: both are used under the anchor's mutex, or by the one thread that
/// is noted there as the reader. Passing through the mutex orders what the one did before what the other does.
final class StateKeeper: @unchecked Sendable {
  let connection: Connection
  /// Nil if it cannot be known what was committed since a state was taken: then it is kept for its lock only.
  let index: WALIndex?
  private var lock: Statement?
  /// Goes ahead to the newest state.
  private let scout: Connection
  private var scoutLock: Statement?

  /// Throws also if it would keep a lock that writers need.
  init(_ open: () throws(SQLiteError) -> Connection) throws(SQLiteError) {
    connection = try open()
    scout = try Connection(path: connection.path, mode: .readOnly, busyTimeoutMilliseconds: 0)
    scout.checkpointsOnClose = false
    guard try connection.isInWALMode() else {
      throw SQLiteError(code: .misuse, message: "not in WAL mode", path: connection.path)
    }
    let read = "PRAGMA main.schema_version"
    let lock = try connection.statement(read)
    self.lock = lock
    scoutLock = try scout.statement(read)
    index = WALIndex(of: connection)
    // It runs as long as the state is kept, which would look like a slow one.
    connection.traceBox?.silent = lock._handle
  }

  /// Takes the newest state.
  ///
  /// A connection that gives its state back finds its old lock free, and changes what that stands for. Another program's checkpoint that
  /// waits for this lock would wait as long as reads go on. Where the scout has gone to another lock before, the keeper follows.
  func take() throws(SQLiteError) -> Bool {
    defer { scoutLock?.reset() }
    guard try scoutLock?.step() == true, letGo() else { return false }
    return try lock?.step() == true
  }

  /// - Returns: False if something else keeps the state, that somebody has left open.
  func letGo() -> Bool {
    lock?.reset()
    return connection.withHandle { sqlite3_txn_state($0, "main") } == SQLITE_TXN_NONE
  }

  func close() {
    lock = nil
    scoutLock = nil
    // Statements that somebody has kept keep it open, until they go.
    try? connection.close()
    try? scout.close()
  }
}
