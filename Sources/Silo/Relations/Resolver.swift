// Resolvers: where values come from that are not stored, usually a server.

import Dflat

extension Silo {
  /// Gives the silo a resolver, which is asked for values that are not stored.
  ///
  ///     silos[User.self].resolve { ids in try await api.users(ids) }
  ///
  /// - Parameters:
  ///   - window: How long requests are gathered before they are sent as one batch.
  ///   - timeout: How long an answer may take.
  ///   - resolver: Gives the values with some ids. Those that it does not know it leaves out; a
  ///     value that was not asked for is an error, and then nothing of its answer is stored.
  public func resolve(
    window: Duration = .milliseconds(5), timeout: Duration = .seconds(60),
    with resolver: @escaping @Sendable (_ ids: [Value.ID]) async throws -> [Value]
  ) {
    state.resolving.settings = .init(resolver: resolver, window: window, timeout: timeout)
  }

  /// The ids that values in the used silos refer to and that are not stored.
  ///
  /// Only the types are searched that the program has used with these silos: use `silos[…]` with
  /// each type that refers to this one when the program starts. Ids that were deleted are not
  /// listed.
  ///
  /// - Returns: Each id once, in the order in which they were found.
  /// - Throws: `SiloError.unknownReferrer` if the store knows a type with rules for this one that
  ///   was not used; the errors of the storage.
  public func unresolvedIDs() async throws -> [Value.ID] {
    try await requireVersion()
    let known = Set(silos.types.map { $0._canonical.name })
    let rules = try await store.domain.store(of: StoredRule.self).values(
      ValueQuery(where: StoredRule.target == Value._canonical.name))
    if let rule = rules.first(where: { !known.contains($0.owner) }) {
      throw SiloError.unknownReferrer(table: rule.owner, target: "\(Value.self)")
    }
    var seen = IDSet<Value>()
    var found: [Value.ID] = []
    for type in silos.types {
      let ids = try await silos.referredIDs(of: type, to: Value.self)
      found += ids.filter { seen.insert($0) }
    }
    var missing: [Value.ID] = []
    // In parts, so that no query is too large.
    var rest = found[...]
    while !rest.isEmpty {
      let some = Array(rest.prefix(1000))
      rest = rest.dropFirst(1000)
      let stored = IDSet<Value>(try await store.load(some).lazy.map { $0.id })
      let rest = some.filter { !stored.contains($0) }
      let deleted = try await deleted(rest)
      missing += rest.filter { !deleted.contains($0) }
    }
    return missing
  }
}

extension Silos {
  /// The value of an item: the one that it has, the stored one, or that of the silo's resolver.
  ///
  ///     let owner = try await silos.resolve(task.owner)
  ///
  /// - Returns: The value. What came from the resolver is stored.
  /// - Throws: `SiloError.unknownID` if there is no such value, `SiloError.deleted` if it was
  ///   deleted, `SiloError.noResolver`, `SiloError.resolverTimedOut`; the errors of the resolver
  ///   and of the storage.
  public func resolve<V: Persistable>(_ item: RelatedItem<V>) async throws -> V {
    if let value = item.value { return value }
    let silo = self[V.self]
    if let value = try await silo.load(item.id) { return value }
    guard silo.state.resolving.settings != nil else { throw SiloError.noResolver("\(V.self)") }
    func requireNotDeleted() async throws {
      guard try await silo.isDeleted(item.id) else { return }
      throw SiloError.deleted(type: "\(V.self)", id: "\(item.id)")
    }
    try await requireNotDeleted()
    if let value = try await silo.state.resolving.request(item.id, for: silo) { return value }
    try await requireNotDeleted()
    throw SiloError.unknownID(type: "\(V.self)", id: "\(item.id)")
  }

  /// The ids that the relations of one type refer to in another.
  fileprivate func referredIDs<Owner: Persistable, V: Persistable>(
    of owner: Owner.Type, to type: V.Type
  ) async throws -> [V.ID] {
    var finder = RelatedFinder<V>()
    let schema = Owner._canonical.entity
    guard schema.references.contains(where: { $0.target == V._canonical.entity }) else { return [] }
    for value in try await self[owner].store.values(ValueQuery()) {
      value._visitRelated(&finder)
    }
    return finder.ids
  }
}

/// Gathers the ids of one type that values refer to.
private struct RelatedFinder<Target: Persistable>: RelatedVisitor {
  var ids: [Target.ID] = []

  mutating func visit<V: Persistable>(_ item: RelatedItem<V>) {
    if let item = item as? RelatedItem<Target> { ids.append(item.id) }
  }
}
