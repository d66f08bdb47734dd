// FileCare: keeps the log and the file from growing without need.
//
//  - All of it runs on the writing connection, outside of transactions, in the writer's turn.
//  - The log is moved into the file when it has reached its limit, holding the write lock. Readers of older states may be in the way:
//    short ones are waited for, a little; for others it is tried again when the log has grown, and they are reported.
//  - Waiting happens at sizes that double, and longer each time: queries that follow each other without a gap cannot keep the log
//    from beginning anew, and all waiting together stays in proportion to the writing.
//  - A log file that is longer than twice the limit is emptied, a shorter one is used again as it is.
//  - Free pages are given back a bounded number at a time, and not while somebody writes, as they may be wanted again at once;
//    unless a good part of the file is free.

import Dflat
import SQLiteAccess

struct FileCare {
  typealias Event = SQLiteWorkspace.Event

  /// Pages given back in one step. Each costs a page or two of the log.
  private static let vacuumPages = 256
  /// How long readers are waited for, for each time that the log is as long as its limit, and at most. While a checkpoint
  /// waits, new readers do not need the log, so it is the time of the longest query that counts.
  private static let (patience, mostPatience) = (Duration.milliseconds(50), Duration.seconds(1))

  private let pool: ReaderPool
  private let limit: Int
  private let limitPages: Int
  private let givesBack: Bool
  /// Log pages at which the next checkpoint is due.
  private var dueAt: Int
  /// Log pages at which readers are waited for.
  private var waitAt: Int
  /// Whether the last attempt to move the log has failed.
  private var isBehind = false
  /// Since when readers have been in the way.
  private var blockedSince: ContinuousClock.Instant?
  /// Whether pages were given back that the file still has until the log is moved.
  private var mustShrink = false

  /// Care for the file of a connection that was just prepared for writing.
  /// - Parameter pool: Who reads that file.
  init(walLimit: Int, _ connection: Connection, _ pool: ReaderPool) throws(SQLiteError) {
    self.pool = pool
    limit = walLimit
    // Each page in the log has a header of 24 bytes.
    limitPages = max(1, walLimit / (try connection.pageSize() + 24))
    givesBack =
      try connection.pragma("main.auto_vacuum")
      == .integer(DatabaseFileSettings.AutoVacuum.incremental.rawValue)
    dueAt = limitPages
    waitAt = limitPages
  }

  /// Whether the log is long enough to be moved.
  func isDue(_ connection: Connection) -> Bool { connection.walPagesAfterLastCommit >= dueAt }

  /// Moves the log into the file, if nobody is in the way.
  /// - Parameter ownReaders: The workspace's readers at the time of the call. They are asked for again after a checkpoint that
  ///   readers have prevented: one that began while it waited must not be taken for another program's.
  mutating func moveLog(
    _ connection: Connection, readers ownReaders: () -> OwnReaders
  ) throws(SQLiteError) -> [Event] {
    let readers = ownReaders()
    let pages = connection.walPagesAfterLastCommit
    let began = ContinuousClock.now
    let isLong = connection.walFileSize > 2 * Int64(limit)
    // Also after an error: it is not tried again with each transaction.
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
    // Another program that writes ends soon, and it is no reader.
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

  /// How long an attempt to move a log of so many pages waits for readers.
  func patience(pages: Int, _ readers: OwnReaders, now: ContinuousClock.Instant) -> Duration {
    let patience = min(Self.patience * max(1, pages / limitPages), Self.mostPatience)
    let mayEndInTime = readers.oldest.map { now - $0 < patience } ?? true
    return pages >= waitAt && !readers.areTransactions && mayEndInTime ? patience : .zero
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

  /// One step of what is done between transactions, from time to time.
  /// - Parameter isQuiet: Whether nothing has been written for a while.
  /// - Returns: What was done, and whether there is more to do.
  mutating func step(
    _ connection: Connection, isQuiet: Bool, readers: () -> OwnReaders
  ) throws(SQLiteError) -> (events: [Event], next: Next) {
    let free = givesBack ? try connection.freelistCount() : 0
    if free > 0 {
      let pages = try connection.pageCount()
      let isMuch = free > Self.vacuumPages && free > pages / 4
      if !isQuiet && !isMuch { return ([], .later) }
      let given = try giveBack(connection)
      if given > 0 {
        mustShrink = true
        return ([.vacuum(pages: given, remaining: free - given)], isQuiet ? .soon : .later)
      }
    }
    if !isQuiet { return ([], .later) }
    let mustMove = mustShrink || isBehind || isDue(connection)
    let events = mustMove ? try moveLog(connection, readers: readers) : []
    let isDone = free == 0 && !mustShrink && !isBehind
    return (events, isDone ? .nothing : .later)
  }

  /// - Returns: How many pages were given back; 0 if somebody else writes.
  private func giveBack(_ connection: Connection) throws(SQLiteError) -> Int {
    do {
      return try connection.withoutWaiting { () throws(SQLiteError) in
        try connection.incrementalVacuum(pages: Self.vacuumPages)
      }
    } catch  where error.isBusy {
      return 0
    }
  }

  /// When the next step is worth while.
  enum Next {
    case nothing, soon, later
  }
}

/// What is known of this workspace's readers.
struct OwnReaders {
  /// When the oldest open snapshot took its state.
  let oldest: ContinuousClock.Instant?
  /// Whether there are snapshots of transactions. They may wait for the writer's turn, and the log must not wait for them.
  var areTransactions = false
  /// Whether a query or a snapshot is reading.
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
