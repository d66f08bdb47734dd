// A read lock that a pool holds during reads in quick succession.
//
// In WAL mode every read takes a shared lock in the log's index and releases it afterwards. These
// two system calls take longer than finding a row by its key. SQLite counts the shared locks of a
// process and makes the system call only for the first and the last. So during a burst of reads one
// more connection keeps a read transaction open, and the other reads take the same lock without a
// system call. Results do not change: each read still begins at the latest committed state.
//
// An open read transaction can delay a checkpoint. Therefore:
//
//  - It ends after `holdTime` in any case, and begins again only after another burst. Then it has
//    the latest state and, after a commit, the lock that readers since that commit use. So another
//    program's checkpoint that waits for the old lock gets it.
//  - It ends before a checkpoint of our own, and does not begin during one.
//  - It is used only in WAL mode: with a rollback journal a shared lock would block every writer.
//
// This is an optimization. If it fails, because the file is missing or locked exclusively, reads
// work without it, and it is tried again after `pause`.

import Dispatch
import Platform

final class SharedReadLock: Sendable {
  /// This many reads within this time, in nanoseconds, are a burst.
  private static let (burst, burstTime): (Int, UInt64) = (16, 10_000_000)
  private static let holdTime = DispatchTimeInterval.milliseconds(10)
  /// How long to wait after a failure, in nanoseconds.
  private static let pause: UInt64 = 1_000_000_000

  private struct State {
    /// Opened by the first burst.
    var connection: Connection?
    /// Whether its read transaction is open.
    var isHeld = false
    var isClosed = false
    /// Checkpoints that are running.
    var checkpoints = 0
    /// When the read count last reached `burst`, in nanoseconds of `MonotonicTime`.
    var lastLook: UInt64 = 0
    var notBefore: UInt64 = 0
  }

  private let state = Mutex(State())
  private let reads = Atomic(0)
  /// The read count at which to check for a burst.
  private let nextCheck = Atomic(burst)

  /// Counts a read that has ended. Takes the lock if there is a burst.
  /// - Parameter pool: Opens the connection.
  @inline(__always)
  func noteRead(_ pool: ReaderPool) {
    let count = reads.wrappingAdd(1, ordering: .relaxed).newValue
    if count >= nextCheck.load(ordering: .relaxed) { checkForBurst(at: count, pool) }
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
  private func checkForBurst(at count: Int, _ pool: ReaderPool) {
    // Another thread is already doing this.
    _ = state.withLockIfAvailable { state in
      let now = MonotonicTime.now
      let isBurst = now &- state.lastLook <= Self.burstTime
      state.lastLook = now
      nextCheck.store(count &+ Self.burst, ordering: .relaxed)
      if isBurst, now >= state.notBefore, state.checkpoints == 0, !state.isHeld, !state.isClosed {
        take(&state, pool)
      }
    }
  }

  private func take(_ state: inout State, _ pool: ReaderPool) {
    do {
      let connection = try state.connection ?? open(pool)
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
    nextCheck.store(.max, ordering: .relaxed)
    // The timer may retain this object for its short duration: weak references to it would make all
    // other reference counting slower. If the timer belongs to an earlier lock, the current one is
    // released early.
    DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + Self.holdTime) { [self] in
      self.state.withLock { release(&$0) }
    }
  }

  private func open(_ pool: ReaderPool) throws(SQLiteError) -> Connection {
    let connection = try Connection(
      path: pool.absolutePath, mode: .readOnly, busyTimeoutMilliseconds: 0)
    try connection.expect(pool.requiredFiles)
    connection.checkpointsOnClose = false
    guard try connection.isInWALMode() else {
      throw SQLiteError(code: .misuse, message: "not in WAL mode", path: pool.path)
    }
    return connection
  }

  private func release(_ state: inout State) {
    guard state.isHeld else { return }
    state.isHeld = false
    state.lastLook = MonotonicTime.now
    nextCheck.store(reads.load(ordering: .relaxed) &+ Self.burst, ordering: .relaxed)
    // If the transaction cannot be ended, closing the connection ends it.
    do { try state.connection?.rollback() } catch { closeConnection(&state) }
  }

  private func closeConnection(_ state: inout State) {
    release(&state)
    // None of its statements is in use, so closing cannot fail; the last reference is released
    // here.
    try? state.connection?.close()
    state.connection = nil
  }
}
