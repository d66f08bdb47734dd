// A pool of read-only connections to one file, for many threads.
//
// Invariants, all under one lock:
//
//  - At most `limit` connections are open or being opened, with two exceptions. A thread inside
//    `withReader` never waits for a second reader, since it might wait for itself. And readers that
//    were taken `beyondLimit` do not count while they are held, so that their holders may wait for
//    others. A reader that is one too many is closed when it is returned.
//  - Threads that wait form a queue. A reader that is returned goes to the head of the queue, so no
//    reader is idle while a thread waits, and threads are served in order.
//  - The most recently used reader is used next, so those at the bottom of the stack age. While
//    some are idle, a timer is set for the oldest one; it closes those that have been idle for too
//    long.
//  - A reader that works without locks is used only while its file has not changed.
//  - All readers have the same file open. While a writer is known, that is the writer's, and a
//    reader that finds another file at the path is not used. Otherwise it is the file that was
//    found last: readers of an earlier one are closed.
//  - A reader is idle or has one holder. An idle one is outside any transaction.
//
// Files are opened and closed outside the lock.

import Dispatch
import Platform

/// Read-only connections to one database file, opened on demand, for use from many threads.
///
///     let pool = ReaderPool(path: "notes.db")
///     let count = try pool.withReader { try $0.value("SELECT count(*) FROM note") }
///
/// While the file does not exist, each use throws an error with ``SQLiteError/isNoSuchFile``. Each
/// statement sees the state of the file when it begins, or, inside a transaction, the state at the
/// transaction's first statement.
///
/// Waiting for a reader blocks the thread; readers are granted in the order of the calls.
public final class ReaderPool: Sendable {
  /// The database file.
  public let path: String
  /// How many readers may be open at the same time.
  public let limit: Int
  /// How long a reader may be idle before it is closed.
  public let idleLifetime: Duration

  /// The path from the root, since the current directory may change.
  let absolutePath: String
  private let mode: Connection.OpenMode
  private let busyTimeoutMilliseconds: Int
  private let statementCacheCapacity: Int
  private let mayRepair: Bool
  private let leavesNoTrace: Bool
  private let configure: (@Sendable (Connection) throws(SQLiteError) -> Void)?
  let lifetimeNanoseconds: UInt64
  let state = Mutex(State())
  /// When to see next whether the file is still the one at the path, in nanoseconds.
  let nextLook = Atomic<UInt64>(0)
  /// Whether only some of the pools like this one keep idle readers; see `IdleReaders`.
  let sharesIdleReaders = Atomic(false)
  /// nil for a file that is read without locks, or without leaving a trace.
  let readLock: SharedReadLock?

  /// Creates a pool. Nothing is opened yet.
  ///
  /// - Parameters:
  ///   - path: The database file.
  ///   - mode: ``Connection/OpenMode/readOnly``, which works also where nothing can be written
  ///     (``Connection/openForReading(path:mayRepair:busyTimeoutMilliseconds:statementCacheCapacity:)``),
  ///     or ``Connection/OpenMode/immutable`` for a file that does not change. With the writing
  ///     modes, `query_only` is turned on. They let readers work where SQLite must write in order
  ///     to read, for example after a crashed program has left a log.
  ///   - mayRepair: Whether readers may roll back a transaction that a crash interrupted, as
  ///     `openForReading` does.
  ///   - limit: How many readers may be open; by default two per processor, at least four.
  ///   - idleLifetime: How long an idle reader stays open.
  ///   - busyTimeoutMilliseconds: As for each connection.
  ///   - statementCacheCapacity: As for each connection.
  ///   - configure: Called with each reader after it was opened, on the thread that requested it.
  public convenience init(
    path: String, mode: Connection.OpenMode = .readOnly, mayRepair: Bool = true,
    limit: Int = ReaderPool.defaultLimit, idleLifetime: Duration = .seconds(30),
    busyTimeoutMilliseconds: Int = 30_000,
    statementCacheCapacity: Int = 100,
    configure: (@Sendable (Connection) throws(SQLiteError) -> Void)? = nil
  ) {
    self.init(
      path: path, mode: mode, mayRepair: mayRepair, leavesNoTrace: false, limit: limit,
      idleLifetime: idleLifetime, busyTimeoutMilliseconds: busyTimeoutMilliseconds,
      statementCacheCapacity: statementCacheCapacity, configure: configure)
  }

