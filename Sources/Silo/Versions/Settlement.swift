// Settlement: the ids about which something was decided while older versions had values left.
//
// An older value that cannot be migrated by this release may be migrated by another one. What a
// program has saved or removed under an id in the meantime is newer:
//
//  - if values keep their ids on the way to the type, the older value with the id is removed in the
//    transaction that decides about it;
//  - which ids another older value will have is unknown. So the id is noted with the version of the
//    program, as long as older versions have values. What older versions have for it is outdated.

import Dflat

/// Carries out in older versions what a transaction decides about ids. Used on its thread.
package final class Settlement {
  /// The older versions that have values, by the types.
  private var remaining: [ObjectIdentifier: [RetainedVersions.Version]] = [:]

  package init() {}

  /// Removes the older values with some ids, whose newest values are those of the transaction.
  /// - Throws: The errors of the storage.
  package func settle<V: Persistable>(
    _ type: V.Type, _ ids: @autoclosure () -> [V.ID], in transaction: any RetainingTransaction
  ) throws {
    let older = RetainedVersions.of(type).older
    if older.isEmpty { return }
    let versions =
      try remaining[ObjectIdentifier(type)] ?? older.filter { try transaction.hasRows($0.type) }
    var left = versions
    let ids = left.isEmpty ? [] : ids()
    if !ids.isEmpty {
      for version in versions where version.keepsIDs {
        try transaction.removeSame(version.type, as: ids)
      }
      left = try versions.filter { try transaction.hasRows($0.type) }
      // Of the others, the values with these ids are removed.
      if left.contains(where: { !$0.keepsIDs }) {
        try transaction.save(ids.map { Decided<V>(id: $0) })
      }
    }
    remaining[ObjectIdentifier(type)] = left
  }
}

extension RetainingTransaction {
  /// Removes the values of a retained version that have some ids of another version.
  fileprivate func removeSame<Old: Persistable, ID: PersistableID>(
    _ type: Old.Type, as ids: [ID]
  ) throws {
    let same = ids.compactMap { id in (id._key as? Old.ID._Key).flatMap { Old.ID(_key: $0) } }
    _ = try remove(type, same)
  }
}

extension Decided {
  /// Whether the decision is about what comes of values of a version: it was made in a later one,
  /// whose ids mean the same as those of the type.
  func isNewer(than version: Int) -> Bool {
    self.version > version && RetainedVersions.of(Value.self).keepsIDs(since: self.version)
  }

  /// The values that no decision has outdated.
  /// - Parameters:
  ///   - values: What came of values of an older version.
  ///   - version: That version.
  ///   - load: Loads decisions.
  static func current(
    _ values: [Value], from version: Int, _ load: ([Value.ID]) throws -> [Decided]
  ) throws -> [Value] {
    let outdated = IDSet<Value>(
      try load(values.map { $0.id }).lazy.filter { $0.isNewer(than: version) }.map { $0.id })
    return outdated.isEmpty ? values : values.filter { !outdated.contains($0.id) }
  }
}

/// The decisions in a workspace, for its migrations from one version to the newest.
struct WorkspaceDecisions<Old: Persistable, New: Persistable>: MigrationDecisions {
  func successorsToStore(
    of conversions: [(old: Row, successors: [Row])], in reader: any StorageReader
  ) throws -> [[Row]] {
    let all = conversions.map(\.successors)
    let schema = Canonical<Decided<New>>._schema
    if try reader.lastID(of: schema) == nil { return all }
    let wanted = all.joined().compactMap { row in
      New.ID(_key: Canonical<New>(_row: row).id).flatMap {
        schema.keyValues(of: Canonical(Decided<New>(id: $0))._row)
      }
    }
    var outdated: Set<IDKey<New.ID._Key>> = []
    for case let row? in try reader.rows(of: schema, with: wanted) {
      let decided = try Canonical<Decided<New>>(_row: row).value()
      if decided.isNewer(than: Old._canonical.version) { outdated.insert(IDKey(decided.id._key)) }
    }
    return all.map { $0.filter { !outdated.contains(IDKey(Canonical<New>(_row: $0).id)) } }
  }
}
