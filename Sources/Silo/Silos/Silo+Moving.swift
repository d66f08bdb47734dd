// Moving a silo's values to another store while the program goes on.
//
// A store that is left keeps its values; see `StoredMove` for how a silo moves back.

import Dflat
import Foundation

extension Silo {
  /// Copies all values to another store, with those that could not be migrated, and uses it from
  /// then on. Properties that only a newer release of the program knows are copied, too.
  ///
  /// No change is lost or doubled: saves that are called meanwhile wait until the values are
  /// copied, and then go to the new store. Readers go on. Observers are not told anything, since
  /// nothing changes. The old store keeps its values as they are, so that a program can go back to
  /// it; they do not follow the silo from then on.
  ///
  /// A silo can be moved back: the values that it has left in a store are replaced by its present
  /// ones, if nothing else has changed them meanwhile. That is also so in later processes.
  ///
  /// Silos that are changed in one transaction should be moved together, to stores that can be
  /// changed together: in between such a transaction is refused. Uploads are enqueued beside the
  /// values in their new store from then on. Those that wait stay in the old one, are sent from
  /// there, and keep the values managed; see ``Silos/moveUploads(to:)``.
  ///
  /// - Parameter store: A store that is empty, or that the silo has left. It must not be changed by
  ///   others meanwhile.
  /// - Throws: `SiloError.storeIsNotEmpty`; `SiloError.unknownProperties` if a store of your own
  ///   cannot keep what a newer release has stored; `UnreadableValue`; the errors of the storage.
  ///   The silo then goes on with its old store.
  public func move(to store: some ValueStore<Value>) async throws {
    try await moveAlone(to: store)
    silos.wakeUploads()
    // Some of the uploads may have been done during the move.
    do { try await silos.removeOrphanedHolds() } catch {
      silos.report(error, from: store.domain)
    }
  }

  private func moveAlone(to store: some ValueStore<Value>) async throws {
    await state.gate.enterAlone()
    defer { state.gate.leaveAlone() }
    let old = self.store.domain
    // The same values, around which there may be a cache, or no longer.
    if old === store.domain { return await state.exchange(for: store) }
    // Afterwards the rows of older versions are those that cannot be migrated.
    if !RetainedVersions.of(Value.self).older.isEmpty {
      do { try await self.store.migrate(step: 500) } catch ValueMigrationError.failed {}
    }
    let rows = try await self.store.storedForms()
    let copies = try await Value._companions.copies(from: old)
    let holds = try await old.holds(about: Value.self)
    let unmigrated = try await Value.unmigrated(in: old)
    let rules = Value.rules
    let types: [any Persistable.Type] =
      [StoredMove.self] + (rules.isEmpty ? [] : [StoredRule.self])
      + (holds.isEmpty ? [] : [StoredUpload.self])
    // What was left there may be cached.
    let cachedChanges = CachedChanges()
    defer { cachedChanges.end() }
    let left = try await store.values(ValueQuery())
    let origin = try await old.store(of: StoredMove.self).load(Value.moveID)
    let name = UUID()
    let moved = rows.compactMap { Value.ID(_key: $0.id) }
    cachedChanges.begin(left.map { $0.id } + moved, in: store)
    try await store.domain.write([Value.self] + types) { transaction in
      try transaction.arrive(Value.self, from: origin, leaving: name)
      try transaction.save(storedForms: rows)
      for copy in copies { try copy(transaction) }
      for copy in unmigrated { try copy(transaction) }
      if !rules.isEmpty { try transaction.save(rules) }
      try transaction.add(holds)
    }
    silos.follow(store.domain)
    // Before the silo no longer leads there. If no upload waits, the domain is forgotten later.
    silos.addLeftDomain(old)
    await state.exchange(for: store)
    // The move is complete. Without the record the silo cannot be moved back.
    do {
      var departure = origin ?? StoredMove(id: Value.moveID)
      departure.leave(rows, as: name)
      let record = departure
      try await old.write([StoredMove.self]) { try $0.save([record]) }
    } catch { silos.report(error, from: store.domain) }
  }
}

extension Persistable {
  /// Functions that save the values of retained versions that could not be migrated.
  fileprivate static func unmigrated(
    in domain: any StoreDomain
  ) async throws -> [@Sendable (any StoreTransaction) throws -> Void] {
    guard let domain = domain as? any VersionedDomain else { return [] }
    func copy<Old: Persistable>(
      _ type: Old.Type
    ) async throws -> @Sendable (any StoreTransaction) throws -> Void {
      let rows = try await domain.rows(of: type)
      return { transaction in
        if let retaining = transaction as? any RetainingTransaction, try retaining.hasRows(type) {
          throw SiloError.storeIsNotEmpty("\(Self.self)")
        }
        try transaction.save(storedForms: rows)
      }
    }
    var copies: [@Sendable (any StoreTransaction) throws -> Void] = []
    for version in RetainedVersions.of(self).older { copies.append(try await copy(version.type)) }
    return copies
  }
}

extension [any Persistable.Type] {
  /// Functions that save all values of these types.
  fileprivate func copies(
    from domain: any StoreDomain
  ) async throws -> [@Sendable (any StoreTransaction) throws -> Void] {
    func copy<V: Persistable>(
      _ type: V.Type
    ) async throws -> @Sendable (any StoreTransaction) throws -> Void {
      let rows = try await domain.store(of: type).storedForms()
      return { try $0.save(storedForms: rows) }
    }
    var copies: [@Sendable (any StoreTransaction) throws -> Void] = []
    for type in self { copies.append(try await copy(type)) }
    return copies
  }
}
