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
    let luggage = try await old.readAtOnce(Luggage<Value>.types) {
      try Luggage<Value>(reading: $0)
    }
    let rules = Value.rules
    let types: [any Persistable.Type] =
      [StoredMove.self] + (rules.isEmpty ? [] : [StoredRule.self])
      + (luggage.holds.isEmpty ? [] : [StoredUpload.self])
    // What was left there may be cached.
    let cachedChanges = CachedChanges()
    defer { cachedChanges.end() }
    let left = try await store.values(ValueQuery())
    let name = UUID()
    let moved = luggage.rows.compactMap { Value.ID(_key: $0.id) }
    cachedChanges.begin(left.map { $0.id } + moved, in: store)
    try await store.domain.write([Value.self] + types) { transaction in
      try transaction.arrive(Value.self, from: luggage.origin, leaving: name)
      try transaction.save(storedForms: luggage.rows)
      for copy in luggage.copies { try copy(transaction) }
      if !rules.isEmpty { try transaction.save(rules) }
      try transaction.add(luggage.holds)
    }
    silos.follow(store.domain)
    // Before the silo no longer leads there. If no upload waits, the domain is forgotten later.
    silos.addLeftDomain(old)
    await state.exchange(for: store)
    // The move is complete. Without the record the silo cannot be moved back.
    do {
      var departure = luggage.origin ?? StoredMove(id: Value.moveID)
      departure.leave(luggage.rows, as: name)
      let record = departure
      try await old.write([StoredMove.self]) { try $0.save([record]) }
    } catch { silos.report(error, from: store.domain) }
  }
}

/// What a silo takes along from a store: all of it as it is at one moment. What other callers
/// migrate or upload meanwhile is in it as it was before, or as it is afterwards.
private struct Luggage<Value: Persistable>: Sendable {
  typealias Copy = @Sendable (any StoreTransaction) throws -> Void

  let rows: [Canonical<Value>]
  let holds: [StoredHold]
  /// The record of the store that the silo comes from.
  let origin: StoredMove?
  /// Functions that save what is stored beside the values, and the values of retained versions that
  /// could not be migrated.
  let copies: [Copy]

  /// The types whose values are read.
  static var types: [any Persistable.Type] { [Value.self, StoredUpload.self, StoredMove.self] }

  init(reading transaction: any StoreTransaction) throws {
    rows = try transaction.storedForms(of: Value.self)
    holds = try transaction.holds(about: Value.self)
    origin = try transaction.load(StoredMove.self, [Value.moveID]).first
    var copies = try Value._companions.map { try Self.companion($0, transaction) }
    if let retaining = transaction as? any RetainingTransaction {
      let older = RetainedVersions.of(Value.self).older
      copies += try older.map { try Self.unmigrated($0.type, retaining) }
    }
    self.copies = copies
  }

  private static func companion<V: Persistable>(
    _ type: V.Type, _ transaction: any StoreTransaction
  ) throws -> Copy {
    let rows = try transaction.storedForms(of: type)
    return { try $0.save(storedForms: rows) }
  }

  private static func unmigrated<Old: Persistable>(
    _ type: Old.Type, _ transaction: any RetainingTransaction
  ) throws -> Copy {
    let rows = try transaction.rows(of: type, limit: nil)
    return { transaction in
      if let retaining = transaction as? any RetainingTransaction, try retaining.hasRows(type) {
        throw SiloError.storeIsNotEmpty("\(Value.self)")
      }
      try transaction.save(storedForms: rows)
    }
  }
}
