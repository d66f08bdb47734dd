// RetentionCheck: which of some values are managed.
//
// A value is managed if it is pinned, if an upload about it waits, or if a managed value refers to
// it by a relation that retains. The search goes from the values to those that refer to them, level
// by level and with one query for each relation, and then back. There is no recursion, and each
// value is visited once, so that cycles end.

import Dflat

struct RetentionCheck {
  private let transaction: SilosTransaction
  private var visited: Set<Subject> = []
  private var managed: [Subject] = []
  /// The values that a value retains.
  private var retained: [Subject: [Subject]] = [:]
  private var levels: [any Level] = []
  private var searches = ReferrerSearches()
  private var lookUps = 0
  /// All values that wait for uploads; nil as long as they are looked up.
  private var allWaiting: Set<Subject>?

  private protocol Level {
    func visit(_ search: inout RetentionCheck) throws
  }

  private struct Values<Value: Persistable>: Level {
    let ids: [Value.ID]
    func visit(_ search: inout RetentionCheck) throws { try search.visit(Value.self, ids) }
  }

  private init(_ transaction: SilosTransaction) { self.transaction = transaction }

  /// The values that are managed.
  /// - Throws: `SiloError.unknownReferrer`; the errors of the storage.
  static func managed<V: Persistable>(
    _ type: V.Type, _ ids: [V.ID], in transaction: SilosTransaction
  ) throws -> IDSet<V> {
    var search = RetentionCheck(transaction)
    search.levels = [Values<V>(ids: ids)]
    while let level = search.levels.popLast() { try level.visit(&search) }
    let found = search.spread()
    return IDSet(ids.filter { found.contains(Subject(type, $0)) })
  }

  private mutating func visit<V: Persistable>(_ type: V.Type, _ ids: [V.ID]) throws {
    let new = ids.filter { visited.insert(Subject(type, $0)).inserted }
    if new.isEmpty { return }
    let store = try transaction.access(type)
    let pinned = IDSet<V>(
      try store.load(Mark<V>.self, new).lazy.filter { $0.isPinned }.map { $0.id })
    let waiting = try waiting(type, new)
    var rest: [V.ID] = []
    for id in new {
      if pinned.contains(id) || waiting.contains(id) {
        managed.append(Subject(type, id))
      } else {
        rest.append(id)
      }
    }
    if rest.isEmpty { return }
    try transaction.forEachRelation(to: type) { try visitOwners(by: $0, of: type, rest, $1) }
  }

  private mutating func visitOwners<R: ValueRelation, V: Persistable>(
    by relation: R, of type: V.Type, _ ids: [V.ID], _ owner: RelationOwner
  ) throws {
    let targets = ids.compactMap {
      ($0._key as? R.Target.ID._Key).flatMap { R.Target.ID(_key: $0) }
    }
    // Of an older value that others come from it is not known whether these are managed.
    guard relation._retains, !targets.isEmpty, owner.retained?.keepsIDs != false else { return }
    let pairs = try searches.referrers(by: relation, of: owner, to: targets, in: transaction)
    for (owner, target) in pairs {
      retained[Subject(R.Owner.self, owner), default: []].append(Subject(R.Target.self, target))
    }
    if !pairs.isEmpty { levels.append(Self.level(owner.silo, pairs.map(\.owner))) }
  }

  /// The values of a type, which may be other versions of those with the ids.
  private static func level<V: Persistable, ID: PersistableID>(
    _ type: V.Type, _ ids: [ID]
  ) -> any Level {
    Values<V>(ids: ids.compactMap { ($0._key as? V.ID._Key).flatMap { V.ID(_key: $0) } })
  }

  /// Those of some ids that uploads wait for. After a few levels all uploads are read, once.
  private mutating func waiting<V: Persistable>(
    _ type: V.Type, _ ids: [V.ID]
  ) throws -> IDSet<V> {
    lookUps += 1
    if lookUps <= 8 { return try transaction.waiting(type, ids) }
    let all = try allWaiting ?? transaction.allWaiting(beside: type)
    allWaiting = all
    return IDSet(ids.filter { all.contains(Subject(type, $0)) })
  }

  /// All values that managed ones retain.
  private func spread() -> Set<Subject> {
    var found = Set(managed)
    var rest = managed
    while let subject = rest.popLast() {
      for next in retained[subject] ?? [] where found.insert(next).inserted { rest.append(next) }
    }
    return found
  }
}
