// External changes: whether a connection other than this engine's writer has committed.
//
// `PRAGMA data_version` gives a connection a number that changes when another connection commits.
// The writer's number therefore reveals every external commit, and never our own. The generation
// counts these commits. A result of verification holds as long as the generation is the same,
// because our own writes preserve it. (A commit that may not preserve it begins a new generation;
// see `WriterTables`.)
//
//  - A generation that was read before a snapshot began is not later than the snapshot's. Results
//    of verification in the snapshot are recorded under it.
//  - If the generation is unchanged after the snapshot began, it is the snapshot's own. Results
//    recorded under it can be relied on.
//  - Results of verification inside a write transaction are recorded when it commits.
//
// While the writer is inside a transaction, no other connection can commit. While the writer begins
// or ends one, its number cannot be read. Then a second connection, the watcher, is consulted; it
// never writes. If its number is unchanged since a moment whose generation is known, no connection
// has committed since, and the generation is the same. Otherwise the generation is unknown (nil),
// and no result is relied on. The writer records such moments only for a while after they were
// needed. Until there is a writer, the watcher takes its place, and it tells whether another
// connection has committed until the writer was opened.
//
// The caller may be reading, and a connection that turns on WAL mode waits for readers. So these
// functions never wait for a lock: where they would have to, the generation is unknown.

import SQLiteAccess
import Platform

final class ExternalChanges: Sendable {
  private struct State {
    var phase = Phase.noWriter
    /// The connection whose number defines the generation: the writer's, or a watcher as long as
    /// there is no writer. The writer's is also used by the writing thread, but not while `phase`
    /// is `.idle`, and only then here.
    var source: Confined<Connection>?
    var version: Int64 = 0
    var generation = 1
    /// How many times commits of other connections were noticed. What was committed before there
    /// was any source is not one of them.
    var otherCommits = 0
    /// Whether there is no source because none could be opened: what is committed until there is
    /// one is missed.
    var isBlind = false
    /// Whether each side table agreed with the objects, and at which generation.
    var verdicts: [String: (isRight: Bool, generation: Int)] = [:]
    /// A connection that never writes, and its number at a moment whose generation is known.
    var watcher: Connection?
    var moment: (version: Int64, generation: Int)?
    /// For how many more changes of phase such a moment is recorded.
    var momentsNeeded = 0

    mutating func lookAtSource() throws {
      guard let source else { return }
      let now = try source.withValue { try $0.dataVersion() }
      if now != version {
        version = now
        noteOthers()
      }
    }

    /// - Parameter isFirst: Whether nothing was known before.
    mutating func noteOthers(isFirst: Bool = false) {
      generation += 1
      if !isFirst { otherCommits += 1 }
    }
  }

  /// For how many changes of phase moments are recorded after one was needed.
  private static let momentsRecorded = 64

  private enum Phase {
    case noWriter, idle, changing, writing, closed
  }

  private let state = Mutex(State())
  /// Whether this process uses two versions of one schema, which may maintain a side table
  /// differently. Each commit then begins a generation: a write by one version may invalidate what
  /// was verified for the other.
  let usesSeveralVersions = Atomic(false)
  private let openWatcher: @Sendable () throws -> Connection

  /// - Parameter openWatcher: Opens a connection whose busy timeout is 0.
  init(openWatcher: @escaping @Sendable () throws -> Connection) {
    self.openWatcher = openWatcher
  }

  /// The current generation; nil if it cannot be determined now.
  func generation() throws -> Int? {
    do {
      return try present()
    } catch let error as SQLiteError where error.isBusy {
      return nil
    }
  }

  private func present() throws -> Int? {
    try state.withLock { state -> Int? in
      switch state.phase {
      case .changing:
        state.momentsNeeded = Self.momentsRecorded
        guard let watcher = state.watcher, let moment = state.moment,
          try watcher.dataVersion() == moment.version
        else { return nil }
        return moment.generation
      case .writing: return state.generation
      case .closed: return nil
      case .noWriter:
        // A connection without locks does not notice commits, but can be seen to be outdated.
        // And another file may have been put in place of the open one.
        let isBlind = state.isBlind
        let isOutdated = state.source?.withValue { $0.isOutdated || $0.isReplaced }
        if isOutdated != false {
          state.isBlind = isOutdated == nil
          let watcher = try openWatcher()
          state.noteOthers(isFirst: try isOutdated == nil && (!isBlind || isEmpty(watcher)))
          state.source = Confined(watcher)
          state.isBlind = false
        }
      case .idle: break
      }
      try state.lookAtSource()
      return state.generation
    }
  }

