// MemoryWorkspace: a workspace whose objects are in memory only.

@_exported public import Dflat
public import Dispatch

/// A workspace whose objects are in memory and gone with it, for tests, previews, and places without a file system.
///
///     let dflat = MemoryWorkspace()
///     try await dflat.write(Post.self) { try $0.insert(Post(title: "first")) }
///
/// It keeps all promises of a workspace: transactions, snapshots, observation, keys and unique values, dictionaries, migrations
/// between types. It has no file, no second process and no thread of its own, and its indexes are always complete. What it holds is
/// bounded by memory. For tests of what happens with a file, use `SQLiteWorkspace(inMemory:)`.
public final class MemoryWorkspace: Workspace {
  /// Whether transactions of different types may run at the same time.
  public enum WriteConcurrency: Sendable {
    /// They may.
    case concurrent
    /// They run one after another.
    case serial
  }

  /// What all engines' workspaces share, for Dflat; the calls of `Workspace` go to its core.
  public let _lifetime: WorkspaceLifetime

  /// A workspace without objects.
  ///
  /// - Parameters:
  ///   - writeConcurrency: Whether transactions of different types may run at the same time.
  ///   - targetQueue: Where changes handlers and completion handlers run. The workspace has queues of its own if there is none.
  ///   - onError: See `Workspace.errorHandler`.
  public convenience init(
    writeConcurrency: WriteConcurrency = .concurrent, targetQueue: DispatchQueue? = nil,
    onError: (@Sendable (any Error) -> Void)? = nil
  ) {
    self.init(
      MemoryEngine(), isSerial: writeConcurrency == .serial, targetQueue: targetQueue,
      onError: onError)
  }

  /// A workspace over an engine that can do less than it could. For tests.
  package convenience init(
    capabilities: EngineCapabilities, targetQueue: DispatchQueue? = nil
  ) {
    self.init(
      MemoryEngine(capabilities: capabilities), isSerial: false, targetQueue: targetQueue,
      onError: nil)
  }

  private init(
    _ engine: MemoryEngine, isSerial: Bool, targetQueue: DispatchQueue?,
    onError: (@Sendable (any Error) -> Void)?
  ) {
    let core = WorkspaceCore(engine: engine, isSerial: isSerial, targetQueue: targetQueue)
    core.onError = onError
    engine.connect(core.reporter)
    _lifetime = WorkspaceLifetime(core)
  }
}
