// EmpireValueStore: values in LMDB.

import Dflat
public import Empire
public import Silo

/// Keeps values in an Empire store: sorted keys in LMDB.
///
///     let store = Store(database: try LockingDatabase(path: directory))
///     let silos = Silos(EmpireValueStore<Task>(store), EmpireValueStore<User>(store))
///
/// Its answers are those of any other store. Values are found by what a condition says about ids,
/// relations, and properties that are `@Indexed` or `@Unique`: values, ranges and prefixes. Without
/// an order, a limited query reads the first values only. Other conditions, and orders, read all
/// values of the type. When a property becomes `@Indexed` after values were stored, the next
/// transaction that changes values of the type makes its entries.
///
/// Several processes may share a directory if each opens it with a `LockingDatabase`. Without its
/// lock file, as `Store(path:)` opens it, committed transactions would be lost. Changes by other
/// processes are seen by every call, and are not reported to observers.
public struct EmpireValueStore<Value: Persistable>: ValueStore {
  private let empire: EmpireDomain

  /// The stores in the same Empire store.
  public var domain: any StoreDomain { empire }

  /// A store in an Empire store. Several value stores in one can be changed in one transaction.
  /// - Parameters:
  ///   - store: The Empire store.
  ///   - errorHandler: Called on any thread with errors that no call throws, such as those of
  ///     values that cannot be migrated and are left out, unless the silos have an error handler.
  ///     The last one that is set holds for all value stores in the Empire store.
  public init(_ store: Store, errorHandler: (@Sendable (any Error) -> Void)? = nil) {
    empire = EmpireDomain.domain(of: store)
    empire.order.add(Value.self)
    if let errorHandler { empire.setErrorHandler(errorHandler) }
  }

  /// The values with some ids, in the order of the ids.
  public func load(_ ids: [Value.ID]) async throws -> [Value] {
    try await empire.read([Value.self]) { try $0.load(Value.self, ids) }
  }

  /// The values of a query.
  public func values(_ query: ValueQuery<Value>) async throws -> [Value] {
    try await empire.read([Value.self]) { try $0.values(query) }
  }

  /// How many values a query has.
  public func count(_ query: ValueQuery<Value>) async throws -> Int {
    try await empire.read([Value.self]) { try $0.count(query) }
  }

  /// The changes of a query's values, beginning at their present state. Records that cannot be read
  /// are left out.
  public func changes(_ query: ValueQuery<Value>) -> ValueChanges<Value> {
    EmpireChanges(query, in: empire).begin()
  }

  /// Calls a handler with the ids of values that have changed; with nil if silos have changed some
  /// through another `Store` of the same directory. Changes by other processes are not noticed.
  public func subscribe(
    changedIDs handler: @escaping @Sendable ([Value.ID]?) -> Void
  ) -> ValueSubscription { empire.subscribe(Value.self, handler) }

  /// Migrates all values of retained versions.
  public func migrate(step: Int) async throws {
    try await empire.prepare(Value.self, step: step)
    // Another process may have moved the table on since the first use.
    try await empire.read([Value.self]) { _ in }
    // Those that could not be migrated are tried again.
    if let failure = try await empire.migrate(to: Value.self, step).first { throw failure }
  }
}
