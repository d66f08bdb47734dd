// ValueMigrationError: what is wrong with the steps of a migration.

import Platform
package import StandardConformances

/// What is wrong with the steps of a migration.
public enum ValueMigrationError: AdvisedError, Sendable, Equatable {
  /// No step leads on from a version.
  case gap(EntityVersionName)
  /// Two steps lead on from a version.
  case fork(at: EntityVersionName, to: [EntityVersionName])
  /// A step is there twice.
  case repeated(from: EntityVersionName, to: EntityVersionName)
  /// A step leads to an older version, or to the same one.
  case backwards(from: EntityVersionName, to: EntityVersionName)
  /// A step leads to or from another table.
  case otherTable(from: EntityVersionName, to: EntityVersionName)
  /// The steps lead in a circle.
  case circle(EntityVersionName)
  /// Two types have the same version.
  case sameNumber(EntityVersionName, EntityVersionName)
  /// A version between others was not retained.
  case missing(table: String, Int)
  /// A step reads values of a version that were migrated further.
  case alreadyMigrated(EntityVersionName)
  /// A step reads a type that it was not declared to read.
  case undeclaredReading(EntityVersionName)
  /// The steps of several types read each other without end.
  case circularReading(EntityVersionName)
  /// A step could not convert a value.
  case failed(EntityVersionName, id: String, reason: String)

  package var problem: String {
    switch self {
    case .gap(let version): "no step leads on from \(version)"
    case .fork(let version, let others):
      "two steps lead on from \(version), to \(others[0]) and \(others[1])"
    case .repeated(let old, let new): "there are two steps from \(old) to \(new)"
    case .backwards(let old, let new): "a step leads from \(old) to \(new)"
    case .otherTable(let old, let new):
      "a step leads from \(old) to \(new), which are in different tables"
    case .circle(let version): "the steps from \(version) lead in a circle"
    case .sameNumber(let one, let other): "\(one) and \(other) have the same version"
    case .missing(let table, let number):
      "version \(number) of \(table) has no retained type, so its values cannot be migrated"
    case .alreadyMigrated(let version):
      "a step reads values of \(version), which were migrated already; nothing was changed"
    case .undeclaredReading(let version): "a step reads values of \(version)"
    case .circularReading(let version):
      "the steps that lead to \(version) depend on each other in a circle: each reads values of the other's type"
    case .failed(let version, let id, let reason):
      "the value \(id.shortened) of \(version) cannot be migrated: \(reason); it is left as it is, "
        + "and only 'unmigrated' of the silo has it"
    }
  }

  package var advice: String? {
    switch self {
    case .gap: "add a 'Migrate' from it to the next version"
    case .fork, .repeated: "keep one"
    case .backwards, .circle: "versions only go up"
    case .otherTable: "name the value with 'of:' in @EntityVersion"
    case .sameNumber: "give each its own"
    case .missing(_, let number):
      "add it with @EntityVersion(\(number), of:), or start with the next version"
    case .alreadyMigrated:
      "use the silo of the type that reads them first when the program starts"
    case .undeclaredReading: "name the type in 'reading:'"
    case .circularReading: "leave out one 'reading:', or read an older version of one of the types"
    case .failed: "mend the step, or have it drop the value; or replace or delete the value"
    }
  }
}
