// FileMaintenance: maintenance that keeps the write-ahead log (WAL) and the file from growing
// without need.
//
//  - It runs on the writing connection, outside transactions, while the engine holds the writer
//    lock.
//  - When the WAL has reached its limit it is checkpointed under the write lock. Readers of older
//    states can prevent that: the checkpoint waits briefly for short reads; otherwise it is retried
//    when the WAL has grown, and the readers are reported.
//  - It waits at sizes that double, and longer each time. So back-to-back queries cannot keep the
//    WAL from restarting, and the total waiting time stays proportional to the amount written.
//  - Long queries that overlap could: there is always one that needs an older state than the last
//    commit's. So a WAL of `longLog` times the limit is not extended before the queries that run
//    have ended. They never wait for a transaction, and those that begin once everything is copied
//    do not need the WAL. Snapshots may wait for a transaction: they are not waited for so long.
//  - It does not wait at all for what reads the whole file, such as a backup: the WAL grows
//    meanwhile.
//  - A WAL file longer than twice the limit is truncated; a shorter one is reused as it is.
//  - Free pages are returned to the file system in steps of bounded size. This does not happen
//    between transactions in quick succession, which may need the pages again, unless a large part
//    of the file is free.

import Dflat
import SQLiteAccess

struct FileMaintenance {
  typealias Event = SQLiteWorkspace.Event

  /// Pages freed in one step. Each costs a page or two in the WAL.
  private static let vacuumPages = 256
  /// How long a checkpoint waits for readers: per multiple of the limit that the WAL has reached,
  /// and at most. New readers do not need the WAL meanwhile, so only the longest running query
  /// matters.
  private static let (patience, mostPatience) = (Duration.milliseconds(50), Duration.seconds(1))
  /// A multiple of the limit, and how long a checkpoint waits for queries when the WAL has reached
  /// it.
  private static let (longLog, longPatience) = (8, Duration.seconds(10))

  private let pool: ReaderPool
  private let limit: Int
  private let limitPages: Int
  private let returnsPages: Bool
  /// WAL pages at which the next checkpoint is due.
  private var dueAt: Int
  /// WAL pages at which a checkpoint waits for readers.
  private var waitAt: Int
  /// Whether the last attempt to checkpoint the WAL failed.
  private var isBehind = false
  /// When readers began to prevent the checkpoint.
  private var blockedSince: ContinuousClock.Instant?
  /// Whether pages were freed that remain in the file until the WAL is checkpointed.
  private var mustShrink = false

  /// Maintenance for the file of a connection that was just prepared for writing.
  /// - Parameter pool: The engine's readers of that file.
  init(walLimit: Int, _ connection: Connection, _ pool: ReaderPool) throws(SQLiteError) {
    self.pool = pool
    limit = walLimit
    // Each page in the WAL has a header of 24 bytes.
    limitPages = max(1, walLimit / (try connection.pageSize() + 24))
    returnsPages =
      try connection.pragma("main.auto_vacuum")
      == .integer(DatabaseFileSettings.AutoVacuum.incremental.rawValue)
    dueAt = limitPages
    waitAt = limitPages
  }

  /// Whether the WAL is long enough for a checkpoint.
  func isDue(_ connection: Connection) -> Bool { connection.walPagesAfterLastCommit >= dueAt }

  /// Checkpoints the WAL unless a reader or writer prevents it.
  /// - Parameter ownReaders: Returns the workspace's current readers. It is called again after a
  ///   checkpoint that readers prevented, so that a reader which began in between is not taken for
  ///   another program's.
  mutating func checkpointLog(
    _ connection: Connection, readers ownReaders: () -> OwnReaders
  ) throws(SQLiteError) -> [Event] {
    let readers = ownReaders()
    let pages = connection.walPagesAfterLastCommit
    let began = ContinuousClock.now
    let isLong = connection.walFileSize > 2 * Int64(limit)
    // Also after an error, so that not every transaction retries.
    dueAt = pages + limitPages
    isBehind = true
    let result = try pool.checkpoint(
      connection, isLong || mustShrink ? .truncate : .restart,
      timeoutMilliseconds: Int(patience(pages: pages, readers, now: began) / .milliseconds(1)))
    if !result.isBusy {
      dueAt = limitPages
      waitAt = limitPages
      isBehind = false
      blockedSince = nil
      mustShrink = false
      return [.checkpoint(pages: pages, duration: .now - began)]
    }
    // Another program is writing. That ends soon, and it is not a reader to report.
    if try isWriting(connection) { return [] }
    if pages >= waitAt { waitAt = 2 * max(pages, limitPages) }
    let since = blockedSince ?? began
    blockedSince = since
    let readersNow = ownReaders()
    return [
      .stuckReader(
        age: .now - (readers.oldest ?? readersNow.oldest ?? since),
        isOwn: readers.isAnyAtWork || readersNow.isAnyAtWork, walBytes: connection.walFileSize)
    ]
  }

