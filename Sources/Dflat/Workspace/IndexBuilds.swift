// IndexBuilds: indexes that are filled while the program goes on.
//
//  - A build begins when a query has mentioned an index that is not there for all objects, and then fills all indexes of the
//    type; nothing else begins one but the program's own wish.
//  - It goes on in steps. Each is a transaction of its own in the type's line, behind those that were called before; the next one
//    takes its place when the step before it ends. What a step has filled is never filled again, also after a restart.
//  - A unique index that stored objects contradict stays as it is. Its build is tried again only after something was committed.

import Dispatch
import Synchronization

/// How far the indexes of an entity type are built.
public struct IndexProgress: Sendable, Equatable {
  /// Index rows that the last step has filled.
  public let filled: Int
  /// Objects that the index which is furthest behind does not reach yet.
  public let remaining: Int
  /// Side tables that cannot be completed, since stored objects have equal values of a unique field.
  public let blocked: [String]

  /// A state of a build, as an engine tells it.
  public init(filled: Int, remaining: Int, blocked: [String]) {
    self.filled = filled
    self.remaining = remaining
    self.blocked = blocked
  }

  /// Whether there is nothing more that a step could do.
  public var isFinished: Bool { remaining == 0 }
}

final class IndexBuilds: Sendable {
  typealias Watcher = @Sendable (Result<IndexProgress, any Error>) -> Void

  /// Rows that a step fills at most, over all indexes of the type.
  static let rowsPerStep = 500
  /// How long it is waited when the disk is full.
  static let pause = DispatchTimeInterval.seconds(5)

  private struct Build {
    var watchers: [Watcher] = []
  }

  private struct State {
    var running: [ObjectIdentifier: Build] = [:]
    /// The clock when a build ended before all indexes were complete.
    var stopped: [ObjectIdentifier: Int64] = [:]
  }

  private let state = Mutex(State())

  /// Begins a build, or joins one that runs.
  ///
  /// - Parameters:
  ///   - watcher: Told after each step, and of an error; nil if it is a query that wants the build.
  ///   - now: The workspace's clock.
  /// - Returns: Whether the caller is to take the first step.
  func begin(_ schema: EntitySchema, now: Int64, _ watcher: Watcher?) -> Bool {
    state.withLock { state in
      let id = ObjectIdentifier(schema)
      if state.running[id] != nil {
        if let watcher { state.running[id]?.watchers.append(watcher) }
        return false
      }
      if watcher == nil, state.stopped[id] == now { return false }
      state.running[id] = Build(watchers: watcher.map { [$0] } ?? [])
      return true
    }
  }

  /// A step has gone well.
  func report(_ progress: IndexProgress, of schema: EntitySchema) {
    for watcher in watchers(of: schema) { watcher(.success(progress)) }
  }

  /// A build ends, for now or for ever.
  func end(_ schema: EntitySchema, isComplete: Bool, now: Int64, _ error: (any Error)? = nil) {
    let watchers = state.withLock { state -> [Watcher] in
      let id = ObjectIdentifier(schema)
      state.stopped[id] = isComplete ? nil : now
      return state.running.removeValue(forKey: id)?.watchers ?? []
    }
    if let error { for watcher in watchers { watcher(.failure(error)) } }
  }

  private func watchers(of schema: EntitySchema) -> [Watcher] {
    state.withLock { $0.running[ObjectIdentifier(schema)]?.watchers ?? [] }
  }
}

extension WorkspaceCore {
  /// A query has mentioned an index that is not complete.
  func wantIndexes(of schema: EntitySchema) {
    if builds.begin(schema, now: clock.now, nil) { stepIndexes(of: schema) }
  }

  /// Begins a build that somebody waits for, or joins it.
  func buildIndexes(of schema: EntitySchema, _ watcher: @escaping IndexBuilds.Watcher) {
    if builds.begin(schema, now: clock.now, watcher) { stepIndexes(of: schema) }
  }

  /// Puts the next step at the end of the type's line.
  private func stepIndexes(of schema: EntitySchema) {
    let isAccepted = enqueue([schema]) { [self] ended in
      fillIndexes(of: schema) { [self] outcome in
        stepped(schema, outcome)
        ended()
      }
    }
    if !isAccepted {
      builds.end(schema, isComplete: false, now: clock.now, WorkspaceError.shutDown)
    }
  }

  private func fillIndexes(
    of schema: EntitySchema,
    _ completion: @escaping @Sendable (Result<IndexProgress, any Error>) -> Void
  ) -> Ticket.Rest {
    var turn: Committer.Turn?
    let outcome = Result {
      try engine.prepareForWriting()
      let taken = try committer.beginTurn { try engine.beginWriting() }
      turn = taken
      return try committer.use {
        try taken.group.writer.fillIndexes(of: schema, limit: IndexBuilds.rowsPerStep)
      }
    }
    let failure: (any Error)? = if case .failure(let error) = outcome { error } else { nil }
    return committer.end(
      turn,
      Member(types: [schema], group: turn?.group, failure: failure) { failure in
        completion(failure.map { .failure($0) } ?? outcome)
      })
  }

  private func stepped(_ schema: EntitySchema, _ outcome: Result<IndexProgress, any Error>) {
    switch outcome {
    case .success(let progress):
      builds.report(progress, of: schema)
      if !progress.isFinished { return stepIndexes(of: schema) }
      builds.end(schema, isComplete: progress.blocked.isEmpty, now: clock.now)
    case .failure(let error):
      report(error)
      guard let error = error as? StorageError, error.cause == .diskFull else {
        return builds.end(schema, isComplete: false, now: clock.now, error)
      }
      alarms.asyncAfter(deadline: .now() + IndexBuilds.pause) { [weak self] in
        self?.stepIndexes(of: schema)
      }
    }
  }
}
