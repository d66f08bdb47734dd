// KeySet: the keys of the objects of a query, held in memory and kept current.

import Dispatch
import Platform

/// The primary keys of all objects of a type, or of those that a query gives, held in memory.
///
///     let known = try await dflat.keySet(of: dflat.query(Article.self))
///     let new = articlesFromServer.filter { !known.contains($0.id) }
///
/// A look-up takes no storage access. The set follows every transaction before the transaction's
/// completion handler is called, and before `write` returns; the set of a query across references
/// follows soon after. It is kept as long as it is referenced. Strings are compared by their bytes,
/// as keys are in the storage.
public final class KeySet<Element: Atom>: Sendable {
  private struct State {
    var keys: Set<CompositeKey<Element.ID>> = []
    var subscription: (any WorkspaceSubscription)?
  }

  private let state = Mutex(State())
  /// Set when the keys were read for the first time.
  private let loading = CommitOutcome()

  fileprivate init() {}

  /// Begins to follow a query.
  /// - Returns: Whether the workspace is open.
  fileprivate func follow(_ query: Query, in core: WorkspaceCore) -> Bool {
    let subscription = core.observe(rowsOf: query, keysOnly: true) { [weak self] event in
      self?.take(event)
    }
    state.withLock { $0.subscription = subscription }
    return subscription != nil
  }

  /// The number of keys.
  public var count: Int { state.withLock { $0.keys.count } }

  /// Whether there are no keys.
  public var isEmpty: Bool { count == 0 }

  /// Whether there is an object with a key.
  public func contains(_ key: Element.ID) -> Bool {
    state.withLock { $0.keys.contains(CompositeKey(key)) }
  }

  /// The keys of a list for which there is no object, each once, in the order of the list.
  public func missing(from keys: some Sequence<Element.ID>) -> [Element.ID] {
    let keys = Array(keys)
    let missing = state.withLock { state in
      keys.indices.filter { !state.keys.contains(CompositeKey(keys[$0])) }
    }
    return keys.distinct(at: missing, Element._schema.values(of: keys))
  }

  /// All keys, in no particular order.
  public var keys: [Element.ID] { state.withLock { $0.keys.map(\.parts) } }

  private func take(_ event: RowsObserver.Event) {
    func key(_ row: Row) -> CompositeKey<Element.ID> { CompositeKey(Element(_row: row).id) }
    if case .failed(let error) = event { return loading.notify(error) }
    state.withLock { state in
      switch event {
      case .all(let rows): state.keys = Set(rows.lazy.map(key))
      case .changed(let left, let entered):
        for row in left { state.keys.remove(key(row)) }
        for row in entered { state.keys.insert(key(row)) }
      case .failed: break
      }
    }
    loading.notify(nil)
  }

  /// Returns when the keys were read for the first time, and throws if they cannot be. Called once.
  fileprivate func load() async throws {
    await loading.wait()
    try loading.check()
  }
}

extension Workspace {
  /// The keys of the objects of a query, held in memory and kept current.
  ///
  /// It takes its position in the order of transactions during this call, and returns when the keys
  /// were read.
  /// - Parameter query: The objects; with `query(Article.self)` all of the type.
  /// - Throws: `StorageError` or `FunctionError` if the objects cannot be read;
  ///   `WorkspaceError.shutDown`; `QueryError` for a query of another workspace.
  public func keySet<Element: Atom>(of query: ObjectQuery<Element>) async throws -> KeySet<Element>
  {
    try query.requireUse(in: _core)
    let set = KeySet<Element>()
    guard set.follow(query.query, in: _core) else { throw WorkspaceError.shutDown }
    try await set.load()
    return set
  }
}
