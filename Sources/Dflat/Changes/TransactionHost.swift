// What a transaction uses of the workspace above it.

/// The workspace that runs transactions.
protocol TransactionHost: AnyObject, Sendable {
  var engine: any StorageEngine { get }
  /// The engine, if it has to be maintained.
  var maintainedEngine: (any MaintainedStorageEngine)? { get }
  var committer: Committer { get }
  var clock: Clock { get }
  /// The number in the marks of rows that the workspace reads outside of transactions.
  var reading: UInt32 { get }
  var recentChanges: RecentChangesByTable { get }
  /// The engine's token, as far as it is known without asking; see `SharedStorageEngine`.
  var lastKnownToken: CommitToken { get }
  /// The engine's token that is current now; nil if it cannot be known.
  func currentToken() throws -> CommitToken?
  /// The observer of a type, which is there until the workspace ends.
  func changeObserver(of schema: EntitySchema) -> any ChangeObserver
  /// What must hold before a transaction over these types reads or writes them; nil if nothing must.
  func preparation(for types: TypeSet) -> (any TransactionPreparation)?
  /// Notifies the observers of what a transaction has changed, in its delivery.
  func publish(_ writes: WriteSet)
  /// Calls handlers of the program.
  func delivering(_ body: () -> Void)
  /// Something that was accepted has ended.
  func endAccepted()
  /// Reports an error to the error hook.
  func report(_ error: any Error)
  /// The same, unless the workspace was shut down and so there is nothing to read.
  func reportReading(_ error: any Error)
  /// Reports to the error hook, without keeping the workspace alive.
  var reporter: @Sendable (any Error) -> Void { get }
}

/// Observes the changes of one type.
protocol ChangeObserver: AnyObject, Sendable {
  /// Whether rows that are changed are of interest.
  var isObserved: Bool { get }
  /// The type was changed, and the change is committed.
  /// - Parameter changes: nil if the type was not observed when it was changed.
  func committed(_ changes: TypeChanges?, at time: Int64)
  /// Notifies observers of the changes, in the order of commits.
  func publish(_ changes: TypeChanges, in host: any TransactionHost)
}

/// What must hold before a transaction reads or writes its types. Used on the transaction's thread.
protocol TransactionPreparation: AnyObject {
  /// Called before objects of a type are read.
  func prepareReading(_ schema: EntitySchema, in transaction: Transaction) throws
  /// Called when the transaction begins to write.
  func prepareWriting(in transaction: Transaction) throws
}

/// What a transaction does besides its change requests. Used on the transaction's thread until the transaction ends.
protocol TransactionAddition: AnyObject, Sendable {
  /// Writes it, after the handler has returned.
  func write(in transaction: Transaction)
  /// The transaction has ended.
  /// - Parameter failure: Why it is not committed; nil if it is.
  func end(_ failure: (any Error)?)
}
