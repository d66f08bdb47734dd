// Migrations: what a workspace migrates, when.
//
// A type that is migrated when it is used is complete from the first moment on:
//
//  - A fetch outside of transactions reads the old objects, too, in the same state of the data, by way of the function. It needs no
//    right to write and waits for nobody; where the file may be written it begins a run that migrates in steps (`SteppedWork`).
//  - A transaction, a subscription, a step of an index's build: whatever takes a place in the line of the new type takes one in those
//    of the old types, too, and before it begins the rest is migrated, each step committed by itself.
//  - Another program may store old objects after that. A transaction that comes upon such before it writes is refused for a
//    conflict, as with any change by others, and tried again; once it writes nobody else can.
//
// No lock of the workspace is held while the program's function runs, but the right to write is.

import Dispatch
import Platform

final class Migrations: Sendable {
  typealias Runs = SteppedWork<MigrationProgress>

  /// Old objects that a step migrates at most, unless the program says otherwise.
  static let objectsPerStep = 500

  private struct State {
    var plans: [EntitySchema: MigrationPlan] = [:]
    var failures: [EntitySchema: any Error] = [:]
    var steps: [EntitySchema: Int] = [:]
    /// How many objects have been migrated to a type of which some are left.
    var completed: [EntitySchema: Int] = [:]
  }

  private let state = Mutex(State())
  /// Whether there are none: asked by every fetch.
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
          "a migration to \(other.new.layout.name) and one to \(merged.new.layout.name) follow one another: chain them with then(_:)"
        )
      }
      state.plans[plan.new] = merged
      state.steps[plan.new] = step
      state.failures[plan.new] = nil
    }
    hasPlans.store(true, ordering: .releasing)
  }

  func plan(for schema: EntitySchema) -> MigrationPlan? {
    isEmpty ? nil : state.withLock { $0.plans[schema] }
  }

  /// The plans for some of these types.
  func plans(for types: TypeSet) -> [MigrationPlan] {
    isEmpty ? [] : state.withLock { state in types.types.compactMap { state.plans[$0] } }
  }

  func objectsPerStep(_ schema: EntitySchema) -> Int {
    state.withLock { $0.steps[schema] } ?? Self.objectsPerStep
  }

  /// Why the last step to a type did not succeed; nil if it did.
  func failure(of schema: EntitySchema) -> (any Error)? {
    state.withLock { $0.failures[schema] }
  }

  /// Adds a step to the whole.
  /// - Parameters:
  ///   - migrated: How many objects it has migrated.
  ///   - remaining: How many are left.
  func count(migrated: Int, remaining: Int, of schema: EntitySchema) -> MigrationProgress {
    state.withLock { state in
      let completed = state.completed[schema, default: 0] + migrated
      state.completed[schema] = remaining == 0 ? nil : completed
      return MigrationProgress(migrated: migrated, remaining: remaining, completed: completed)
    }
  }

  func setFailure(_ failure: (any Error)?, of schema: EntitySchema) {
    state.withLock { $0.failures[schema] = failure }
  }
}
