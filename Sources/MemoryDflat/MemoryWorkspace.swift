// MemoryWorkspace: a workspace that keeps its objects in memory only.

@_exported public import Dflat
public import Dispatch

/// A workspace that keeps its objects in memory only, for tests, previews, and systems without a
/// file system.
///
///     let dflat = MemoryWorkspace()
///     try await dflat.write(Post.self) { try $0.insert(Post(title: "first")) }
///
/// It supports everything that a workspace does: transactions, snapshots, observation, keys and
/// unique values, dictionaries, migrations between types. It has no file, is not shared with other
/// processes, creates no thread of its own, and its indexes are always complete. All objects have
/// to fit into memory. To test behaviour that involves a file, use `SQLiteWorkspace(inMemory:)`.
public final class MemoryWorkspace: Workspace {
  /// Whether transactions of different types may run at the same time.
  public enum WriteConcurrency: Sendable {
    /// They may run at the same time.
    case concurrent
    /// They run one after another.
    case serial
  }

  /// For Dflat: what the workspaces of all engines share; the calls of `Workspace` go to its core.
  public let _lifetime: WorkspaceLifetime

  /// Creates an empty workspace.
  ///
  /// - Parameters:
  ///   - writeConcurrency: Whether transactions of different types may run at the same time.
  ///   - targetQueue: Where change handlers and completion handlers run. If nil, the workspace
  ///     creates queues of its own.
  ///   - onError: See `Workspace.errorHandler`.
  public convenience init(
    writeConcurrency: WriteConcurrency = .concurrent, targetQueue: DispatchQueue? = nil,
    onError: (@Sendable (any Error) -> Void)? = nil
  ) {
    self.init(
      capabilities: EngineCapabilities(), isSerial: writeConcurrency == .serial,
      targetQueue: targetQueue, onError: onError)
  }

  /// Creates a workspace over an engine with these capabilities. Tests reduce them.
  package init(
    capabilities: EngineCapabilities, isSerial: Bool = false, targetQueue: DispatchQueue? = nil,
    onError: (@Sendable (any Error) -> Void)? = nil
  ) {
    let engine = MemoryEngine(capabilities)
    let core = WorkspaceCore(engine: engine, isSerial: isSerial, targetQueue: targetQueue)
    core.onError = onError
    engine.connect(core.reporter)
    _lifetime = WorkspaceLifetime(core)
  }
}
