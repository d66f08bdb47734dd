// Migrations: how values of retained versions become values of the newest.
//
// A step converts values and knows no storage, so it can be tested without one. Steps are chained
// by their types; in a workspace each retained version is migrated to the newest at once, and
// stored once. Dflat's migrations do the work: in bounded steps, eagerly or when the values are
// used.

import Dflat

/// One step of a migration, between two versions. Programs write ``Migrate``.
public protocol MigrationStep: Sendable {
  /// The step, for the library.
  var _step: AnyMigrationStep { get }
}

/// A step without its types, for the library.
public struct AnyMigrationStep: Sendable {
  /// The older type.
  let old: any Persistable.Type
  /// The newer type.
  let new: any Persistable.Type
  /// The types whose values it reads.
  let reads: [any Persistable.Type]
  /// Whether the values that it makes have the ids of the old ones.
  let keepsIDs: Bool
  /// Converts a value of the older type.
  let migrate: @Sendable (any Persistable, MigrationReader) throws -> [any Persistable]
}

/// Collects the steps in the closure of `Migrations`.
@resultBuilder
public enum MigrationsBuilder {
  /// The steps.
  public static func buildBlock(_ steps: any MigrationStep...) -> [any MigrationStep] { steps }
}

/// The steps from all retained versions of a value to the newest.
///
///     extension Task {
///       static var migrations: Migrations<Task> {
///         Migrations {
///           Migrate(from: V1.self, to: V2.self) { … }
///           Migrate(from: V2.self, to: Task.self) { … }
///         }
///       }
///     }
public struct Migrations<Value: Persistable>: Sendable {
  let steps: [any MigrationStep]

  /// No steps: there is one version.
  public init() { steps = [] }

  /// Some steps, in any order.
  public init(@MigrationsBuilder _ steps: () -> [any MigrationStep]) { self.steps = steps() }

  /// Converts a value of a retained version through all steps. Nothing is stored.
  /// - Parameters:
  ///   - old: The value.
  ///   - others: What the steps read.
  /// - Returns: The value, the first one if a step made several; nil if a step dropped it.
  /// - Throws: What the steps throw; `ValueMigrationError.gap` if no step leads on.
  public func migrate<Old: Persistable>(
    _ old: Old, reading others: MigrationReader = MigrationReader(of: [])
  ) throws -> Value? {
    try migrateAll(old, reading: others).first
  }

  /// Converts a value of a retained version through all steps, like ``migrate(_:reading:)``.
  /// - Parameters:
  ///   - old: The value.
  ///   - others: What the steps read.
  /// - Returns: All values that the steps make of it.
  /// - Throws: What the steps throw; `ValueMigrationError.gap` if no step leads on.
  public func migrateAll<Old: Persistable>(
    _ old: Old, reading others: MigrationReader = MigrationReader(of: [])
  ) throws -> [Value] { try convert(old, to: Value.self, others) }

  /// Converts a value through the steps that lead to a version. What is outdated is left out after
  /// each of them.
  func convert<Old: Persistable, Target: Persistable>(
    _ old: Old, to target: Target.Type, _ others: MigrationReader
  ) throws -> [Target] {
    var values: [any Persistable] = [old]
    // One step more than there are steps is a circle.
    for _ in 0...steps.count {
      if let values = values as? [Target] { return values }
      values = try values.flatMap { value -> [any Persistable] in
        if value is Target { return [value] }
        guard let step = steps.first(where: { $0._step.old == type(of: value) }) else {
          throw ValueMigrationError.gap(value.version)
        }
        let made = try others.run(step, value)
        return try made.filter { try !others.isOutdated($0, from: Old._canonical.version) }
      }
    }
    throw ValueMigrationError.circle(old.version)
  }

  /// The retained versions, the newest one first: its values are migrated first.
  package var oldTypes: [any Persistable.Type] {
    var types: [any Persistable.Type] = []
    for step in steps
    where step._step.old != Value.self && !types.contains(where: { $0 == step._step.old }) {
      types.append(step._step.old)
    }
    return types.sorted { $0._canonical.version > $1._canonical.version }
  }

  /// Checks that the steps lead from each version to the newest in one way.
  /// - Throws: `ValueMigrationError` for the first gap, fork, step backwards, circle or step of
  ///   another table.
  public func check() throws {
    let own = Value.version
    let named = steps.map { NamedStep($0) }
    for step in named {
      if step.old.table != step.new.table || step.new.table != own.table {
        throw ValueMigrationError.otherTable(from: step.old, to: step.new)
      }
      if step.old.number >= step.new.number {
        throw ValueMigrationError.backwards(from: step.old, to: step.new)
      }
      let same = named.filter { $0.old == step.old }
      if let other = same.first(where: { $0.new != step.new }) {
        throw ValueMigrationError.fork(at: step.old, to: [step.new, other.new])
      }
      if same.count > 1 { throw ValueMigrationError.repeated(from: step.old, to: step.new) }
      if step.new != own, !named.contains(where: { $0.old == step.new }) {
        throw ValueMigrationError.gap(step.new)
      }
    }
    let versions = named.map(\.old) + [own]
    for version in versions {
      if let other = versions.first(where: { $0.number == version.number && $0 != version }) {
        throw ValueMigrationError.sameNumber(version, other)
      }
    }
    // Every version between others needs a way to the newest.
    let numbers = Set(versions.map(\.number))
    for number in (numbers.min() ?? 0)..<own.number where !numbers.contains(number) {
      throw ValueMigrationError.missing(table: own.table, number)
    }
  }
}

/// The versions of a step.
private struct NamedStep {
  let old: EntityVersionName
  let new: EntityVersionName

  init(_ step: any MigrationStep) {
    old = Self.version(step._step.old)
    new = Self.version(step._step.new)
  }

  private static func version<V: Persistable>(_ type: V.Type) -> EntityVersionName { V.version }
}

extension Persistable {
  static var version: EntityVersionName {
    EntityVersionName(
      table: _canonical.name, number: _canonical.version, type: "\(Self.self)")
  }
  fileprivate var version: EntityVersionName { Self.version }

  /// No steps: there is one version.
  public static var migrations: Migrations<Self> { Migrations() }
}
