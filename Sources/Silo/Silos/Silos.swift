// Silos: the silos of a program, and transactions over several of them.

public import Dflat
import MemoryDflat
import Platform

/// The silos of a program, one for each type of value.
///
///     let silos = Silos(in: SQLiteWorkspace(filePath: path))
///     let tasks = silos[Task.self]
///
/// A program begins with `Silos(.memory)` and changes this line when it wants to keep its values.
public final class Silos: Sendable {
  /// Where values are kept, for all types alike.
  public enum Kind: Sendable {
    /// In memory; nothing is written.
    case memory
  }

  private struct State {
    var silos: [ObjectIdentifier: any AnySiloState] = [:]
    /// The types, in the order in which they were used first.
    var types: [any Persistable.Type] = []
    var errorHandler: (@Sendable (any Error) -> Void)?
    /// By the names of the queues.
    var uploads: [IDKey<String>: KnownUploads] = [:]
    /// The domains that a silo was moved away from while uploads waited there.
    var leftDomains: [any StoreDomain] = []
  }

  private let state = Mutex(State())
  /// Where types without a store of their own are kept; nil if every type needs one.
  private let workspace: (any Workspace)?
  /// The same, if it is memory of these silos.
  private let memory: MemoryWorkspace?
  let uploadIDs = UploadIDs()
  let clock = WallClock()

  /// Silos in a workspace.
  public init(in workspace: any Workspace) {
    self.workspace = workspace
    memory = nil
  }

  /// Silos that are all kept alike.
  public convenience init(_ kind: Kind) {
    switch kind {
    case .memory: self.init(memory: MemoryWorkspace())
    }
  }

  private init(memory: MemoryWorkspace) {
    workspace = memory
    self.memory = memory
  }

  /// Silos with a store for each type. Only these types can be used.
  ///
  /// Uploads are stored beside the values of their transactions; those of transactions without
  /// values beside the first store.
  public init(_ stores: any ValueStore...) {
    workspace = nil
    memory = nil
    for store in stores { add(store) }
    if let domain = stores.first?.domain { add(domain.store(of: StoredUpload.self)) }
  }

  private func add<Store: ValueStore>(_ store: Store) {
    follow(store.domain)
    let silo = SiloState<Store.Value>(store)
    state.withLock { state in
      Self.requireOwnTable(Store.Value.self, among: state.types)
      state.silos[ObjectIdentifier(Store.Value.self)] = silo
      state.types.append(Store.Value.self)
    }
  }

  /// The silo of a type. A type without a store is a programmer error.
  public subscript<Value: Persistable>(type: Value.Type) -> Silo<Value> {
    state.withLock { state in
      let id = ObjectIdentifier(type)
      if let silo = state.silos[id] as? SiloState<Value> { return Silo(silo, of: self) }
      Self.requireOwnTable(type, among: state.types)
      guard let workspace else {
        preconditionFailure(
          "there is no store for \(type); pass one to Silos(_:), or use Silos(in:)")
      }
      let isMemory = !(type is any Bookkeeping.Type)
      let store: any ValueStore<Value> =
        if let memory, isMemory {
          MemoryValueStore<Value>(in: memory)
        } else {
          WorkspaceValueStore<Value>(workspace)
        }
      let silo = SiloState<Value>(store)
      follow(store.domain)
      state.silos[id] = silo
      state.types.append(type)
      return Silo(silo, of: self)
    }
  }

  /// Two types in one table would read each other's values.
  private static func requireOwnTable<V: Persistable>(
    _ type: V.Type, among types: [any Persistable.Type]
  ) {
    if type is any Bookkeeping.Type { return }
    let table = V._canonical.entity.table
    guard let other = types.first(where: { $0 != type && $0._canonical.entity.table == table })
    else { return }
    preconditionFailure(
      "\(String(reflecting: type)) and \(String(reflecting: other)) are both stored in the table "
        + "'\(table)'; give one of them another with @Persistable(table:)")
  }

  /// Uses what the runs of upload queues share, by the names of the queues.
  func withUploads<R>(_ body: (inout [IDKey<String>: KnownUploads]) -> sending R) -> R {
    state.withLock { body(&$0.uploads) }
  }

  /// Called with the errors of what silos do by themselves, such as trimming, and with those of
  /// values that cannot be migrated, each once; see ``Silo/unmigrated``. It may be called on any
  /// thread. Without one, the error handler of the workspace or of the `EmpireValueStore` is
  /// called.
  public var errorHandler: (@Sendable (any Error) -> Void)? {
    get { state.withLock(\.errorHandler) }
    set { state.withLock { $0.errorHandler = newValue } }
  }

  /// Reports an error that cannot be thrown.
  func report(_ error: any Error, from domain: any StoreDomain) {
    if let errorHandler { return errorHandler(error) }
    (domain as? any VersionedDomain)?.reportToStorage(error)
  }

  /// Has the error handler called with what is found in a domain by itself.
  func follow(_ domain: any StoreDomain) {
    (domain as? any VersionedDomain)?.failures.add(self)
  }

  /// The types that were used until now, or have a store of their own.
  var types: [any Persistable.Type] { state.withLock(\.types) }

