// A state that is kept while reads follow each other closely.
//
// In WAL mode each read begins by sharing a lock on the log's index and ends by giving it back: two calls of the kernel, which take
// longer than finding a row by its key. SQLite counts the shares of one process, and asks the kernel for the first only. So while a
// pool is read from again and again, one more connection keeps a share, and those beside it are had for nothing. What readers see is
// what they would see without it: each read begins at the newest state as before.
//
// After each commit of another connection SQLite also empties a reader's page cache, so that beside a writer every read gets its pages
// from the kernel again. The connection that keeps its state keeps its pages, too. A single row is read from it, if it is known that
// nobody has changed that row since (`OwnCommits`): then it is what the newest state has.
//
// A state that is kept can be in the way of those who move the log or begin it anew. What is kept true:
//
//  - for our own checkpoints it is the newest state, and they let go of it when the log is to begin anew;
//  - if others commit, it is kept for a short time, and then not kept for a part of that time; otherwise it is exchanged for the
//    newest after a while, and with another lock, so that others who checkpoint and wait can do so;
//  - where reads have ended it is given back within that time, and no timer runs;
//  - only in WAL mode: with a rollback journal, a shared lock would hold back every writer.
//
// It is an economy: whatever fails in it is left for later, and reads go on without it.

import Dispatch
import Synchronization

final class ReadAnchor: Sendable {
  /// So many reads within that time, in nanoseconds, are a burst.
  private static let (burst, burstTime): (Int, UInt64) = (16, 10_000_000)
  /// How long a state is kept before it is looked whether it is of use, in milliseconds, and how long none is kept if it is not.
  private let hold = Atomic(4)
  private static let gap = DispatchTimeInterval.milliseconds(1)
  /// How old a state may be that is kept on, in nanoseconds. The more was committed since, the fewer rows can be read from it.
  private static let greatestAge: UInt64 = 10_000_000
  /// How long nothing is tried after a failure, in nanoseconds.
  private static let pause: UInt64 = 1_000_000_000
  /// How long a checkpoint waits for who reads a row.
  private static let patience = DispatchTimeInterval.milliseconds(1)

  private struct State {
    var phase = Phase.free
    var keeper: StateKeeper?
    /// What the state that is kept is not older than; nil if nothing can be read from it.
    var base: WALIndex.Header?
    /// The thread that reads from it, or opens it. Meanwhile the keeper is that thread's.
    var reader: ThreadIdentity?
    /// What the reader is to do with the keeper when it has read, and who waits for that.
    var wish: Wish?
    var waiting: [DispatchSemaphore] = []
    /// When the phase began or was looked at, in nanoseconds of `MonotonicTime`, and how many reads there had been.
    var since: UInt64 = 0
    var reads = 0
    /// How many rows were read since from the state that is kept.
    var keptReads = 0
    /// When the state was taken.
    var taken: UInt64 = 0
    var notBefore: UInt64 = 0
    /// The timer that counts; others are late.
    var timer = 0
    /// How many checkpoints are under way. Beside them nothing is begun.
    var checkpoints = 0
  }

  private enum Phase {
    /// Nothing is kept, and no timer is set.
    case free
    case held
    /// Nothing is kept, so that others can do what they cannot beside it.
    case gap
    case closed
  }

  private enum Wish {
    /// To take the newest state.
    case take
    case letGo
    case close
  }

  private let commits: OwnCommits
  private let open: @Sendable () throws(SQLiteError) -> Connection
  private let state = Mutex(State())
  private let reads = Atomic(0)
  /// At how many reads there may be something to do.
  private let nextLook: Atomic<Int>
  private let isHeld = Atomic(false)
  /// Whether there was a commit since the lock was taken.
  private let isOutdated = Atomic(false)
  /// Whether somebody reads: then others need not ask for the lock, which would be a call of the kernel.
  private let isInUse = Atomic(false)

  /// - Parameter open: Opens a connection as readers have it. It may run what the program wants done with each.
  init(commits: OwnCommits, open: @escaping @Sendable () throws(SQLiteError) -> Connection) {
    self.commits = commits
    self.open = open
    nextLook = Atomic(Self.burst)
  }

