// EmpireDomain: the values in one Empire store, and transactions over them.
//
// A transaction of the domain is one of LMDB, which has one writer at a time. Those that may wait
// for others run one after another on a thread of their own. Readers that never wait run beside
// them. A transaction that blocked a thread of a concurrent queue would stop the tasks of the
// program: they share these threads.

import Dflat
import Dispatch
import Empire
import Platform
import Silo

final class EmpireDomain: VersionedDomain {
  private struct Entry {
    weak var domain: EmpireDomain?
  }

  private static let known = Mutex<[ObjectIdentifier: Entry]>([:])

  /// The domain of a store: one for each, as long as a value store uses it.
  static func domain(of store: Store) -> EmpireDomain {
    known.withLock { known in
      if let domain = known[ObjectIdentifier(store)]?.domain { return domain }
      let domain = EmpireDomain(store)
      known = known.filter { $0.value.domain != nil }
      known[ObjectIdentifier(store)] = Entry(domain: domain)
      return domain
    }
  }

  let store: Store
  /// For transactions that may wait for others.
  private let waitingQueue = DispatchQueue(label: "EmpireSilo")
  private let readers = DispatchQueue(label: "EmpireSilo.readers", attributes: .concurrent)
  private let prepared = Mutex<Set<ObjectIdentifier>>([])
  private let subscribers = EmpireSubscribers()
  /// What tells the changes of this domain from those of others in the same directory.
  private let signature = UInt64.random(in: 0 ... .max)

  private init(_ store: Store) {
    self.store = store
  }

  private let errorHandler = Mutex<(@Sendable (any Error) -> Void)?>(nil)

  /// Sets the handler of errors that no call throws.
  func setErrorHandler(_ handler: @escaping @Sendable (any Error) -> Void) {
    errorHandler.withLock { $0 = handler }
  }

  let failures = MigrationFailures()

  func reportToStorage(_ error: any Error) { errorHandler.withLock { $0 }?(error) }

  /// Reports an error that no call throws: to the silos, or to the handler of the store.
  func report(_ error: any Error) {
    if !failures.deliver(error) { reportToStorage(error) }
  }

  func read<R: Sendable>(
    _ types: [any Persistable.Type],
    _ body: @escaping @Sendable (any RetainingTransaction) throws -> R
  ) async throws -> R {
    for type in types { try await prepare(type) }
    return try await run(readOnly: true) { transaction in
      for type in types { try transaction.requireVersion(of: type, isRecorded: false) }
      return try body(transaction)
    }
  }

  func store<V: Persistable>(of type: V.Type) -> any ValueStore<V> {
    EmpireValueStore<V>(store)
  }

  func write<R: Sendable>(
    _ types: [any Persistable.Type],
    _ body: @escaping @Sendable (any StoreTransaction) throws -> R
  ) async throws -> R {
    for type in types { try await prepare(type) }
    let (result, changes) = try await run(readOnly: false) { [signature] transaction in
      for type in types { try transaction.requireVersion(of: type) }
      let result = try body(transaction)
      if let failure = transaction.failure { throw failure }
      try transaction.sign(as: signature)
      return (result, transaction.changes)
    }
    subscribers.notify(changes)
    return result
  }

  /// Calls a handler with the ids of values of a type that have changed; with nil for changes
  /// through another `Store` of the directory, before the call that makes them returns.
  func subscribe<V: Persistable>(
    _ type: V.Type, _ handler: @escaping @Sendable ([V.ID]?) -> Void
  ) -> ValueSubscription {
    let own = subscribers.add(type) { handler($0 as? [V.ID]) }
    let last = SiloTableChange.query(table: Canonical<V>._schema.table)
    var others: StoreSubscription?
    do {
      others = try store.subscribe(to: last) { [signature] result in
        if (try? result.get())?.first?.domain != signature { handler(nil) }
      }
    } catch { report(error) }
    handler(nil)
    return ValueSubscription { [others] in
      others?.cancel()
      withExtendedLifetime(own) {}
    }
  }

  /// Runs a transaction of the store.
  func run<R: Sendable>(
    readOnly: Bool, _ body: @escaping @Sendable (EmpireTransaction) throws -> R
  ) async throws -> R {
    try Task.checkCancellation()
    let queue = readOnly && !store.readersWait ? readers : waitingQueue
    let result: Result<R, any Error> = await withCheckedContinuation { continuation in
      queue.async { [store] in
        continuation.resume(
          returning: Result { try Self.run(in: store, readOnly: readOnly, body) })
      }
    }
    return try result.get()
  }

  /// Runs a transaction on this thread.
  static func run<R: Sendable>(
    in store: Store, readOnly: Bool, _ body: (EmpireTransaction) throws -> R
  ) throws -> R {
    try store.withTransaction(readOnly: readOnly) { context in
      let transaction = EmpireTransaction(context)
      defer { transaction.end() }
      return try body(transaction)
    }
  }

  // MARK: Versions

  let order = MigrationOrder()

  func isPrepared<V: Persistable>(_ type: V.Type) -> Bool {
    prepared.withLock { $0.contains(ObjectIdentifier(type)) }
  }

  /// Prepares the first use of a type: refuses a newer version, and migrates retained ones.
  func prepare<V: Persistable>(
    _ type: V.Type, step: Int = 500, after types: [any Persistable.Type] = []
  ) async throws {
    if isPrepared(type) { return }
    for other in order.before(type) where !types.contains(where: { $0 == other }) {
      try await prepare(other, step: step, after: types + [type])
    }
    if !V.migrations.oldTypes.isEmpty {
      try await run(readOnly: false) { try $0.requireVersion(of: type, isRecorded: true) }
      _ = try await migrate(to: type, step)
    }
    _ = prepared.withLock { $0.insert(ObjectIdentifier(type)) }
  }

  /// Migrates the values of retained versions, in transactions of bounded size, and reports those
  /// that cannot be migrated.
  /// - Returns: Why values could not be migrated, which are left out.
  func migrate<V: Persistable>(to new: V.Type, _ step: Int) async throws -> [ValueMigrationError] {
    try await V.migrations.migrateStored(size: step, failures) {
      report($0)
    } write: { _, step in
      try await run(readOnly: false) { transaction in
        transaction.settlement = nil
        try transaction.requireVersion(of: new, isRecorded: false)
        return try step(transaction, transaction.version)
      }
    }
  }
}
