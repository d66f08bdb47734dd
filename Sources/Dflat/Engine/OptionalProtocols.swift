// What only some engines do. The workspace asks once, when it is made.

/// An engine whose data other connections can change: other workspaces, processes and programs.
public protocol SharedStorageEngine: StorageEngine {
  /// The token that was current when it was last asked for. It may be out of date, and costs nothing.
  var lastKnownToken: CommitToken { get }
  /// The token that is current at a moment of the call; nil if it cannot be known, as while a transaction of this engine begins or
  /// ends.
  func currentToken() throws -> CommitToken?
}

/// An engine that has to do something between transactions, such as checkpointing a log.
public protocol MaintainedStorageEngine: StorageEngine {
  /// Whether maintenance should be done before another snapshot is opened, which could be in its way. Cheap.
  var needsMaintenance: Bool { get }
  /// Does it. Called while no write transaction of this engine is open.
  func performMaintenance()
}

/// An engine whose indexes can be missing or incomplete, and are filled step by step.
public protocol IndexBuildingStorageEngine: StorageEngine {
  /// Sets what is called when a query has mentioned an index that is not complete; nil for nothing.
  func setIndexRequestHandler(_ handler: (@Sendable (EntitySchema) -> Void)?)
}

/// A write transaction of an engine that fills indexes step by step.
public protocol IndexBuildingStorageWriter: StorageWriter {
  /// Fills missing rows of indexes, in ascending order of ids, and repairs what other programs have left wrong in them.
  ///
  /// - Parameters:
  ///   - schema: The type whose indexes are filled.
  ///   - limit: How many rows are filled at most, over all its indexes.
  func fillIndexes(of schema: EntitySchema, limit: Int) throws -> IndexProgress
}
