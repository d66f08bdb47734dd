// Running migrations.

import Dispatch
import Platform

extension WorkspaceCore {
  /// Runs one step on this thread, and commits it. Called by the job at the head of the queues of
  /// the plan's types.
  private func takeStep(_ plan: MigrationPlan) -> Result<MigrationProgress, any Error> {
    let limit = migrations.objectsPerStep(plan.new)
    let outcome = Result { try takeStep(plan, limit) }
    switch outcome {
    case .failure(let error): migrations.setFailure(error, of: plan.new)
    case .success(let progress):
      // Until then what was read of the type is a part of it.
      if progress.isFinished, migrations.clearFailure(of: plan.new) { readAgain(plan.new) }
    }
    return outcome
  }

  /// Has the observers of a type read, which could not be while its migration failed.
  private func readAgain(_ schema: EntitySchema) {
    let type = observers.of(schema)
    if type.isObserved { _ = atDelivery(of: [schema]) { type.refresh(in: $0) } }
  }

  private func takeStep(_ plan: MigrationPlan, _ limit: Int) throws -> MigrationProgress {
    let isNeeded = try engine.read(for: .transaction) { try plan.isNeeded($0) }
    if !isNeeded, try coordinator.read(plan.types, { try plan.isNeeded($0.writer) }) != true {
      return migrations.count(migrated: 0, remaining: 0, of: plan.new)
    }
    try engine.prepareForWriting()
    let transaction = Transaction(
      self, plan.types, reportsFailures: false, isMigration: true, completion: .none)
    let (migrated, remaining, failure) = try commit(transaction) {
      let (migrated, failure) = try plan.step(transaction, limit: limit)
      let remaining = try transaction.writing { try plan.remaining($0) }
      return (migrated, remaining, failure)
    }
    let progress = migrations.count(migrated: migrated, remaining: remaining, of: plan.new)
    migrationHandler?(plan.new, progress)
    if let failure { throw failure }
    return progress
  }

  /// Migrates all remaining objects, each step in a commit of its own, for a job that is about to
  /// begin in the queues of the plans' types.
  func complete(_ plans: [MigrationPlan]) {
    for plan in plans {
      var pauses = RetryPauses()
      var attempts = 20
      while true {
        attempts -= 1
        switch takeStep(plan) {
        case .success(let progress):
          attempts = 20
          migrations.runs.report(progress, of: plan.new)
          if !progress.isFinished { continue }
        case .failure(let error):
          if StorageError.isConflict(error), attempts > 0 {
            pauses.take()
            continue
          }
          // The next transaction fails with this error, if it reads the type.
          report(error)
        }
        break
      }
    }
  }

  private func dataVersion(of plan: MigrationPlan) -> DataVersion {
    dataVersion(of: plan.types.types)
  }

  /// Called when a fetch has found objects that are not migrated.
  func wantMigration(_ plan: MigrationPlan) {
    if migrations.runs.begin(plan.new, now: dataVersion(of: plan), nil) { stepMigration(plan) }
  }

  /// Starts a migration on behalf of a waiting caller, or joins the running one.
  func migrate(_ plan: MigrationPlan, step: Int?, _ watcher: @escaping Migrations.Runs.Watcher) {
    migrations.add(plan, step: step)
    guard let plan = migrations.plan(for: plan.new) else { return }
    if migrations.runs.begin(plan.new, now: dataVersion(of: plan), watcher) { stepMigration(plan) }
  }

  /// Enqueues the next step for the plan's types.
  private func stepMigration(_ plan: MigrationPlan) {
    let isAccepted = enqueueAsIs(plan.types) { [self] in
      stepped(plan, takeStep(plan))
      endAccepted()
      return .nothing
    }
    if !isAccepted {
      migrations.runs.end(plan.new, now: dataVersion(of: plan), WorkspaceError.shutDown)
    }
  }

  private func stepped(
    _ plan: MigrationPlan, _ outcome: Result<MigrationProgress, any Error>
  ) {
    switch outcome {
    case .success(let progress):
      if progress.isFinished {
        _ = migrations.runs.finish(plan.new, isComplete: true, now: dataVersion(of: plan), progress)
        return
      }
      migrations.runs.report(progress, of: plan.new)
      stepMigration(plan)
    case .failure(let error):
      if StorageError.isConflict(error) {
        return migrations.runs.takePause(
          plan.new, on: alarms, for: .milliseconds(.random(in: 5...50))
        ) { [weak self] in self?.stepMigration(plan) }
      }
      report(error)
      if (error as? StorageError)?.cause == .diskFull {
        return migrations.runs.takePause(plan.new, on: alarms) { [weak self] in
          self?.stepMigration(plan)
        }
      }
      migrations.runs.end(plan.new, now: dataVersion(of: plan), error)
    }
  }
}
