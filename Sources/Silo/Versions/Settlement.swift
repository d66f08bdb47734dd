// Settlement: the ids about which something was decided while older versions had values left.
//
// An older value that cannot be migrated by this release may be migrated by another one. What a
// program has saved or removed under an id in the meantime is newer:
//
//  - if values keep their ids on the way to the type, the older value with the id is removed in the
//    transaction that decides about it;
//  - which ids another older value will have is unknown. So the id is noted with the version of the
//    program, as long as older versions have values. What older versions have for it is outdated;
//    see `Decisions`.

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
        let before = try transaction.load(Decided<V>.self, ids)
        let noted = Dictionary(before.map { (IDKey($0.id._key), $0) }) { first, _ in first }
        try transaction.save(
          ids.map { Decided<V>(id: $0, after: noted[IDKey($0._key)]) })
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
