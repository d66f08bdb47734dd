// WorkspaceStore: a workspace as a store.

public import Dflat
import DflatTestSupport
public import Dispatch
public import SQLiteDflat
import Platform

/// A workspace, with a type for each space.
public final class WorkspaceStore: TransactionalStore {
  /// The workspace.
  public let dflat: any Workspace
  private let errors = Mutex<[StorageError]>([])
  /// The threads on which a read was refused, which the caller repeats.
  private let refusedReads = Mutex<Set<ThreadIdentity>>([])
  private let isShared: Bool
  /// The spaces that are not kept in objects.
  let spacesInDictionary: Set<Int>
  /// How often a `write` runs its body at most.
  let attempts: Int
  private let calls = Atomic(0)
  private let tasks = TaskQueue()

  /// A store over a workspace.
  ///
  /// - Parameters:
  ///   - dflat: The workspace, whose errors are recorded from now on.
  ///   - isShared: Whether other workspaces or processes write to its data: transactions may then
  ///     be refused because of conflicts.
  ///   - spacesInDictionary: Spaces whose keys are values in the workspace's dictionary.
  ///   - attempts: How often a `write` runs its body at most. If this is more than a `write` does
  ///     by itself, a conflict is an error there.
  public init(
    _ dflat: any Workspace, isShared: Bool, spacesInDictionary: Set<Int> = [], attempts: Int = 8
  ) {
    self.dflat = dflat
    self.isShared = isShared
    self.spacesInDictionary = spacesInDictionary
    self.attempts = attempts
    dflat.errorHandler = { [weak self] error in
      let error =
        error as? StorageError ?? StorageError(.other, message: "no storage error: \(error)")
      self?.errors.withLock { $0.append(error) }
      if error.isRefusal {
        _ = self?.refusedReads.withLock { $0.insert(ThreadIdentity.current) }
      }
    }
  }

  /// Opens a workspace on a file.
  ///
  /// - Parameters:
  ///   - path: The file.
  ///   - isShared: Whether other workspaces or processes write to the file: transactions may then
  ///     be refused because of conflicts.
  ///   - synchronous: What a commit survives.
  ///   - concurrency: Whether transactions over different spaces may run at the same time.
  ///   - targetQueue: Where handlers run.
  public convenience init(
    path: String, isShared: Bool, synchronous: SQLiteWorkspace.Synchronous = .normal,
    concurrency: SQLiteWorkspace.WriteConcurrency = .concurrent, targetQueue: DispatchQueue? = nil
  ) {
    let dflat = SQLiteWorkspace(
      filePath: path, fileProtectionLevel: .noProtection, synchronous: synchronous,
      writeConcurrency: concurrency, targetQueue: targetQueue)
    self.init(dflat, isShared: isShared)
  }

  /// One for each type.
  public var spaces: Int { cellTypes.count }

  /// Runs a transaction in one of the ways that programs use; an error of the body rolls it back.
  ///
  /// The synchronous and the awaited way return when it has ended: concurrency then comes from
  /// other clients.
  public func transact(
    _ spaces: [Int], _ body: @escaping @Sendable (any StoreAccess) throws -> Void,
    _ completion: @escaping @Sendable (Bool) -> Void
  ) {
    let call = calls.add(1, ordering: .relaxed).newValue
    // Programs change objects that they have fetched before, or create requests for objects that
    // they have never seen.
    let known =
      call % 2 == 0
      ? spaces.filter { $0 < self.spaces }.map { ($0, cellTypes[$0].known(dflat)) } : []
    let run: @Sendable (CellContext) throws -> Void = { [self] txn in
      try body(Access(store: self, txn: txn, known: known))
    }
    switch call % 8 {
    case 0, 3: end(Result { try write(spaces) { try run(.write($0)) } }, completion)
    case 1, 6:
      let done = DispatchSemaphore(value: 0)
      Task(executorPreference: tasks) { [self] in
        do {
          try await write(spaces) { try run(.write($0)) }
          end(.success(()), completion)
        } catch {
          end(.failure(error), completion)
        }
        done.signal()
      }
      // If it never ends, the client detects that.
      _ = done.wait(timeout: .now() + 60)
    default:
      dflat.performChanges(
        spaces.flatMap { $0 < cellTypes.count ? [cellTypes[$0]] : familyTypes },
        changesHandler: { txn in
          do { try run(.queued(txn)) } catch { txn.abort() }
        }, completionHandler: completion)
    }
  }

  /// Reports how a `write` has ended. Storage errors are thrown there; the other ways report them
  /// to the hook.
  private func end(_ result: Result<Void, any Error>, _ completion: (Bool) -> Void) {
    if case .failure(let error as StorageError) = result {
      let isGivenUp = error.isRefusal && attempts > 8
      errors.withLock {
        $0.append(
          isGivenUp
            ? StorageError(.other, message: "not committed in \(attempts) attempts: \(error)")
            : error)
      }
    }
    completion((try? result.get()) != nil)
  }