  /// Makes states be kept for other times than usual, so that tests do not depend on the time.
  func keepStates(forMilliseconds time: Int) { hold.store(time, ordering: .relaxed) }

  /// A read has ended.
  @inline(__always)
  func noteRead() {
    let count = reads.wrappingAdd(1, ordering: .relaxed).newValue
    if count >= nextLook.load(ordering: .relaxed) { look(count) }
  }

  /// There is a newer state. Its readers want another lock; if many come before the next commit, that one is kept.
  func noteCommit() {
    guard isHeld.load(ordering: .relaxed) else { return }
    isOutdated.store(true, ordering: .relaxed)
    nextLook.store(reads.load(ordering: .relaxed) &+ Self.burst, ordering: .relaxed)
  }

  // MARK: Reading

  /// Calls `body` with the state that is kept, if there is one and nobody else uses it.
  /// - Returns: Nil if it gave none, or failed: then the newest state is to be read.
  func read<R>(_ body: (KeptState) throws -> R?) -> R? {
    if isInUse.exchange(true, ordering: .acquiring) { return nil }
    defer { isInUse.store(false, ordering: .releasing) }
    let begun = state.withLockIfAvailable { state -> (StateKeeper, WALIndex.Header)? in
      guard let base = state.base, state.reader == nil, let keeper = state.keeper else {
        return nil
      }
      state.reader = .current
      return (keeper, base)
    }
    // Not under the lock: the program may trace statements.
    guard let (keeper, base) = begun ?? nil, let index = keeper.index else { return nil }
    // What is wrong is found again by who reads the newest state, and told.
    let result = try? body(
      KeptState(connection: keeper.connection, commits: commits, base: base, index: index))
    let isOfUse = result != nil || commits.areAllKnown(since: base, index)
    let waiting = state.withLock { state in
      if isOfUse { state.keptReads += 1 } else { state.base = nil }
      return endReading(&state)
    }
    for one in waiting { one.signal() }
    return result
  }

  /// Does what the others have wished for meanwhile.
  /// - Returns: Whom to signal.
  private func endReading(_ state: inout State) -> [DispatchSemaphore] {
    state.reader = nil
    if let wish = state.wish {
      state.wish = nil
      fulfil(wish, &state)
    }
    defer { state.waiting = [] }
    return state.waiting
  }

  /// Calls `checkpoint`. What is kept meanwhile is the newest state, which can be read while the log is moved, and let go of when the
  /// log is to begin anew.
  /// - Parameter checkpoint: It calls what it gets before it waits for readers.
  func beside<R, E: Error>(
    _ checkpoint: (_ letGo: @escaping () -> Void) throws(E) -> R
  ) throws(E) -> R {
    let isHeld = state.withLock { state in
      state.checkpoints += 1
      if state.phase == .held { fulfil(.take, &state) }
      return state.phase == .held
    }
    defer {
      state.withLock { state in
        state.checkpoints -= 1
        if isHeld, state.phase == .free, state.checkpoints == 0, state.keeper != nil {
          begin(.held, &state)
        }
      }
    }
    return try checkpoint { [self] in
      let reader = state.withLock { state in
        if state.phase != .closed { begin(.free, &state) }
        return awaitReader(&state)
      }
      _ = reader?.wait(timeout: .now() + Self.patience)
    }
  }

  // MARK: Closing

  /// Closes its connection, until there is a burst again.
  func rest() {
    state.withLock { state in
      if state.phase == .closed { return }
      begin(.free, &state)
      fulfil(.close, &state)
    }
  }

  /// Closes its connection for good. Waits for who reads.
  func close() {
    let reader = state.withLock { state in
      precondition(
        state.reader != .current,
        "ReaderPool.close() was called inside withKeptState, and would wait for itself")
      begin(.closed, &state)
      return awaitReader(&state)
    }
    reader?.wait()
  }

  /// Something that is signalled when the one who reads has done so; nil if nobody does.
  private func awaitReader(_ state: inout State) -> DispatchSemaphore? {
    if state.reader == nil { return nil }
    let semaphore = DispatchSemaphore(value: 0)
    state.waiting.append(semaphore)
    return semaphore
  }

  // MARK: Phases

