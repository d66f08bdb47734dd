// Optional capabilities of engines. The workspace asks for them once, at its creation.
//
// The witnesses below answer, instead of a cast: at the first cast to a protocol, the runtime goes
// through all conformances of the process, and that would be in front of the program's first query.

extension StorageEngine {
  /// nil: it is no such engine.
  package var asShared: (any SharedStorageEngine)? { nil }
  /// nil: it is no such engine.
  package var asMaintained: (any MaintainedStorageEngine)? { nil }
  /// nil: it is no such engine.
  package var asIndexBuilding: (any IndexBuildingStorageEngine)? { nil }
  /// nil: it is no such engine.
  package var asChangeRecording: (any ChangeRecordingStorageEngine)? { nil }
}

extension SharedStorageEngine {
  /// The engine itself.
  package var asShared: (any SharedStorageEngine)? { self }
}

extension MaintainedStorageEngine {
  /// The engine itself.
  package var asMaintained: (any MaintainedStorageEngine)? { self }
}

extension IndexBuildingStorageEngine {
  /// The engine itself.
  package var asIndexBuilding: (any IndexBuildingStorageEngine)? { self }
}

extension ChangeRecordingStorageEngine {
  /// The engine itself.
  package var asChangeRecording: (any ChangeRecordingStorageEngine)? { self }
}

/// An engine whose data other connections can change: other workspaces, processes and programs.
package protocol SharedStorageEngine: StorageEngine {
  /// The token that was determined last. It may be out of date; reading it is free.
  var lastKnownToken: CommitToken { get }
  /// The token that is current at some moment during the call; nil if it cannot be known, for
  /// example while a transaction of this engine begins or ends.
  func currentToken() throws -> CommitToken?
  /// How many times commits of other connections were noticed, at the latest when a transaction
  /// began. What is observed is read again behind them. Always 0 for an engine that can deliver
  /// them.
  var otherCommits: Int { get }
}

extension SharedStorageEngine {
  package var otherCommits: Int { 0 }
}

/// An engine that needs maintenance between transactions, such as checkpointing a log.
package protocol MaintainedStorageEngine: StorageEngine {
  /// Whether maintenance should run before the next snapshot is opened, since an open snapshot
  /// could block it. Cheap.
  var needsMaintenance: Bool { get }
  /// Performs the maintenance. Called while no write transaction of this engine is open.
  func performMaintenance()
}

/// An engine whose indexes can be missing or incomplete, and are filled step by step.
package protocol IndexBuildingStorageEngine: StorageEngine {
  /// Sets the handler that is called when a query mentions an incomplete index; nil removes it.
  func setIndexRequestHandler(_ handler: (@Sendable (EntitySchema) -> Void)?)
  /// Sets the handler that is called when a query mentions an index that is complete, but not
  /// recorded in the storage to be right; nil removes it. An engine whose complete indexes are
  /// always recorded need not implement it.
  func setIndexConfirmationHandler(_ handler: (@Sendable (EntitySchema) -> Void)?)
  /// Prepares the storage for the steps of a build. An engine need not implement it.
  ///
  /// Called outside of any transaction. It may take long, and must not keep others from writing.
  ///
  /// - Parameters:
  ///   - schema: The type whose indexes are built.
  ///   - completion: Called once, on any thread: then the steps begin, or the build has failed.
  func prepareIndexes(
    of schema: EntitySchema, _ completion: @escaping @Sendable (Result<Void, any Error>) -> Void)
}

extension IndexBuildingStorageEngine {
  /// There are no such indexes.
  package func setIndexConfirmationHandler(_ handler: (@Sendable (EntitySchema) -> Void)?) {}

  /// Nothing has to be prepared.
  package func prepareIndexes(
    of schema: EntitySchema, _ completion: @escaping @Sendable (Result<Void, any Error>) -> Void
  ) { completion(.success(())) }
}

/// A write transaction of an engine that fills indexes step by step.
package protocol IndexBuildingStorageWriter: StorageWriter {
  /// Fills missing rows of indexes, in ascending order of row ids, and repairs wrong ones that
  /// other programs have written.
  ///
  /// - Parameters:
  ///   - schema: The type whose indexes are filled.
  ///   - limit: The maximum number of index rows to fill, over all indexes of the type.
  func fillIndexes(of schema: EntitySchema, limit: Int) throws -> IndexProgress
  /// Verifies the complete indexes of a type, repairs wrong rows in them, and records in the
  /// storage that they are right. No index is created, and none that is not complete is filled.
  ///
  /// - Parameters:
  ///   - schema: The type whose indexes are verified.
  ///   - limit: The maximum number of index rows to store.
  func confirmIndexes(of schema: EntitySchema, limit: Int) throws -> IndexProgress
}

extension IndexBuildingStorageWriter {
  /// There is nothing to verify.
  package func confirmIndexes(of schema: EntitySchema, limit: Int) throws -> IndexProgress {
    IndexProgress(filled: 0, remaining: 0, blocked: [])
  }
}

/// An engine that records which rows are changed, so that what is observed can follow the changes
/// of other connections. Its snapshots are `ChangeRecordingSnapshot`.
package protocol ChangeRecordingStorageEngine: SharedStorageEngine {
  /// Calls a handler, on any thread, after other connections have committed. Called at most once,
  /// and returns without waiting; the engine's `close` ends it.
  ///
  /// - Parameter handler: Returns at once. From its first call on, every commit of another
  ///   connection is followed by a call; one call may follow several commits, or none.
  func reportExternalCommits(to handler: @escaping @Sendable () -> Void)
}

/// A snapshot of an engine that records changes.
package protocol ChangeRecordingSnapshot: StorageSnapshot {
  /// What other connections have changed between an earlier state and this one.
  /// - Parameter point: The earlier state; nil if none is known.
  func recordedChanges(since point: ChangePoint?) throws -> RecordedChanges
}

/// A snapshot that can go on as a write transaction.
package protocol WritableSnapshot: StorageSnapshot {
  /// Begins to write in the state that the snapshot has. If something that the snapshot has read is
  /// changed by another transaction, the storage refuses one of the two as a conflict.
  ///
  /// Called while the engine can have another write transaction, and not at all if
  /// ``EngineCapabilities/bindsWritersToThread`` is true. After it has returned a writer,
  /// the snapshot is not used any more, and needs not be closed.
  ///
  /// - Returns: nil if it cannot; then the snapshot stays as it is.
  func beginWriting() throws -> (any StorageWriter)?
}

/// A write transaction of an engine that stores many rows with fewer messages than one by one.
package protocol BulkInsertingStorageWriter: StorageWriter {
  /// Stores new rows and returns their ids, in the order of the rows. The ids that the rows have
  /// now do not matter. If it throws, some rows may be stored, and the transaction is rolled back.
  func insert(_ schema: EntitySchema, _ rows: [Row]) throws -> [Int64]
}
