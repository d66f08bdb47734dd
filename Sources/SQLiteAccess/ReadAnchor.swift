// A lock that is kept while reads follow each other closely.
//
// In WAL mode each read begins by sharing a lock on the log's index and ends by giving it back: two calls of the kernel, which take
// longer than finding a row by its key. SQLite counts the shares of one process, and asks the kernel for the first only. So while a
// pool is read from again and again, one more connection keeps a share, and those beside it are had for nothing. What readers see is
// what they would see without it: each read begins at the newest state as before, and the anchor's own state is read by nobody.
//
// A lock that is kept can be in the way of those who move the log or begin it anew. What is kept true:
//
//  - our own checkpoints run without it;
//  - for those of others it is kept for a short time, and then not kept for a part of that time;
//  - where reads have ended it is given back within that time, and no timer runs;
//  - only in WAL mode: with a rollback journal, a shared lock would hold back every writer.
//
// It is an economy: whatever fails in it is left for later, and reads go on without it.

import Dispatch
import Synchronization

final class ReadAnchor: Sendable {
  /// So many reads within that time, in nanoseconds, are a burst.
  private static let (burst, burstTime): (Int, UInt64) = (16, 10_000_000)
  /// How long the lock is kept during a burst, and then not kept.
  private static let hold = DispatchTimeInterval.milliseconds(4)
  private static let gap = DispatchTimeInterval.milliseconds(1)
  /// How long nothing is tried after a failure, in nanoseconds.
  private static let pause: UInt64 = 1_000_000_000

  /// Unchecked: the connection is used under the mutex only.
  private struct State: @unchecked Sendable {
    var phase = Phase.free
    /// A statement of a connection of its own. When it has begun to read, it keeps the lock until it is reset.
    var lock: Statement?
    /// When the phase began, in nanoseconds of `MonotonicTime`, and how many reads there had been.
    var since: UInt64 = 0
    var reads = 0
    var notBefore: UInt64 = 0
    /// The timer that counts; others are late.
    var timer = 0
    /// How many are at work that it would be in the way of.
    var suspensions = 0
  }

  private enum Phase {
    /// Nothing is kept, and no timer is set.
    case free
    case held
    /// Nothing is kept, so that others can do what they cannot beside it.
    case gap
    case closed
  }

  private let path: String
  private let state = Mutex(State())
  private let reads = Atomic(0)
  /// At how many reads there may be something to do.
  private let nextLook: Atomic<Int>
  /// Whether there was a commit since the lock was taken.
  private let isOutdated = Atomic(false)

  init(path: String) {
    self.path = path
    nextLook = Atomic(Self.burst)
  }

  /// A read has ended.
  @inline(__always)
  func noteRead() {
    let count = reads.wrappingAdd(1, ordering: .relaxed).newValue
    if count >= nextLook.load(ordering: .relaxed) { look(count) }
  }

  /// There is a newer state. Its readers want another lock; if many come before the next commit, that one is kept.
  func noteCommit() {
    isOutdated.store(true, ordering: .relaxed)
    nextLook.store(reads.load(ordering: .relaxed) &+ Self.burst, ordering: .relaxed)
  }

  /// Calls `body` while nothing is kept.
  func suspended<R>(_ body: () throws -> R) rethrows -> R {
    state.withLock { state in
      state.suspensions += 1
      if state.phase != .closed { begin(.free, &state) }
    }
    defer { state.withLock { $0.suspensions -= 1 } }
    return try body()
  }

  /// Closes its connection, until there is a burst again.
  func rest() {
    state.withLock { state in
      state.lock = nil
      if state.phase != .closed { begin(.free, &state) }
    }
  }

  /// Closes its connection for good.
  func close() {
    state.withLock { state in
      state.lock = nil
      begin(.closed, &state)
    }
  }

  // MARK: Phases

  @inline(never)
  private func look(_ count: Int) {
    // If another thread is at it, that one does what there is to do.
    state.withLockIfAvailable { state in
      let now = MonotonicTime.now
      if state.phase == .held {
        if isOutdated.load(ordering: .relaxed) { take(&state) }
      } else if state.phase == .free, state.suspensions == 0, now >= state.notBefore {
        let isSlow = now &- state.since > Self.burstTime
        if isSlow || count &- state.reads >= Self.burst {
          return begin(isSlow ? .free : .held, &state)
        }
      }
      lookAgain(count, in: state.phase)
    }
  }

  /// Sets when it is looked again: while a timer runs, that comes first.
  private func lookAgain(_ count: Int, in phase: Phase) {
    nextLook.store(count &+ (phase == .free ? Self.burst : 1 << 16), ordering: .relaxed)
  }

  /// The time of a phase is over.
  private func timeIsOver(_ timer: Int) {
    state.withLock { state in
      guard state.timer == timer else { return }
      let isBurst = reads.load(ordering: .relaxed) &- state.reads >= Self.burst
      begin(isBurst ? state.phase == .held ? .gap : .held : .free, &state)
    }
  }

  private func begin(_ phase: Phase, _ state: inout State) {
    state.timer += 1
    state.phase = phase
    state.since = MonotonicTime.now
    state.reads = reads.load(ordering: .relaxed)
    if phase == .held { take(&state) } else { state.lock?.reset() }
    // Taking it may have failed.
    lookAgain(state.reads, in: state.phase)
    switch state.phase {
    case .held: setTimer(after: Self.hold, state.timer)
    case .gap: setTimer(after: Self.gap, state.timer)
    case .free, .closed: break
    }
  }

  private func setTimer(after delay: DispatchTimeInterval, _ timer: Int) {
    // It keeps the anchor for that short time: a weak reference would make counting all others slow.
    DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + delay) { [self] in
      timeIsOver(timer)
    }
  }

  /// Takes the lock that readers of the newest state want.
  private func take(_ state: inout State) {
    isOutdated.store(false, ordering: .relaxed)
    do {
      if state.lock == nil { state.lock = try open() }
      state.lock?.reset()
      if try state.lock?.step() == true { return }
    } catch {
      // A file that is not there, or somebody who holds it alone.
    }
    state.lock = nil
    state.notBefore = MonotonicTime.now &+ Self.pause
    state.phase = .free
  }

  /// A statement that reads one number, of a new connection; nil if it would keep a lock that writers need.
  private func open() throws(SQLiteError) -> Statement? {
    // Nobody waits for it, so it waits for nobody.
    let connection = try Connection(path: path, mode: .readOnly, busyTimeoutMilliseconds: 0)
    connection.checkpointsOnClose = false
    guard try connection.isInWALMode() else { return nil }
    return try connection.statement("PRAGMA main.schema_version")
  }
}