  @inline(never)
  private func look(_ count: Int) {
    // If another thread is at it, that one does what there is to do.
    let mustOpen = state.withLockIfAvailable { state -> Bool in
      let now = MonotonicTime.now
      if state.phase == .held {
        if isOutdated.load(ordering: .relaxed) { fulfil(.take, &state) }
      } else if state.phase == .free, state.checkpoints == 0, now >= state.notBefore {
        let isSlow = now &- state.since > Self.burstTime
        if isSlow || count &- state.reads >= Self.burst {
          if !isSlow, state.keeper == nil, state.reader == nil {
            state.reader = .current
            return true
          }
          begin(isSlow ? .free : .held, &state)
          return false
        }
      }
      lookAgain(count, in: state.phase)
      return false
    }
    if mustOpen == true { openKeeper() }
  }

  /// Not under the lock, since the program may have something done with each connection.
  private func openKeeper() {
    // It fails if the file is not there, or somebody has it for himself: nobody waits for this.
    let keeper = try? StateKeeper(open)
    let waiting = state.withLock { state in
      state.keeper = keeper
      let isWanted = state.wish == nil && state.phase == .free && state.checkpoints == 0
      let waiting = endReading(&state)
      if isWanted { begin(.held, &state) }
      return waiting
    }
    for one in waiting { one.signal() }
  }

  /// Sets when it is looked again: while a timer runs, that comes first.
  private func lookAgain(_ count: Int, in phase: Phase) {
    isHeld.store(phase == .held, ordering: .relaxed)
    nextLook.store(count &+ (phase == .free ? Self.burst : 1 << 16), ordering: .relaxed)
  }

  /// The time of a phase is over.
  private func timeIsOver(_ timer: Int) {
    state.withLock { state in
      guard state.timer == timer else { return }
      let count = reads.load(ordering: .relaxed) &- state.reads &+ state.keptReads
      if count < Self.burst { return begin(.free, &state) }
      switch state.phase {
      case .held: begin(isOfUse(state) ? .held : .gap, &state)
      case .gap: begin(state.checkpoints == 0 ? .held : .free, &state)
      case .free, .closed: break
      }
    }
  }

  /// Whether rows can be read from the state that is kept: nobody but our own writer has committed since.
  private func isOfUse(_ state: State) -> Bool {
    guard let base = state.base, let index = state.keeper?.index else { return false }
    return commits.areAllKnown(since: base, index)
  }

  private func begin(_ phase: Phase, _ state: inout State) {
    let now = MonotonicTime.now
    let isYoung = state.phase == .held && now &- state.taken < Self.greatestAge
    state.timer += 1
    state.phase = phase
    state.since = now
    state.reads = reads.load(ordering: .relaxed)
    state.keptReads = 0
    switch phase {
    case .held: if !isYoung { fulfil(.take, &state) }
    case .free, .gap: fulfil(.letGo, &state)
    case .closed: fulfil(.close, &state)
    }
    // Taking it may have failed.
    lookAgain(state.reads, in: state.phase)
    switch state.phase {
    case .held:
      setTimer(after: .milliseconds(hold.load(ordering: .relaxed)), state.timer)
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

  // MARK: The keeper

  /// Does something with the keeper, or has the thread do it that reads from it.
  private func fulfil(_ wish: Wish, _ state: inout State) {
    state.base = nil
    commits.end()
    if state.reader != nil {
      state.wish = wish
      return
    }
    switch wish {
    case .take: take(&state)
    case .letGo: if state.keeper?.letGo() == false { close(&state) }
    case .close: close(&state)
    }
  }

  /// Takes the newest state, and the lock that its readers want.
  private func take(_ state: inout State) {
    isOutdated.store(false, ordering: .relaxed)
    state.taken = MonotonicTime.now
    let base = state.keeper?.index.map { commits.begin($0) }
    if (try? state.keeper?.take()) == true {
      state.base = base
      return
    }
    // It was closed meanwhile, or somebody has the file for himself.
    commits.end()
    close(&state)
    state.notBefore = MonotonicTime.now &+ Self.pause
    state.phase = .free
    lookAgain(reads.load(ordering: .relaxed), in: .free)
  }

  private func close(_ state: inout State) {
    state.keeper?.close()
    state.keeper = nil
  }
}