  /// Runs a transaction over several silos: all of its changes are kept, or none.
  ///
  ///     try await silos.write { txn in
  ///       try txn[Task.self].save(task)
  ///       try txn[User.self].save(user)
  ///     }
  ///
  /// Transactions that share a type run one after another. The types are found out while `body`
  /// runs: it may run several times, and should have no effects besides its changes. Observers are
  /// notified once, after the commit.
  ///
  /// - Parameter body: The transaction.
  /// - Returns: The result of `body`.
  /// - Throws: The errors of `body`, which undo everything; `SiloError.separateStores` if the silos
  ///   have stores that cannot be changed together; the errors of the storage.
  @discardableResult
  public func write<R: Sendable>(
    _ body: @escaping @Sendable (SilosTransaction) throws -> R
  ) async throws -> R {
    // Mostly all silos are in one domain, and the types of the program's transactions are known.
    // What is stored beside others tells no domain.
    let known = types
    let domains = known.ofValues.map { domain(of: $0) }
    guard let domain = domains.first, domains.allSatisfy({ $0 === domain }) else {
      return try await write([], body)
    }
    return try await write(
      known.ofValues + known.filter { $0 == StoredUpload.self }, body)
  }

  /// Runs a transaction that begins with some types, and again with those that it uses besides.
  package func write<R: Sendable>(
    _ types: [any Persistable.Type],
    _ body: @escaping @Sendable (SilosTransaction) throws -> R
  ) async throws -> R {
    var types = types
    while true {
      if !types.contains(where: { $0 == StoredRule.self }),
        types.contains(where: { hasUnrecordedRules($0) })
      {
        types.append(StoredRule.self)
      }
      do {
        if types.isEmpty {
          return try run(body, SilosTransaction(self, nil, [], CachedChanges())).result
        }
        return try await write(declared: types, body)
      } catch let missing as UndeclaredTypes {
        types += missing.types
      }
    }
  }

  /// Runs a transaction over types that are all known.
  private func write<R: Sendable>(
    declared types: [any Persistable.Type],
    _ body: @escaping @Sendable (SilosTransaction) throws -> R
  ) async throws -> R {
    // Bookkeeping goes where the values are. Uploads are moved by themselves, too.
    let own = types.ofValues.isEmpty ? types : types.ofValues
    let hasUploads = types.contains { $0 == StoredUpload.self }
    // In one order everywhere; see `WriteGate`.
    let gated = own.filter { $0 != StoredUpload.self } + (hasUploads ? [StoredUpload.self] : [])
    let gates = gated.map { gate(of: $0) }.sorted {
      ObjectIdentifier($0) < ObjectIdentifier($1)
    }
    for gate in gates { await gate.enter() }
    defer { for gate in gates { gate.leave() } }
    // Stores are not exchanged now.
    let domain = domain(of: own[0])
    if let other = own.first(where: { self.domain(of: $0) !== domain }) {
      throw SiloError.separateStores("\(own[0])", "\(other)")
    }
    if hasUploads {
      let domains = domains
      if domains.count > 1 { await uploadIDs.learn(domains) }
    }
    let all = types
    let cachedChanges = CachedChanges()
    defer { cachedChanges.end() }
    let outcome = try await domain.write(all) { [self] transaction in
      try run(body, SilosTransaction(self, transaction, all, cachedChanges))
    }
    for consequence in outcome.consequences { consequence(self) }
    return outcome.result
  }

  private func run<R>(
    _ body: (SilosTransaction) throws -> R, _ transaction: SilosTransaction
  ) throws -> TransactionOutcome<R> {
    defer { transaction.end() }
    let result = Result {
      TransactionOutcome(
        result: try body(transaction), consequences: try transaction.finish())
    }
    // What `body` did about the errors does not matter: it runs again.
    if let missing = transaction.undeclared { throw missing }
    return try result.get()
  }

  /// Where the values of all types are that are used or can be, and where uploads wait that silos
  /// have left behind.
  var domains: [any StoreDomain] {
    var domains: [any StoreDomain] = []
    let types = workspace == nil ? types : types + [StoredRule.self]
    let all = types.map { domain(of: $0) } + state.withLock(\.leftDomains)
    for domain in all where !domains.contains(where: { $0 === domain }) { domains.append(domain) }
    return domains
  }

  /// Goes on looking for uploads in a domain that a silo leaves.
  func addLeftDomain(_ domain: any StoreDomain) {
    state.withLock { state in
      if !state.leftDomains.contains(where: { $0 === domain }) { state.leftDomains.append(domain) }
    }
  }

  /// Forgets the domains that silos have left, once no upload waits there and no hold is left. Only
  /// silos that are stored there enqueue uploads, so none is added.
  /// - Throws: The errors of the storage.
  func forgetLeftDomains() async throws {
    for domain in state.withLock(\.leftDomains) {
      if try await domain.store(of: StoredUpload.self).count(ValueQuery()) > 0 { continue }
      if try await domain.store(of: StoredHold.self).count(ValueQuery()) > 0 { continue }
      state.withLock { $0.leftDomains.removeAll { $0 === domain } }
    }
  }

  private func domain<V: Persistable>(of type: V.Type) -> any StoreDomain {
    self[type].store.domain
  }

  /// Looks for uploads again: they, or what they are about, were moved.
  func wakeUploads() {
    for run in uploadRuns { run.noteChanges(nil) }
  }

  /// What the runs of each upload queue share.
  var uploadRuns: [UploadRuns] { state.withLock { $0.uploads.values.map(\.runs) } }

  private func gate<V: Persistable>(of type: V.Type) -> WriteGate { self[type].state.gate }
}

extension [any Persistable.Type] {
  /// Those whose values are the program's own.
  fileprivate var ofValues: [any Persistable.Type] { filter { !($0 is any Bookkeeping.Type) } }
}

/// What has come of a transaction's closure.
private struct TransactionOutcome<R> {
  let result: R
  /// What is to be done after the commit.
  let consequences: [@Sendable (Silos) -> Void]
}

extension TransactionOutcome: Sendable where R: Sendable {}

extension Silos: ErrorReceiver {}

/// What silos know of an upload queue.
struct KnownUploads {
  let runs: UploadRuns
  /// The first type that has the queue's name by itself.
  var type: Any.Type?
}
