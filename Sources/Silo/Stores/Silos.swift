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
  }

  private let state = Mutex(State())
  /// Where types without a store of their own are kept; nil if every type needs one.
  private let workspace: (any Workspace)?

  /// Silos in a workspace.
  public init(in workspace: any Workspace) {
    self.workspace = workspace
  }

  /// Silos that are all kept alike.
  public convenience init(_ kind: Kind) {
    switch kind {
    case .memory: self.init(in: MemoryWorkspace())
    }
  }

  /// Silos with a store for each type. Only these types can be used.
  ///
  /// Uploads are enqueued beside the values of the first one.
  public init(_ stores: any ValueStore...) {
    workspace = nil
    for store in stores { add(store) }
    if let domain = stores.first?.domain { add(domain.store(of: StoredUpload.self)) }
  }

  private func add<Store: ValueStore>(_ store: Store) {
    let silo = SiloState<Store.Value>(store)
    state.withLock { state in
      state.silos[ObjectIdentifier(Store.Value.self)] = silo
      state.types.append(Store.Value.self)
    }
  }

  /// The silo of a type. A type without a store is a programmer error.
  public subscript<Value: Persistable>(type: Value.Type) -> Silo<Value> {
    state.withLock { state in
      let id = ObjectIdentifier(type)
      if let silo = state.silos[id] as? SiloState<Value> { return Silo(silo, of: self) }
      guard let workspace else {
        preconditionFailure(
          "there is no store for \(type); pass one to Silos(_:), or use Silos(in:)")
      }
      let silo = SiloState<Value>(WorkspaceValueStore<Value>(workspace))
      state.silos[id] = silo
      state.types.append(type)
      return Silo(silo, of: self)
    }
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
    let known = types
    let domains = known.map { domain(of: $0) }
    guard let domain = domains.first, domains.allSatisfy({ $0 === domain }) else {
      return try await write(in: nil, [], body)
    }
    return try await write(in: domain, known, body)
  }

  func write<R: Sendable>(
    in domain: (any StoreDomain)?, _ types: [any Persistable.Type],
    _ body: @escaping @Sendable (SilosTransaction) throws -> R
  ) async throws -> R {
    var domain = domain
    var types = types
    while true {
      do {
        if let domain {
          let declared = types
          return try await domain.write(declared) { [self] transaction in
            try run(body, SilosTransaction(self, transaction, declared))
          }
        }
        return try run(body, SilosTransaction(self, nil, []))
      } catch let missing as UndeclaredTypes {
        for type in missing.types {
          let other = self.domain(of: type)
          if let domain, domain !== other {
            throw SiloError.separateStores("\(types.first ?? type)", "\(type)")
          }
          domain = other
          types.append(type)
        }
      }
    }
  }

  private func run<R>(
    _ body: (SilosTransaction) throws -> R, _ transaction: SilosTransaction
  ) throws -> R {
    defer { transaction.end() }
    let result = Result { try body(transaction) }
    // What `body` did about the errors does not matter: it runs again.
    if let missing = transaction.undeclared { throw missing }
    return try result.get()
  }

  private func domain<V: Persistable>(of type: V.Type) -> any StoreDomain {
    self[type].store.domain
  }
}

/// The state of a silo of any type.
protocol AnySiloState: AnyObject, Sendable {}

/// What all copies of a silo share.
final class SiloState<Value: Persistable>: AnySiloState {
  let store: any ValueStore<Value>
  let resolving = ResolverState<Value>()

  init(_ store: any ValueStore<Value>) {
    self.store = store
  }
}

/// The types that a transaction uses and that were not known before.
struct UndeclaredTypes: Error {
  let types: [any Persistable.Type]
}
