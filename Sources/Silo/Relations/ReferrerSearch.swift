// ReferrerSearch: the values that refer to others by one relation, for searches that go from value
// to value.
//
// They are found by queries, which an index answers. A chain would need a query for each of its
// values, and a query for very many ids reads all values anyway; so after a few queries the
// relations of the whole type are read once. Of a retained version, which has few values, they are
// read at once.

import Dflat

final class ReferrerSearch<Relation: ValueRelation> {
  typealias Pair = (owner: Relation.Owner.ID, target: Relation.Target.ID)

  private let relation: Relation
  private let owner: RelationOwner
  private var queries = 0
  /// By the ids that are referred to; nil as long as not all were read.
  private var all: [IDKey<Relation.Target.ID>: [Relation.Owner.ID]]?

  /// How many queries are made before everything is read.
  private static var queryLimit: Int { 8 }
  /// How many ids a query has at most, so that an index can answer it.
  private static var portion: Int { 250 }

  init(_ relation: Relation, of owner: RelationOwner) {
    self.relation = relation
    self.owner = owner
  }

  /// The values that refer to some others.
  /// - Parameter ids: Different ids.
  func referrers(
    to ids: [Relation.Target.ID], in store: any StoreTransaction
  ) throws -> [Pair] {
    let count = (ids.count + Self.portion - 1) / Self.portion
    if all == nil, owner.retained != nil || queries + count > Self.queryLimit {
      var read: [IDKey<Relation.Target.ID>: [Relation.Owner.ID]] = [:]
      try forEachPair(ValueQuery(), store) { read[IDKey($1), default: []].append($0) }
      all = read
    }
    if let all { return ids.flatMap { id in (all[IDKey(id)] ?? []).map { ($0, id) } } }
    var pairs: [Pair] = []
    for start in stride(from: 0, to: ids.count, by: Self.portion) {
      queries += 1
      let some = Array(ids[start..<min(start + Self.portion, ids.count)])
      let wanted = IDSet<Relation.Target>(some)
      try forEachPair(ValueQuery(where: relation._refers(to: some)), store) { owner, target in
        if wanted.contains(target) { pairs.append((owner, target)) }
      }
    }
    return pairs
  }

  private func forEachPair(
    _ query: ValueQuery<Relation.Owner>, _ store: any StoreTransaction,
    _ body: (Relation.Owner.ID, Relation.Target.ID) -> Void
  ) throws {
    for owner in try owners(query, store) {
      // A list may name one value several times.
      var seen = IDSet<Relation.Target>()
      for target in relation._ids(of: owner) where seen.insert(target) { body(owner.id, target) }
    }
  }

  private func owners(
    _ query: ValueQuery<Relation.Owner>, _ store: any StoreTransaction
  ) throws -> [Relation.Owner] {
    if owner.retained == nil { return try store.values(query) }
    guard let store = store as? any RetainingTransaction else { return [] }
    // Those that cannot be read as values are not known to refer to anything.
    return try store.rows(of: Relation.Owner.self, limit: nil).compactMap { try? $0.value() }
  }
}

/// The searches by all relations that one walk follows.
struct ReferrerSearches {
  private var searches: [String: AnyObject] = [:]

  /// The values that refer to some others by a relation, each once.
  mutating func referrers<R: ValueRelation>(
    by relation: R, of owner: RelationOwner, to ids: [R.Target.ID], in transaction: SilosTransaction
  ) throws -> [ReferrerSearch<R>.Pair] {
    let store = try transaction.access(owner.silo)
    let name = "\(R.Owner._canonical.entity.table).\(relation._name)"
    let search = searches[name] as? ReferrerSearch<R> ?? ReferrerSearch(relation, of: owner)
    searches[name] = search
    return try search.referrers(to: ids, in: store)
  }
}
