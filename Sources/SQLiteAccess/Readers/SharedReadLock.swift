// A read lock that a pool holds while reads follow each other closely.
//
// In WAL mode every read takes a shared lock in the log's index and releases it afterwards: two
// system calls, which take longer than finding a row by its key. SQLite counts the shared locks of
// one process and calls the system only for the first and the last. So during a burst of reads one
// more connection keeps a read transaction open, and the reads beside it take the same lock without
// a system call. Answers do not change: each read still begins at the newest committed state.
//
// A read transaction that stays open can delay a checkpoint. Therefore:
//
//  - it ends after `holdTime`, whatever happens, and begins again only after another burst. Then it
//    has the newest state and, after a commit, the lock that the readers since that commit use; so
//    another program's checkpoint that waits for the old lock gets it;
//  - it ends before a checkpoint of our own, and does not begin during one;
//  - it is used only in WAL mode: with a rollback journal a shared lock would keep out every
//    writer.
//
// This is an optimization. When it fails, for a missing file or one that is locked exclusively,
// reads go on without it, and it is tried again after `pause`.

import Dispatch
import Platform

final class SharedReadLock: Sendable {
  /// This many reads within that time, in nanoseconds, are a burst.
  private static let (burst, burstTime): (Int, UInt64) = (16, 10_000_000)
  private static let holdTime = DispatchTimeInterval.milliseconds(10)
  /// How long nothing is tried after a failure, in nanoseconds.
  private static let pause: UInt64 = 1_000_000_000

  private struct State {
    /// Opened by the first burst.
    var connection: Connection?
    /// Whether its read transaction is open.
    var isHeld = false
    var isClosed = false
    /// Checkpoints that are running.
    var checkpoints = 0
    /// When `burst` reads were counted for the last time, in nanoseconds of `MonotonicTime`.
    var lastLook: UInt64 = 0
    var notBefore: UInt64 = 0
  }

  private let path: String
  private let state = Mutex(State())
  private let reads = Atomic(0)
  /// The number of reads at which to look whether there is a burst.
  private let nextLook = Atomic(burst)

  init(path: String) {
    self.path = path
  }

  /// Counts a read that has ended. Takes the lock if there is a burst.
  @inline(__always)
  func noteRead() {
    let count = reads.wrappingAdd(1, ordering: .relaxed).newValue
    if count >= nextLook.load(ordering: .relaxed) { look(at: count) }
  }

  /// Calls `checkpoint` while the lock is not held.
  func withoutLock<R, E: Error>(_ checkpoint: () throws(E) -> R) throws(E) -> R {
    state.withLock { state in
      state.checkpoints += 1
      release(&state)
    }
    defer { state.withLock { $0.checkpoints -= 1 } }
    return try checkpoint()
  }

  /// Closes the connection until the next burst.
  func rest() {
    state.withLock { closeConnection(&$0) }
  }

  /// Closes the connection for good.
  func close() {
    state.withLock { state in
      state.isClosed = true
      closeConnection(&state)
    }
  }

  @inline(never)
  private func look(at count: Int) {
    // Nothing to do if another thread is here already.
    _ = state.withLockIfAvailable { state in
      let now = MonotonicTime.now
      let isBurst = now &- state.lastLook <= Self.burstTime
      state.lastLook = now
      nextLook.store(count &+ Self.burst, ordering: .relaxed)
      if isBurst, now >= state.notBefore, state.checkpoints == 0, !state.isHeld, !state.isClosed {
        take(&state)
      }
    }
  }

  private func take(_ state: inout State) {
    do {
      let connection = try state.connection ?? open()
      state.connection = connection
      // The transaction begins with the first read.
      try connection.begin(.deferred)
      _ = try connection.schemaVersion()
    } catch {
      closeConnection(&state)
      state.notBefore = MonotonicTime.now &+ Self.pause
      return
    }
    state.isHeld = true
    nextLook.store(.max, ordering: .relaxed)
    // The timer may keep this object alive for its short time: with weak references to it, counting
    // all other references would be slower. If it is of an earlier time, the lock is released
    // early.
    DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + Self.holdTime) { [self] in
      self.state.withLock { release(&$0) }
    }
  }

  private func open() throws(SQLiteError) -> Connection {
    let connection = try Connection(path: path, mode: .readOnly, busyTimeoutMilliseconds: 0)
    connection.checkpointsOnClose = false
    guard try connection.isInWALMode() else {
      throw SQLiteError(code: .misuse, message: "not in WAL mode", path: path)
    }
    return connection
  }

  private func release(_ state: inout State) {
    guard state.isHeld else { return }
    state.isHeld = false
    state.lastLook = MonotonicTime.now
    nextLook.store(reads.load(ordering: .relaxed) &+ Self.burst, ordering: .relaxed)
    // If the transaction cannot be ended, closing the connection ends it.
    do { try state.connection?.rollback() } catch { closeConnection(&state) }
  }

  private func closeConnection(_ state: inout State) {
    release(&state)
    // No statement of it is in use, so closing cannot fail; and the last reference goes away here.
    try? state.connection?.close()
    state.connection = nil
  }
}