  /// - Parameter leavesNoTrace: Whether readers are opened by `Connection.openLeavingNoTrace`.
  package init(
    path: String, mode: Connection.OpenMode = .readOnly, mayRepair: Bool, leavesNoTrace: Bool,
    limit: Int, idleLifetime: Duration, busyTimeoutMilliseconds: Int,
    statementCacheCapacity: Int,
    configure: (@Sendable (Connection) throws(SQLiteError) -> Void)?
  ) {
    precondition(limit > 0, "a ReaderPool with a limit of \(limit) has no readers")
    self.path = path
    absolutePath = FileWatch.absolute(path)
    self.mode = mode
    self.mayRepair = mayRepair
    self.leavesNoTrace = leavesNoTrace
    self.limit = limit
    self.idleLifetime = idleLifetime
    self.busyTimeoutMilliseconds = busyTimeoutMilliseconds
    self.statementCacheCapacity = statementCacheCapacity
    self.configure = configure
    self.lifetimeNanoseconds = MonotonicTime.nanoseconds(idleLifetime)
    self.readLock = mode == .immutable || leavesNoTrace ? nil : SharedReadLock()
  }

  deinit {
    readLock?.close()
  }

  /// Two readers per processor, at least four.
  public static var defaultLimit: Int { max(4, 2 * processorCount()) }

  /// Changes the state and, in debug builds, checks its invariants.
  func change<R: Sendable>(_ body: (inout State) -> R) -> R {
    state.withLock { state in
      defer { state._checkInvariants(limit: limit) }
      return body(&state)
    }
  }

  // MARK: Using readers

  /// Calls `body` with a reader, for its exclusive use during the call.
  ///
  /// If all readers are in use, the call waits in a queue for one. A nested call on the same thread
  /// gets a reader of its own and never waits. A transaction that `body` leaves open is rolled
  /// back.
  ///
  /// - Parameters:
  ///   - beyondLimit: Opens another reader instead of waiting, which does not count against the
  ///     limit. Use it if threads that hold readers may be waiting for this caller, or if the
  ///     caller requests others meanwhile.
  ///   - body: It must not keep the connection, or a statement of it, beyond its end.
  /// - Throws: The error of `body`, or ``SQLiteError``: the file cannot be opened
  ///   (``SQLiteError/isNoSuchFile``), or the pool is closed.
  @inlinable
  public func withReader<R: ~Copyable>(
    beyondLimit: Bool = false, _ body: (Connection) throws -> R
  ) throws -> R {
    let reader = try take(scoped: true, within: nil, beyondLimit: beyondLimit)
    defer { checkIn(reader) }
    return try body(reader.connection)
  }

  /// Returns a reader to hold for longer than a call, for a snapshot for example.
  ///
  /// It may be passed to another thread. Unless it is taken `beyondLimit`, it counts against the
  /// limit as long as it is held: a thread that holds the last one and requests another deadlocks.
  /// Inside ``withReader(beyondLimit:_:)`` on the same thread it never waits.
  ///
  /// - Parameters:
  ///   - timeout: How long to wait in the queue at most; nil for no limit.
  ///   - beyondLimit: Opens another reader instead of waiting, which does not count against the
  ///     limit. Use it if threads that hold readers may be waiting for this caller, or if the
  ///     caller requests others meanwhile.
  /// - Throws: ``SQLiteError``: the file cannot be opened, the pool is closed, or, with
  ///   ``ResultCode/timedOut``, no reader became free.
  public func checkout(
    timeout: Duration? = nil, beyondLimit: Bool = false
  ) throws(SQLiteError) -> sending ReaderLease {
    let reader = try take(scoped: false, within: timeout, beyondLimit: beyondLimit)
    return ReaderLease(reader, pool: self)
  }

  @usableFromInline
  func take(
    scoped: Bool, within timeout: Duration?, beyondLimit: Bool = false
  ) throws(SQLiteError) -> PooledReader {
    let thread = scoped ? ThreadIdentity.current : nil
    let decision = change { state -> Decision in
      if state.isClosed { return .closed }
      if let idle = state.idle.popLast() {
        idle.thread = thread
        if beyondLimit { state.exempt(idle) }
        return .reader(idle)
      }
      if state.counted < limit || beyondLimit || state.isInside(.current) {
        let reader = state.addPlace(for: thread)
        if beyondLimit { state.exempt(reader) }
        return .mayOpen(reader)
      }
      let waiter = Waiter(thread: thread)
      state.queue.append(waiter)
      return .wait(waiter)
    }
    switch decision {
    case .reader(let reader): return try upToDate(reader)
    case .mayOpen(let reader): return try open(reader)
    case .closed: throw closedError
    case .wait(let waiter): return try waitInQueue(waiter, within: timeout)
    }
  }

  /// Waits in the queue. The thread that ends the wait has already registered this one as the
  /// holder.
  private func waitInQueue(
    _ waiter: Waiter, within timeout: Duration?
  ) throws(SQLiteError) -> PooledReader {
    if let timeout {
      let limit =
        DispatchTime.now() + .nanoseconds(Int(clamping: MonotonicTime.nanoseconds(timeout)))
      if waiter.semaphore.wait(timeout: limit) == .timedOut {
        if change({ state in state.queue.remove { $0 === waiter } }) {
          throw SQLiteError(
            code: .timedOut,
            message: "all \(self.limit) readers were in use for longer than \(timeout)",
            path: path)
        }
        // Another thread has removed this one from the queue, and has signalled it or is about to.
        waiter.semaphore.wait()
      }
    } else {
      waiter.semaphore.wait()
    }
    switch waiter.takeOutcome() {
    case .reader(let reader): return try upToDate(reader)
    case .mayOpen(let reader): return try open(reader)
    case .closed, .wait: throw closedError
    }
  }

