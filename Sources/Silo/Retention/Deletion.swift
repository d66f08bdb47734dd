// Deletion: what a deletion reaches by the rules of relations, and what remains of it.
//
// All values that are reached are found first, level by level, so that cycles end. Only then the
// rules that deny are looked at, so that the order of the relations does not matter, and then
// everything is changed. A deleted id leaves a tombstone.

import Dflat

struct Deletion {
  private let transaction: SilosTransaction
  private var visited: Set<Subject> = []
  private var levels: [any Level] = []
  /// What is deleted, in the order in which it was reached.
  private var reached: [any Level] = []
  private var referrers: [any Referrers] = []
  private var searches = ReferrerSearches()

  private protocol Level {
    func visit(_ deletion: inout Deletion) throws
    func delete(_ transaction: SilosTransaction) throws -> Int
    /// Adds the values of another level, if they are of the same type.
    mutating func add(_ other: any Level) -> Bool
  }

  private protocol Referrers {
    func check(_ deletion: Deletion) throws
    func nullify(_ deletion: Deletion) throws
  }

  private struct Values<Value: Persistable>: Level {
    var ids: [Value.ID]

    mutating func add(_ other: any Level) -> Bool {
      guard let other = other as? Self else { return false }
      ids += other.ids
      return true
    }

    func visit(_ deletion: inout Deletion) throws { try deletion.visit(Value.self, ids) }

    func delete(_ transaction: SilosTransaction) throws -> Int {
      let store = try transaction.access(Value.self)
      let count = try store.remove(Value.self, ids)
      _ = try store.remove(Mark<Value>.self, ids)
      try transaction.clearTombstones(of: Value.self)
      // An upload of an earlier deletion that waits ends the tombstone still.
      let tombstones = try store.load(Tombstone<Value>.self, ids)
      let until = tombstones.filter { $0.isUntilUploaded }.map { $0.id }
      let waiting = try transaction.waiting(Value.self, until)
      try store.save(
        ids.map { id in
          var tombstone = Tombstone<Value>(id: id)
          tombstone.isUntilUploaded = waiting.contains(id)
          return tombstone
        })
      transaction.noteDeletion(of: Value.self, ids)
      return count
    }
  }

  /// Values of a retained version, of which values with other ids would come.
  private struct RetainedValues<Value: Persistable>: Level {
    var ids: [Value.ID]
    let silo: any Persistable.Type

    mutating func add(_ other: any Level) -> Bool {
      guard let other = other as? Self, other.silo == silo else { return false }
      ids += other.ids
      return true
    }

    func visit(_ deletion: inout Deletion) throws {}

    func delete(_ transaction: SilosTransaction) throws -> Int {
      try transaction.access(silo).remove(Value.self, ids)
    }
  }

  /// The values that refer to deleted ones by a relation.
  private struct Owners<Relation: ValueRelation>: Referrers {
    let relation: Relation
    let ids: [Relation.Owner.ID]
    let owner: RelationOwner

    /// Those that are not deleted themselves.
    private func remaining(_ deletion: Deletion) -> [Relation.Owner.ID] {
      ids.filter { !deletion.visited.contains(Subject(Relation.Owner.self, $0)) }
    }

    func check(_ deletion: Deletion) throws {
      guard relation._rule == .deny, let id = remaining(deletion).first else { return }
      throw SiloError.deletionDenied(
        type: "\(Relation.Target.self)", by: "\(owner.silo)", id: "\(id)",
        property: relation._name)
    }

    func nullify(_ deletion: Deletion) throws {
      guard relation._rule == .nullify else { return }
      let store = try deletion.transaction.access(owner.silo)
      // They are loaded now, since another relation may have changed them.
      var owners = try store.load(Relation.Owner.self, remaining(deletion))
      for index in owners.indices {
        relation._remove(
          { deletion.visited.contains(Subject(Relation.Target.self, $0)) }, from: &owners[index])
      }
      try store.save(owners)
      if owner.retained == nil { deletion.transaction.noteChange(of: owners) }
    }
  }

  private init(_ transaction: SilosTransaction) { self.transaction = transaction }

  /// Deletes values.
  /// - Returns: How many of them were stored, without those that rules have deleted.
  /// - Throws: `SiloError.deletionDenied`, `SiloError.unknownReferrer`; the errors of the storage.
  static func delete<V: Persistable>(
    _ type: V.Type, _ ids: [V.ID], in transaction: SilosTransaction
  ) throws -> Int {
    var deletion = Deletion(transaction)
    deletion.levels = [Values<V>(ids: ids)]
    while let level = deletion.levels.popLast() { try level.visit(&deletion) }
    for referrers in deletion.referrers { try referrers.check(deletion) }
    for referrers in deletion.referrers { try referrers.nullify(deletion) }
    // The first level has the values themselves. The others are deleted by types, however many
    // levels there are.
    guard let first = deletion.reached.first else { return 0 }
    var rest: [any Level] = []
    for level in deletion.reached.dropFirst() {
      if rest.indices.contains(where: { rest[$0].add(level) }) { continue }
      rest.append(level)
    }
    let count = try first.delete(transaction)
    for level in rest { _ = try level.delete(transaction) }
    return count
  }

  private mutating func visit<V: Persistable>(_ type: V.Type, _ ids: [V.ID]) throws {
    let new = ids.filter { visited.insert(Subject(type, $0)).inserted }
    if new.isEmpty { return }
    reached.append(Values<V>(ids: new))
    try transaction.forEachRelation(to: type) { try visitOwners(by: $0, of: new, $1) }
  }

  private mutating func visitOwners<R: ValueRelation, ID: PersistableID>(
    by relation: R, of ids: [ID], _ owner: RelationOwner
  ) throws {
    let targets = ids.compactMap {
      ($0._key as? R.Target.ID._Key).flatMap { R.Target.ID(_key: $0) }
    }
    guard relation._rule != .nothing, !targets.isEmpty else { return }
    var seen = IDSet<R.Owner>()
    let owners = try searches.referrers(by: relation, of: owner, to: targets, in: transaction)
      .map(\.owner).filter { seen.insert($0) }
    if owners.isEmpty { return }
    guard relation._rule == .cascade else {
      return referrers.append(Owners(relation: relation, ids: owners, owner: owner))
    }
    if owner.retained?.keepsIDs == false {
      reached.append(RetainedValues<R.Owner>(ids: owners, silo: owner.silo))
    } else {
      levels.append(Self.level(owner.silo, owners))
    }
  }

  /// The values of a type, which may be other versions of those with the ids.
  private static func level<V: Persistable, ID: PersistableID>(
    _ type: V.Type, _ ids: [ID]
  ) -> any Level {
    Values<V>(ids: ids.compactMap { ($0._key as? V.ID._Key).flatMap { V.ID(_key: $0) } })
  }
}