  /// How long a checkpoint of a WAL with this many pages waits for readers.
  func patience(pages: Int, _ readers: OwnReaders, now: ContinuousClock.Instant) -> Duration {
    if readers.areTransactions || readers.isReadingWhole { return .zero }
    if pages / limitPages >= Self.longLog, readers.isAnyAtWork, readers.oldest == nil {
      return Self.longPatience
    }
    let patience = min(Self.patience * max(1, pages / limitPages), Self.mostPatience)
    let mayEndInTime = readers.oldest.map { now - $0 < patience } ?? true
    return pages >= waitAt && mayEndInTime ? patience : .zero
  }

  /// Whether another connection holds the write lock.
  private func isWriting(_ connection: Connection) throws(SQLiteError) -> Bool {
    try connection.withoutWaiting { () throws(SQLiteError) in
      do throws(SQLiteError) {
        try connection.begin(.immediate)
        try connection.rollback()
        return false
      } catch  where error.isBusy {
        return true
      }
    }
  }

  /// One step of the maintenance between transactions.
  /// - Parameter isQuiet: Whether nothing has been written for a while.
  /// - Returns: What was done, and whether there is more to do.
  mutating func step(
    _ connection: Connection, isQuiet: Bool, readers: () -> OwnReaders
  ) throws(SQLiteError) -> (events: [Event], next: Next) {
    let free = returnsPages ? try connection.freelistCount() : 0
    if free > 0 {
      let pages = try connection.pageCount()
      let isMuch = free > Self.vacuumPages && free > pages / 4
      if !isQuiet && !isMuch { return ([], .later) }
      let given = try returnPages(connection)
      if given > 0 {
        mustShrink = true
        return ([.vacuum(pages: given, remaining: free - given)], isQuiet ? .soon : .later)
      }
    }
    if !isQuiet { return ([], .later) }
    let mustMove = mustShrink || isBehind || isDue(connection)
    let events = mustMove ? try checkpointLog(connection, readers: readers) : []
    let isDone = free == 0 && !mustShrink && !isBehind
    return (events, isDone ? .nothing : .later)
  }

  /// - Returns: How many pages were freed; 0 if another connection writes.
  private func returnPages(_ connection: Connection) throws(SQLiteError) -> Int {
    do {
      return try connection.withoutWaiting { () throws(SQLiteError) in
        try connection.incrementalVacuum(pages: Self.vacuumPages)
      }
    } catch  where error.isBusy {
      return 0
    }
  }

  /// When to run the next step.
  enum Next {
    case nothing, soon, later
  }
}

/// What is known about this workspace's readers.
struct OwnReaders {
  /// When the oldest open snapshot took its state.
  let oldest: ContinuousClock.Instant?
  /// Whether transactions have open snapshots. Those transactions may be waiting for the writer, so
  /// a checkpoint must not wait for them.
  var areTransactions = false
  /// Whether one reads the whole file, which takes as long as the file is large.
  var isReadingWhole = false
  /// Whether a query or snapshot is reading.
  let isAnyAtWork: Bool
}

extension Connection {
  /// Calls `body` with a busy timeout of 0.
  func withoutWaiting<R, E: Error>(_ body: () throws(E) -> R) throws(E) -> R {
    let timeout = busyTimeoutMilliseconds
    busyTimeoutMilliseconds = 0
    defer { busyTimeoutMilliseconds = timeout }
    return try body()
  }
}
