// Migrations: which types a workspace migrates, and when.
//
// A type that is migrated when it is used appears complete from the first moment on:
//
//  - A fetch outside of transactions also reads the old objects, in the same snapshot, and converts
//    them with the function. It needs no write lease and never waits; if the file is writable it
//    starts a migration in steps (`IncrementalTask`).
//  - Every job in the queue of the new type (a transaction, a subscription, a step of an index
//    build) also enters the queues of the old types. Before it begins, the remaining objects are
//    migrated, each step in a commit of its own.
//  - Another program may store old objects after that. A transaction that finds such objects before
//    it writes fails with a conflict, as for any external change, and is retried; after its first
//    write no other connection can write.
//
// No lock of the workspace is held while the program's function runs, but the write lease is.

import Dispatch
import Platform

final class Migrations: Sendable {
  typealias Runs = IncrementalTask<MigrationProgress>

  /// The largest number of old objects that a step migrates by default.
  static let objectsPerStep = 500

  private struct State {
    var plans: [EntitySchema: MigrationPlan] = [:]
    var failures: [EntitySchema: any Error] = [:]
    var steps: [EntitySchema: Int] = [:]
    /// The number of migrated objects for each new type whose migration is not complete.
    var completed: [EntitySchema: Int] = [:]
  }

  private let state = Mutex(State())
  /// Whether there are plans: checked by every fetch.
  private let hasPlans = Atomic(false)
  let runs = Runs()

  var isEmpty: Bool { !hasPlans.load(ordering: .acquiring) }

  func add(_ plan: MigrationPlan, step: Int?) {
    state.withLock { state in
      let merged = state.plans[plan.new]?.merging(plan) ?? plan
      let olds = Set(merged.sources.map(\.old))
      for other in state.plans.values {
        require(
          !olds.contains(other.new) && !other.sources.contains { $0.old == merged.new },
          "the migrations to \(other.new.layout.name) and to \(merged.new.layout.name) form a chain: register it as one, first.then(second)"
        )
      }
      // A failure remains until the new plan has migrated all objects: what is read before is a
      // part of them.
      state.plans[plan.new] = merged
      state.steps[plan.new] = step
    }
    hasPlans.store(true, ordering: .releasing)
  }

  func plan(for schema: EntitySchema) -> MigrationPlan? {
    isEmpty ? nil : state.withLock { $0.plans[schema] }
  }

  /// The plans for the types of a set.
  func plans(for types: TypeSet) -> [MigrationPlan] {
    isEmpty ? [] : state.withLock { state in types.types.compactMap { state.plans[$0] } }
  }

  func objectsPerStep(_ schema: EntitySchema) -> Int {
    state.withLock { $0.steps[schema] } ?? Self.objectsPerStep
  }

  /// The error of the last step to a type that has failed; nil if all objects were migrated since.
  func failure(of schema: EntitySchema) -> (any Error)? {
    state.withLock { $0.failures[schema] }
  }

  /// Adds a step to the totals.
  /// - Parameters:
  ///   - migrated: How many objects the step has migrated.
  ///   - remaining: How many are left.
  func count(migrated: Int, remaining: Int, of schema: EntitySchema) -> MigrationProgress {
    state.withLock { state in
      let completed = state.completed[schema, default: 0] + migrated
      state.completed[schema] = remaining == 0 ? nil : completed
      return MigrationProgress(migrated: migrated, remaining: remaining, completed: completed)
    }
  }

  func setFailure(_ failure: any Error, of schema: EntitySchema) {
    state.withLock { $0.failures[schema] = failure }
  }

  /// - Returns: Whether there was one.
  func clearFailure(of schema: EntitySchema) -> Bool {
    state.withLock { $0.failures.removeValue(forKey: schema) != nil }
  }
}