  /// How many times commits of other connections were noticed.
  var otherCommits: Int { state.withLock { $0.otherCommits } }

  /// The generation when it was last determined.
  var lastGeneration: Int { state.withLock { $0.generation } }

  /// Whether a side table was found to agree with the objects at this generation; nil if it was not
  /// verified.
  func verdict(of side: String, at generation: Int) -> Bool? {
    state.withLock { state in
      state.verdicts[side].flatMap { $0.generation == generation ? $0.isRight : nil }
    }
  }

  func note(_ isRight: Bool, of side: String, at generation: Int) {
    state.withLock { $0.verdicts[side] = (isRight, generation) }
  }

  /// Invalidates all results so far, because our writer has committed something that may contradict
  /// them.
  /// - Returns: The new generation.
  func beginGeneration() -> Int {
    state.withLock { state in
      state.generation += 1
      return state.generation
    }
  }

  // MARK: The writer's side

  /// The writer was opened and is outside a transaction.
  func writerOpened(_ writer: Connection) throws {
    let file = writer.openFile
    let source = Confined(shared: writer)
    try state.withLock { state in
      let before = state.version
      // Takes the current number, or the first transaction would look like an external change.
      // It is taken before the watcher is asked, so that no commit falls between the two.
      state.version = try source.withValue { try $0.dataVersion() }
      if !watcherHasSeenNothing(state, since: before, in: file) {
        let isFirst = state.source == nil && !state.isBlind
        state.noteOthers(isFirst: try isFirst || source.withValue { try isEmpty($0) })
      }
      state.source = source
      state.phase = .idle
    }
  }

  /// Whether nothing was ever committed to a database.
  private func isEmpty(_ connection: Connection) throws -> Bool {
    try connection.schemaVersion() == 0
  }

  /// Whether the connection that has taken the writer's place knows that no other one has committed
  /// to the writer's file since its number was `version`. It knows nothing of a file that was put
  /// in place of its own.
  private func watcherHasSeenNothing(
    _ state: State, since version: Int64, in file: FileIdentity?
  ) -> Bool {
    guard let watcher = state.source else { return false }
    return watcher.withValue { watcher in
      // Where the number cannot be read, something may have been committed.
      !watcher.isWithoutLocks && watcher.openFile == file
        && (try? watcher.dataVersion()) == version
    }
  }

  /// The writer is about to begin or end a transaction.
  func writerChanges() {
    state.withLock { state in
      state.moment = nil
      if state.momentsNeeded > 0 {
        state.momentsNeeded -= 1
        // A failure is harmless: the generation is then unknown more often.
        state.moment = try? recordMoment(&state)
      }
      state.phase = .changing
    }
  }

  /// Pairs the watcher's number with the generation, which is exact before the writer begins and
  /// inside its transaction.
  private func recordMoment(_ state: inout State) throws -> (version: Int64, generation: Int) {
    let watcher = try state.watcher ?? openWatcher()
    state.watcher = watcher
    // The version is read first. A commit in between then makes the generation later, and the
    // version differs.
    let version = try watcher.dataVersion()
    if state.phase == .idle { try state.lookAtSource() }
    return (version, state.generation)
  }

  /// The writer has begun.
  /// - Returns: The generation inside the transaction.
  func writerBegan() throws -> Int {
    try state.withLock { state in
      try state.lookAtSource()
      state.phase = .writing
      return state.generation
    }
  }

  /// The writer is outside a transaction again.
  func writerEnded() {
    state.withLock { $0.phase = .idle }
  }

  /// Releases the writer's connection before it is closed. From then on the generation is unknown.
  func close() {
    state.withLock { state in
      state.source = nil
      state.watcher = nil
      state.moment = nil
      state.phase = .closed
    }
  }
}
