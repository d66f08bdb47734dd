// Subscribing to what a store in the background, or any other store of the directory, changes.

extension BackgroundStore {
  /// Observes records, as `Store.subscribe(to:includingPresent:changeHandler:)`. Transactions that share a commit are heard of one by one.
  ///
  /// - Parameters:
  ///   - set: The records.
  ///   - includingPresent: Whether the handler is first called with the records as they are now.
  ///   - changeHandler: Gets the records, or the error of reading them; after an error it goes on.
  /// - Returns: The subscription, which must be kept: releasing it cancels.
  /// - Throws: As `Store.subscribe(to:includingPresent:changeHandler:)`.
  public nonisolated func subscribe<Record: IndexKeyRecord & Sendable>(
    to set: RecordSet<Record>, includingPresent: Bool = false,
    changeHandler: @escaping @Sendable (Result<[Record], any Error>) -> Void
  ) throws -> StoreSubscription {
    try store.subscribe(to: set, includingPresent: includingPresent, changeHandler: changeHandler)
  }

  /// Observes the record with a key, as `Store.subscribe(to:key:includingPresent:changeHandler:)`.
  ///
  /// - Parameters:
  ///   - recordType: The type of the record.
  ///   - key: The complete key.
  ///   - includingPresent: Whether the handler is first called with the record as it is now, if there is one.
  ///   - changeHandler: Gets what has become of the record.
  /// - Returns: The subscription, which must be kept: releasing it cancels.
  /// - Throws: As `Store.subscribe(to:includingPresent:changeHandler:)`.
  public nonisolated func subscribe<Record: IndexKeyRecord & Sendable>(
    to recordType: Record.Type, key: Record.IndexKey, includingPresent: Bool = false,
    changeHandler: @escaping @Sendable (SubscribedRecord<Record>) -> Void
  ) throws -> StoreSubscription where Record.IndexKey: Sendable {
    try store.subscribe(
      to: recordType, key: key, includingPresent: includingPresent, changeHandler: changeHandler)
  }

  /// Observes records as a sequence of results, as `Store.changes(of:includingPresent:bufferingPolicy:)`.
  ///
  /// - Parameters:
  ///   - set: The records.
  ///   - includingPresent: Whether the first result is what there is now.
  ///   - bufferingPolicy: What is kept for a reader that is behind: by default the newest result.
  /// - Returns: The results.
  /// - Throws: As `Store.subscribe(to:includingPresent:changeHandler:)`.
  public nonisolated func changes<Record: IndexKeyRecord & Sendable>(
    of set: RecordSet<Record>, includingPresent: Bool = false,
    bufferingPolicy: AsyncThrowingStream<[Record], any Error>.Continuation.BufferingPolicy =
      .bufferingNewest(1)
  ) throws -> AsyncThrowingStream<[Record], any Error> {
    try store.changes(
      of: set, includingPresent: includingPresent, bufferingPolicy: bufferingPolicy)
  }

  /// Observes the record with a key as a sequence of its values, as `Store.changes(of:key:includingPresent:bufferingPolicy:)`.
  ///
  /// - Parameters:
  ///   - recordType: The type of the record.
  ///   - key: The complete key.
  ///   - includingPresent: Whether the first value is that of now, if there is one.
  ///   - bufferingPolicy: What is kept for a reader that is behind: by default the newest value.
  /// - Returns: The values.
  /// - Throws: As `Store.subscribe(to:includingPresent:changeHandler:)`.
  public nonisolated func changes<Record: IndexKeyRecord & Sendable>(
    of recordType: Record.Type, key: Record.IndexKey, includingPresent: Bool = false,
    bufferingPolicy: AsyncThrowingStream<Record, any Error>.Continuation.BufferingPolicy =
      .bufferingNewest(1)
  ) throws -> AsyncThrowingStream<Record, any Error> where Record.IndexKey: Sendable {
    try store.changes(
      of: recordType, key: key, includingPresent: includingPresent,
      bufferingPolicy: bufferingPolicy)
  }
}
