// The relations that lead to a type.
//
// Only the types that a program has used are known. That a type has relations with rules is
// recorded in its store by the first transaction of the process that may use it, whether it saves
// values of the type or not: those that are stored may be older than the rules. A deletion or
// eviction that finds a record of a type that this process does not know is refused: the rules of
// that type would be broken unseen.

import Dflat
import Platform

extension Silos {
  /// Forgets that the values of a table have relations with rules: for a type that the program has
  /// no more, after which `SiloError.unknownReferrer` is thrown for ever. The rules of a type that
  /// is saved again by another process are recorded again.
  /// - Parameter table: The table, as the error names it.
  /// - Throws: The errors of the storage.
  public func forgetRules(ofTable table: String) async throws {
    for domain in domains {
      try await domain.write([StoredRule.self]) { transaction in
        let rules = try transaction.values(
          ValueQuery<StoredRule>(where: StoredRule.owner == table))
        _ = try transaction.remove(StoredRule.self, rules.map { $0.id })
      }
    }
  }
}

/// The type that has a relation, and where its values are.
struct RelationOwner {
  /// The type that a silo has.
  let silo: any Persistable.Type
  /// The retained version whose values refer; nil for the type itself.
  var retained: RetainedVersions.Version?
}

extension SilosTransaction {
  /// Calls `body` with each known relation to a type. Older versions have relations of their own,
  /// as long as there are values that could not be migrated.
  ///
  /// - Throws: `SiloError.unknownReferrer` if the store knows a type with relations to this one,
  ///   and the process does not; the errors of `body`.
  func forEachRelation<V: Persistable>(
    to type: V.Type, _ body: (any ValueRelation, RelationOwner) throws -> Void
  ) throws {
    // The rules are stored beside the values.
    _ = try access(type)
    var known: Set<String> = []
    for owner in silos.types {
      known.insert(owner._canonical.name)
      for relation in owner._relations where isRelation(relation, to: type) {
        try body(relation, RelationOwner(silo: owner))
      }
      for version in owner._retained {
        let relations = version.type._relations.filter { isRelation($0, toAnyVersionOf: type) }
        if try relations.isEmpty || !hasRows(version.type, of: owner) { continue }
        for relation in relations {
          try body(relation, RelationOwner(silo: owner, retained: version))
        }
      }
    }
    let stored = try access(StoredRule.self).values(
      ValueQuery<StoredRule>(where: StoredRule.target == V._canonical.name))
    if let rule = stored.first(where: { !known.contains($0.owner) }) {
      throw SiloError.unknownReferrer(table: rule.owner, target: "\(V.self)")
    }
  }

  private func hasRows(
    _ version: any Persistable.Type, of owner: any Persistable.Type
  ) throws -> Bool {
    guard let store = try access(owner) as? any RetainingTransaction else { return false }
    return try store.hasRows(version)
  }

  private func isRelation<V: Persistable>(
    _ relation: any ValueRelation, toAnyVersionOf type: V.Type
  ) -> Bool {
    func newest<R: ValueRelation>(_ relation: R) -> any Persistable.Type { R.Target._newest }
    return newest(relation) == V._newest
  }

  private func isRelation<V: Persistable>(_ relation: any ValueRelation, to type: V.Type) -> Bool {
    func target<R: ValueRelation>(_ relation: R) -> Bool { R.Target.self == V.self }
    return target(relation)
  }

  /// Records the rules of types, once for each store and process.
  func recordRules(of types: [any Persistable.Type]) throws {
    for type in types { try recordRules(of: type) }
  }

  private func recordRules<V: Persistable>(of type: V.Type) throws {
    if !silos.hasUnrecordedRules(type) { return }
    let store = try access(StoredRule.self)
    let rules = V.rules
    let known = Set(try store.load(StoredRule.self, rules.map { $0.id }).map { $0.id })
    try store.save(rules.filter { !known.contains($0.id) })
    afterCommit { $0[type].state.hasRecordedRules = true }
  }
}

extension Persistable {
  fileprivate static var _retained: [RetainedVersions.Version] { RetainedVersions.of(self).older }
}

extension Silos {
  /// Whether a type has rules that this process has not recorded in its store.
  func hasUnrecordedRules<V: Persistable>(_ type: V.Type) -> Bool {
    !V._relations.isEmpty && !self[type].state.hasRecordedRules && !V.rules.isEmpty
  }
}
