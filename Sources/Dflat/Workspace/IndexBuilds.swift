// IndexBuilds: indexes that are filled while the program goes on.
//
//  - A build begins when a query has mentioned an index that is not there for all objects, and then fills all indexes of the
//    type; nothing else begins one but the program's own wish.
//  - It goes on in steps (`SteppedWork`), each a transaction of its own. What a step has filled is never filled again, also after
//    a restart.
//  - A unique index that stored objects contradict stays as it is. Its build is tried again only after something was committed.

/// The builds of all types.
typealias IndexBuilds = SteppedWork<IndexProgress>

/// Rows that a step fills at most, over all indexes of the type.
private let rowsPerStep = 500

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
    let isAccepted = enqueue([schema]) { [self] in
      fillIndexes(of: schema) { [self] outcome in
        stepped(schema, outcome)
        endAccepted()
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
        guard let writer = taken.group.writer as? any IndexBuildingStorageWriter else {
          return IndexProgress(filled: 0, remaining: 0, blocked: [])
        }
        return try writer.fillIndexes(of: schema, limit: rowsPerStep)
      }
    }
    let failure: (any Error)? = if case .failure(let error) = outcome { error } else { nil }
    return committer.end(
      turn,
      Errand([schema], group: turn?.group, failure: failure) { failure in
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
      builds.takePause(schema, on: alarms) { [weak self] in self?.stepIndexes(of: schema) }
    }
  }
}
