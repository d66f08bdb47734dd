// IndexBuilds: builds indexes in the background, while the program runs.
//
//  - A build begins when a query uses an index that is not complete, or when the program asks for
//    it. It then fills all indexes of the type.
//  - If the index is complete, and the storage only has no record that it is right, the build is
//    limited to complete indexes: it verifies them, and makes and fills no other.
//  - It runs in steps (`IncrementalTask`), each a transaction of its own. What a step has filled is
//    never filled again, even after a restart.
//  - If other connections keep the engine from preparing a build, it is prepared again later. A
//    caller that waits for the indexes waits for that, too.
//  - A unique index that stored objects violate stays incomplete. Its build is retried only after
//    a change of its type.

import Dispatch

/// The index builds of all types.
typealias IndexBuilds = IncrementalTask<IndexProgress>

/// The largest number of rows that a step fills, over all indexes of the type.
private let rowsPerStep = 500

extension WorkspaceCore {
  /// Called when a query has used an index that is not complete.
  func wantIndexes(of schema: EntitySchema) {
    if builds.begin(schema, now: dataVersion(of: [schema]), nil) { beginSteps(of: schema) }
  }

  /// Called when a query has used a complete index that is not recorded to be right.
  func confirmIndexes(of schema: EntitySchema) {
    if builds.begin(schema, now: dataVersion(of: [schema]), nil, isLimited: true) {
      beginSteps(of: schema)
    }
  }

  /// Starts a build on behalf of a waiting caller, or joins the running one.
  package func buildIndexes(
    of schema: EntitySchema,
    _ watcher: @escaping @Sendable (Result<IndexProgress, any Error>) -> Void
  ) {
    if builds.begin(schema, now: dataVersion(of: [schema]), watcher) { beginSteps(of: schema) }
  }

  /// Enqueues the first step for the type once the engine is prepared for it.
  private func beginSteps(of schema: EntitySchema) {
    guard let indexBuilder else { return stepIndexes(of: schema) }
    let resume = builds.suspend(schema)
    indexBuilder.prepareIndexes(of: schema) { [self] outcome in
      guard resume() else { return }
      switch outcome {
      case .success: stepIndexes(of: schema)
      case .failure(let error) where (error as? StorageError)?.cause == .busy:
        // Other connections are in the way, for example a long snapshot.
        builds.takePause(schema, on: alarms) { [weak self] in self?.beginSteps(of: schema) }
      case .failure(let error):
        if !StorageError.isConflict(error) { report(error) }
        stepped(schema, .failure(error), wasLimited: false)
      }
    }
  }

  /// Enqueues the next step for the type.
  private func stepIndexes(of schema: EntitySchema) {
    let isAccepted = enqueue([schema]) { [self] in
      let isLimited = builds.isLimited(schema)
      return fillIndexes(of: schema, isLimited: isLimited) { [self] outcome in
        stepped(schema, outcome, wasLimited: isLimited)
        endAccepted()
      }
    }
    if !isAccepted {
      builds.end(schema, now: dataVersion(of: [schema]), WorkspaceError.shutDown)
    }
  }

  private func fillIndexes(
    of schema: EntitySchema, isLimited: Bool,
    _ completion: @escaping @Sendable (Result<IndexProgress, any Error>) -> Void
  ) -> Ticket.FollowUp {
    var lease: WriteCoordinator.Lease?
    let outcome = Result {
      try engine.prepareForWriting()
      let taken = try coordinator.acquireLease(writingShared: true) {
        try engine.beginWriting()
      }
      lease = taken
      taken.group.slot.beginWork()
      return try taken.group.use {
        guard let writer = taken.group.writer as? any IndexBuildingStorageWriter else {
          return IndexProgress(filled: 0, remaining: 0, blocked: [])
        }
        return isLimited
          ? try writer.confirmIndexes(of: schema, limit: rowsPerStep)
          : try writer.fillIndexes(of: schema, limit: rowsPerStep)
      }
    }
    let failure: (any Error)? = if case .failure(let error) = outcome { error } else { nil }
    let errors = lease?.group.slot.endWork() ?? []
    defer { for error in errors { report(error) } }
    return coordinator.end(
      lease,
      CommitMember([schema], group: lease?.group, failure: failure, reportedBy: .delivery) {
        failure in
        completion(failure.map { .failure($0) } ?? outcome)
      })
  }

  /// Continues a build after a step. The error hook has heard why it has failed, if it has.
  private func stepped(
    _ schema: EntitySchema, _ outcome: Result<IndexProgress, any Error>, wasLimited: Bool
  ) {
    switch outcome {
    case .success(let progress):
      if !progress.isFinished {
        builds.report(progress, of: schema)
      } else if builds.finish(
        schema, isComplete: progress.blocked.isEmpty, now: dataVersion(of: [schema]), progress,
        wasLimited: wasLimited)
      {
        return
      }
      // A caller has asked for all indexes since this limited step began.
      stepIndexes(of: schema)
    case .failure(let error):
      switch (error as? StorageError)?.cause {
      case .diskFull?:
        builds.takePause(schema, on: alarms) { [weak self] in self?.stepIndexes(of: schema) }
      case .conflict?:
        // Another connection has changed the same objects.
        builds.takePause(schema, on: alarms, for: .milliseconds(.random(in: 5...50))) {
          [weak self] in self?.stepIndexes(of: schema)
        }
      default:
        builds.end(schema, now: dataVersion(of: [schema]), error)
      }
    }
  }
}
