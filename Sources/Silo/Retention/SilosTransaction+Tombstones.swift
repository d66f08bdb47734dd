// Saving values whose ids were deleted: a tombstone keeps them from coming back by accident.

import Dflat

extension SilosTransaction {
  /// Saves values, as far as they were not deleted.
  func save<V: Persistable>(_ values: [V], ifDeleted: DeletedSaving) throws {
    let store = try access(V.self)
    var values = values
    if !(V.self is any Bookkeeping.Type) {
      switch ifDeleted {
      case .refuse: try refuseDeleted(values)
      case .skip:
        let deleted = try deleted(V.self, values.lazy.map { $0.id })
        if !deleted.isEmpty { values.removeAll { deleted.contains($0.id) } }
      case .recreate:
        let deleted = try deleted(V.self, values.lazy.map { $0.id })
        if !deleted.isEmpty {
          _ = try store.remove(
            Tombstone<V>.self, values.map { $0.id }.filter { deleted.contains($0) })
        }
      }
    }
    try store.save(values)
    noteChange(of: values)
  }

  /// Refuses values that were deleted.
  /// - Throws: `SiloError.deleted`; the errors of the storage.
  func refuseDeleted<V: Persistable>(_ values: [V]) throws {
    let deleted = try deleted(V.self, values.lazy.map { $0.id })
    if let first = values.first(where: { deleted.contains($0.id) }) {
      throw SiloError.deleted(type: "\(V.self)", id: "\(first.id)")
    }
  }

  /// Those of some ids that were deleted, and whose deletion is neither uploaded nor forgotten.
  func deleted<V: Persistable>(
    _ type: V.Type, _ ids: some Collection<V.ID>
  ) throws -> IDSet<V> {
    let store = try access(type)
    // Mostly nothing is deleted, which is found out once.
    if hasNoTombstones.contains(ObjectIdentifier(type)) { return IDSet() }
    if try store.values(ValueQuery<Tombstone<V>>(limit: 1)).isEmpty {
      hasNoTombstones.insert(ObjectIdentifier(type))
      return IDSet()
    }
    return try standing(store.load(Tombstone<V>.self, Array(ids)))
  }

  /// Removes some of the tombstones that are over: mostly the same id never comes again.
  func clearTombstones<V: Persistable>(of type: V.Type) throws {
    _ = try standing(
      access(type).values(
        ValueQuery<Tombstone<V>>(where: Tombstone<V>.isUntilUploaded == true, limit: 100)))
  }

  /// Removes those of some tombstones that are over, since their uploads are done.
  /// - Returns: The others.
  private func standing<V: Persistable>(_ tombstones: [Tombstone<V>]) throws -> IDSet<V> {
    let until = tombstones.filter { $0.isUntilUploaded }.map { $0.id }
    let waiting = try waiting(V.self, until)
    _ = try access(V.self).remove(Tombstone<V>.self, until.filter { !waiting.contains($0) })
    return IDSet(
      tombstones.lazy.filter { !$0.isUntilUploaded || waiting.contains($0.id) }.map { $0.id })
  }
}
