// ValueStore: where a silo keeps its values.
//
// Stores are interchangeable: the same calls give the same answers. A store belongs to a domain,
// the set of stores that one transaction can change together.

/// Keeps the values of one type.
///
/// Programs use a ``Silo``, which has a store; they make stores and pass them on. See
/// ``WorkspaceValueStore`` and ``MemoryValueStore``.
public protocol ValueStore<Value>: Sendable {
  /// The type of the values.
  associatedtype Value: Persistable
  /// The stores that one transaction can change together with this one.
  var domain: any StoreDomain { get }

  /// The values with some ids, in the order of the ids. Ids without a value are left out.
  /// - Throws: `UnreadableValue`; the errors of the storage.
  func load(_ ids: [Value.ID]) async throws -> [Value]
  /// The value with an id; nil if it is not stored. By default as for several ids.
  /// - Throws: `UnreadableValue`; the errors of the storage.
  func load(_ id: Value.ID) async throws -> Value?
  /// The values of a query.
  /// - Throws: `UnreadableValue`; the errors of the storage.
  func values(_ query: ValueQuery<Value>) async throws -> [Value]
  /// How many values a query has.
  /// - Throws: The errors of the storage.
  func count(_ query: ValueQuery<Value>) async throws -> Int
  /// The changes of a query's values, beginning at their present state.
  func changes(_ query: ValueQuery<Value>) -> ValueChanges<Value>
  /// Calls a handler with the ids of values that have changed, before the call that changed them
  /// returns; for stores around stores.
  ///
  /// - Parameter handler: Gets the ids; nil if any value may have changed, as when the subscription
  ///   begins.
  func subscribe(
    changedIDs handler: @escaping @Sendable ([Value.ID]?) -> Void
  ) -> ValueSubscription
  /// Migrates all values of retained versions.
  /// - Parameter step: How many values one transaction migrates at most.
  /// - Throws: `ValueMigrationError`; the errors of the storage.
  func migrate(step: Int) async throws
}

extension ValueStore {
  /// The value with an id; nil if it is not stored.
  public func load(_ id: Value.ID) async throws -> Value? { try await load([id]).first }
}

/// Stores that one transaction can change together.
public protocol StoreDomain: AnyObject, Sendable {
  /// A store of this domain, for what silos themselves keep.
  func store<V: Persistable>(of type: V.Type) -> any ValueStore<V>
  /// Whether others, such as processes, may change the stored values without these stores being
  /// told; true by default.
  var isShared: Bool { get }
  /// Runs a transaction over the values of some types: all of its changes are kept, or none.
  ///
  /// `body` may run several times and should have no other effects.
  /// - Parameters:
  ///   - types: The types whose values `body` reads or changes.
  ///   - body: The transaction.
  /// - Returns: The result of `body`, when its changes are kept.
  /// - Throws: The errors of `body`; the errors of the storage.
  func write<R: Sendable>(
    _ types: [any Persistable.Type],
    _ body: @escaping @Sendable (any StoreTransaction) throws -> R
  ) async throws -> R
}

extension StoreDomain {
  /// True.
  public var isShared: Bool { true }
}

/// Reads and changes values inside a transaction. It sees its own changes.
public protocol StoreTransaction: AnyObject {
  /// Saves values: each replaces the stored value with its id. Of several values with one id the
  /// last one counts.
  func save<V: Persistable>(_ values: [V]) throws
  /// Removes values.
  /// - Returns: How many there were.
  func remove<V: Persistable>(_ type: V.Type, _ ids: [V.ID]) throws -> Int
  /// The values with some ids, in the order of the ids. Ids without a value are left out.
  func load<V: Persistable>(_ type: V.Type, _ ids: [V.ID]) throws -> [V]
  /// The values of a query.
  func values<V: Persistable>(_ query: ValueQuery<V>) throws -> [V]
  /// How many values a query has.
  func count<V: Persistable>(_ query: ValueQuery<V>) throws -> Int
}
