// Foreign changes: whether another connection than our writer has committed something.
//
// SQLite gives a connection a number that changes with the commits of others (`PRAGMA data_version`). The writer's number
// tells exactly what our own writes do not explain. What was verified at one generation holds as long as the generation is the
// same, because our own writes keep it true (where they may not, a commit begins a generation; see `WriterTables`):
//
//  - a generation taken before a state is begun covers no more than that state: what is verified in it is stamped with that;
//  - if the generation is still the same after a state was begun, it is the state's own, and stamps of it may be believed;
//  - what is verified inside a write transaction is stamped when that is committed.
//
// While the writer is inside a transaction nobody else can commit. While it begins or ends one its number cannot be asked for.
// Then a second connection that only looks helps: if its number is still the one it had at a moment whose generation is known,
// nobody at all has committed since, and the generation is the same. Otherwise nothing is known (nil), and nothing is believed.
// The writer notes such moments only as long as somebody wants to know. Until there is a writer the second one takes its place.
//
// Who asks may be reading, and whoever turns WAL mode on waits for those who read: so it is not waited for either, and nothing is known.

import SQLiteAccess
import Platform

final class ForeignChanges: Sendable {
  /// Unchecked: the connections are used under the mutex only, the writer's only while `phase` is `.idle`, when the
  /// writing thread does not use it.
  private struct State: @unchecked Sendable {
    var phase = Phase.noWriter
    var source: Connection?
    var version: Int64 = 0
    var generation = 1
    /// What side tables were found to be, and at which generation.
    var verdicts: [String: (isRight: Bool, generation: Int)] = [:]
    /// A connection that only looks, and what its number was at a moment whose generation is known.
    var watcher: Connection?
    var moment: (version: Int64, generation: Int)?
    /// At how many changes of phase such a moment is still to be noted.
    var momentsWanted = 0

    mutating func lookAtSource() throws {
      guard let source else { return }
      let now = try source.dataVersion()
      if now != version {
        version = now
        generation += 1
      }
    }
  }

  /// For how many changes of phase moments are noted after somebody has wanted one.
  private static let momentsNoted = 64

  private enum Phase {
    case noWriter, idle, changing, writing
  }

  private let state = Mutex(State())
  private let openWatcher: @Sendable () throws -> Connection

  /// - Parameter openWatcher: Opens a connection whose busy timeout is 0.
  init(openWatcher: @escaping @Sendable () throws -> Connection) {
    self.openWatcher = openWatcher
  }

  /// The present generation; nil if it is not known now.
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
        state.momentsWanted = Self.momentsNoted
        guard let watcher = state.watcher, let moment = state.moment,
          try watcher.dataVersion() == moment.version
        else { return nil }
        return moment.generation
      case .writing: return state.generation
      case .noWriter:
        // What works without locks hears of nothing, but can be seen to be outdated.
        if state.source?.isOutdated != false {
          state.source = try openWatcher()
          state.generation += 1
        }
      case .idle: break
      }
      try state.lookAtSource()
      return state.generation
    }
  }

  /// The generation as it was when somebody last looked.
  var lastGeneration: Int { state.withLock { $0.generation } }

  /// Whether a side table was found to agree with the objects at this generation; nil if nobody has looked.
  func verdict(of side: String, at generation: Int) -> Bool? {
    state.withLock { state in
      state.verdicts[side].flatMap { $0.generation == generation ? $0.isRight : nil }
    }
  }

  func note(_ isRight: Bool, of side: String, at generation: Int) {
    state.withLock { $0.verdicts[side] = (isRight, generation) }
  }

  /// What was found so far is not true any more of what our writer has committed, as if somebody else had.
  /// - Returns: The new generation.
  func beginGeneration() -> Int {
    state.withLock { state in
      state.generation += 1
      return state.generation
    }
  }

  // MARK: The writer's side

  /// The writer is there, outside of a transaction.
  func writerOpened(_ writer: Connection) throws {
    let source = Source(connection: writer)
    try state.withLock { state in
      // From here on: otherwise the first transaction would find a change that was none, and read again what it has read.
      state.version = try source.connection.dataVersion()
      state.source = source.connection
      state.phase = .idle
      state.generation += 1
    }
  }

  /// The writer is about to begin, or to end, a transaction.
  func writerChanges() {
    state.withLock { state in
      state.moment = nil
      if state.momentsWanted > 0 {
        state.momentsWanted -= 1
        // Without it less is known, and nothing is wrong.
        state.moment = try? noteMoment(&state)
      }
      state.phase = .changing
    }
  }

  /// Pairs the watcher's number with the generation, which is exact before the writer begins and inside its transaction.
  private func noteMoment(_ state: inout State) throws -> (version: Int64, generation: Int) {
    let watcher = try state.watcher ?? openWatcher()
    state.watcher = watcher
    // In this order: what is committed in between makes the generation a later one, and the number differ.
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

  /// The writer is outside of a transaction again.
  func writerEnded() {
    state.withLock { $0.phase = .idle }
  }

  /// Lets go of the connection, before it is closed.
  func close() {
    state.withLock { state in
      state.source = nil
      state.watcher = nil
      state.moment = nil
      state.phase = .noWriter
    }
  }

  /// Unchecked for the same reason as `State`.
  private struct Source: @unchecked Sendable {
    let connection: Connection
  }
}
