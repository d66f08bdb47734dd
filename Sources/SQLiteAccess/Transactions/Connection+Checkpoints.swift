// The write-ahead log (WAL): its length, and checkpoints.
//
// Up to version 3.51.2, SQLite can lose commits when one connection checkpoints while another
// writes. So a checkpoint here always holds the write lock. SQLite's own `RESTART` and `TRUNCATE`
// take it, but if they cannot get it within the busy timeout they continue without it, like
// `PASSIVE`. `CheckpointWait` prevents that.

import CSQLite
import Platform

/// The result of a checkpoint.
public struct CheckpointResult: Hashable, Sendable {
  /// Pages in the write-ahead log; 0 after a checkpoint that truncated it, -1 if the checkpoint did
  /// not start.
  public let walPages: Int
  /// How many of them are now in the database file; -1 if the checkpoint did not start.
  public let checkpointed: Int
  /// Whether a reader, a writer or another checkpoint was in the way for longer than the timeout.
  /// The log could then not restart: try again later.
  public let isBusy: Bool

  /// Creates a result, for comparisons.
  public init(walPages: Int, checkpointed: Int, isBusy: Bool) {
    self.walPages = walPages
    self.checkpointed = checkpointed
    self.isBusy = isBusy
  }
}

extension Connection {
  /// How far a checkpoint goes. Both take the write lock.
  public enum CheckpointMode: Hashable, Sendable {
    /// Copies all pages, and lets the next writer restart the log; the log's file keeps its size.
    case restart
    /// As ``restart``, and truncates the log's file to zero bytes.
    case truncate
  }

  /// Copies the write-ahead log into the database file, holding the write lock.
  ///
  /// It waits for other writers, and for readers whose view is older than the last commit. If that
  /// takes longer than the timeout it gives up, without harm, and the result says so. It never
  /// works without the write lock.
  ///
  /// Call it outside a transaction and while no statement is running. It does nothing for a
  /// database that is not in WAL mode.
  ///
  /// - Parameters:
  ///   - mode: How far to go.
  ///   - timeoutMilliseconds: How long to wait for locks; nil is the connection's busy timeout.
  /// - Throws: ``SQLiteError``: ``ResultCode/locked`` inside a transaction, or what writing
  ///   reports.
  @discardableResult
  public func checkpoint(
    _ mode: CheckpointMode, timeoutMilliseconds: Int? = nil
  ) throws(SQLiteError) -> CheckpointResult {
    let database = try open()
    forgetIdleInterruption()
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
      throw explained(SQLiteError(result: result, database: database, path: path))
    }
    if !isBusy { wal.pages = 0 }
    return CheckpointResult(
      walPages: Int(walPages), checkpointed: Int(checkpointed), isBusy: isBusy)
  }

  /// How many pages the write-ahead log had after this connection's last commit; 0 before the first
  /// commit, and after a complete checkpoint, which restarts the log.
  ///
  /// Reading it costs nothing.
  public var walPagesAfterLastCommit: Int { wal.pages }

  /// The size of the write-ahead log's file in bytes; 0 if there is none.
  ///
  /// The file does not shrink when the log restarts, only by a checkpoint that truncates it.
  public var walFileSize: Int64 {
    guard let file = sqlite3_db_filename(openDatabase, "main"), file[0] != 0,
      let log = sqlite3_filename_wal(file)
    else { return 0 }
    var status = stat()
    return stat(log, &status) == 0 ? Int64(status.st_size) : 0
  }

  /// Whether closing the last connection to the database checkpoints it and removes the log.
  ///
  /// True by default, as in SQLite. That checkpoint runs with the whole database locked.
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

/// Records the length of the write-ahead log after each commit.
final class WALCounter {
  var pages = 0

  /// Replaces SQLite's automatic checkpoints, which are a hook of the same kind.
  ///
  /// The connection keeps the counter until the handle is closed.
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

/// Waits for locks during a checkpoint, and prevents it from continuing without the write lock.
///
/// When this gives up, SQLite continues with the work that does not need the contended lock. If
/// that was the write lock, it would copy pages unprotected. So giving up also interrupts the
/// connection: SQLite checks for that before it copies a page. If the wait was for readers at the
/// end, everything is already copied and only the restart of the log is skipped.
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
