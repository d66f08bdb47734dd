// The write-ahead log: how long it is, and moving it into the database file.
//
// Up to version 3.51.2, SQLite can lose commits when one connection checkpoints while another
// writes. So a checkpoint here always holds the write lock. SQLite's own `RESTART` and `TRUNCATE`
// take it, but when they cannot have it within the busy timeout they go on without, like `PASSIVE`.
// That must not be: see `CheckpointWait`.

import CSQLite
import Platform

/// What a checkpoint did.
public struct CheckpointResult: Hashable, Sendable {
  /// Pages in the write-ahead log; 0 after a checkpoint that truncated it, -1 if it was not
  /// reached.
  public let walPages: Int
  /// How many of them are in the database file now; -1 if it was not reached.
  public let checkpointed: Int
  /// Whether a reader, a writer or another checkpoint was in the way for longer than the timeout.
  /// The log could not begin anew then: try again later.
  public let isBusy: Bool

  /// Makes a result, to compare with.
  public init(walPages: Int, checkpointed: Int, isBusy: Bool) {
    self.walPages = walPages
    self.checkpointed = checkpointed
    self.isBusy = isBusy
  }
}

extension Connection {
  /// How far a checkpoint goes. Both take the write lock.
  public enum CheckpointMode: Hashable, Sendable {
    /// Moves everything, and lets the next writer begin the log anew; the log's file keeps its
    /// size.
    case restart
    /// As ``restart``, and makes the log's file empty.
    case truncate
  }

  /// Moves the write-ahead log into the database file, holding the write lock.
  ///
  /// It waits for other writers, and for readers whose view is older than the last commit. If that
  /// takes longer than the timeout it gives up, without harm, and says so in the result. It never
  /// works without the write lock.
  ///
  /// Call it outside a transaction and with no statement running. A database that is not in WAL
  /// mode has nothing to do.
  ///
  /// - Parameters:
  ///   - mode: How far to go.
  ///   - timeoutMilliseconds: How long to wait for others; nil is the connection's busy timeout.
  /// - Throws: ``SQLiteError``: ``ResultCode/locked`` inside a transaction, or what writing
  ///   reports.
  @discardableResult
  public func checkpoint(
    _ mode: CheckpointMode, timeoutMilliseconds: Int? = nil
  ) throws(SQLiteError) -> CheckpointResult {
    let database = try open()
    let wait = CheckpointWait(
      database: database, milliseconds: timeoutMilliseconds ?? busyTimeoutMilliseconds)
    var walPages: Int32 = -1
    var checkpointed: Int32 = -1
    let result = withExtendedLifetime(wait) {
      wait.install()
      defer { sqlite3_busy_timeout(database, Int32(clamping: busyTimeoutMilliseconds)) }
      return sqlite3_wal_checkpoint_v2(
        database, "main",
        mode == .truncate ? SQLITE_CHECKPOINT_TRUNCATE : SQLITE_CHECKPOINT_RESTART,
        &walPages, &checkpointed)
    }
    let isBusy = result & 0xff == SQLITE_BUSY || result == SQLITE_INTERRUPT && wait.gaveUp
    if result != SQLITE_OK && !isBusy {
      throw SQLiteError(result: result, database: database, path: path)
    }
    if !isBusy { wal.pages = 0 }
    return CheckpointResult(
      walPages: Int(walPages), checkpointed: Int(checkpointed), isBusy: isBusy)
  }

  /// How many pages the write-ahead log had after this connection's last commit; 0 before the
  /// first, and after a complete checkpoint, which restarts the log.
  ///
  /// It costs nothing to ask.
  public var walPagesAfterLastCommit: Int { wal.pages }

  /// The size of the write-ahead log's file in bytes; 0 if there is none.
  ///
  /// The file does not shrink when the log begins anew, only by a checkpoint that truncates it.
  public var walFileSize: Int64 {
    guard let file = sqlite3_db_filename(openDatabase, "main"), file[0] != 0,
      let log = sqlite3_filename_wal(file)
    else { return 0 }
    var status = stat()
    return stat(log, &status) == 0 ? Int64(status.st_size) : 0
  }

  /// Whether closing the last connection to the database checkpoints it and removes the log.
  ///
  /// True at first, as in SQLite. That checkpoint runs with the whole database locked.
  public var checkpointsOnClose: Bool {
    get {
      var isOff: Int32 = 0
      csqlite_db_config_boolean(
        openDatabase, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, -1, &isOff)
      return isOff == 0
    }
    set {
      csqlite_db_config_boolean(
        openDatabase, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, newValue ? 0 : 1, nil)
    }
  }
}

/// Hears from SQLite after each commit how long the write-ahead log is.
final class WALCounter {
  var pages = 0

  /// Takes the place of SQLite's automatic checkpoints, which are a hook of the same kind.
  ///
  /// The connection keeps the counter until after the handle is closed.
  func install(on database: OpaquePointer) {
    sqlite3_wal_hook(
      database,
      { context, _, schema, pages in
        // Attached databases have logs of their own.
        if let context, let schema, strcmp(schema, "main") == 0 {
          let counter = Unmanaged<WALCounter>.fromOpaque(context).takeUnretainedValue()
          counter.pages = Int(pages)
        }
        return SQLITE_OK
      }, Unmanaged.passUnretained(self).toOpaque())
  }
}

/// Waits for locks during a checkpoint, and keeps it from going on without the write lock.
///
/// When this gives up, SQLite continues with what it can do without the lock it was waiting for. If
/// that was the write lock, it would copy pages unprotected. So giving up also interrupts the
/// connection: SQLite looks for that before it copies a page. If the wait was for readers at the
/// end, everything is copied by then and only the log's restart is left out.
private final class CheckpointWait {
  private let database: OpaquePointer
  private let deadline: ContinuousClock.Instant
  private(set) var gaveUp = false

  init(database: OpaquePointer, milliseconds: Int) {
    self.database = database
    self.deadline = .now + .milliseconds(max(0, milliseconds))
  }

  func install() {
    sqlite3_busy_handler(
      database,
      { context, attempts in
        guard let context else { return 0 }
        let wait = Unmanaged<CheckpointWait>.fromOpaque(context).takeUnretainedValue()
        return wait.mayTryAgain(after: Int(attempts)) ? 1 : 0
      }, Unmanaged.passUnretained(self).toOpaque())
  }

  private func mayTryAgain(after attempts: Int) -> Bool {
    guard ContinuousClock.now < deadline else {
      gaveUp = true
      sqlite3_interrupt(database)
      return false
    }
    sqlite3_sleep(attempts < 5 ? 1 : attempts < 20 ? 5 : 20)
    return true
  }
}
