// SiloStore: silos as a store. Two of the spaces are behind caches, which are too small.

public import Dflat
import DflatTestSupport
import Platform
public import SQLiteDflat
import Silo

/// Silos in one workspace, with a type for each space.
public final class SiloStore: TransactionalStore {
  private let silos: Silos
  private let dflat: any Workspace
  private let isShared: Bool
  private let errors = Mutex<[any Error]>([])
  private let tasks = TaskQueue()

  /// A store over a workspace, whose errors are recorded from now on.
  /// - Parameters:
  ///   - dflat: The workspace.
  ///   - isShared: Whether other workspaces or processes write to its data: transactions may then
  ///     be refused because of conflicts.
  public init(_ dflat: any Workspace, isShared: Bool = false) {
    self.dflat = dflat
    self.isShared = isShared
    silos = Silos(
      CachedValueStore(of: WorkspaceValueStore<SiloRed>(dflat), limit: 4),
      WorkspaceValueStore<SiloGreen>(dflat),
      CachedValueStore(of: WorkspaceValueStore<SiloBlue>(dflat), limit: 4),
      WorkspaceValueStore<SiloWhite>(dflat), WorkspaceValueStore<SiloFamily>(dflat))
    dflat.errorHandler = { [weak self] error in self?.errors.withLock { $0.append(error) } }
  }

  /// A store over a workspace on a file.
  public convenience init(
    path: String, isShared: Bool,
    concurrency: SQLiteWorkspace.WriteConcurrency = .concurrent
  ) {
    let dflat = SQLiteWorkspace(
      filePath: path, fileProtectionLevel: .noProtection, writeConcurrency: concurrency)
    self.init(dflat, isShared: isShared)
  }

  /// One for each type.
  public var spaces: Int { siloTypes.count - 1 }

  /// Runs a transaction over the silos of the spaces, and returns when it has ended: concurrency
  /// comes from other clients.
  public func transact(
    _ spaces: [Int], _ body: @escaping @Sendable (any StoreAccess) throws -> Void,
    _ completion: @escaping @Sendable (Bool) -> Void
  ) {
    var types: [any SiloCell.Type] = []
    for space in spaces where !types.contains(where: { $0 == siloTypes[space] }) {
      types.append(siloTypes[space])
    }
    let result = Result {
      try waitForTask(on: tasks) { [silos, types] in
        try await silos.write(types) { try body(Access(txn: $0)) }
      }
    }
    if case .failure(let error) = result, !(error is WantsAbort) {
      errors.withLock { $0.append(error) }
    }
    completion((try? result.get()) != nil)
  }

  /// Runs the body in a transaction over all silos, which is their way to see one state.
  public func snapshot(_ body: (any StoreReader) throws -> Void) throws {
    try withoutActuallyEscaping(body) { body in
      // This thread waits while another one runs it, and lets go of it before it returns.
      nonisolated(unsafe) let work = SnapshotWork(body)
      defer { work.body = nil }
      try untilNotRefused {
        try waitForTask(on: tasks) { [silos] in
          try await silos.write(siloTypes) { try work.body?(Access(txn: $0)) }
        }
      }
    }
  }

  /// Loads a value by its id, from memory if it is cached.
  public func lookUp(_ key: Key) -> CellValue? {
    func load<C: SiloCell>(_ type: C.Type) throws -> CellValue? {
      try waitForTask(on: tasks) { [silos] in try await silos[type].load(key.number)?.values }
    }
    do { return try untilNotRefused { try load(siloTypes[key.space]) } } catch {
      errors.withLock { $0.append(error) }
      return nil
    }
  }

  /// Reads again while another connection is in the way, as programs that share data do.
  private func untilNotRefused<R>(_ body: () throws -> R) throws -> R {
    while true {
      do { return try body() } catch let error as StorageError where isShared && error.isRefusal {}
    }
  }

  private final class SnapshotWork {
    var body: ((any StoreReader) throws -> Void)?
    init(_ body: @escaping (any StoreReader) throws -> Void) { self.body = body }
  }

  /// The errors that the workspace reported since the last call, except conflicts with other
  /// connections where those are possible.
  public func takeErrors() -> [String] {
    errors.withLock { errors in
      defer { errors = [] }
      return errors.filter { !isShared || ($0 as? StorageError)?.isRefusal != true }
        .map { "\($0)" }
    }
  }

  /// Shuts the workspace down.
  public func close() { dflat.shutdown() }

  private struct Access: StoreAccess {
    let txn: SilosTransaction

    func read(_ key: Key) throws -> CellValue? { try load(key, siloTypes[key.space]) }

    private func load<C: SiloCell>(_ key: Key, _ type: C.Type) throws -> CellValue? {
      try txn[type].load(key.number)?.values
    }

    func read(group: Int64, in space: Int) throws -> [Key: CellValue] {
      func values<C: SiloCell>(_ type: C.Type) throws -> [Key: CellValue] {
        Dictionary(
          uniqueKeysWithValues: try txn[type].values(where: type.isIn(group: group)).map {
            (Key(space, $0.id), $0.values)
          })
      }
      return try values(siloTypes[space])
    }

    func read(family: Int64) throws -> CellValue {
      FamilyState(after: try read(log(family)) ?? [], of: family).encoded
    }

    func write(_ key: Key, _ value: CellValue) throws {
      func save<C: SiloCell>(_ type: C.Type) throws { try txn[type].save(C(key, value)) }
      try save(siloTypes[key.space])
    }

    func append(_ key: Key, _ number: Int64) throws {
      try write(key, (try read(key) ?? []) + [number])
    }

    func change(family: Int64, _ number: Int64) throws { try append(log(family), number) }

    private func log(_ family: Int64) -> Key { Key(siloTypes.count - 1, family) }
  }
}
