// Foreign changes: whether another connection than our writer has committed something.
//
// SQLite gives a connection a number that changes with the commits of others (`PRAGMA data_version`). The writer's number
// tells exactly what our own writes do not explain. What was verified at one generation holds as long as the generation is the
// same, because our own writes keep it true:
//
//  - a generation taken before a state is begun covers no more than that state: what is verified in it is stamped with that;
//  - if the generation is still the same after a state was begun, it is the state's own, and stamps of it may be believed;
//  - what is verified inside a write transaction is stamped when that is committed.
//
// While the writer begins or ends a transaction nothing is known (nil), and nothing is believed. While it is inside one
// nobody else can commit. Until there is a writer, a connection of our own that only looks takes its place.

import SQLiteAccess
import Synchronization

final class ForeignChanges: Sendable {
  /// Unchecked: the connections are used under the mutex only, the writer's only while `phase` is `.idle`, when the
  /// writing thread does not use it.
  private struct State: @unchecked Sendable {
    var phase = Phase.noWriter
    var source: Connection?
    var version: Int64 = 0
    var generation = 1
    var sound: [String: Int] = [:]

    mutating func lookAtSource() throws {
      guard let source else { return }
      let now = try source.dataVersion()
      if now != version {
        version = now
        generation += 1
      }
    }
  }

  private enum Phase {
    case noWriter, idle, changing, writing
  }

  private let state = Mutex(State())
  private let openWatcher: @Sendable () throws -> Connection

  init(openWatcher: @escaping @Sendable () throws -> Connection) {
    self.openWatcher = openWatcher
  }

  /// The present generation; nil if it is not known now.
  func generation() throws -> Int? {
    try state.withLock { state -> Int? in
      switch state.phase {
      case .changing: return nil
      case .writing: return state.generation
      case .noWriter:
        if state.source == nil {
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

  /// Whether a side table was found sound at this generation.
  func isSound(_ side: String, at generation: Int) -> Bool {
    state.withLock { $0.sound[side] == generation }
  }

  func markSound(_ side: String, at generation: Int) {
    state.withLock { $0.sound[side] = generation }
  }

  // MARK: The writer's side

  /// The writer is there, outside of a transaction.
  func writerOpened(_ writer: Connection) {
    let source = Source(connection: writer)
    state.withLock { state in
      state.source = source.connection
      state.phase = .idle
      state.generation += 1
      state.version = 0
    }
  }

  /// The writer is about to begin, or to end, a transaction.
  func writerChanges() {
    state.withLock { $0.phase = .changing }
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
      state.phase = .noWriter
    }
  }

  /// Unchecked for the same reason as `State`.
  private struct Source: @unchecked Sendable {
    let connection: Connection
  }
}
