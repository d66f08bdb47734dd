// TransactionHost: what a transaction needs from its workspace.

/// The workspace that runs transactions, as transactions see it.
protocol TransactionHost: AnyObject, Sendable {
  var engine: any StorageEngine { get }
  /// The engine, if it needs maintenance.
  var maintainedEngine: (any MaintainedStorageEngine)? { get }
  var coordinator: WriteCoordinator { get }
  var clock: Clock { get }
  /// The number in the marks of rows that were read outside of transactions.
  var reading: UInt32 { get }
  var recentChanges: RecentChangesByTable { get }
  /// The mark of committed rows that are fetched from now on.
  func markOfFetch() -> ReadMark
  /// The last known token of the engine; see `SharedStorageEngine`.
  var lastKnownToken: CommitToken { get }
  /// The commits of other connections that were noticed.
  var otherCommits: OtherCommits { get }
  /// The current token of the engine; nil if it is unknown.
  func currentToken() throws -> CommitToken?
  /// The observer of a type. It lives as long as the workspace.
  func changeObserver(of schema: EntitySchema) -> any ChangeObserver
  /// Makes sure that the objects of a type are not only a part of them.
  /// - Throws: `Unmigrated`.
  func requireMigrated(_ schema: EntitySchema) throws
  /// What must hold before a transaction reads or writes these types; nil if nothing must.
  func preparation(for types: TypeSet) -> (any TransactionPreparation)?
  /// Notifies the observers of a transaction's changes, in its delivery.
  func publish(_ writes: WriteSet)
  /// Has rows of a type read again for its observers, in a delivery behind those of all
  /// transactions that were called.
  func followLater(_ ids: Set<Int64>, of schema: EntitySchema)
  /// Calls `body` in a delivery of some types, behind those of all transactions that were called.
  /// - Parameter failures: How many times in succession it has failed; if it has, it waits a while.
  func atLaterDelivery(
    of types: TypeSet, failures: Int,
    _ body: @escaping @Sendable (any TransactionHost) -> Void)
  /// Runs code that calls handlers of the program.
  func delivering(_ body: () -> Void)
  /// Called when work that was accepted has ended.
  func endAccepted()
  /// Reports an error to the error hook.
  func report(_ error: any Error)
  /// Reports an error of a read to the error hook, unless the workspace was shut down, which
  /// explains it.
  func reportReading(_ error: any Error)
  /// Reports errors to the error hook without keeping the workspace alive.
  var reporter: @Sendable (any Error) -> Void { get }
}

extension TransactionHost {
  /// The mark of rows of the workspace that were not fetched; see `ReadMark`.
  var unread: ReadMark { .unread(in: reading) }

  /// Whether the row id of a row is one of this workspace's storage. An object of another storage
  /// may have the row id of any object here.
  func owns(_ row: Row) -> Bool {
    guard row.id >= 0, let workspace = row.mark.workspace else { return false }
    return SharedStorages.isOne(of: workspace, and: reading)
  }

  /// Finds the stored row of an object: by row id if that is one of this storage, otherwise by
  /// primary key. If it is not known, the row with the id is that of the object if it has its key.
  /// - Parameters:
  ///   - byID: Reads the row with the row id of the object.
  ///   - byKey: Reads the row with the primary key of the object.
  func find(
    _ row: Row, _ schema: EntitySchema, _ byID: () throws -> Row?, byKey: () throws -> Row?
  ) rethrows -> Row? {
    if owns(row) { return try byID() }
    if row.id >= 0, row.mark.workspace == nil, let found = try byID(), schema.hasSameKey(found, row)
    {
      return found
    }
    return try byKey()
  }
}

/// The commits of other connections that were noticed.
struct OtherCommits {
  /// How many times they were noticed.
  var count: Int
  /// A clock value that is not before the last time.
  var since: Int64
}

/// Observes changes to one type.
protocol ChangeObserver: AnyObject, Sendable {
  /// Whether changed rows have to be recorded.
  var isObserved: Bool { get }
  /// The types in whose queues a change is delivered; nil for those of the transaction.
  var linkedTypes: TypeSet? { get }
  /// Called when a change of the type is committed.
  /// - Parameter changes: nil if the type was not observed when it was changed.
  func committed(_ changes: [RowChange]?, at time: Int64)
  /// Notifies subscribers of the changes, in commit order.
  func publish(_ changes: [RowChange], in host: any TransactionHost)
}

/// What must hold before a transaction reads or writes its types. Used on the transaction's thread.
protocol TransactionPreparation: AnyObject {
  /// Called before objects of a type are read.
  func prepareReading(_ schema: EntitySchema, in transaction: Transaction) throws
  /// Called when the transaction begins to write.
  func prepareWriting(in transaction: Transaction) throws
  /// Whether the keys of the objects of a type are noted that the transaction changes.
  func notesKeys(of schema: EntitySchema) -> Bool
  /// Notes keys in the transaction, before it ends.
  func note(_ keys: Set<KeyValues>, of schema: EntitySchema, in transaction: Transaction) throws
}

/// What a transaction does beyond its change requests. Used on the transaction's thread until the
/// transaction ends.
protocol TransactionAddition: AnyObject {
  /// Writes the additional changes, after the handler has returned.
  func write(in transaction: Transaction)
  /// Called when the transaction has ended.
  /// - Parameter failure: Why it is not committed; nil if it is.
  func end(_ failure: (any Error)?)
}
