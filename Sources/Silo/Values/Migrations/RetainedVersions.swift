// RetainedVersions: the older versions of a type, in each of which an id may have a value.

import Dflat
import Platform

/// The retained versions that are older than a type.
package struct RetainedVersions: Sendable {
  package struct Version: Sendable {
    package let type: any Persistable.Type
    /// Whether values keep their ids on the way to the type.
    package let keepsIDs: Bool
  }

  /// The versions, the newest one first.
  package let older: [Version]

  /// Whether values keep their ids on the way from a version to the type. A version that is not
  /// retained is taken for one of which they do.
  func keepsIDs(since version: Int) -> Bool {
    older.first { $0.type._canonical.version == version }?.keepsIDs ?? true
  }

  private static let known = Mutex<[ObjectIdentifier: RetainedVersions]>([:])

  /// The versions that are older than a type.
  package static func of<V: Persistable>(_ type: V.Type) -> RetainedVersions {
    let id = ObjectIdentifier(type)
    if let known = known.withLock({ $0[id] }) { return known }
    let newest: any Persistable.Type = V._newest
    let versions = newest.versions(olderThan: type)
    known.withLock { $0[id] = versions }
    return versions
  }

  fileprivate init<V: Persistable>(
    _ types: [any Persistable.Type], to type: V.Type, _ steps: [any MigrationStep]
  ) {
    func keepsIDs(_ old: any Persistable.Type) -> Bool {
      var version = old
      for _ in steps {
        if version == V.self { break }
        guard let step = steps.first(where: { $0._step.old == version }), step._step.keepsIDs else {
          return false
        }
        version = step._step.new
      }
      return version == V.self
    }
    older = types.filter { $0._canonical.version < V._canonical.version }
      .map { Version(type: $0, keepsIDs: keepsIDs($0)) }
  }
}

extension Persistable {
  fileprivate static func versions<V: Persistable>(olderThan type: V.Type) -> RetainedVersions {
    let migrations = migrations
    return RetainedVersions(migrations.oldTypes, to: type, migrations.steps)
  }
}
