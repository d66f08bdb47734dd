// Moving a silo's values to another store while the program goes on.

import Dflat

extension Silo {
  /// Copies all values to another store and uses it from then on.
  ///
  /// No change is lost or doubled: saves that are called meanwhile wait until the values are copied,
  /// and then go to the new store. Readers go on. Observers are not told anything, since nothing
  /// changes. The old store keeps its values as they are.
  ///
  /// Silos that are changed in one transaction should be moved together, to stores that can be
  /// changed together: in between such a transaction is refused. Values that uploads waited for at
  /// the move stay managed until the uploads have been moved, too; see ``Silos/moveUploads(to:)``.
  ///
  /// - Parameter store: An empty store. It must not be changed by others meanwhile.
  /// - Throws: `SiloError.storeIsNotEmpty`; `UnreadableValue`; the errors of the storage. The silo
  ///   then goes on with its old store.
  public func move(to store: some ValueStore<Value>) async throws {
    await state.gate.enterAlone()
    defer { state.gate.leaveAlone() }
    guard try await store.count(ValueQuery()) == 0 else {
      throw SiloError.storeIsNotEmpty("\(Value.self)")
    }
    let values = try await self.store.values(ValueQuery())
    let copies = try await Value._companions.copies(from: self.store.domain)
    try await silos.noteWaiting(beforeMoveOf: Value.self)
    let rules = Value.rules
    let types: [any Persistable.Type] = rules.isEmpty ? [] : [StoredRule.self]
    try await store.domain.write([Value.self] + types) { transaction in
      try transaction.save(values)
      for copy in copies { try copy(transaction) }
      if !rules.isEmpty { try transaction.save(rules) }
    }
    state.exchange(for: store)
  }
}

extension Silos {
  /// Notes what uploads wait for, in the silos that a move takes apart from them.
  fileprivate func noteWaiting<V: Persistable>(beforeMoveOf type: V.Type) async throws {
    func isTogether<W: Persistable>(_ type: W.Type) -> Bool {
      canWriteTogether(type, StoredUpload.self)
    }
    let moved = type == StoredUpload.self ? types : [type]
    let states = moved.filter { !($0 is any Bookkeeping.Type) && isTogether($0) }
      .map { anyState(of: $0) }
    if states.isEmpty { return }
    let uploads = self[StoredUpload.self].store
    let holds = uploads.domain.store(of: StoredHold.self)
    let subjects =
      try await uploads.values(ValueQuery()).flatMap(\.subjects)
      + holds.values(ValueQuery()).flatMap(\.subjects)
    let waiting = Set(subjects.lazy.map(Subject.init))
    for state in states { state.waitingElsewhere = waiting }
  }

  private func anyState<V: Persistable>(of type: V.Type) -> any AnySiloState { self[type].state }
}

extension [any Persistable.Type] {
  /// Functions that save all values of these types.
  fileprivate func copies(
    from domain: any StoreDomain
  ) async throws -> [@Sendable (any StoreTransaction) throws -> Void] {
    func copy<V: Persistable>(
      _ type: V.Type
    ) async throws -> @Sendable (any StoreTransaction) throws -> Void {
      let values = try await domain.store(of: type).values(ValueQuery())
      return { if !values.isEmpty { try $0.save(values) } }
    }
    var copies: [@Sendable (any StoreTransaction) throws -> Void] = []
    for type in self { copies.append(try await copy(type)) }
    return copies
  }
}

extension Silos {
  /// Moves the uploads that wait, as ``Silo/move(to:)`` moves values.
  ///
  /// Move them together with the silos in whose transactions they are enqueued.
  /// - Parameter domain: Where the stores are that these silos are moved to.
  /// - Throws: The same errors as ``Silo/move(to:)``.
  public func moveUploads(to domain: any StoreDomain) async throws {
    try await self[StoredUpload.self].move(to: domain.store(of: StoredUpload.self))
  }
}
