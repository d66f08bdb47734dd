// The steps of migrations.

import Dflat

/// A step of a migration: converts values of one version to the next one.
///
///     Migrate(from: V1.self, to: Task.self) { old in Task(id: old.id, title: old.name) }
///
/// The new value has the id of the old one. What a program saves or deletes under an id holds for
/// older values with that id, too, which are removed. For a step that gives values other ids of the
/// same type, say so with `keepsIDs: false`.
public struct Migrate<Old: Persistable, New: Persistable>: MigrationStep {
  private let function: @Sendable (Old, MigrationReader) throws -> New?
  private let keepsIDs: Bool
  private let reads: [any Persistable.Type]

  /// A step.
  /// - Parameters:
  ///   - old: The older type.
  ///   - new: The newer type.
  ///   - keepsIDs: Whether a new value has the id of the old one. Ids of another type are others.
  ///   - function: Makes the successor of a value; nil drops the value. It must depend on nothing
  ///     but the value, and may be called several times for one.
  public init(
    from old: Old.Type, to new: New.Type, keepsIDs: Bool = true,
    _ function: @escaping @Sendable (_ old: Old) throws -> New?
  ) {
    self.function = { old, _ in try function(old) }
    self.keepsIDs = keepsIDs && Old.ID._Key.self == New.ID._Key.self
    reads = []
  }

  /// A step that reads values of other types, in versions of its own time.
  ///
  /// A migration with such steps runs at the first use of the type, before those of the types whose
  /// old versions it reads. So use the silo of the type that reads before those of the others.
  ///
  /// - Parameters:
  ///   - old: The older type.
  ///   - new: The newer type.
  ///   - keepsIDs: Whether a new value has the id of the old one. Ids of another type are others.
  ///   - others: The types whose values it reads.
  ///   - function: Makes the successor of a value; nil drops the value. It must depend on nothing
  ///     but the value and what it reads, and may be called several times for one.
  public init(
    from old: Old.Type, to new: New.Type, keepsIDs: Bool = true,
    reading others: any Persistable.Type...,
    with function:
      @escaping @Sendable (_ old: Old, _ others: MigrationReader) throws -> New?
  ) {
    self.function = function
    self.keepsIDs = keepsIDs && Old.ID._Key.self == New.ID._Key.self
    reads = others
  }

  /// Converts one value, for tests.
  /// - Parameters:
  ///   - old: The value.
  ///   - others: What the step reads.
  /// - Throws: What the function throws.
  public func migrate(
    _ old: Old, reading others: MigrationReader = MigrationReader(of: [])
  ) throws -> New? { try function(old, others) }

  /// The step, for the library.
  public var _step: AnyMigrationStep {
    AnyMigrationStep(old: Old.self, new: New.self, reads: reads, keepsIDs: keepsIDs) {
      try function(requireType(of: $0), $1).map { [$0] } ?? []
    }
  }
}

/// A step of a migration that makes several values of one.
///
///     MigrateSeveral(from: V1.self, to: Leg.self) { trip in trip.stops.map { … } }
///
/// All values that are made of one are stored, or none.
public struct MigrateSeveral<Old: Persistable, New: Persistable>: MigrationStep {
  private let function: @Sendable (Old, MigrationReader) throws -> [New]
  private let reads: [any Persistable.Type]

  /// A step.
  /// - Parameters:
  ///   - old: The older type.
  ///   - new: The newer type.
  ///   - function: Makes the successors of a value, with different ids. It must depend on nothing
  ///     but the value, and may be called several times for one.
  public init(
    from old: Old.Type, to new: New.Type,
    _ function: @escaping @Sendable (_ old: Old) throws -> [New]
  ) {
    self.function = { old, _ in try function(old) }
    reads = []
  }

  /// A step that reads values of other types; see `Migrate`.
  /// - Parameters:
  ///   - old: The older type.
  ///   - new: The newer type.
  ///   - others: The types whose values it reads.
  ///   - function: Makes the successors of a value, with different ids.
  public init(
    from old: Old.Type, to new: New.Type, reading others: any Persistable.Type...,
    with function:
      @escaping @Sendable (_ old: Old, _ others: MigrationReader) throws -> [New]
  ) {
    self.function = function
    reads = others
  }

  /// Converts one value, for tests.
  /// - Parameters:
  ///   - old: The value.
  ///   - others: What the step reads.
  /// - Throws: What the function throws.
  public func migrate(
    _ old: Old, reading others: MigrationReader = MigrationReader(of: [])
  ) throws -> [New] { try function(old, others) }

  /// The step, for the library.
  public var _step: AnyMigrationStep {
    AnyMigrationStep(old: Old.self, new: New.self, reads: reads, keepsIDs: false) {
      try function(requireType(of: $0), $1)
    }
  }
}

private func requireType<Old: Persistable>(of value: any Persistable) -> Old {
  guard let old = value as? Old else {
    preconditionFailure("a step from \(Old.self) was given a \(type(of: value))")
  }
  return old
}