  /// Runs the body in a snapshot of the workspace; in a transaction if some of the values are in
  /// the dictionary, which answers from memory otherwise.
  public func snapshot(_ body: (any StoreReader) throws -> Void) throws {
    if !spacesInDictionary.isEmpty {
      return try write(Array(0..<spaces)) { txn in
        try body(Access(store: self, txn: .write(txn), known: []))
      }
    }
    try untilNotRefused {
      dflat.fetchWithinASnapshot { Result { try body(Reader(dflat: dflat)) } }
    }.get()
  }

  /// Fetches by key, outside any transaction or snapshot.
  public func lookUp(_ key: Key) -> CellValue? {
    if spacesInDictionary.contains(key.space) {
      var value: CellValue?
      do {
        try write([key.space]) { value = CellContext.write($0).value(of: key) }
      } catch {
        errors.withLock {
          $0.append(StorageError(.other, message: "a look-up has failed: \(error)"))
        }
      }
      return value
    }
    return untilNotRefused { Reader(dflat: dflat).read(key) }
  }

  /// Reads again while the workspace reports that it could not read, as programs that share data
  /// do.
  private func untilNotRefused<R>(_ body: () -> R) -> R {
    while true {
      refusedReads.withLock { _ = $0.remove(ThreadIdentity.current) }
      let result = body()
      if !isShared { return result }
      if refusedReads.withLock({ $0.remove(ThreadIdentity.current) }) == nil { return result }
    }
  }

  /// The errors that the workspace reported, except conflicts with other connections where those
  /// are possible.
  public func takeErrors() -> [String] {
    takeStorageErrors().filter { !isShared || !$0.isRefusal }.map { "\($0)" }
  }

  /// All errors that the workspace reported since the last call.
  public func takeStorageErrors() -> [StorageError] {
    errors.withLock { errors in
      defer { errors.removeAll() }
      return errors
    }
  }

  /// Shuts the workspace down.
  public func close() { dflat.shutdown() }

  private struct Reader: StoreReader {
    let dflat: any Workspace

    func read(_ key: Key) -> CellValue? { cellTypes[key.space].fetch(key.number, dflat) }

    func read(group: Int64, in space: Int) -> [Key: CellValue] {
      Dictionary(
        uniqueKeysWithValues: cellTypes[space].fetch(group: group, dflat).map {
          (Key(space, $0.0), $0.1)
        })
    }

    func read(family: Int64) -> CellValue { FamilyState(of: family, in: dflat).encoded }
  }

  private struct Access: StoreAccess {
    let store: WorkspaceStore
    let txn: CellContext
    /// Objects as they were before the transaction was called, by space.
    let known: [(space: Int, objects: [Int64: any Cell])]
    private var dflat: any Workspace { store.dflat }
    private var reader: Reader { Reader(dflat: dflat) }

    private func isInDictionary(_ space: Int) -> Bool { store.spacesInDictionary.contains(space) }

    func read(_ key: Key) -> CellValue? {
      isInDictionary(key.space) ? txn.value(of: key) : reader.read(key)
    }

    func read(group: Int64, in space: Int) -> [Key: CellValue] {
      if !isInDictionary(space) { return reader.read(group: group, in: space) }
      return Key.keys(of: group, in: space).reduce(into: [:]) { $0[$1] = txn.value(of: $1) }
    }

    func write(_ key: Key, _ value: CellValue) throws {
      if isInDictionary(key.space) { return txn.set(value, of: key) }
      try cellTypes[key.space].write(key, value, txn)
    }

    func append(_ key: Key, _ number: Int64) throws {
      if isInDictionary(key.space) {
        return txn.set((txn.value(of: key) ?? []) + [number], of: key)
      }
      let objects = known.first { $0.space == key.space }?.objects ?? [:]
      try cellTypes[key.space].append(key, number, objects, txn)
    }

    func read(family: Int64) -> CellValue { reader.read(family: family) }

    func change(family: Int64, _ number: Int64) throws {
      try txn.change(family: family, number, dflat)
    }
  }
}

extension StorageError {
  /// Whether another connection was the reason, or the loss of one: the same may succeed later.
  var isRefusal: Bool { cause == .busy || cause == .conflict }
}

extension CellContext {
  private var dictionary: any WorkspaceDictionary {
    switch self {
    case .queued(let txn): txn.dictionary(namespace: "cells")
    case .write(let txn): txn.dictionary(namespace: "cells")
    }
  }

  /// The value of a key that is in the dictionary.
  fileprivate func value(of key: Key) -> CellValue? { dictionary["\(key)", CellValue.self] }

  /// Sets the value of a key that is in the dictionary.
  fileprivate func set(_ value: CellValue, of key: Key) {
    var dictionary = dictionary
    dictionary["\(key)", CellValue.self] = value
  }
}