  /// The reader, reopened if it works without locks and the file has changed.
  private func upToDate(
    _ reader: consuming PooledReader
  ) throws(SQLiteError) -> PooledReader {
    if !reader.connection.isOutdated { return reader }
    reader.close()
    return try open(reader)
  }

  /// Opens the connection of a reader that already has a place in the pool.
  private func open(_ reader: PooledReader) throws(SQLiteError) -> PooledReader {
    do {
      let connection = try openConnection(busyTimeoutMilliseconds: busyTimeoutMilliseconds)
      adoptFile(of: connection, for: reader)
      // Only the writer checkpoints the WAL.
      connection.checkpointsOnClose = false
      if mode == .readWrite || mode == .readWriteCreate {
        try connection.setPragma("query_only", 1)
      }
      try configure?(connection)
      reader.connection = connection
      if sharesIdleReaders.load(ordering: .relaxed) { IdleReaders.shared.note(self) }
      return reader
    } catch {
      change { $0.remove(reader, limit: limit) }?.perform()
      throw error
    }
  }

  private var closedError: SQLiteError {
    SQLiteError(code: .closed, message: "the pool of readers is closed", path: path)
  }

  // MARK: Returning readers

  /// Opens a connection to the file that the readers use.
  func openConnection(busyTimeoutMilliseconds: Int) throws(SQLiteError) -> Connection {
    let files = requiredFiles
    do {
      if leavesNoTrace {
        return try Connection.openLeavingNoTrace(
          path: absolutePath, busyTimeoutMilliseconds: busyTimeoutMilliseconds,
          statementCacheCapacity: statementCacheCapacity)
      }
      if mode == .readOnly {
        return try Connection.openForReading(
          path: absolutePath, mayRepair: mayRepair,
          busyTimeoutMilliseconds: busyTimeoutMilliseconds,
          statementCacheCapacity: statementCacheCapacity, expecting: files)
      }
      let connection = try Connection(
        path: absolutePath, mode: mode, busyTimeoutMilliseconds: busyTimeoutMilliseconds,
        statementCacheCapacity: statementCacheCapacity)
      try connection.expect(files)
      return connection
    } catch {
      guard let files, let problem = FileWatch.problem(at: absolutePath, files) else { throw error }
      throw SQLiteError(
        code: .fileReplaced, extendedCode: error.extendedCode, message: problem, path: absolutePath)
    }
  }

  @usableFromInline
  func checkIn(_ reader: PooledReader) {
    let now = MonotonicTime.now
    let isUsable = Self.isReadyForReuse(reader.connection) && !isOutdated(reader, now: now)
    reader.idleSince = now
    let decision = change { state -> ReturnDecision in
      state.count(reader)
      // A reader that is to be closed counts as open until then, so that close() waits for it.
      if !isUsable || state.isClosed || state.counted > limit || !state.isCurrent(reader) {
        reader.thread = nil
        return .surplus
      }
      if !state.queue.isEmpty, let waiter = state.queue.popFirst() {
        reader.thread = waiter.thread
        return .handedOn(Handover(waiter: waiter, outcome: .reader(reader)))
      }
      reader.thread = nil
      state.idle.append(reader)
      if state.isTimerSet { return .kept }
      state.isTimerSet = true
      return .keptAsTheFirst
    }
    switch decision {
    case .kept: break
    case .keptAsTheFirst: setTimer(after: lifetimeNanoseconds)
    case .handedOn(let handover): handover.perform()
    case .surplus:
      reader.close()
      change { $0.remove(reader, limit: limit) }?.perform()
    }
    // Comes last because it may open a connection.
    readLock?.noteRead(self)
  }

  /// What to do with a returned reader.
  private enum ReturnDecision: Sendable {
    case kept
    /// It becomes idle, and no timer is set yet.
    case keptAsTheFirst
    case handedOn(Handover)
    case surplus
  }

  /// Whether a returned reader can be used again: no transaction is open, no statement in use.
  private static func isReadyForReuse(_ connection: Connection) -> Bool {
    if connection.isClosed || !connection.isReusable || connection.statements.hasStatementsInUse {
      return false
    }
    guard connection.isInTransaction else { return true }
    do {
      try connection.rollback()
      return true
    } catch {
      // A reader that cannot roll back is not used again; closing it ends its transaction.
      return false
    }
  }
}
